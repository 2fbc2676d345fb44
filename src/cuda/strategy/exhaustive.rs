//! Exhaustive on CUDA: one thread per cell, over a stack of 3-D grids.
//!
//! Axes 0 to 2 are the native grid, in tiles of the block's shape; the outer axes index the stack, in the order of the
//! plan's curve over their lattice.

use crate::abi::padded;
use crate::backend::{Error, How, Stack};
use crate::choice::ChoiceError;
use crate::cuda::device::Kernel;
use crate::cuda::launcher::Launcher;
use crate::cuda::memory::Buffer;
use crate::cuda::setup::Setup;
use crate::cuda::specialise::{LaunchArgs, Specialisation};
use crate::cuda::strategy::definition::{LevelRun, MakeProgram, Program};
use crate::curve::{CurveKind, DeviceCurve};
use crate::field::{DeviceTwin, Field};
use crate::geometry::Level;
use crate::plan::Plan;
use crate::result::{Cells, Keep, Launches, LevelKernels, Terminal};

/// Blocks that keep a GPU busy and balanced; beyond them a block takes more than one tile.
const BLOCKS: u64 = 1 << 15;

/// Most tiles of a block.
const MOST_PIECES: u64 = 8;

pub(super) struct ExhaustiveProgram {
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

fn specialise_over<const K: usize>(
    plan: &Plan<K>,
    field: &dyn Field<K>,
    twin: &DeviceTwin,
    how: &How,
    outer: &Outer<'_>,
) -> Specialisation {
    Specialisation::new("strategies/exhaustive.cu", plan, field, twin, how, &outer.curve, outer.bits)
}

impl ExhaustiveProgram {
    fn over<const K: usize>(setup: &Setup<'_, K>, outer: &Outer<'_>) -> Result<Self, Error> {
        let size = setup.plan.domain().size();
        let specialisation = specialise_over(&setup.plan, setup.field, &setup.twin, &setup.how, outer);
        let mut tiles = [1u32; 4];
        for j in 0..K.min(3) {
            tiles[j] = size[j].div_ceil(specialisation.block[j]);
        }
        let count = tiles.iter().fold(1u128, |count, &tiles| count * u128::from(tiles));
        if count > 1 << 31 || outer.depth > 1 << 32 {
            return Err(ChoiceError::new("strategy", "exhaustive", "the domain has too many cells; use ask").into());
        }
        let starts = setup.starts(&outer.curve)?;
        let (count, depth) = (count as u64, outer.depth as u64);
        let pieces = (count * depth / BLOCKS).clamp(1, MOST_PIECES).min(count);
        let native = count.div_ceil(pieces);
        let mut args = LaunchArgs {
            native,
            regions: count,
            pieces: pieces as u32,
            tiles,
            grid: outer.grid,
            tallies: setup.tallies(0),
            ..LaunchArgs::default()
        };
        args.set_curve(&outer.curve, starts.as_ref().map_or(0, Buffer::address));
        let kernel = setup.device.kernels(&specialisation)?.get("exhaustive")?;
        Ok(Self { kernel, args, native, depth, launched: 0, _starts: starts })
    }
}

impl<const K: usize> MakeProgram<K> for ExhaustiveProgram {
    fn new(setup: &Setup<'_, K>) -> Result<Self, Error> {
        if setup.how.kept.keep == Keep::Regions {
            return Err(ChoiceError::new(
                "keep",
                "regions",
                "exhaustive has no regions; keep the dense array or counts",
            )
            .into());
        }
        with_outer(&setup.plan, |outer| Self::over(setup, &outer))?
    }

    fn specialise(plan: &Plan<K>, field: &dyn Field<K>, twin: &DeviceTwin, how: &How) -> Result<Specialisation, Error> {
        with_outer(plan, |outer| specialise_over(plan, field, twin, how, &outer))
    }

    fn table_bytes(_: &Plan<K>, _: &dyn Field<K>, _: &How) -> u128 {
        0
    }
}

impl<const K: usize> Program<K> for ExhaustiveProgram {
    fn run(&mut self, setup: &Setup<'_, K>, launcher: &mut Launcher<'_>) -> Result<(), Error> {
        launcher.watch.check()?;
        let blocks = self.native * self.depth;
        let whole = self.native.max(setup.device.max_grid() / self.native.max(1) * self.native);
        self.launched = match setup.cuda.stack {
            Stack::Folded if blocks <= setup.device.max_grid() => {
                launcher.fold(&self.kernel, blocks, &setup.run, &self.args, &setup.args)?
            }
            // As many whole grids as one launch can take.
            Stack::Folded => launcher.stack(&self.kernel, blocks, whole, &setup.run, &self.args, &setup.args)?,
            Stack::Split => launcher.stack(&self.kernel, blocks, self.native, &setup.run, &self.args, &setup.args)?,
        };
        Ok(())
    }

    fn levels(&self, _: &Setup<'_, K>, _: &mut Launches) -> Result<Vec<LevelRun>, Error> {
        let kernels = LevelKernels { leaf: self.launched, ..LevelKernels::default() };
        Ok(vec![LevelRun { regions: 1, subdivided: 0, olt_entries: 0, olt_bytes: 0, kernels, time: None }])
    }

    fn collect(&self, setup: &Setup<'_, K>) -> Result<(Vec<Terminal>, Cells), Error> {
        Ok((Vec::new(), Cells::empty(setup.storage.cell)))
    }

    fn lattices(&self, setup: &Setup<'_, K>) -> Vec<Level<K>> {
        vec![Level::whole(setup.plan.domain().size())]
    }
}
