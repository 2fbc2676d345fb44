//! Which blocks of an array hold one value: what many proofs about its regions look up, on a CPU.
//!
//! One pass over the cells says of every small block whether its cells are equal. A block of the next level is two of them per axis, up to
//! one that covers all. A proof goes from the largest blocks that meet a region to the smallest, and looks at single cells only where a
//! mixed block crosses the region's border. A device has the same of a plan's own regions (`cuda/pyramid.rs`).

use crate::cell::CellType;
use crate::memory::{Refused, reserve};
use crate::parallel;
use crate::rule::exact;

/// Axes that there can be.
const AXES: usize = crate::dimension::MAX_DIM;

/// A number per axis; those beyond the array's are of no meaning.
type PerAxis = [u64; AXES];

/// A box of cells or of blocks: from the corner on, up to the end.
#[derive(Clone, Copy)]
struct Bounds<'a> {
    corner: &'a PerAxis,
    end: &'a PerAxis,
}

/// Blocks along axis 0 that a thread looks at before it takes the next, about.
const TOGETHER: u64 = 1 << 12;

/// The cells of an array in memory, axis 0 fastest.
#[derive(Clone, Copy)]
pub(super) struct ArrayCells<'a> {
    kind: CellType,
    axes: usize,
    /// Cells per axis.
    size: PerAxis,
    bytes: &'a [u8],
}

impl<'a> ArrayCells<'a> {
    /// Of an array of `size` cells per axis.
    pub(super) fn new(kind: CellType, size: &[u32], bytes: &'a [u8]) -> Self {
        let mut padded = [1; AXES];
        padded.iter_mut().zip(size).for_each(|(padded, &side)| *padded = side.into());
        Self { kind, axes: size.len(), size: padded, bytes }
    }

    /// The index of a cell.
    fn index(&self, cell: &PerAxis) -> usize {
        (0..self.axes).rev().fold(0, |index, j| index * self.size[j] + cell[j]) as usize
    }

    /// The word that stands for the value of a cell.
    fn key(&self, index: usize) -> u64 {
        let word = match self.kind.bytes() {
            1 => self.bytes[index].into(),
            2 => u16::from_ne_bytes(taken(self.bytes, index)).into(),
            4 => u32::from_ne_bytes(taken(self.bytes, index)).into(),
            _ => u64::from_ne_bytes(taken(self.bytes, index)),
        };
        exact::key(self.kind, word)
    }

    /// The value of all cells of a box, if it is one. Every cell may be looked at.
    pub(super) fn value(&self, corner: &PerAxis, end: &PerAxis) -> Option<u64> {
        let first = self.key(self.index(corner));
        self.is_all(corner, end, first).then_some(first)
    }

    /// True if all cells of a box have this value.
    fn is_all(&self, corner: &PerAxis, end: &PerAxis, value: u64) -> bool {
        let mut row = *corner;
        loop {
            let start = self.index(&row);
            if (start..start + (end[0] - corner[0]) as usize).any(|index| self.key(index) != value) {
                return false;
            }
            if !next(&mut row, corner, end, 1..self.axes) {
                return true;
            }
        }
    }
}

/// The bytes of element `index`, of N bytes.
#[inline(always)]
pub(super) fn taken<const N: usize>(bytes: &[u8], index: usize) -> [u8; N] {
    bytes[N * index..][..N].try_into().expect("N bytes")
}

/// Moves to the next place of a box, the first axis fastest; false after the last one.
fn next(place: &mut PerAxis, corner: &PerAxis, end: &PerAxis, axes: std::ops::Range<usize>) -> bool {
    for j in axes {
        place[j] += 1;
        if place[j] < end[j] {
            return true;
        }
        place[j] = corner[j];
    }
    false
}

/// Cells along axis 0 that are compared at a time.
const SEGMENT: usize = 8;

/// What is known of the blocks of a window.
pub(super) struct UniformBlocks<'a> {
    cells: ArrayCells<'a>,
    /// Where the window begins and ends.
    corner: PerAxis,
    end: PerAxis,
    /// The smallest blocks first.
    levels: Vec<BlockLevel>,
}

