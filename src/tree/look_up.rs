//! What lies at a cell or a point: a search among few keys, or a look into a table.

use crate::cell::Cell;
use crate::dimension::here;
use crate::result::{Content, Width, each_width};
use crate::tree::region::TreeRegion;
use crate::tree::stored::Tree;

/// Cells that are looked up together.
const TOGETHER: usize = 64;

impl<const K: usize> Tree<K> {
    /// The terminal region that holds a cell. None if the cell lies outside the domain, or outside the part that a
    /// partial tree covers.
    ///
    /// ```
    /// use orthant::Tree;
    /// use orthant::ndarray::Array2;
    ///
    /// let halves = Array2::from_shape_fn((256, 256), |(_, x)| u8::from(x >= 128));
    /// let tree = Tree::<2>::from_array(halves.view())?;
    /// let region = tree.region_at([200, 3]).map(|region| (region.cells().corner, region.uniform()));
    /// assert_eq!(region, Some(([128, 0], Some(1))));
    /// assert!(tree.region_at([256, 3]).is_none());
    /// # Ok::<(), orthant::tree::TreeError>(())
    /// ```
    #[inline]
    pub fn region_at(&self, cell: [u32; K]) -> Option<TreeRegion<'_, K>> {
        self.row_at(cell).map(|(index, _)| TreeRegion { tree: self, index })
    }

    /// The word of a cell: its bits, which [`Cell::from_word`] and [`CellType::text`](crate::CellType::text) read. None
    /// if the cell lies outside the domain, or outside the part that a partial tree covers.
    #[inline]
    pub fn word(&self, cell: [u32; K]) -> Option<u64> {
        if self.list.is_some() {
            return self.row_at(cell).map(|(row, _)| self.region(row).word(cell));
        }
        self.row_at(cell).map(|(row, place)| match self.entries.content(row) {
            Content::Uniform(word) => word,
            Content::Leaf { brick } => self.bricks.word(brick.expect("leaves of a tree have bricks") as usize + place),
        })
    }

    /// The value of a cell. None if the cell lies outside the domain, or outside the part that a partial tree covers,
    /// or if `T` is not the [`kind`](Self::kind) of the tree.
    ///
    /// ```
    /// use orthant::Tree;
    /// use orthant::ndarray::Array2;
    ///
    /// let slope = Array2::from_shape_fn((3, 4), |(y, x)| x as f32 / 2.0 + y as f32);
    /// let tree = Tree::<2>::from_array(slope.view())?;
    /// assert_eq!(tree.get::<f32>([3, 2]), Some(3.5));
    /// assert_eq!(tree.get::<f32>([4, 2]), None); // outside
    /// assert_eq!(tree.get::<u8>([3, 2]), None); // cells are f32
    /// # Ok::<(), orthant::tree::TreeError>(())
    /// ```
    #[inline]
    pub fn get<T: Cell>(&self, cell: [u32; K]) -> Option<T> {
        if T::TYPE == self.kind() { self.word(cell).map(T::from_word) } else { None }
    }

    /// The words of many cells, in their order: as [`word`](Self::word), and faster, since what lies in memory is asked for of several cells
    /// at a time. Words of cells outside the domain, or outside what a partial tree covers, stay as they are. Answers with the number of
    /// cells that were found.
    ///
    /// ```
    /// # use orthant::prelude::*;
    /// # use orthant::tree::BottomUp;
    /// # let array = orthant::ndarray::ArrayD::from_shape_fn(vec![8, 8], |at| (at[0] / 4) as u8);
    /// # let source = ArrayField::new(array.view())?;
    /// # let domain = Domain::new([8, 8], [[0.0, 1.0]; 2], Sample::Centre)?;
    /// # let plan = Plan::new(domain, Scheme::uniform(2, 2, 2), CurveKind::Morton, RuleKind::Full)?;
    /// # let tree = BottomUp::new(&plan, &source)?.tree()?;
    /// let mut words = [9; 3];
    /// assert_eq!(tree.words(&[[0, 0], [8, 0], [3, 7]], &mut words), 2);
    /// assert_eq!(words, [0, 9, 1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If there are fewer words than cells.
    pub fn words(&self, cells: &[[u32; K]], words: &mut [u64]) -> usize {
        here!(fn(&Tree<K>, &[[u32; K]], &mut [u64]) -> usize = Tree::<K>::words_here)(self, cells, words)
    }

    fn words_here(&self, cells: &[[u32; K]], words: &mut [u64]) -> usize {
        if self.list.is_some() {
            let mut known = 0;
            for (&cell, word) in cells.iter().zip(&mut words[..cells.len()]) {
                if let Some(found) = self.word(cell) {
                    (*word, known) = (found, known + 1);
                }
            }
            return known;
        }
        let direct = self.direct();
        let words = &mut words[..cells.len()];
        let (mut places, mut found) = ([(0, 0); TOGETHER], 0);
        for (cells, words) in cells.chunks(TOGETHER).zip(words.chunks_mut(TOGETHER)) {
            let places = &mut places[..cells.len()];
            // One after the other, so that none waits for what another one reads.
            for (place, &cell) in places.iter_mut().zip(cells) {
                let row = direct.map_or_else(|| self.searched(cell), |direct| direct.find(cell));
                found += usize::from(row.is_some());
                *place = row.unwrap_or((usize::MAX, 0));
            }
            for (place, word) in places.iter_mut().zip(&mut *words).filter(|(place, _)| place.0 != usize::MAX) {
                let (leaf, what) = self.entries.leaf_or_word(place.0);
                *word = what;
                // From here on the place is that of a leaf's cell among the bricks.
                *place = (usize::from(leaf), if leaf { what as usize + place.1 } else { 0 });
            }
            if self.bricks.is_empty() {
                continue;
            }
            each_width!(self.bricks.bits(), bricks => {
                for (&(leaf, place), word) in places.iter().zip(&mut *words) {
                    let cell = Width::word(bricks[place]);
                    *word = if leaf == 1 { cell } else { *word };
                }
            });
        }
        found
    }

    /// The row of a cell, and the cell's place in its region of the deepest level, of which leaves are.
    #[inline]
    fn row_at(&self, cell: [u32; K]) -> Option<(usize, usize)> {
        match self.direct() {
            Some(direct) => direct.find(cell),
            None => self.searched(cell),
        }
    }

    /// The same by its key.
    pub(super) fn searched(&self, cell: [u32; K]) -> Option<(usize, usize)> {
        let size = self.plan().domain().size();
        if (0..K).any(|j| cell[j] >= size[j]) {
            return None;
        }
        let coords = self.along.coords(cell);
        let key = self.along.key_at(coords);
        let row = || self.finder.holding(&self.entries.keys, key);
        self.part.contains(&key.into()).then(|| (row(), self.along.region_at(coords).place(cell)))
    }

    /// The word of the cell that [holds](crate::geometry::Domain::cell_at) a point of the field's coordinates. None if
    /// the point lies outside the window.
    ///
    /// ```
    /// use orthant::prelude::*;
    ///
    /// // Cells of a tenth: the point (0.55, 0.25) lies in cell (5, 2).
    /// let plan = Plan::builder([10, 10]).window([[0.0, 1.0]; 2]).scheme(Scheme::uniform(2, 2, 1)).build()?;
    /// let numbered = CellField::new(99, |[x, y]| x + 10 * y);
    /// let tree = Tree::of(run(&plan, &numbered)?)?;
    /// assert_eq!(tree.word_at([0.55, 0.25]), Some(25));
    /// assert_eq!(tree.word_at([1.5, 0.25]), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn word_at(&self, point: [f64; K]) -> Option<u64> {
        self.plan().domain().cell_at(point).and_then(|cell| self.word(cell))
    }
}

#[cfg(test)]
mod tests;
