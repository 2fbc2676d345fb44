//! What every region of the deepest level is, from one pass over an array in the order of its memory.
//!
//! Boxes along the curve are short rows far from each other: their pages come from a disk in no order, and from memory with a miss
//! for every row. A survey reads each row of the array as a whole and once, and leaves a word for each region of the deepest
//! level, or that it is mixed. What is built along the curve then reads nothing but mixed leaves.

use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::backend::Control;
use crate::cell::CellType;
use crate::dimension::here;
use crate::mapping::{SHORT, SharedCells};
use crate::parallel;
use crate::per_axis;
use crate::result::{Cells, MemoryError, Stored, Width, each_width};
use crate::rule::exact;
use crate::tree::along::Along;
use crate::tree::axis::AxisRegions;
use crate::tree::error::TreeError;
use crate::tree::source::{InMemory, Source};

/// Cells of a region below which boxes along the curve are read instead: what is known of regions would be as large as the array.
const LEAST: u128 = 256;

/// Bytes that a thread looks at before it takes the next, and cells before it hears whether it is to end.
const PORTION: usize = 1 << 20;

/// Bytes ahead of it that are asked for.
const AHEAD: usize = 1 << 25;

/// Regions of the deepest level: the words of those of one value, and which are mixed.
#[derive(Debug)]
pub(super) struct Survey<const K: usize> {
    /// The domain's axis that is the fastest in memory, then the others.
    axes: [usize; K],
    /// Regions per axis of the domain.
    grid: [u32; K],
    words: Cells,
    mixed: Vec<bool>,
}

impl<const K: usize> Survey<K> {
    /// Bytes that a survey takes, if one is of use: of an array that lies in memory, whose regions are not too small.
    pub(super) fn bytes(along: &Along<K>, source: &dyn Source<K>) -> Option<u64> {
        let regions = along.codes(along.deepest());
        let cells = along.plan().domain().cells();
        let lies = source.in_memory().is_some_and(|memory| memory.aligned(source.kind()));
        (lies && cells / regions >= LEAST).then(|| regions as u64 * (source.kind().bytes() + 1))
    }

    /// Looks at every cell.
    ///
    /// # Errors
    /// If the source changed, the control was cancelled, or there is no memory.
    pub(super) fn new(along: &Along<K>, source: &dyn Source<K>, control: &Control) -> Result<Self, TreeError> {
        here!(fn(&Along<K>, &dyn Source<K>, &Control) -> Result<Survey<K>, TreeError> = Survey::<K>::new_here)(
            along, source, control,
        )
    }

    fn new_here(along: &Along<K>, source: &dyn Source<K>, control: &Control) -> Result<Self, TreeError> {
        let memory = source.in_memory().expect("looked for before");
        let grid = along.plan().levels()[along.deepest() as usize].grid;
        let axes = per_axis::each(|i| if memory.reversed { K - 1 - i } else { i });
        let ground = Ground::new(&source.size(), &grid, &axes);
        let (will_need, unchanged) = (|bytes| source.will_need(bytes), || source.unchanged());
        let ahead = Ahead { will_need: &will_need, unchanged: &unchanged };
        let (words, mixed) = ground.words(&memory, source.kind(), &ahead, control)?;
        Ok(Self { axes, grid, words, mixed })
    }

    /// The word of the region at `coords` on the deepest level; None if it is mixed.
    #[inline]
    pub(super) fn word(&self, coords: [u32; K]) -> Option<u64> {
        let place = self.axes.iter().rev().fold(0, |place, &j| place * self.grid[j] as usize + coords[j] as usize);
        (!self.mixed[place]).then(|| self.words.word(place))
    }
}

/// An array and its regions, axes in the order of memory.
struct Ground {
    size: Vec<u32>,
    grid: Vec<u32>,
    axes: Vec<AxisRegions>,
    /// The first axis that a portion covers one region of; those below it are covered as a whole.
    cut: usize,
}

/// What a source is told and asked while its memory is read.
struct Ahead<'a> {
    will_need: &'a (dyn Fn(Range<usize>) + Sync),
    unchanged: &'a (dyn Fn() -> io::Result<()> + Sync),
}

/// Regions that follow each other in the order of memory, from a first on.
struct Seen<W> {
    first: usize,
    words: Vec<W>,
    mixed: Vec<bool>,
}

