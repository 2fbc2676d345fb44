//! A box of cells, and the order of its faces.
//!
//! `Region<K>` is plain data: a corner and an extent per axis, no level, no curve, no plan. Axis 0 is x, the fastest
//! axis everywhere in the crate; picture a 2-D region of extent `[4, 3]` at corner `[0, 0]` with its cells numbered
//! in storage order:
//!
//! ```text
//!    y (axis 1)
//!    2 |  8  9 10 11
//!    1 |  4  5  6  7      storage order: x fastest
//!    0 |  0  1  2  3
//!      +------------ x (axis 0)
//! ```
//!
//! The face cells (first or last on some axis) are numbered by a bijection instead of being found by a test over all
//! cells: exploration visits them in a scattered order and usually stops after a few. Every face cell has exactly one
//! number, for every extent, sides of 1 and 2 included.

#[cfg(feature = "cuda")]
use crate::dimension::{MAX_DIM, widened};

/// A k-orthotope of cells: `corner[j] .. corner[j] + extent[j]` on axis j. Units: cells.
///
/// ```
/// use orthant::geometry::Region;
///
/// let region = Region { corner: [2, 3], extent: [4, 3] };
/// // Two of the twelve cells lie inside, not on a face.
/// assert_eq!((region.volume(), region.surface_volume()), (12, 10));
/// assert!(region.contains_cell([5, 5]) && !region.contains_cell([6, 5]));
/// let band = Region { corner: [4, 0], extent: [10, 4] };
/// assert_eq!(region.intersection(&band), Some(Region { corner: [4, 3], extent: [2, 1] }));
/// // Does it lie in an array of this size?
/// assert!(region.within([6, 6]).is_ok());
/// assert!(region.within([6, 5]).is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Region<const K: usize> {
    /// The lowest cell.
    pub corner: [u32; K],
    /// Cells per axis; a region of a plan has at least one on each.
    pub extent: [u32; K],
}

impl<const K: usize> Region<K> {
    /// The number of cells.
    #[inline]
    pub fn volume(&self) -> u64 {
        volume(&self.extent)
    }

    /// The number of cells, of boxes that may have more than 64 bits count; the largest number where 128 do not.
    #[doc(hidden)]
    pub fn cells_wide(&self) -> u128 {
        saturated_wide(&self.extent)
    }

    /// The number of cells on the faces: ∏ s_j − ∏ (s_j − 2), or all of them where some side is at most 2.
    #[inline]
    pub fn surface_volume(&self) -> u64 {
        let mut inside = 1;
        for j in 0..K {
            inside *= u64::from(self.extent[j].saturating_sub(2));
        }
        self.volume() - inside
    }

    /// The same box in the most dimensions, with one cell along axes beyond its own.
    #[cfg(feature = "cuda")]
    pub(crate) fn widened(&self) -> Region<MAX_DIM> {
        Region { corner: widened(self.corner, 0), extent: widened(self.extent, 1) }
    }

    /// True if every cell of `other` is a cell of `self`.
    pub fn contains(&self, other: &Self) -> bool {
        let mut inside = true;
        for j in 0..K {
            inside &= other.corner[j] >= self.corner[j] && other.end(j) <= self.end(j);
        }
        inside
    }

    /// The cells that both have; None if there are none.
    pub fn intersection(&self, other: &Self) -> Option<Self> {
        let mut shared = *self;
        for j in 0..K {
            let end = self.end(j).min(other.end(j));
            shared.corner[j] = self.corner[j].max(other.corner[j]);
            // No longer than either, so 32 bits hold it.
            shared.extent[j] = end.saturating_sub(shared.corner[j].into()) as u32;
        }
        (!shared.extent.contains(&0)).then_some(shared)
    }

    /// The smallest region that contains both.
    #[doc(hidden)]
    pub fn hull(&self, other: &Self) -> Self {
        let mut hull = *self;
        for j in 0..K {
            let end = self.end(j).max(other.end(j));
            hull.corner[j] = self.corner[j].min(other.corner[j]);
            // Both are in a domain, whose sides 32 bits hold.
            hull.extent[j] = (end - u64::from(hull.corner[j])) as u32;
        }
        hull
    }

    /// The first coordinate above the region on an axis, which may have 33 bits.
    #[inline]
    fn end(&self, axis: usize) -> u64 {
        u64::from(self.corner[axis]) + u64::from(self.extent[axis])
    }

