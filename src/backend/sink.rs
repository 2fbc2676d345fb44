//! Where the results of a run go, batch by batch.

use std::ops::Range;

use crate::backend::error::{BatchError, Error};
use crate::backend::leaf_cells::LeafCells;
use crate::geometry::{Level, Region};
use crate::memory::reserve;
use crate::parallel;
use crate::plan::Plan;
use crate::result::{
    Bricks, Cells, Content, DenseArray, MaterialiseError, MemoryError, RegionsChecksum, RunCounts, Stored, Subdivision,
    Terminal, append_le,
};

/// Terminal regions of a batch, at most: enough for many threads.
const REGIONS: usize = 1 << 18;

/// Cells of a batch's leaves, at most, unless a single one has more.
const CELLS: u64 = 1 << 20;

/// Threads of which each adds a batch to those that all move at once, at most.
const WIDE: usize = 16;

/// Regions that a thread looks at.
const TOGETHER: usize = 1 << 11;

/// Takes the results of a run: the terminal regions by level and code, the cells of their leaves in the same order, and
/// the cells of a dense array. The order is the same on every backend. Only the shards of [trees](crate::tree) come
/// along the curve instead.
///
/// [`Subdivision`] is a sink that keeps everything.
///
/// ```
/// use orthant::backend::{Batch, Part, Sink};
/// use orthant::prelude::*;
/// use orthant::{Control, Error};
///
/// /// Counts regions and cells, and keeps none.
/// #[derive(Default)]
/// struct Sum { regions: usize, cells: u64 }
/// impl Sink<2> for Sum {
///     fn terminals(&mut self, batch: Batch<'_, 2>) -> Result<(), Error> {
///         self.regions += batch.terminals.len();
///         self.cells += batch.terminals.iter().map(|t| batch.plan.region(t.level(), t.code).volume()).sum::<u64>();
///         Ok(())
///     }
///     fn cells(&mut self, _: &Region<2>, _: u64, _: &[u8]) -> Result<(), Error> {
///         Ok(()) // of a dense array, which is not kept here
///     }
/// }
///
/// let plan = Plan::builder([64, 64]).scheme(Scheme::uniform(2, 2, 4)).build()?;
/// let left = CellField::new(1, |[x, _]| u32::from(x < 32));
/// let (cpu, mut sum) = (Target::cpu(), Sum::default());
/// let mut prepared = cpu.of().prepare(&plan, &left, &How::default().keep(Keep::Regions))?;
/// prepared.run(&Part::default(), &Control::default())?;
/// prepared.result(&mut sum)?;
/// assert_eq!((sum.regions, sum.cells), (4, 64 * 64));
/// # Ok::<(), Error>(())
/// ```
pub trait Sink<const K: usize> {
    /// The next terminal regions.
    ///
    /// # Errors
    /// Whatever ends the delivery.
    fn terminals(&mut self, batch: Batch<'_, K>) -> Result<(), Error>;

    /// The next cells of the dense array over `window`, from cell `start` on in storage order, as little-endian bytes.
    ///
    /// # Errors
    /// Whatever ends the delivery.
    fn cells(&mut self, window: &Region<K>, start: u64, bytes: &[u8]) -> Result<(), Error>;
}

/// Some terminal regions that follow each other.
#[derive(Debug, Clone, Copy)]
pub struct Batch<'b, const K: usize> {
    /// The plan, which knows the regions' cells.
    pub plan: &'b Plan<K>,
    /// By level and code. Bricks start at places among those of the whole run.
    pub terminals: &'b [Terminal],
    /// The cells of the leaves here, brick after brick.
    pub bricks: &'b Cells,
    /// The place of the first of these cells among those of the whole run.
    pub start: u64,
}

impl<const K: usize> Batch<'_, K> {
    /// The checksum of the regions; those of all batches add up to that of the run. None if cells of a leaf were not kept with
    /// its region.
    pub fn checksum(&self) -> Option<RegionsChecksum> {
        let kept = |terminal: &Terminal| !matches!(terminal.content(), Content::Leaf { brick: None });
        let checksum = || {
            RegionsChecksum::of(self.plan, self.terminals, &|terminal, brick, bytes| {
                let start = (brick.expect("just looked for") - self.start) as usize;
                let cells = self.plan.region(terminal.level(), terminal.code).volume() as usize;
                append_le(self.bricks, start..start + cells, bytes);
            })
        };
        self.terminals.iter().all(kept).then(checksum)
    }

    /// Fails unless the regions are the plan's, and the bricks are those of the leaves, one after the other.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let levels = self.plan.levels();
        let deepest = levels.len() as u32 - 1;
        let pieces = self.terminals.len().div_ceil(TOGETHER);
        let piece = |i| self.terminals[parallel::piece(self.terminals.len(), TOGETHER, i)].iter();
        // What the regions are, and how many cells the leaves of each piece have.
        let known = |i| -> Result<u128, Error> {
            let mut cells = 0;
            for terminal in piece(i) {
                let (level, code) = (terminal.level(), terminal.code);
                if levels.get(level as usize).is_none_or(|level| u128::from(code) >= level.regions()) {
                    return Err(BatchError::Region { level, code }.into());
                }
                let Content::Leaf { brick } = terminal.content() else { continue };
                brick.ok_or(Error::NotKept(MaterialiseError::NoBricks))?;
                if level != deepest {
                    return Err(BatchError::Leaf { level, deepest }.into());
                }
                cells += self.plan.region(level, code).cells_wide();
            }
            Ok(cells)
        };
        let (mut starts, mut next) = (Vec::with_capacity(pieces), u128::from(self.start));
        for cells in parallel::map(pieces, &known) {
            starts.push(next);
            next += cells?;
        }
        let placed = |i: usize| -> Result<(), Error> {
            let mut next = starts[i];
            for terminal in piece(i) {
                let (level, code) = (terminal.level(), terminal.code);
                let Some(place) = terminal.brick() else { continue };
                if u128::from(place) != next {
                    return Err(BatchError::Place { level, code, place, next }.into());
                }
                next += self.plan.region(level, code).cells_wide();
            }
            Ok(())
        };
        parallel::map(pieces, &placed).into_iter().collect::<Result<(), Error>>()?;
        let need = next - u128::from(self.start);
        let have = self.bricks.len();
        if have as u128 != need {
            return Err(BatchError::Cells { have, need }.into());
        }
        Ok(())
    }
}