/// Blocks of one size.
struct BlockLevel {
    /// A block has 2^shift cells on an axis, but for the last one.
    shift: [u32; AXES],
    grid: PerAxis,
    mixed: Vec<bool>,
}

impl BlockLevel {
    fn place(&self, block: &PerAxis, axes: usize) -> usize {
        (0..axes).rev().fold(0, |place, j| place * self.grid[j] + block[j]) as usize
    }

    /// The block at a place.
    fn block(&self, mut place: u64, axes: usize) -> PerAxis {
        let mut block = [0; AXES];
        for j in 0..axes {
            block[j] = place % self.grid[j];
            place /= self.grid[j];
        }
        block
    }
}

/// The sides of the smallest blocks, as powers of two: 64 to 256 cells in up to six dimensions.
fn least(axes: usize) -> [u32; AXES] {
    let mut shift = match axes {
        1 | 2 => [3; AXES],
        3 => [2; AXES],
        _ => [1; AXES],
    };
    shift[0] = if axes == 1 { 6 } else { 3 };
    shift
}

impl<'a> UniformBlocks<'a> {
    /// Looks at every cell of a window once.
    ///
    /// # Errors
    /// If there is no memory for what is found.
    pub(super) fn new(cells: ArrayCells<'a>, corner: PerAxis, end: PerAxis) -> Result<Self, Refused> {
        let mut blocks = Self { cells, corner, end, levels: Vec::new() };
        let mut level = blocks.level(least(cells.axes))?;
        match (cells.kind, cells.kind.bytes()) {
            (CellType::F32, _) => blocks.look(&mut level, |word| match f32::from_ne_bytes(word) {
                value if value.is_nan() => f32::NAN.to_bits(),
                value => value.to_bits(),
            }),
            (CellType::F64, _) => blocks.look(&mut level, |word| match f64::from_ne_bytes(word) {
                value if value.is_nan() => f64::NAN.to_bits(),
                value => value.to_bits(),
            }),
            (_, 1) => blocks.look(&mut level, u8::from_ne_bytes),
            (_, 2) => blocks.look(&mut level, u16::from_ne_bytes),
            (_, 4) => blocks.look(&mut level, u32::from_ne_bytes),
            _ => blocks.look(&mut level, u64::from_ne_bytes),
        }
        blocks.levels.push(level);
        while let Some(below) = blocks.levels.last().filter(|below| below.mixed.len() > 1) {
            let above = blocks.joined(below)?;
            blocks.levels.push(above);
        }
        Ok(blocks)
    }

    fn axes(&self) -> usize {
        self.cells.axes
    }

    /// Blocks of a size, of which nothing is known.
    fn level(&self, shift: [u32; AXES]) -> Result<BlockLevel, Refused> {
        let mut grid = [1; AXES];
        for j in 0..self.axes() {
            grid[j] = (self.end[j] - self.corner[j]).div_ceil(1 << shift[j]);
        }
        let mut mixed = Vec::new();
        let blocks = grid.iter().product::<u64>() as usize;
        reserve(&mut mixed, blocks)?;
        mixed.resize(blocks, false);
        Ok(BlockLevel { shift, grid, mixed })
    }

    /// The cells of a block.
    fn bounds(&self, level: &BlockLevel, block: &PerAxis) -> (PerAxis, PerAxis) {
        let (mut corner, mut end) = ([0; AXES], [1; AXES]);
        for j in 0..self.axes() {
            corner[j] = self.corner[j] + (block[j] << level.shift[j]);
            end[j] = (corner[j] + (1 << level.shift[j])).min(self.end[j]);
        }
        (corner, end)
    }