    /// The region with the next layer of cells on its upper sides, where a domain of `size` cells has one.
    #[inline]
    pub fn closure(&self, size: [u32; K]) -> Self {
        let mut closure = *self;
        for j in 0..K {
            closure.extent[j] += u32::from(self.corner[j] + self.extent[j] < size[j]);
        }
        closure
    }

    /// True if `cell` is one of the region's cells.
    pub fn contains_cell(&self, cell: [u32; K]) -> bool {
        let mut inside = true;
        for j in 0..K {
            inside &= cell[j].wrapping_sub(self.corner[j]) < self.extent[j];
        }
        inside
    }

    /// The offset of cell `index` from the corner, in storage order (axis 0 fastest).
    ///
    /// `index` must be below [`volume`](Self::volume); beyond it the last axis runs over.
    #[inline]
    pub fn offset(&self, mut index: u64) -> [u32; K] {
        let mut offset = [0; K];
        for j in 0..K - 1 {
            let side = u64::from(self.extent[j]);
            offset[j] = (index % side) as u32;
            index /= side;
        }
        offset[K - 1] = index as u32;
        offset
    }

    /// The offset of face cell `index` from the corner; a bijection from `0..surface_volume()` onto the face cells.
    ///
    /// The faces are taken axis by axis. The pair of faces normal to axis j holds the cells that lie on neither face
    /// of the axes below j: 2·∏_{l<j}(s_l − 2)·∏_{l>j} s_l of them (half where s_j = 1). An axis with a side of at
    /// most 2 has no inside, so it is the last axis whose faces count.
    #[inline]
    pub fn surface_offset(&self, mut index: u64) -> [u32; K] {
        let mut offset = [0; K];
        for j in 0..K {
            // Cells of one face normal to axis j: inside on the axes before j, anything on the axes after.
            let mut span = [0u64; K];
            for (l, cells) in span.iter_mut().enumerate() {
                *cells = match l.cmp(&j) {
                    std::cmp::Ordering::Less => u64::from(self.extent[l].saturating_sub(2)),
                    std::cmp::Ordering::Equal => u64::from(self.extent[l].min(2)),
                    std::cmp::Ordering::Greater => u64::from(self.extent[l]),
                };
            }
            let pair: u64 = span.iter().product();
            if index < pair {
                for l in 0..K {
                    let digit = (index % span[l]) as u32;
                    index /= span[l];
                    offset[l] = match l.cmp(&j) {
                        std::cmp::Ordering::Less => digit + 1,
                        std::cmp::Ordering::Equal => digit * (self.extent[l] - 1),
                        std::cmp::Ordering::Greater => digit,
                    };
                }
                return offset;
            }
            index -= pair;
        }
        unreachable!("face cell index beyond the surface of the region")
    }

    /// The place of one of its cells in storage order.
    #[inline]
    #[doc(hidden)]
    pub fn place(&self, cell: [u32; K]) -> usize {
        let mut place = 0;
        for j in (0..K).rev() {
            place = place * self.extent[j] as usize + (cell[j] - self.corner[j]) as usize;
        }
        place
    }

    /// The cell at `offset` from the corner.
    #[inline]
    pub fn cell(&self, mut offset: [u32; K]) -> [u32; K] {
        for j in 0..K {
            offset[j] += self.corner[j];
        }
        offset
    }

    /// Every cell once, in storage order.
    #[inline]
    pub fn cells(&self) -> impl Iterator<Item = [u32; K]> + use<K> {
        let region = *self;
        (0..region.volume()).map(move |i| region.cell(region.offset(i)))
    }

    /// Every face cell once.
    pub fn surface(&self) -> impl Iterator<Item = [u32; K]> + use<K> {
        let region = *self;
        (0..region.surface_volume()).map(move |i| region.cell(region.surface_offset(i)))
    }

    /// Appends every cell once, in storage order; faster than [`cells`](Self::cells), which divides for each.
    #[inline]
    #[allow(unsafe_code)]
    pub fn extend_cells(&self, cells: &mut Vec<[u32; K]>) {
        let (len, side) = (cells.len(), self.extent[0].max(1) as usize);
        // A volume beyond 64 bits wraps, and has no whole number of rows.
        let volume = self.volume() as usize / side * side;
        cells.reserve(volume);
        // `Vec::extend` compiles to a function that is called for each row, and `push` checks the capacity for each cell.
        let mut row = self.corner;
        for places in cells.spare_capacity_mut()[..volume].chunks_exact_mut(side) {
            let mut cell = row;
            for place in places {
                place.write(cell);
                // Nobody reads the last one, which may be 2^32.
                cell[0] = cell[0].wrapping_add(1);
            }
            self.step_to_next_row(&mut row);
        }
        // SAFETY: `volume` is a multiple of `side`, so that the loop wrote all of these places.
        unsafe { cells.set_len(len + volume) }
    }

