//! Trees in parts that are there one at a time.

use std::ops::Deref;

use crate::cell::CellType;
use crate::geometry::Region;
use crate::parallel;
use crate::plan::Plan;
use crate::tree::error::TreeError;
use crate::tree::list::ListLayout;
use crate::tree::stored::Tree;

/// A tree in parts: partial trees along the curve that together cover the domain. Questions go from part to part, so
/// that only a few parts are in memory at a time.
///
/// A [`Tree`] is a single part, whether it is partial or not. A [`TreeFile`](crate::tree::TreeFile) has a part per
/// shard.
///
/// ```
/// use orthant::Tree;
/// use orthant::ndarray::Array2;
/// use orthant::tree::{Parts, TreeError};
///
/// /// Counts regions, of a tree in memory or in a file.
/// fn regions(tree: &dyn Parts<2>) -> Result<usize, TreeError> {
///     (0..tree.parts()).map(|part| Ok(tree.part(part)?.len())).sum()
/// }
/// let halves = Array2::from_shape_fn((256, 256), |(_, x)| u8::from(x >= 128));
/// let tree = Tree::<2>::from_array(halves.view())?;
/// assert_eq!((tree.parts(), regions(&tree)?), (1, 4));
/// # Ok::<(), TreeError>(())
/// ```
pub trait Parts<const K: usize>: Sync {
    /// The domain, the scheme and the curve of the tree.
    fn plan(&self) -> &Plan<K>;

    /// The type of a cell.
    fn kind(&self) -> CellType;

    /// The number of parts, at least 1.
    fn parts(&self) -> usize;

    /// A part, by its number along the curve.
    ///
    /// # Errors
    /// Whatever keeps it from being read.
    ///
    /// # Panics
    /// If there are not so many.
    fn part(&self, index: usize) -> Result<Box<dyn Deref<Target = Tree<K>> + '_>, TreeError>;

    /// A part of which only cells of a box will be asked: leaves that do not meet it may have other cells than theirs.
    ///
    /// # Errors
    /// As [`part`](Self::part).
    ///
    /// # Panics
    /// As [`part`](Self::part).
    fn part_within(
        &self,
        index: usize,
        window: &Region<K>,
    ) -> Result<Box<dyn Deref<Target = Tree<K>> + '_>, TreeError> {
        let _ = window;
        self.part(index)
    }

    /// How many of the first of these parts may be in memory at the same time, so that threads can work on one each. One is read in any case.
    fn together(&self, parts: &[usize]) -> usize {
        let _ = parts;
        1
    }

    /// About how many cells a shard has, if the parts are those of a file.
    fn shard_cells(&self) -> Option<u64> {
        None
    }

    /// How the tree of a list is cut into shards. None of other trees.
    fn list_layout(&self) -> Option<ListLayout> {
        None
    }

    /// The numbers of all parts that meet a box, in ascending order. There may be some that do not meet it.
    ///
    /// # Errors
    /// [`TreeError::Window`] if the box is empty or reaches beyond the domain.
    fn meeting(&self, window: &Region<K>) -> Result<Vec<usize>, TreeError> {
        window.within(self.plan().domain().size())?;
        Ok((0..self.parts()).collect())
    }
}

impl<'p, const K: usize> dyn Parts<K> + 'p {
    /// Parts in their order, cut into runs that may be in memory as a whole.
    pub(super) fn batches<'a>(&self, mut parts: &'a [usize]) -> impl Iterator<Item = &'a [usize]> {
        std::iter::from_fn(move || {
            // Whatever an implementation answers, no part is passed over.
            let (some, rest) = parts.split_at_checked(self.together(parts).max(1)).unwrap_or((parts, &[]));
            parts = rest;
            (!some.is_empty()).then_some(some)
        })
    }

    /// What all parts come to, in their order: as many at a time as may be in memory, by a thread each.
    pub(super) fn every_part<T: Send>(
        &self,
        of: &(dyn Fn(&Tree<K>) -> Result<T, TreeError> + Sync),
        take: &mut dyn FnMut(T) -> Result<(), TreeError>,
    ) -> Result<(), TreeError> {
        let parts: Vec<usize> = (0..self.parts()).collect();
        each_batch(&mut self.batches(&parts), &|part| of(&**self.part(part)?), take)
    }
}

/// What the parts of some batches come to, in their order: those of a batch by a thread each.
fn each_batch<T: Send>(
    batches: &mut dyn Iterator<Item = &[usize]>,
    of: &(dyn Fn(usize) -> Result<T, TreeError> + Sync),
    take: &mut dyn FnMut(T) -> Result<(), TreeError>,
) -> Result<(), TreeError> {
    for some in batches {
        let found = parallel::try_map(some.len(), &|i| of(some[i]))?;
        found.into_iter().try_for_each(&mut *take)?;
    }
    Ok(())
}

impl<const K: usize> std::fmt::Debug for dyn Parts<K> + '_ {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parts").field("kind", &self.kind()).field("plan", self.plan()).finish_non_exhaustive()
    }
}

impl<const K: usize> Parts<K> for Tree<K> {
    fn plan(&self) -> &Plan<K> {
        self.plan()
    }

    fn kind(&self) -> CellType {
        self.kind()
    }

    fn parts(&self) -> usize {
        1
    }

    fn part(&self, index: usize) -> Result<Box<dyn Deref<Target = Self> + '_>, TreeError> {
        assert_eq!(index, 0, "a tree in memory is its only part");
        Ok(Box::new(self))
    }

    fn list_layout(&self) -> Option<ListLayout> {
        self.list_layout()
    }
}