/// Says of some regions how many cells the brick of each has: 0 if it has none.
pub(crate) type BrickVolumes<'v> = dyn Fn(&[Terminal]) -> Vec<u64> + 'v;

/// Delivers terminal regions in any order, and their bricks, by level and code.
pub(crate) fn deliver<const K: usize>(
    plan: &Plan<K>,
    terminals: Vec<Terminal>,
    bricks: &mut dyn LeafCells,
    sink: &mut dyn Sink<K>,
) -> Result<(), Error> {
    deliver_sorted(terminals, bricks, &|some| brick_volumes(plan, some), &mut |terminals, bricks, start| {
        sink.terminals(Batch { plan, terminals, bricks, start })
    })
}

/// Takes some regions, the cells of their leaves, and the place of the first of these.
type TakeBatch<'t> = dyn FnMut(&[Terminal], &Cells, u64) -> Result<(), Error> + 't;

/// Sorts regions and delivers them with their bricks. `volumes` knows the plan.
fn deliver_sorted(
    mut terminals: Vec<Terminal>,
    bricks: &mut dyn LeafCells,
    volumes: &BrickVolumes<'_>,
    take: &mut TakeBatch<'_>,
) -> Result<(), Error> {
    let refused = MemoryError::refused(Stored::Terminals);
    Terminal::sort(&mut terminals);
    bricks.announce(&terminals);
    let (mut cells, mut start) = (Cells::empty(bricks.kind()), 0);
    for window in terminals.chunks_mut(REGIONS) {
        let volumes = volumes(window);
        for batch in batches(&volumes, CELLS) {
            let (terminals, volumes) = (&mut window[batch.clone()], &volumes[batch]);
            let need = volumes.iter().sum::<u64>();
            cells = cells.resized(need as usize).map_err(&refused)?;
            bricks.take(terminals, volumes, start, cells.bytes_mut())?;
            take(terminals, &cells, start)?;
            start += need;
        }
    }
    Ok(())
}

/// Delivers a dense array, if there is one, piece by piece.
pub(crate) fn deliver_array<const K: usize>(
    array: Option<&DenseArray<K>>,
    sink: &mut dyn Sink<K>,
) -> Result<(), Error> {
    let Some(array) = array else { return Ok(()) };
    deliver_cells(array.cells(), &mut |start, bytes| sink.cells(&array.window(), start, bytes))
}

/// Takes some cells, as bytes, and the place of the first of them.
type TakeCells<'t> = dyn FnMut(u64, &[u8]) -> Result<(), Error> + 't;

/// Delivers cells in pieces, each with its place in the window.
fn deliver_cells(cells: &Cells, take: &mut TakeCells<'_>) -> Result<(), Error> {
    let mut start = 0;
    cells.le_bytes(0..cells.len(), |bytes| {
        take(start, bytes)?;
        start += bytes.len() as u64 / cells.kind().bytes();
        Ok(())
    })
}

/// Threads of which each adds a batch to those that all move at once: in batches of the size that a sink is given, 64 threads take longer
/// than 16 (docs/results/shards.md).
fn wide() -> usize {
    rayon::current_num_threads().min(WIDE)
}

/// Cells that all threads move at once, of so many: a quarter, since what moves is in memory twice meanwhile, but no less than a
/// batch, and no more than one per thread. With a sixteenth, 16 threads took 1.8 times as long to move them (docs/results/cpu.md).
fn moved_together(cells: u64) -> u64 {
    (cells / 4).clamp(CELLS, CELLS * wide() as u64)
}

/// Runs of regions whose bricks have at most so many cells, or a single region.
fn batches(volumes: &[u64], most: u64) -> Vec<Range<usize>> {
    let (mut batches, mut first, mut cells) = (Vec::new(), 0, 0);
    for (region, &volume) in volumes.iter().enumerate() {
        if cells + volume > most && region > first {
            batches.push(first..region);
            (first, cells) = (region, 0);
        }
        cells += volume;
    }
    batches.push(first..volumes.len());
    batches
}