    /// Says which of the smallest blocks are mixed. `key` makes a value of the bytes of a cell: equal values have equal keys.
    fn look<W: Copy + PartialEq, const N: usize>(&self, level: &mut BlockLevel, key: impl Fn([u8; N]) -> W + Sync) {
        let (cells, axes, shift) = (&self.cells, self.axes(), level.shift[0] - SEGMENT.ilog2());
        let wide = level.grid[0];
        let rows = (TOGETHER / wide).max(1);
        let mut mixed = std::mem::take(&mut level.mixed);
        // Blocks along axis 0 that share their rows of cells.
        let row = |number: u64, mixed: &mut [bool], firsts: &mut Vec<W>| {
            let (mut corner, mut end) = self.bounds(level, &level.block(number * wide, axes));
            (corner[0], end[0]) = (self.corner[0], self.end[0]);
            let mut place = corner;
            firsts.clear();
            loop {
                let start = N * cells.index(&place);
                let row = cells.bytes[start..start + N * (end[0] - corner[0]) as usize].as_chunks::<N>().0;
                if firsts.is_empty() {
                    firsts.extend(row.iter().step_by(1 << level.shift[0]).map(|cell| key(*cell)));
                }
                for (segment, cells) in row.chunks(SEGMENT).enumerate() {
                    let block = segment >> shift;
                    if !mixed[block] {
                        // Without a branch: several cells are compared at a time.
                        mixed[block] = cells.iter().fold(false, |differ, cell| differ | (key(*cell) != firsts[block]));
                    }
                }
                if !next(&mut place, &corner, &end, 1..axes) {
                    break;
                }
            }
        };
        let some = |i: usize, mixed: &mut [bool]| {
            let mut firsts = Vec::new();
            for (number, mixed) in (i as u64 * rows..).zip(mixed.chunks_mut(wide as usize)) {
                row(number, mixed, &mut firsts);
            }
        };
        parallel::pieces_mut(&mut mixed, (rows * wide) as usize, &some);
        level.mixed = mixed;
    }

    /// The blocks that are made of two on each axis.
    fn joined(&self, below: &BlockLevel) -> Result<BlockLevel, Refused> {
        let axes = self.axes();
        let mut above = self.level(below.shift.map(|shift| shift + 1))?;
        let mut mixed = std::mem::take(&mut above.mixed);
        let some = |i: usize, mixed: &mut [bool]| {
            for (place, mixed) in (i as u64 * TOGETHER..).zip(mixed) {
                let block = above.block(place, axes);
                let (low, high) = self.children(&block, below);
                let value = self.first(below, &low);
                let mut child = low;
                loop {
                    if below.mixed[below.place(&child, axes)] || self.first(below, &child) != value {
                        *mixed = true;
                        break;
                    }
                    if !next(&mut child, &low, &high, 0..axes) {
                        break;
                    }
                }
            }
        };
        parallel::pieces_mut(&mut mixed, TOGETHER as usize, &some);
        Ok(BlockLevel { mixed, ..above })
    }

    /// The blocks of the level below that a block is made of.
    fn children(&self, block: &PerAxis, below: &BlockLevel) -> (PerAxis, PerAxis) {
        let (mut low, mut high) = ([0; AXES], [1; AXES]);
        for j in 0..self.axes() {
            low[j] = 2 * block[j];
            high[j] = (2 * block[j] + 2).min(below.grid[j]);
        }
        (low, high)
    }

    /// The value of a block's first cell.
    fn first(&self, level: &BlockLevel, block: &PerAxis) -> u64 {
        self.cells.key(self.cells.index(&self.bounds(level, block).0))
    }

    /// The value of all cells of a box, if it is one. Of a box beside the window all cells may be looked at.
    pub(super) fn value(&self, corner: &PerAxis, end: &PerAxis) -> Option<u64> {
        let axes = self.axes();
        if (0..axes).any(|j| corner[j] < self.corner[j] || self.end[j] < end[j]) {
            return self.cells.value(corner, end);
        }
        // Blocks that the box may lie in: it meets two on an axis at most.
        let holds = |level: &BlockLevel| (0..axes).all(|j| end[j] - corner[j] <= 1 << level.shift[j]);
        let top = self.levels.iter().position(holds).unwrap_or(self.levels.len() - 1);
        let level = &self.levels[top];
        let (mut low, mut high) = ([0; AXES], [1; AXES]);
        for j in 0..axes {
            low[j] = (corner[j] - self.corner[j]) >> level.shift[j];
            high[j] = ((end[j] - 1 - self.corner[j]) >> level.shift[j]) + 1;
        }
        let value = self.cells.key(self.cells.index(corner));
        self.are(top, Bounds { corner: &low, end: &high }, Bounds { corner, end }, value).then_some(value)
    }