    /// From the first cell of a row to that of the next, in storage order: an odometer over the other axes.
    #[inline(always)]
    fn step_to_next_row(&self, row: &mut [u32; K]) {
        for j in 1..K {
            row[j] += 1;
            if row[j] - self.corner[j] < self.extent[j] {
                break;
            }
            row[j] = self.corner[j];
        }
    }

    /// The first cell of every row along axis 0, in storage order.
    #[inline]
    pub fn rows(&self) -> impl Iterator<Item = [u32; K]> + Clone + use<K> {
        let region = *self;
        let (mut row, mut left) = (region.corner, region.volume() / u64::from(region.extent[0].max(1)));
        std::iter::from_fn(move || {
            left = left.checked_sub(1)?;
            let now = row;
            region.step_to_next_row(&mut row);
            Some(now)
        })
    }
}

/// The product of extents.
#[inline]
pub(crate) fn volume(extent: &[u32]) -> u64 {
    extent.iter().map(|&side| u64::from(side)).product()
}

/// The product of extents; the largest number where that is more.
#[inline]
pub(crate) fn saturated_wide(extent: &[u32]) -> u128 {
    extent.iter().fold(1, |cells: u128, &side| cells.saturating_mul(side.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn check<const K: usize>(extent: [u32; K]) {
        let region = Region { corner: std::array::from_fn(|j| 3 * j as u32 + 1), extent };
        let wanted: HashSet<_> = region
            .cells()
            .filter(|c| (0..K).any(|j| c[j] == region.corner[j] || c[j] == region.corner[j] + extent[j] - 1))
            .collect();
        let seen: Vec<_> = region.surface().collect();
        assert_eq!(seen.len() as u64, region.surface_volume(), "{extent:?}");
        assert_eq!(seen.iter().copied().collect::<HashSet<_>>(), wanted, "{extent:?}");
        assert_eq!(seen.len(), wanted.len(), "a face cell of {extent:?} came twice");
        assert_eq!(region.cells().collect::<HashSet<_>>().len() as u64, region.volume());
        let mut listed = Vec::new();
        region.extend_cells(&mut listed);
        assert_eq!(listed, region.cells().collect::<Vec<_>>());
        assert!(listed.iter().enumerate().all(|(place, &cell)| region.place(cell) == place));
    }

    #[test]
    fn every_face_cell_comes_exactly_once() {
        for a in 1..6 {
            check([a]);
            for b in 1..6 {
                check([a, b]);
                for c in 1..5 {
                    check([a, b, c]);
                    check([a, b, c, 3]);
                    check([c, 1, a, 2, b]);
                }
            }
        }
        check([3, 4, 2, 3, 1, 3]);
        check([3; 6]);
        check([2, 3, 3, 2, 3, 3, 2]);
        check([3; 8]);
        check([3, 1, 3, 3, 2, 3, 4, 3]);
    }

    /// Behind cells that are there, up to the last number of an axis; a box without cells adds none.
    #[test]
    fn cells_are_appended() {
        let mut cells = vec![[9, 9]];
        Region { corner: [u32::MAX - 1, 3], extent: [2, 2] }.extend_cells(&mut cells);
        let wanted = [[9, 9], [u32::MAX - 1, 3], [u32::MAX, 3], [u32::MAX - 1, 4], [u32::MAX, 4]];
        assert_eq!(cells, wanted);
        for extent in [[0, 5], [5, 0], [0, 0]] {
            Region { corner: [1, 2], extent }.extend_cells(&mut cells);
            assert_eq!(cells, wanted, "{extent:?}");
        }
    }

    #[test]
    fn containment() {
        let big = Region { corner: [2, 2], extent: [4, 4] };
        assert!(big.contains(&Region { corner: [3, 2], extent: [3, 1] }));
        assert!(!big.contains(&Region { corner: [3, 2], extent: [4, 1] }));
        assert!(!big.contains(&Region { corner: [1, 2], extent: [1, 1] }));
        assert_eq!(
            big.intersection(&Region { corner: [0, 5], extent: [3, 9] }),
            Some(Region { corner: [2, 5], extent: [1, 1] })
        );
        assert_eq!(big.intersection(&Region { corner: [0, 6], extent: [9, 9] }), None);
        assert!(big.contains_cell([5, 5]) && !big.contains_cell([6, 5]) && !big.contains_cell([1, 5]));
    }
}
