//! What lies in a box or a slice of a tree.
//!
//! A box goes down from the initial grid, and only into what it meets: a region that was divided is the run of its descendants'
//! keys, so that on every level a search has to look at the parent's run alone.

use std::ops::{ControlFlow, Range};

use crate::cell::Cell;
use crate::dimension::here;
use crate::geometry::{Region, Rows};
use crate::parallel;
use crate::result::{Content, DenseArray, Stored, Width, dense_fits, each_width};
use crate::rule::exact;
use crate::tree::error::TreeError;
use crate::tree::region::TreeRegion;
use crate::tree::stored::Tree;

/// Cells of a box that one thread writes at a time.
const PIECE: usize = 1 << 18;

/// Sees a region and the part of it that lies in a box.
pub(super) type Visitor<'v, 't, const K: usize> = dyn FnMut(TreeRegion<'t, K>, Region<K>) -> ControlFlow<()> + 'v;

impl<const K: usize> Tree<K> {
    /// Writes the cells of a box into `cells`, in storage order (axis 0 fastest). A partial tree writes the cells that
    /// it covers and leaves the others as they are. The threads of the caller's rayon pool share a large box.
    ///
    /// ```
    /// use orthant::Tree;
    /// use orthant::geometry::Region;
    /// use orthant::ndarray::Array2;
    ///
    /// let numbered = Array2::from_shape_fn((10, 10), |(y, x)| (10 * y + x) as u16);
    /// let tree = Tree::<2>::from_array(numbered.view())?;
    /// let mut cells = [0u16; 6];
    /// tree.read(&Region { corner: [4, 7], extent: [3, 2] }, &mut cells)?;
    /// assert_eq!(cells, [74, 75, 76, 84, 85, 86]);
    /// # Ok::<(), orthant::tree::TreeError>(())
    /// ```
    ///
    /// # Errors
    /// [`TreeError::Window`] if the box is empty or reaches beyond the domain, [`TreeError::CellType`] if `T` is not the tree's
    /// type, [`TreeError::Buffer`] if there are more or fewer cells than the box has.
    pub fn read<T: Cell>(&self, window: &Region<K>, cells: &mut [T]) -> Result<(), TreeError> {
        window.within(self.plan().domain().size())?;
        if T::TYPE != self.kind() {
            return Err(TreeError::CellType { given: T::TYPE, kind: self.kind() });
        }
        if cells.len() as u128 != window.cells_wide() {
            return Err(TreeError::Buffer { given: cells.len(), needed: window.cells_wide() });
        }
        each_width!(self.bricks.bits(), bricks => self.paint(bricks, window, bytemuck::cast_slice_mut(cells)));
        Ok(())
    }

    /// Writes a slice into `cells`: all cells at `index` on `axis`, in storage order of the other axes.
    ///
    /// ```
    /// use orthant::Tree;
    /// use orthant::ndarray::Array2;
    ///
    /// let numbered = Array2::from_shape_fn((3, 4), |(y, x)| (10 * y + x) as u16);
    /// let tree = Tree::<2>::from_array(numbered.view())?;
    /// // The row y = 2, and the column x = 1.
    /// let (mut row, mut column) = ([0u16; 4], [0u16; 3]);
    /// tree.read_slice(1, 2, &mut row)?;
    /// tree.read_slice(0, 1, &mut column)?;
    /// assert_eq!((row, column), ([20, 21, 22, 23], [1, 11, 21]));
    /// # Ok::<(), orthant::tree::TreeError>(())
    /// ```
    ///
    /// # Errors
    /// As [`read`](Self::read); [`TreeError::Axis`].
    pub fn read_slice<T: Cell>(&self, axis: usize, index: u32, cells: &mut [T]) -> Result<(), TreeError> {
        let mut window = self.plan().domain().region();
        if axis >= K {
            return Err(TreeError::Axis { axis, k: K });
        }
        (window.corner[axis], window.extent[axis]) = (index, 1);
        self.read(&window, cells)
    }

    /// The cells of a box as an array of the tree's type, if it needs at most `limit` bytes. Cells outside the part of
    /// a partial tree are 0.
    ///
    /// ```
    /// use orthant::Tree;
    /// use orthant::geometry::Region;
    /// use orthant::ndarray::Array2;
    ///
    /// let numbered = Array2::from_shape_fn((10, 10), |(y, x)| (10 * y + x) as u16);
    /// let tree = Tree::<2>::from_array(numbered.view())?;
    /// let window = Region { corner: [4, 7], extent: [3, 2] };
    /// // Cells keep their coordinates in the domain.
    /// assert_eq!(tree.array(&window, None)?.word([6, 8]), 86);
    /// // Six cells of two bytes do not fit eight.
    /// assert!(tree.array(&window, Some(8)).is_err());
    /// # Ok::<(), orthant::tree::TreeError>(())
    /// ```
    ///
    /// # Errors
    /// [`TreeError::Window`] if the box is empty or reaches beyond the domain; [`TreeError::Run`] if the array would exceed the
    /// limit or there is no memory for it.
    pub fn array(&self, window: &Region<K>, limit: Option<u64>) -> Result<DenseArray<K>, TreeError> {
        window.within(self.plan().domain().size())?;
        dense_fits(Stored::Materialised, window.cells_wide(), self.kind(), limit)?;
        let mut array = DenseArray::zeroed(Stored::Materialised, *window, self.kind())?;
        self.show(window, array.cells_mut().bytes_mut());
        Ok(array)
    }

    /// Writes what the tree covers of a box of the domain into bytes that lie as its cells must.
    pub(super) fn show(&self, window: &Region<K>, bytes: &mut [u8]) {
        here!(fn(&Tree<K>, &Region<K>, &mut [u8]) -> () = Tree::<K>::show_here)(self, window, bytes)
    }

    fn show_here(&self, window: &Region<K>, bytes: &mut [u8]) {
        each_width!(self.bricks.bits(), bricks => self.paint(bricks, window, bytemuck::cast_slice_mut(bytes)));
    }

    /// The value of a box if all its cells count as one value, as a word; None if there are several.
    ///
    /// A partial tree looks only at the cells that it covers, and returns None if it covers none.
    ///
    /// ```
    /// use orthant::Tree;
    /// use orthant::geometry::Region;
    /// use orthant::ndarray::Array2;
    ///
    /// let halves = Array2::from_shape_fn((256, 256), |(_, x)| u8::from(x >= 128));
    /// let tree = Tree::<2>::from_array(halves.view())?;
    /// let columns = |first, n| tree.uniform(&Region { corner: [first, 0], extent: [n, 256] });
    /// assert_eq!((columns(0, 128)?, columns(128, 1)?), (Some(0), Some(1)));
    /// assert_eq!(columns(127, 2)?, None);
    /// # Ok::<(), orthant::tree::TreeError>(())
    /// ```
    ///
    /// # Errors
    /// [`TreeError::Window`] if the box is empty or reaches beyond the domain.
    pub fn uniform(&self, window: &Region<K>) -> Result<Option<u64>, TreeError> {
        here!(fn(&Tree<K>, &Region<K>) -> Result<Option<u64>, TreeError> = Tree::<K>::uniform_here)(self, window)
    }

    fn uniform_here(&self, window: &Region<K>) -> Result<Option<u64>, TreeError> {
        window.within(self.plan().domain().size())?;
        let mut found = None;
        let mut agrees = |word: u64| *found.get_or_insert(word) == word;
        let different = self.meet(window, &mut |region, part| {
            let same = match region.content() {
                Content::Uniform(word) => agrees(word),
                Content::Leaf { brick: None } => {
                    let (leaf, mut listed, mut one) = (region.listed_leaf(), 0, true);
                    leaf.within(&region.cells(), &part, &mut |_, word| {
                        listed += 1;
                        one &= agrees(exact::key(self.kind(), word));
                    });
                    one && (listed == part.cells_wide() || agrees(leaf.background))
                }
                Content::Leaf { brick } => {
                    let (cells, start) = (region.cells(), brick.expect("leaves of a tree have bricks") as usize);
                    let key = |cell| exact::key(self.kind(), self.bricks.word(start + cells.place(cell)));
                    part.cells().all(|cell| agrees(key(cell)))
                }
            };
            if same { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        Ok(found.filter(|_| different.is_continue()))
    }

    /// True if some of the cells of a box of the domain lie in the part that the tree covers.
    pub(super) fn meets(&self, window: &Region<K>) -> bool {
        self.meet(window, &mut |_, _| ControlFlow::Break(())).is_break()
    }

    /// Writes the cells of a box of the domain, in layers along the last axis that has several.
    fn paint<W: Width>(&self, bricks: &[W], window: &Region<K>, cells: &mut [W]) {
        let axis = last_axis(&window.extent);
        let layer = cells.len() / window.extent[axis] as usize;
        let thickness = PIECE.div_ceil(layer);
        let some = |number: usize, cells: &mut [W]| {
            let mut part = *window;
            part.corner[axis] += (number * thickness) as u32;
            part.extent[axis] = (cells.len() / layer) as u32;
            self.paint_layers(bricks, &part, cells);
        };
        parallel::pieces_mut(cells, layer * thickness, &some);
    }

    fn paint_layers<W: Width>(&self, bricks: &[W], window: &Region<K>, cells: &mut [W]) {
        let _ = self.meet(window, &mut |region, part| {
            let to = Rows::of(&part, window);
            match region.content() {
                Content::Uniform(word) => to.fill(cells, W::cut(word)),
                Content::Leaf { brick: None } => {
                    let leaf = region.listed_leaf();
                    to.fill(cells, W::cut(leaf.background));
                    leaf.within(&region.cells(), &part, &mut |cell, word| cells[window.place(cell)] = W::cut(word));
                }
                Content::Leaf { brick } => {
                    let first = brick.expect("leaves of a tree have bricks") as usize;
                    to.copy(cells, &Rows::of(&part, &region.cells()), &bricks[first..]);
                }
            }
            ControlFlow::Continue(())
        });
    }

    /// Visits the terminal regions that meet a box of the domain, each once and with the part of it that lies in the box, until
    /// the visitor breaks off.
    pub(super) fn meet<'t>(&'t self, window: &Region<K>, visit: &mut Visitor<'_, 't, K>) -> ControlFlow<()> {
        // Rows of a partial tree can be fewer than the regions of the initial grid that meet the box.
        if self.along.meeting(0, window).cells_wide() > self.len() as u128 {
            return self.regions().try_for_each(|region| match region.cells().intersection(window) {
                Some(part) => visit(region, part),
                None => ControlFlow::Continue(()),
            });
        }
        self.meet_below(0, 0..self.len(), window, visit)
    }

    /// The same for the regions of a level that meet the box, which lie in the rows `rows`.
    fn meet_below<'t>(
        &'t self,
        level: u32,
        rows: Range<usize>,
        window: &Region<K>,
        visit: &mut Visitor<'_, 't, K>,
    ) -> ControlFlow<()> {
        let encoding = self.plan().encoding();
        for coords in self.along.meeting(level, window).cells() {
            let key = self.along.key(level, encoding.encode(level, coords));
            let at = self.entries.first_from(rows.clone(), key);
            let last = self.along.last(level, key);
            // A region that is no row has rows below it, unless it lies outside the part.
            if at == rows.end || self.entries.keys[at] > last {
                continue;
            }
            let cells = self.plan().levels()[level as usize].region(coords);
            let part = cells.intersection(window).expect("it meets the box");
            if self.entries.level(at) == level {
                visit(TreeRegion { tree: self, index: at }, part)?;
            } else {
                let end = self.entries.first_above(rows.clone(), last);
                self.meet_below(level + 1, at..end, &part, visit)?;
            }
        }
        ControlFlow::Continue(())
    }
}

/// The last axis on which a box has several cells; 0 if there is none.
fn last_axis(extent: &[u32]) -> usize {
    extent.iter().rposition(|&cells| cells > 1).unwrap_or(0)
}
