//! One terminal region of a tree.

use std::ops::Range;

use crate::geometry::Region;
use crate::result::Content;
use crate::tree::list::ListedLeaf;
use crate::tree::provenance::Provenance;
use crate::tree::stored::Tree;

/// A terminal region of a tree: a place along the curve.
///
/// ```
/// use orthant::Tree;
/// use orthant::geometry::Region;
/// use orthant::ndarray::Array2;
///
/// // Two halves: the four regions of level 1 are uniform, and the curve goes along x first.
/// let halves = Array2::from_shape_fn((256, 256), |(_, x)| u8::from(x >= 128));
/// let tree = Tree::<2>::from_array(halves.view())?;
/// let values: Vec<Option<u64>> = tree.regions().map(|region| region.uniform()).collect();
/// assert_eq!(values, [Some(0), Some(1), Some(0), Some(1)]);
/// let second = tree.region(1);
/// assert_eq!((second.level(), second.cells()), (1, Region { corner: [128, 0], extent: [128, 128] }));
/// # Ok::<(), orthant::tree::TreeError>(())
/// ```
#[derive(Clone, Copy)]
pub struct TreeRegion<'t, const K: usize> {
    pub(super) tree: &'t Tree<K>,
    pub(super) index: usize,
}

impl<const K: usize> Tree<K> {
    /// The terminal region number `index` along the curve.
    ///
    /// # Panics
    /// If there are not so many.
    pub fn region(&self, index: usize) -> TreeRegion<'_, K> {
        assert!(index < self.len(), "region {index} of {}", self.len());
        TreeRegion { tree: self, index }
    }

    /// The terminal regions along the curve.
    pub fn regions(&self) -> impl ExactSizeIterator<Item = TreeRegion<'_, K>> + DoubleEndedIterator {
        (0..self.len()).map(|index| TreeRegion { tree: self, index })
    }
}

impl<'t, const K: usize> TreeRegion<'t, K> {
    /// Its number along the curve.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Its level.
    #[inline]
    pub fn level(&self) -> u32 {
        self.tree.entries.level(self.index)
    }

    /// Its code on its level, by the curve of the tree's plan.
    pub fn code(&self) -> u64 {
        self.tree.along.code(self.level(), self.tree.entries.keys[self.index])
    }

    /// Its cells, as a box.
    #[inline]
    pub fn cells(&self) -> Region<K> {
        self.tree.plan().region(self.level(), self.code())
    }

    /// What fills it: a word, or a brick in [`Tree::bricks`]. A sparse leaf has no brick, and [`entries`](Self::entries).
    #[inline]
    pub fn content(&self) -> Content {
        match self.tree.entries.content(self.index) {
            Content::Leaf { .. } if self.tree.list.is_some() => Content::Leaf { brick: None },
            content => content,
        }
    }

    /// The word of a uniform region; None of a leaf.
    #[inline]
    pub fn uniform(&self) -> Option<u64> {
        match self.content() {
            Content::Uniform(word) => Some(word),
            Content::Leaf { .. } => None,
        }
    }

    /// Where the brick of a leaf lies in [`Tree::bricks`]; None of a uniform region, and of a sparse leaf.
    #[inline]
    pub fn brick(&self) -> Option<Range<usize>> {
        match self.content() {
            Content::Uniform(_) | Content::Leaf { brick: None } => None,
            Content::Leaf { brick: Some(start) } => {
                let start = start as usize;
                let cells = self.tree.along.volume(self.level(), self.tree.entries.keys[self.index]);
                Some(start..start + cells as usize)
            }
        }
    }

    /// The cells of a sparse leaf that are listed, each with its word, in storage order: all others of the leaf are the background. None
    /// of regions of other kinds.
    ///
    /// ```
    /// use orthant::prelude::*;
    /// use orthant::tree::CellList;
    /// use orthant::{CellType, Control};
    ///
    /// let plan = Plan::builder([1 << 20; 2]).scheme(Scheme::uniform(1, 2, 2)).rule(RuleKind::Full).build()?;
    /// let mut list = CellList::new(&plan, CellType::U8)?;
    /// list.push([70, 4], 5)?;
    /// let tree = list.sorted(&Control::default())?.tree()?;
    /// let entries: Vec<_> = tree.region(0).entries().into_iter().flatten().collect();
    /// assert_eq!(entries, [([70, 4], 5)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn entries(&self) -> Option<impl Iterator<Item = ([u32; K], u64)> + use<'t, K>> {
        let (leaf, own) = (self.tree.listed_leaf(self.index)?, self.cells());
        let cell = move |place: u64| own.cell(own.offset(place));
        Some(leaf.places.iter().enumerate().map(move |(entry, &place)| (cell(place), leaf.entry(entry))))
    }

    /// The entries of a leaf without a brick.
    pub(super) fn listed_leaf(&self) -> ListedLeaf<'t> {
        self.tree.listed_leaf(self.index).expect("leaves without bricks have entries")
    }

    /// How its cells are known.
    pub fn provenance(&self) -> Provenance {
        self.tree.entries.provenance(self.index)
    }

    /// The word of one of its cells.
    ///
    /// # Panics
    /// If the cell is not one of its own.
    #[inline]
    pub fn word(&self, cell: [u32; K]) -> u64 {
        let cells = self.cells();
        assert!(cells.contains_cell(cell), "cell {cell:?} is outside the region");
        match self.content() {
            Content::Uniform(word) => word,
            Content::Leaf { brick: None } => self.listed_leaf().word(cells.place(cell) as u64),
            Content::Leaf { brick } => {
                self.tree.bricks.word(brick.expect("leaves of a tree have bricks") as usize + cells.place(cell))
            }
        }
    }
}

impl<const K: usize> std::fmt::Debug for TreeRegion<'_, K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TreeRegion")
            .field("level", &self.level())
            .field("cells", &self.cells())
            .field("content", &self.content())
            .finish()
    }
}
