//! Keys of points: the code of the region of the last level, and in the lowest bits the place of the cell in that region.

use crate::curve::Encoding;
use crate::geometry::Domain;
use crate::per_axis;
use crate::points::PointsError;
use crate::tree::along::Along;
use crate::tree::points::axis_cells::AxisCells;
use crate::tree::points::record::SortedRecord;

/// Points whose keys are made together.
const BLOCK: usize = 256;

/// Makes keys for a plan.
pub(super) struct KeyMaker<'a, const K: usize> {
    along: &'a Along<K>,
    axes: [AxisCells; K],
    /// Where all regions of the last level have a power of two of cells on each axis: its logarithm.
    shifts: Option<[u32; K]>,
    /// Bits of the place of a cell.
    places: u32,
    /// Bits of a code.
    codes: u32,
}

impl<'a, const K: usize> KeyMaker<'a, K> {
    /// For the last level of a plan.
    ///
    /// # Errors
    /// [`PointsError::Bits`] if a key would have more than 64 bits.
    pub(super) fn new(along: &'a Along<K>) -> Result<Self, PointsError> {
        let (plan, deepest) = (along.plan(), along.deepest());
        let bits = |count: u128| 128 - (count - 1).leading_zeros();
        let (codes, places) = (bits(along.codes(deepest)), bits(along.most_cells(deepest)));
        if codes + places > 64 || plan.domain().cells() > u64::MAX.into() {
            return Err(PointsError::Bits);
        }
        let sides = plan.levels()[deepest as usize].whole_sides();
        let shifts = if are_powers_of_two(&sides) { Some(per_axis::each(|j| sides[j].trailing_zeros())) } else { None };
        let axes = per_axis::each(|j| AxisCells::new(plan.domain(), j));
        Ok(Self { along, axes, shifts, places, codes })
    }

    /// Bits of the place of a cell, below the code.
    pub(super) fn places(&self) -> u32 {
        self.places
    }

    /// Bits of all keys.
    pub(super) fn bits(&self) -> u32 {
        self.places + self.codes
    }

    /// Appends the records of points; the word of the point number i is `words[i]`, if there are any. Points outside of the window
    /// are left out.
    pub(super) fn append<R: SortedRecord>(&self, coordinates: &[f64], words: Option<&[u64]>, records: &mut Vec<R>) {
        let (mut keys, mut from) = ([0; BLOCK], [0; BLOCK]);
        for (number, block) in coordinates.chunks(BLOCK * K).enumerate() {
            let words = words.map(|words| &words[number * BLOCK..]);
            let inside = self.keys(block, &mut keys, &mut from);
            records.extend(keys[..inside].iter().zip(&from).map(|(&key, &from)| {
                let word = words.map_or(0, |words| words[from as usize]);
                R::new(key, word)
            }));
        }
    }

    /// The keys of the points inside the window, and which points they are; how many there are.
    fn keys(&self, coordinates: &[f64], keys: &mut [u64; BLOCK], from: &mut [u32; BLOCK]) -> usize {
        let block = coordinates.as_chunks::<K>().0;
        match self.shifts {
            Some(shifts) => self.keys_by(block, keys, from, |_, j, cell| {
                let (region, first) = (cell >> shifts[j], cell & !((1 << shifts[j]) - 1));
                (region, first, 1 << shifts[j])
            }),
            None => self.keys_by(block, keys, from, |along: &Along<K>, j, cell| {
                let region = along.region_on(j, cell);
                let cells = along.axis(j, region);
                (region, cells.start, cells.end - cells.start)
            }),
        }
    }

    /// The same. `find` says of a cell of an axis its region, and the first cell and the number of cells of that.
    #[inline]
    fn keys_by(
        &self,
        block: &[[f64; K]],
        keys: &mut [u64; BLOCK],
        from: &mut [u32; BLOCK],
        find: impl Fn(&Along<K>, usize, u32) -> (u32, u32, u32),
    ) -> usize {
        let domain: &Domain<K> = self.along.plan().domain();
        let (mut regions, mut places) = ([[0u32; K]; BLOCK], [0u64; BLOCK]);
        let mut inside = 0;
        for (i, point) in block.iter().enumerate() {
            let (mut region, mut place, mut stride, mut all) = ([0; K], 0u64, 1u64, true);
            for j in 0..K {
                let x = point[j];
                let cell = self.axes[j].cell(x, || domain.cell_on(j, x));
                all &= cell.is_some();
                let cell = cell.unwrap_or(0);
                let (own, first, cells) = find(self.along, j, cell);
                region[j] = own;
                place += u64::from(cell - first) * stride;
                stride *= u64::from(cells);
            }
            (regions[inside], places[inside], from[inside]) = (region, place, i as u32);
            inside += usize::from(all);
        }
        let encoding: &dyn Encoding<K> = self.along.plan().encoding();
        encoding.encode_slice(self.along.deepest(), &regions[..inside], &mut keys[..inside]);
        for (key, place) in keys[..inside].iter_mut().zip(places) {
            *key = *key << self.places | place;
        }
        inside
    }
}

fn are_powers_of_two(sides: &[u32]) -> bool {
    sides.iter().all(|side| side.is_power_of_two())
}
