//! Exhaustive on CUDA: one thread per cell, over a stack of 3-D grids.
//!
//! Axes 0 to 2 are the native grid, in tiles of the block's shape; the outer axes index the stack, in the order of the
//! plan's curve over their lattice.

use super::device::Kernel;
use super::launcher::Launcher;
use super::memory::Buffer;
use super::session::{Job, LevelRun, Program};
use super::specialise::{LaunchArgs, Specialisation};
use crate::cpu::Control;
use crate::curve::CurveKind;
use crate::device::{DeviceCurve, DeviceTwin, padded};
use crate::error::Error;
use crate::field::Cells;
use crate::how::{How, Keep, Stack};
use crate::plan::{Level, Plan};
use crate::subdivision::{Launches, LevelKernels, Terminal};
use crate::workload::Workload;

/// Blocks that keep a GPU busy and balanced; beyond them a block takes more than one tile.
const BLOCKS: u64 = 1 << 15;

/// Most tiles of a block.
const MOST_PIECES: u64 = 8;

pub(super) struct Exhaustive {
    kernel: Kernel,
    args: LaunchArgs,
    /// Blocks of one native grid, and grids.
    native: u64,
    depth: u64,
    /// Launches of the last run.
    launched: u64,
    _starts: Option<Buffer>,
}

/// A curve over the outer axes' lattice.
struct Outer<'a> {
    curve: DeviceCurve<'a>,
    grid: [u32; 8],
    /// Grids in the stack.
    depth: u128,
    bits: u32,
}

/// Calls `body` with the curve over the outer axes; up to three dimensions there are none, and the stack is one grid.
fn with_outer<const K: usize, R>(plan: &Plan<K>, body: impl FnOnce(Outer<'_>) -> R) -> Result<R, Error> {
    let size = plan.domain().size();
    // The number of outer axes is no constant, hence the list.
    macro_rules! outer {
        ($($k:literal => $d:literal),+) => {
            match K {
                $($k => with(plan.curve(), std::array::from_fn::<u32, $d, _>(|j| size[j + 3]), body),)+
                _ => with(CurveKind::Canonical, [1], body),
            }
        };
    }
    outer!(4 => 1, 5 => 2, 6 => 3, 7 => 4, 8 => 5)
}

fn with<const D: usize, R>(kind: CurveKind, grid: [u32; D], body: impl FnOnce(Outer<'_>) -> R) -> Result<R, Error> {
    let stack = kind.encoding(grid, [2; D], 0)?;
    let depth = stack.lattice().codes(0);
    Ok(body(Outer { curve: stack.device(0), grid: padded(grid), depth, bits: stack.bits(0) }))
}

/// The kernel of a plan.
pub(super) fn specialise<const K: usize>(
    plan: &Plan<K>,
    workload: &dyn Workload<K>,
    twin: &DeviceTwin,
    how: &How,
) -> Result<Specialisation, Error> {
    with_outer(plan, |outer| specialise_over(plan, workload, twin, how, &outer))
}

fn specialise_over<const K: usize>(
    plan: &Plan<K>,
    workload: &dyn Workload<K>,
    twin: &DeviceTwin,
    how: &How,
    outer: &Outer<'_>,
) -> Specialisation {
    Specialisation::new("strategies/exhaustive.cu", plan, workload, twin, how, &outer.curve, outer.bits)
}

impl Exhaustive {
    pub(super) fn new<const K: usize>(job: &Job<'_, K>) -> Result<Self, Error> {
        if job.how.keep == Keep::Regions {
            return Err(Error::Input("--keep regions: exhaustive has no regions; use dense or counts".into()));
        }
        with_outer(job.plan, |outer| Self::over(job, &outer))?
    }

    fn over<const K: usize>(job: &Job<'_, K>, outer: &Outer<'_>) -> Result<Self, Error> {
        let size = job.plan.domain().size();
        let specialisation = specialise_over(job.plan, job.workload, &job.twin, job.how, outer);
        let mut tiles = [1u32; 4];
        for j in 0..K.min(3) {
            tiles[j] = size[j].div_ceil(specialisation.block[j]);
        }
        let count = tiles.iter().fold(1u128, |count, &tiles| count * u128::from(tiles));
        if count > 1 << 31 || outer.depth > 1 << 32 {
            return Err(Error::Input("--strategy exhaustive: the domain has too many cells; use ask".into()));
        }
        let starts = match outer.curve.starts {
            [] => None,
            starts => {
                let bytes: Vec<u8> = starts.iter().flat_map(|start| start.to_ne_bytes()).collect();
                Some(Buffer::upload(job.device, "the curve's start states", &bytes)?)
            }
        };
        let (count, depth) = (count as u64, outer.depth as u64);
        let pieces = (count * depth / BLOCKS).clamp(1, MOST_PIECES).min(count);
        let native = count.div_ceil(pieces);
        let mut args = LaunchArgs {
            native,
            regions: count,
            pieces: pieces as u32,
            tiles,
            grid: outer.grid,
            tallies: job.tallies(0),
            ..LaunchArgs::default()
        };
        args.set_curve(&outer.curve, starts.as_ref().map_or(0, Buffer::address));
        let kernel = job.device.kernels(&specialisation)?.get("exhaustive")?;
        Ok(Self { kernel, args, native, depth, launched: 0, _starts: starts })
    }
}

impl<const K: usize> Program<K> for Exhaustive {
    fn run(&mut self, job: &Job<'_, K>, launcher: &mut Launcher<'_>, control: &Control) -> Result<(), Error> {
        control.check()?;
        let blocks = self.native * self.depth;
        let whole = self.native.max(job.device.max_grid() / self.native.max(1) * self.native);
        self.launched = match job.how.stack {
            Stack::Folded if blocks <= job.device.max_grid() => {
                launcher.fold(&self.kernel, blocks, &job.run, &self.args, &job.field)?
            }
            // As many whole grids as one launch can take.
            Stack::Folded => launcher.stack(&self.kernel, blocks, whole, &job.run, &self.args, &job.field)?,
            Stack::Split => launcher.stack(&self.kernel, blocks, self.native, &job.run, &self.args, &job.field)?,
        };
        Ok(())
    }

    fn levels(&self, _: &Job<'_, K>, _: &mut Launches) -> Result<Vec<LevelRun>, Error> {
        let kernels = LevelKernels { leaf: self.launched, ..LevelKernels::default() };
        Ok(vec![LevelRun { regions: 1, subdivided: 0, olt_entries: 0, olt_bytes: 0, kernels, time: None }])
    }

    fn collect(&self, job: &Job<'_, K>) -> Result<(Vec<Terminal>, Cells), Error> {
        Ok((Vec::new(), Cells::zeroed(job.how.cell, 0)))
    }

    fn decode(&self, _: &Job<'_, K>, _: &mut Launcher<'_>) -> Result<bool, Error> {
        Ok(false)
    }

    fn lattices(&self, job: &Job<'_, K>) -> Vec<Level<K>> {
        vec![Level::whole(job.plan.domain().size())]
    }
}