/// What is known of the regions along axis 0 that share their rows.
#[derive(Clone, Copy, PartialEq)]
enum RowState<W> {
    /// Nothing.
    New,
    /// All cells have these bits.
    Same(W),
    /// That they are not all the same.
    Different,
    /// All of them are mixed.
    Mixed,
}

impl Ground {
    /// Of an array of `size` cells and its `grid` of regions; `order` names the domain's axes as they lie in memory.
    fn new(size: &[u32], grid: &[u32], order: &[usize]) -> Self {
        let [size, grid]: [Vec<u32>; 2] = [size, grid].map(|of| order.iter().map(|&j| of[j]).collect());
        let axes = size.iter().zip(&grid).map(|(&size, &grid)| AxisRegions::new(size, grid)).collect();
        // Portions are as long as memory is, and enough for all threads.
        let enough = 4 * rayon::current_num_threads() as u64;
        let portions = |cut: usize| grid[cut..].iter().fold(1u64, |all, &regions| all.saturating_mul(regions.into()));
        let cut = (0..grid.len()).rev().find(|&cut| portions(cut) >= enough).unwrap_or(0);
        Self { size, grid, axes, cut }
    }

    /// Regions of axes, as a product.
    fn regions(&self, axes: Range<usize>) -> usize {
        self.grid[axes].iter().map(|&regions| regions as usize).product()
    }

    /// Looks at all regions: the words of those of one value, and which are mixed.
    fn words(
        &self,
        memory: &InMemory<'_>,
        kind: CellType,
        source: &Ahead<'_>,
        control: &Control,
    ) -> Result<(Cells, Vec<bool>), TreeError> {
        let words = Cells::zeroed(kind, self.regions(0..self.grid.len()));
        let mut words = words.map_err(MemoryError::refused(Stored::Terminals))?;
        let mixed = each_width!(words.bits_mut(), words => self.look(memory, kind, source, control, words))?;
        Ok((words, mixed))
    }

    /// The same, into words of their width.
    fn look<W: Width>(
        &self,
        memory: &InMemory<'_>,
        kind: CellType,
        source: &Ahead<'_>,
        control: &Control,
        words: &mut [W],
    ) -> Result<Vec<bool>, TreeError> {
        let cells: SharedCells<'_, W> = memory.bytes.cells();
        let bytes = cells.len() * size_of::<W>();
        let (each, portions) = (self.regions(0..self.cut), self.regions(self.cut..self.grid.len()));
        let kind = WordKind { kind, swapped: memory.swapped };
        let some = (PORTION / (bytes / portions).max(1)).clamp(1, portions);
        let next = AtomicUsize::new(0);
        // In the order of memory, whoever comes first: a disk then has one place to read from.
        let thread = |_| -> Result<Vec<Seen<W>>, TreeError> {
            let mut found = Vec::new();
            loop {
                let first = next.fetch_add(some, Ordering::Relaxed);
                if first >= portions {
                    return Ok(found);
                }
                let last = portions.min(first + some);
                control.check()?;
                let ends = |portion: usize| (bytes as u128 * portion as u128 / portions as u128) as usize;
                (source.will_need)(ends(first)..ends(last).saturating_add(AHEAD));
                let (mut words, mut mixed) =
                    (vec![W::cut(0); each * (last - first)], vec![false; each * (last - first)]);
                for (portion, (words, mixed)) in
                    (first..last).zip(words.chunks_exact_mut(each).zip(mixed.chunks_exact_mut(each)))
                {
                    memory.bytes.reading(|| self.portion(cells, portion, kind, words, mixed, control))?;
                }
                (source.unchanged)()?;
                found.push(Seen { first: first * each, words, mixed });
            }
        };
        let mut mixed = vec![false; words.len()];
        for seen in parallel::try_map(rayon::current_num_threads(), &thread)?.into_iter().flatten() {
            let regions = seen.first..seen.first + seen.words.len();
            words[regions.clone()].copy_from_slice(&seen.words);
            mixed[regions].copy_from_slice(&seen.mixed);
        }
        Ok(mixed)
    }