impl<const K: usize> Subdivision<K> {
    /// What the parts of a run found together, in any order, and the cells that they wrote.
    ///
    /// # Errors
    /// If there is no memory for it.
    #[doc(hidden)]
    pub fn of_parts(
        plan: &Plan<K>,
        counts: RunCounts<K>,
        terminals: Vec<Terminal>,
        mut bricks: Bricks,
        array: Option<DenseArray<K>>,
    ) -> Result<Self, Error> {
        let domain = plan.domain();
        let mut all = Self::new(plan.clone(), domain.region(), domain.cells(), counts, bricks.kind());
        deliver_all(terminals, &mut bricks, &mut all)?;
        Ok(all.with_array(array))
    }

    /// The same regions, with other cells.
    #[doc(hidden)]
    #[must_use]
    pub fn with_array(self, array: Option<DenseArray<K>>) -> Self {
        Self { array, ..self }
    }
}

/// The same in any order, into a subdivision that has no regions yet: bricks go straight to their last place, in the memory that it has
/// for them if that is enough.
pub(crate) fn deliver_all<const K: usize>(
    mut terminals: Vec<Terminal>,
    bricks: &mut dyn LeafCells,
    all: &mut Subdivision<K>,
) -> Result<(), Error> {
    let memory = std::mem::replace(&mut all.bricks, Cells::empty(bricks.kind()));
    all.bricks = sorted_bricks(&mut terminals, bricks, &|some| brick_volumes(&all.plan, some), memory)?;
    all.terminals = terminals;
    Ok(())
}

/// Sorts terminal regions, and returns their bricks in the same order.
fn sorted_bricks(
    terminals: &mut [Terminal],
    bricks: &mut dyn LeafCells,
    volumes: &BrickVolumes<'_>,
    memory: Cells,
) -> Result<Cells, Error> {
    Terminal::sort(terminals);
    bricks.announce(terminals);
    // Of a fresh array the pages come as they are written, by all threads.
    let mut cells = memory.resized(bricks.len() as usize).map_err(MemoryError::refused(Stored::Terminals))?;
    let mut start = 0;
    for window in terminals.chunks_mut(REGIONS * wide()) {
        let volumes = volumes(window);
        start = take_bricks(window, &volumes, bricks, start, &mut cells)?;
    }
    cells.truncate(start as usize);
    Ok(cells)
}

/// Takes the bricks of some regions to their place among cells, whose first one begins at `start`: where the last one ends.
pub(super) fn take_bricks(
    regions: &mut [Terminal],
    volumes: &[u64],
    bricks: &mut dyn LeafCells,
    start: u64,
    cells: &mut Cells,
) -> Result<u64, Error> {
    let (width, mut start) = (bricks.kind().bytes(), start);
    for batch in batches(volumes, bricks.together(moved_together(bricks.len()))) {
        let (regions, volumes) = (&mut regions[batch.clone()], &volumes[batch]);
        let end = start + volumes.iter().sum::<u64>();
        let to = &mut cells.bytes_mut()[(start * width) as usize..(end * width) as usize];
        bricks.take(regions, volumes, start, to)?;
        start = end;
    }
    Ok(start)
}

/// The cells of each region's brick, 0 where it has none.
pub(crate) fn brick_volumes<const K: usize>(plan: &Plan<K>, terminals: &[Terminal]) -> Vec<u64> {
    let mut volumes = vec![0; terminals.len()];
    let same: Vec<Option<u64>> = plan.levels().iter().map(Level::volume).collect();
    parallel::pieces_mut(&mut volumes, TOGETHER, &|i, volumes| {
        let terminals = &terminals[parallel::piece(terminals.len(), TOGETHER, i)];
        for (volume, terminal) in volumes.iter_mut().zip(terminals).filter(|(_, terminal)| terminal.brick().is_some()) {
            let cells = || plan.region(terminal.level(), terminal.code).volume();
            *volume = same[terminal.level() as usize].unwrap_or_else(cells);
        }
    });
    volumes
}

impl<const K: usize> Sink<K> for Subdivision<K> {
    fn terminals(&mut self, batch: Batch<'_, K>) -> Result<(), Error> {
        let refused = MemoryError::refused(Stored::Terminals);
        reserve(&mut self.terminals, batch.terminals.len()).map_err(&refused)?;
        self.bricks.reserve(batch.bricks.len()).map_err(&refused)?;
        self.terminals.extend_from_slice(batch.terminals);
        self.bricks.append(batch.bricks);
        Ok(())
    }

    fn cells(&mut self, window: &Region<K>, start: u64, bytes: &[u8]) -> Result<(), Error> {
        let kind = self.bricks.kind();
        let array = match self.array.take() {
            Some(array) => array,
            None => DenseArray::zeroed(Stored::Dense, *window, kind)?,
        };
        let array = self.array.insert(array);
        array.store(start as usize, bytes);
        Ok(())
    }
}