    /// True if all cells of a box that lie in these blocks have this value.
    fn are(&self, number: usize, blocks: Bounds<'_>, cells: Bounds<'_>, value: u64) -> bool {
        let mut block = *blocks.corner;
        loop {
            if !self.is(number, &block, cells, value) {
                return false;
            }
            if !next(&mut block, blocks.corner, blocks.end, 0..self.axes()) {
                return true;
            }
        }
    }

    /// True if all cells of a box that lie in this block have this value.
    fn is(&self, number: usize, block: &PerAxis, cells: Bounds<'_>, value: u64) -> bool {
        let Bounds { corner, end } = cells;
        let (axes, level) = (self.axes(), &self.levels[number]);
        let (first, last) = self.bounds(level, block);
        if !level.mixed[level.place(block, axes)] {
            return self.cells.key(self.cells.index(&first)) == value;
        }
        if (0..axes).all(|j| corner[j] <= first[j] && last[j] <= end[j]) {
            return false;
        }
        let (mut low, mut high) = ([0; AXES], [1; AXES]);
        let Some(below) = number.checked_sub(1) else {
            for j in 0..axes {
                (low[j], high[j]) = (first[j].max(corner[j]), last[j].min(end[j]));
            }
            return self.cells.is_all(&low, &high, value);
        };
        let children = self.children(block, &self.levels[below]);
        let shift = &self.levels[below].shift;
        for j in 0..axes {
            low[j] = children.0[j].max(corner[j].saturating_sub(self.corner[j]) >> shift[j]);
            high[j] = children.1[j].min(((end[j] - 1 - self.corner[j]) >> shift[j]) + 1);
        }
        self.are(below, Bounds { corner: &low, end: &high }, cells, value)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Bytes of cells that are 2 up to a cut and 0, or NaN, behind it, but for a few; of NaNs some have other bits.
    fn bytes(kind: CellType, cells: usize, cut: usize, others: &[(usize, u8)]) -> Vec<u8> {
        let mut words: Vec<u64> = vec![kind.nan().unwrap_or(0); cells];
        words[..cut % cells].fill(kind.word_of(2.0));
        for &(at, value) in others {
            words[at % cells] = match (kind, value) {
                (CellType::F32, 0) => u64::from(f32::NAN.to_bits()) + 1,
                (CellType::F64, 0) => f64::NAN.to_bits() + 1,
                _ => kind.word_of(value.into()),
            };
        }
        words.iter().flat_map(|word| word.to_ne_bytes().into_iter().take(kind.bytes() as usize)).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        /// Of any box in any window blocks say what all cells say.
        #[test]
        fn blocks_say_what_cells_say(
            size in prop::collection::vec(1u32..40, 1..4).prop_union(prop::collection::vec(1u32..7, 4..7)),
            kind in prop::sample::select(vec![CellType::U8, CellType::I16, CellType::F32, CellType::F64]),
            cut: usize,
            others in prop::collection::vec((any::<usize>(), 0u8..2), 0..12),
            places in prop::collection::vec([any::<u64>(), any::<u64>(), any::<u64>(), any::<u64>()], 6),
        ) {
            let cells = size.iter().product::<u32>() as usize;
            let bytes = bytes(kind, cells, cut, &others);
            let array = ArrayCells::new(kind, &size, &bytes);
            // Two numbers are a range of cells that is not empty.
            let range = |a: u64, b: u64, low: u64, high: u64| {
                let [a, b] = [a, b].map(|number| low + number % (high - low));
                (a.min(b), a.max(b) + 1)
            };
            let (mut corner, mut end) = ([0; AXES], [1; AXES]);
            let (mut low, mut high) = ([0; AXES], [1; AXES]);
            for (j, &side) in size.iter().enumerate() {
                (corner[j], end[j]) = range(places[j][0], places[j][1], 0, side.into());
                (low[j], high[j]) = range(places[j][2], places[j][3], corner[j], end[j]);
            }
            let blocks = UniformBlocks::new(array, corner, end).unwrap();
            prop_assert_eq!(blocks.value(&low, &high), array.value(&low, &high));
            prop_assert_eq!(blocks.value(&corner, &end), array.value(&corner, &end));
        }
    }
}
