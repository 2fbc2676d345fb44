//! Look-ups without a search: a table of all regions of the deepest level, where that is small beside the tree itself.

use std::ops::Range;

use crate::geometry::Region;
use crate::memory::{Refused, reserve, zeros};
use crate::per_axis;
use crate::tree::along::Along;
use crate::tree::entries::Entries;

/// Bytes that are always spent.
const SMALL: u128 = 1 << 20;

/// The row of a region that no row of a partial tree covers.
const NONE: u32 = u32::MAX;

/// Where a cell of one axis lies on the deepest level.
#[derive(Debug, Clone, Copy)]
struct AxisPlace {
    /// The number of its region on the axis, times the regions on the axes below.
    region: u32,
    /// How many cells of the region come before it.
    offset: u32,
    /// The cells of the region.
    extent: u32,
}

/// A table of regions, and one of the cells of each axis.
#[derive(Debug, Clone)]
pub(super) struct Direct<const K: usize> {
    axes: [Vec<AxisPlace>; K],
    /// The row that covers each region of the deepest level, axis 0 fastest.
    rows: Vec<u32>,
}

impl<const K: usize> Direct<K> {
    /// For these rows; None if the tables would take more than a quarter of `bytes`, those of the tree, or there is no memory.
    pub(super) fn new(along: &Along<K>, entries: &Entries, bytes: u64) -> Option<Self> {
        let (size, grid) = (along.plan().domain().size(), along.plan().levels()[along.deepest() as usize].grid);
        let (regions, mut cells) = (along.codes(along.deepest()), 0);
        for n in size {
            cells += u128::from(n);
        }
        let need = (regions * size_of::<u32>() as u128).saturating_add(cells * size_of::<AxisPlace>() as u128);
        let counted = regions < NONE.into() && entries.len() < NONE as usize;
        (counted && need <= SMALL.max(u128::from(bytes / 4))).then(|| Self::made(along, entries, size, grid).ok())?
    }

    fn made(along: &Along<K>, entries: &Entries, size: [u32; K], grid: [u32; K]) -> Result<Self, Refused> {
        let (mut axes, mut stride, mut regions) = ([const { Vec::new() }; K], [0usize; K], 1);
        for j in 0..K {
            stride[j] = regions;
            axes[j] = places([size[j], grid[j]], regions as u32, &|number| along.axis(j, number))?;
            regions *= grid[j] as usize;
        }
        let mut rows = zeros::<u32>(regions)?;
        rows.fill(NONE);
        let (encoding, r) = (along.plan().encoding(), along.plan().scheme().r);
        for row in 0..entries.len() {
            let level = entries.level(row);
            let coords = encoding.decode(level, along.code(level, entries.keys[row]));
            let extent: [u32; K] = per_axis::each(|j| r[j].pow(along.deepest() - level));
            let below = Region { corner: per_axis::each(|j| coords[j] * extent[j]), extent };
            for first in below.rows() {
                let mut start = 0;
                for j in 0..K {
                    start += first[j] as usize * stride[j];
                }
                rows[start..start + extent[0] as usize].fill(row as u32);
            }
        }
        Ok(Self { axes, rows })
    }

    /// The row that covers a cell, and the cell's place in its region of the deepest level; None of a cell that the tree does not
    /// cover.
    #[inline]
    pub(super) fn find(&self, cell: [u32; K]) -> Option<(usize, usize)> {
        let (mut region, mut place, mut stride) = (0, 0, 1);
        for j in 0..K {
            let axis = self.axes[j].get(cell[j] as usize)?;
            region += axis.region;
            place += axis.offset as usize * stride;
            stride *= axis.extent as usize;
        }
        let row = self.rows[region as usize];
        (row != NONE).then_some((row as usize, place))
    }

    /// Bytes that it takes.
    pub(super) fn bytes(&self) -> u64 {
        let cells: usize = self.axes.iter().map(Vec::len).sum();
        (cells * size_of::<AxisPlace>() + self.rows.len() * size_of::<u32>()) as u64
    }
}

/// Where each of an axis' cells lies, of so many cells and regions. The regions on the axes below are `stride`.
fn places(
    [cells, regions]: [u32; 2],
    stride: u32,
    cells_of: &dyn Fn(u32) -> Range<u32>,
) -> Result<Vec<AxisPlace>, Refused> {
    let mut places = Vec::new();
    reserve(&mut places, cells as usize)?;
    for number in 0..regions {
        let own = cells_of(number);
        let extent = own.end - own.start;
        places.extend((0..extent).map(|offset| AxisPlace { region: number * stride, offset, extent }));
    }
    Ok(places)
}

#[cfg(test)]
mod tests {

    use crate::curve::CurveKind;
    use crate::field::ArrayField;
    use crate::geometry::{Domain, Sample, Scheme};
    use crate::plan::Plan;
    use crate::rule::RuleKind;
    use crate::tree::bottom_up::BottomUp;

    /// Against the search, for a whole tree and for a part of it.
    #[test]
    fn the_table_finds_what_a_search_finds() {
        let array =
            ndarray::ArrayD::from_shape_fn(vec![7, 11, 9], |at| u8::from(at[0] * at[1] > 20) + u8::from(at[2] == 4));
        let field = ArrayField::new(array.view()).unwrap();
        let domain = Domain::new([9, 11, 7], [[0.0, 1.0]; 3], Sample::Centre).unwrap();
        let scheme = Scheme { g: [1, 2, 1], r: [2, 1, 3], b: [1; 3] };
        let plan = Plan::new(domain, scheme, CurveKind::Morton, RuleKind::Full).unwrap();
        let building = BottomUp::new(&plan, &field).unwrap();
        for tree in [building.tree().unwrap(), building.part(1, 3..7).unwrap()] {
            let direct = tree.direct().expect("tables of a small tree are small");
            for cell in domain.region().cells() {
                assert_eq!(direct.find(cell), tree.searched(cell), "{cell:?}");
            }
            assert_eq!((direct.find([9, 0, 0]), direct.find([0, 0, u32::MAX])), (None, None));
        }
    }
}