    /// Looks at the regions of a portion.
    fn portion<W: Width>(
        &self,
        cells: SharedCells<'_, W>,
        portion: usize,
        kind: WordKind,
        words: &mut [W],
        mixed: &mut [bool],
        control: &Control,
    ) -> Result<(), TreeError> {
        // The box of cells, in the order of memory.
        let (k, mut rest) = (self.size.len(), portion);
        let (mut corner, mut end) = (vec![0; k], self.size.clone());
        for i in self.cut..k {
            let region = (rest % self.grid[i] as usize) as u32;
            rest /= self.grid[i] as usize;
            (corner[i], end[i]) = (self.axes[i].first(region), self.axes[i].first(region + 1));
        }
        let along = if self.cut == 0 { 1 } else { self.grid[0] as usize };
        let bounds: Vec<usize> = match self.cut {
            0 => vec![0, (end[0] - corner[0]) as usize],
            _ => (0..=self.grid[0]).map(|region| self.axes[0].first(region) as usize).collect(),
        };
        let short = bounds.windows(2).all(|ends| (ends[1] - ends[0]) * size_of::<W>() <= SHORT);
        let runs = Runs { bounds: &bounds, short };
        let (mut rows, mut heights) = (vec![RowState::New; words.len() / along], vec![0; words.len() / along]);
        let (mut at, mut unheard) = (corner.clone(), 0);
        loop {
            let start = (0..k).rev().fold(0, |place, i| place * self.size[i] as usize + at[i] as usize);
            let row = cells.slice(start..start + (end[0] - corner[0]) as usize);
            let regions = (1..self.cut)
                .rev()
                .fold(0, |place, i| place * self.grid[i] as usize + self.axes[i].region(at[i]) as usize);
            let here = regions * along..(regions + 1) * along;
            kind.row(row, &runs, &mut rows[regions], &mut words[here.clone()], &mut mixed[here]);
            heights[regions] += 1u64;
            unheard += row.len();
            if unheard > PORTION {
                control.check()?;
                unheard = 0;
            }
            // The next row.
            let Some(axis) = (1..k).find(|&i| at[i] + 1 < end[i]) else { break };
            at[axis] += 1;
            at[1..axis].copy_from_slice(&corner[1..axis]);
        }
        words.iter_mut().for_each(|word| *word = W::cut(kind.key(*word)));
        // Mixed regions are settled when they are read again.
        let settled = heights.iter().zip(mixed.chunks_exact(along)).map(|(height, mixed)| {
            let same = mixed.iter().zip(bounds.windows(2)).filter(|(mixed, _)| !**mixed);
            height * same.map(|(_, ends)| (ends[1] - ends[0]) as u64).sum::<u64>()
        });
        control.advance(settled.sum());
        Ok(())
    }
}

/// Where a row meets the regions along axis 0.
struct Runs<'b> {
    bounds: &'b [usize],
    /// True if there are few cells in each.
    short: bool,
}

/// How bits are words.
#[derive(Clone, Copy)]
struct WordKind {
    kind: CellType,
    swapped: bool,
}

impl WordKind {
    /// The word that bits of memory count as.
    fn key<W: Width>(self, bits: W) -> u64 {
        let word = if self.swapped { bits.word().swap_bytes() >> (64 - 8 * size_of::<W>()) } else { bits.word() };
        exact::key(self.kind, word)
    }

    /// A row of cells, which meets some regions.
    fn row<W: Width>(
        self,
        row: SharedCells<'_, W>,
        runs: &Runs<'_>,
        state: &mut RowState<W>,
        words: &mut [W],
        mixed: &mut [bool],
    ) {
        match *state {
            RowState::Mixed => return,
            RowState::Same(bits) if row.all_are(bits) => return,
            RowState::New => {
                for (word, start) in words.iter_mut().zip(runs.bounds) {
                    *word = row.get(*start);
                }
                let first = row.get(0);
                if row.all_are(first) {
                    *state = RowState::Same(first);
                    return;
                }
            }
            RowState::Same(_) | RowState::Different => {}
        }
        let short = if runs.short { row.runs(runs.bounds) } else { None };
        let mut left = false;
        for (run, (word, mixed)) in words.iter().zip(mixed).enumerate() {
            if *mixed {
                continue;
            }
            let cells = || row.slice(runs.bounds[run]..runs.bounds[run + 1]);
            let same = short.map_or_else(|| cells().all_are(*word), |short| short.all_are(run, *word));
            *mixed = !same && !self.none_is_a_number(cells(), *word);
            left |= !*mixed;
        }
        *state = if left { RowState::Different } else { RowState::Mixed };
    }

    /// True if all cells count as `bits`, which is not a number.
    fn none_is_a_number<W: Width>(self, row: SharedCells<'_, W>, bits: W) -> bool {
        let all = |nan| (0..row.len()).all(|index| self.key(row.get(index)) == nan);
        self.kind.nan().is_some_and(|nan| self.key(bits) == nan && all(nan))
    }
}
