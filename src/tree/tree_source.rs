//! A tree as a source of cells: what takes an array takes a tree.

use std::io;
use std::ops::ControlFlow;

use crate::cell::CellType;
use crate::dimension::here;
use crate::geometry::Region;
use crate::memory::{Refused, reserve};
use crate::parallel;
use crate::result::{Content, DenseArray, Stored};
use crate::tree::error::TreeError;
use crate::tree::list::Scattered;
use crate::tree::parts::Parts;
use crate::tree::source::Source;
use crate::tree::stored::Tree;

/// A tree as a [`Source`] of cells. It reads a part when somebody asks for cells of it.
///
/// ```
/// use orthant::ndarray::Array2;
/// use orthant::prelude::*;
/// use orthant::tree::{BottomUp, TreeSource};
///
/// let halves = Array2::from_shape_fn((256, 256), |(_, x)| u8::from(x >= 128));
/// let tree = Tree::<2>::from_array(halves.view())?;
/// // The same cells in smaller regions.
/// let plan = Plan::builder([256, 256]).scheme(Scheme::uniform(8, 2, 4)).rule(RuleKind::Full).build()?;
/// let finer = BottomUp::new(&plan, &TreeSource(&tree))?.tree()?;
/// assert_eq!((tree.len(), finer.len()), (4, 64));
/// assert_eq!(finer.word([200, 3]), Some(1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct TreeSource<'p, const K: usize>(pub &'p dyn Parts<K>);

impl<const K: usize> TreeSource<'_, K> {
    /// A box as an array.
    pub(super) fn array(&self, window: &Region<K>) -> Result<DenseArray<K>, TreeError> {
        let mut array = DenseArray::zeroed(Stored::Materialised, *window, self.kind())?;
        self.show(window, array.cells_mut().bytes_mut())?;
        Ok(array)
    }

    /// Writes a box into bytes that lie as its cells must.
    fn show(&self, window: &Region<K>, bytes: &mut [u8]) -> Result<(), TreeError> {
        here!(fn(&dyn Parts<K>, &Region<K>, &mut [u8]) -> Result<(), TreeError> =
            |parts, window, bytes| TreeSource(parts).show_here(window, bytes))(self.0, window, bytes)
    }

    fn show_here(&self, window: &Region<K>, bytes: &mut [u8]) -> Result<(), TreeError> {
        for some in self.0.batches(&self.0.meeting(window)?) {
            if some.len() > 1 {
                // By a thread each; as many as stay in memory until they are shown.
                parallel::try_each(some.len(), &|i| self.0.part_within(some[i], window).map(drop))?;
            }
            for &index in some {
                self.0.part_within(index, window)?.show(window, bytes);
            }
        }
        Ok(())
    }

    /// The listed cells of a box, if it is the tree of a list.
    fn listed(&self, window: &Region<K>) -> Result<Option<Scattered<K>>, TreeError> {
        here!(fn(&dyn Parts<K>, &Region<K>) -> Result<Option<Scattered<K>>, TreeError> =
            |parts, window| TreeSource(parts).listed_here(window))(self.0, window)
    }

    fn listed_here(&self, window: &Region<K>) -> Result<Option<Scattered<K>>, TreeError> {
        let Some(layout) = self.0.list_layout() else { return Ok(None) };
        let mut found = Scattered::new(layout.background());
        for index in self.0.meeting(window)? {
            let part = self.0.part(index)?;
            gather(&part, window, &mut found)?;
        }
        found.sort();
        Ok(Some(found))
    }

    /// The word that all cells of a box count as; None if there are several.
    pub(super) fn uniform(&self, window: &Region<K>) -> Result<Option<u64>, TreeError> {
        here!(fn(&dyn Parts<K>, &Region<K>) -> Result<Option<u64>, TreeError> =
            |parts, window| TreeSource(parts).uniform_here(window))(self.0, window)
    }

    fn uniform_here(&self, window: &Region<K>) -> Result<Option<u64>, TreeError> {
        let mut found = None;
        for index in self.0.meeting(window)? {
            let part = self.0.part(index)?;
            if !part.meets(window) {
                continue;
            }
            match part.uniform(window)? {
                Some(word) if *found.get_or_insert(word) == word => {}
                _ => return Ok(None),
            }
        }
        Ok(found)
    }
}

/// Cells of a box that are listed, at most: a file can say of a whole region that it has another value than the background.
const LISTED: u128 = 1 << 28;

/// Adds the listed cells of a box of a part.
fn gather<const K: usize>(part: &Tree<K>, window: &Region<K>, found: &mut Scattered<K>) -> Result<(), Refused> {
    let (mut refused, background, cells) = (None, found.background, &mut found.cells);
    let put = |cells: &mut Vec<_>, refused: &mut Option<Refused>, cell, word| match reserve(cells, 1) {
        Ok(()) => cells.push((cell, word)),
        Err(error) => *refused = Some(error),
    };
    let _ = part.meet(window, &mut |region, part| {
        match region.content() {
            Content::Uniform(word) if word != background => {
                let need = cells.len() as u128 + part.cells_wide();
                if need > LISTED {
                    refused = Some(Refused { bytes: need * size_of::<([u32; K], u64)>() as u128 });
                    return ControlFlow::Break(());
                }
                part.cells().for_each(|cell| put(cells, &mut refused, cell, word));
            }
            Content::Uniform(_) => {}
            Content::Leaf { .. } => region
                .listed_leaf()
                .within(&region.cells(), &part, &mut |cell, word| put(cells, &mut refused, cell, word)),
        }
        if refused.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    refused.map_or(Ok(()), Err)
}

impl<const K: usize> Source<K> for TreeSource<'_, K> {
    fn kind(&self) -> CellType {
        self.0.kind()
    }

    fn size(&self) -> [u32; K] {
        self.0.plan().domain().size()
    }

    fn read(&self, window: &Region<K>, bytes: &mut [u8]) -> io::Result<()> {
        self.check(window, bytes)?;
        if bytes.as_ptr().addr().is_multiple_of(self.kind().bytes() as usize) {
            return self.show(window, bytes).map_err(io::Error::other);
        }
        let mut array = self.array(window).map_err(io::Error::other)?;
        bytes.copy_from_slice(array.cells_mut().bytes_mut());
        Ok(())
    }

    fn known(&self, window: &Region<K>) -> io::Result<Option<u64>> {
        self.uniform(window).map_err(io::Error::other)
    }

    fn scattered(&self, window: &Region<K>) -> io::Result<Option<Scattered<K>>> {
        self.listed(window).map_err(io::Error::other)
    }
}

/// Cells of the domain, from the regions themselves.
impl<const K: usize> Source<K> for Tree<K> {
    fn kind(&self) -> CellType {
        self.kind()
    }

    fn size(&self) -> [u32; K] {
        self.plan().domain().size()
    }

    fn read(&self, window: &Region<K>, bytes: &mut [u8]) -> io::Result<()> {
        TreeSource(self).read(window, bytes)
    }

    fn known(&self, window: &Region<K>) -> io::Result<Option<u64>> {
        TreeSource(self).known(window)
    }

    fn scattered(&self, window: &Region<K>) -> io::Result<Option<Scattered<K>>> {
        TreeSource(self).scattered(window)
    }
}
