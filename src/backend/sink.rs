//! Where the results of a run go, batch by batch.

use crate::backend::error::{BatchError, Error};
use crate::geometry::Region;
use crate::memory::reserve;
use crate::plan::Plan;
use crate::result::{
    Bricks, Cells, Content, DenseArray, MaterialiseError, MemoryError, RegionsChecksum, Stored, Subdivision, Terminal,
    append_le,
};

/// Terminal regions of a batch, at most.
const REGIONS: usize = 1 << 16;

/// Cells of a batch's leaves, at most, unless a single one has more.
const CELLS: u64 = 1 << 20;

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
        let mut need = 0u128;
        for terminal in self.terminals {
            let (level, code) = (terminal.level(), terminal.code);
            if levels.get(level as usize).is_none_or(|level| u128::from(code) >= level.regions()) {
                return Err(BatchError::Region { level, code }.into());
            }
            let Content::Leaf { brick } = terminal.content() else { continue };
            let place = brick.ok_or(Error::NotKept(MaterialiseError::NoBricks))?;
            if level != deepest {
                return Err(BatchError::Leaf { level, deepest }.into());
            }
            let next = u128::from(self.start) + need;
            if u128::from(place) != next {
                return Err(BatchError::Place { level, code, place, next }.into());
            }
            need += self.plan.region(level, code).cells_wide();
        }
        let have = self.bricks.len();
        if have as u128 != need {
            return Err(BatchError::Cells { have, need }.into());
        }
        Ok(())
    }
}

/// Delivers terminal regions in any order, and their bricks, by level and code.
pub(crate) fn deliver<const K: usize>(
    plan: &Plan<K>,
    mut terminals: Vec<Terminal>,
    mut bricks: Bricks,
    sink: &mut dyn Sink<K>,
) -> Result<(), Error> {
    let place = |terminal: &Terminal| match terminal.content() {
        Content::Leaf { brick } => brick,
        Content::Uniform(_) => None,
    };
    Terminal::sort(&mut terminals);
    bricks.announce(terminals.iter().filter_map(place));
    let mut cells = Cells::empty(bricks.kind());
    let (mut first, mut start) = (0, 0);
    for last in 0..terminals.len() {
        if let Some(brick) = place(&terminals[last]) {
            let terminal = &mut terminals[last];
            let volume = plan.region(terminal.level(), terminal.code).volume();
            *terminal = terminal.with_brick(start + cells.len() as u64);
            bricks.take(brick, volume, &mut cells);
        }
        if last + 1 - first == REGIONS || cells.len() as u64 >= CELLS || last + 1 == terminals.len() {
            sink.terminals(Batch { plan, terminals: &terminals[first..=last], bricks: &cells, start })?;
            start += cells.len() as u64;
            first = last + 1;
            cells.clear();
        }
    }
    Ok(())
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
