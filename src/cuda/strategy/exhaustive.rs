//! Exhaustive on CUDA: one thread per cell, over a stack of 3-D grids.
//!
//! Axes 0 to 2 are the native grid, in tiles of the block's shape; the outer axes index the stack, in the order of the
//! plan's curve over their lattice.

use crate::abi::padded;
use crate::backend::{Error, How, Stack};
use crate::choice::ChoiceError;
use crate::cuda::args::{ExhaustiveArgs, LaunchArgs};
use crate::cuda::gather::BricksLeft;
use crate::cuda::kernel::Kernel;
use crate::cuda::launcher::Launcher;
use crate::cuda::memory::Buffer;
use crate::cuda::native;
use crate::cuda::outline::Outline;
use crate::cuda::setup::Setup;
use crate::cuda::specialise::Specialisation;
use crate::cuda::strategy::definition::{LevelRun, MakeProgram, Program};
use crate::curve::{CurveKind, DeviceCurve, Encoding};
use crate::dimension::MAX_DIM;
use crate::field::DeviceTwin;
use crate::result::{Keep, Launches, LevelKernels, Terminal};

/// Blocks that keep a GPU busy and balanced; beyond them a block takes more than one tile.
const BLOCKS: u64 = 1 << 15;

/// Most tiles of a block.
const MOST_PIECES: u64 = 32;

pub(super) struct ExhaustiveProgram {
    kernel: Kernel,
    args: ExhaustiveArgs,
    /// Blocks of one native grid, and grids.
    native: u64,
    depth: u64,
    /// Launches of the last run.
    launched: u64,
    starts: Option<Buffer>,
    /// The window's cells per axis that all this is for.
    extent: [u32; MAX_DIM],
    block: [u32; 3],
}

/// A curve over the outer axes' lattice.
struct Outer {
    curve: Box<dyn OfStack>,
    grid: [u32; 8],
    /// Grids in the stack.
    depth: u128,
    bits: u32,
}

/// A curve of one level, however many axes it is over.
trait OfStack {
    fn device(&self) -> DeviceCurve<'_>;
}

impl<const D: usize> OfStack for Box<dyn Encoding<D>> {
    fn device(&self) -> DeviceCurve<'_> {
        (**self).device(0)
    }
}

impl Outer {
    /// That of `size` cells; up to three dimensions there are no outer axes, and the stack is one grid.
    fn of(outline: &Outline<'_>, size: [u32; MAX_DIM]) -> Result<Self, Error> {
        let curve = outline.curve;
        match (outline.dimensions, size) {
            (4, [_, _, _, a, ..]) => Self::over(curve, [a]),
            (5, [_, _, _, a, b, ..]) => Self::over(curve, [a, b]),
            (6, [_, _, _, a, b, c, ..]) => Self::over(curve, [a, b, c]),
            (7, [_, _, _, a, b, c, d, _]) => Self::over(curve, [a, b, c, d]),
            (8, [_, _, _, a, b, c, d, e]) => Self::over(curve, [a, b, c, d, e]),
            _ => Self::over(CurveKind::Canonical, [1]),
        }
    }

    fn over<const D: usize>(kind: CurveKind, grid: [u32; D]) -> Result<Self, Error> {
        let curve = kind.encoding(grid, [2; D], 0)?;
        let (depth, bits) = (curve.lattice().codes(0), curve.bits(0));
        Ok(Self { curve: Box::new(curve), grid: padded(grid), depth, bits })
    }
}

impl ExhaustiveProgram {
    /// Makes ready for windows of an extent.
    fn cover(&mut self, setup: &Setup<'_>, size: [u32; MAX_DIM]) -> Result<(), Error> {
        let outer = Outer::of(&setup.outline, size)?;
        let mut tiles = [1u32; 3];
        for j in 0..setup.outline.dimensions.min(3) {
            tiles[j] = size[j].div_ceil(self.block[j]);
        }
        let count = tiles.iter().fold(1u128, |count, &tiles| count * u128::from(tiles));
        if count > 1 << 31 || outer.depth > 1 << 32 {
            return Err(ChoiceError::new("strategy", "exhaustive", "the domain has too many cells; use ask").into());
        }
        let curve = outer.curve.device();
        self.starts = setup.starts(&curve)?;
        let (count, depth) = (count as u64, outer.depth as u64);
        // A block stays in a row of tiles, and blocks of a row take about as many.
        let most = (count * depth / BLOCKS).clamp(1, MOST_PIECES) as u32;
        let row = tiles[0];
        tiles[0] = row.div_ceil(most);
        let pieces = row.div_ceil(tiles[0]);
        let native = count / u64::from(row) * u64::from(tiles[0]);
        let mut base = LaunchArgs { grid: outer.grid, tallies: setup.tallies(0), ..LaunchArgs::default() };
        base.set_curve(&curve, self.starts.as_ref().map_or(0, Buffer::address));
        let args = ExhaustiveArgs { base, native, tiles, native_from: [0; 2], pieces };
        (self.args, self.native, self.depth, self.extent) = (args, native, depth, size);
        Ok(())
    }
}

impl MakeProgram for ExhaustiveProgram {
    fn new(setup: &Setup<'_>) -> Result<Self, Error> {
        if setup.how.kept.keep == Keep::Regions {
            return Err(ChoiceError::new(
                "keep",
                "regions",
                "exhaustive has no regions; keep the dense array or counts",
            )
            .with(&["strategy"])
            .into());
        }
        let specialisation = Self::specialise(&setup.outline, &setup.twin, &setup.how)?;
        let kernel = setup.device.kernels(&specialisation)?.get("exhaustive")?;
        let args = ExhaustiveArgs::default();
        let (block, extent) = (specialisation.block, [0; MAX_DIM]);
        Ok(Self { kernel, args, native: 0, depth: 0, launched: 0, starts: None, extent, block })
    }

    /// For the domain, and so for every window: codes of a window's stack have no more bits.
    fn specialise(outline: &Outline<'_>, twin: &DeviceTwin, how: &How) -> Result<Specialisation, Error> {
        let outer = Outer::of(outline, outline.size())?;
        let curve = outer.curve.device();
        let specialisation = Specialisation::new("strategies/exhaustive.cu", outline, twin, how, &curve, outer.bits);
        Ok(specialisation.taking::<ExhaustiveArgs>("ExhaustiveArgs"))
    }

    fn table_bytes(_: &Outline<'_>, _: &How) -> u128 {
        0
    }
}

impl Program for ExhaustiveProgram {
    fn aim(&mut self, setup: &Setup<'_>) -> Result<(), Error> {
        let extent = setup.start.window.extent;
        match self.extent == extent {
            true => Ok(()),
            false => self.cover(setup, extent),
        }
    }

    fn run(&mut self, setup: &Setup<'_>, launcher: &mut Launcher<'_>) -> Result<(), Error> {
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
            Stack::Grid3d => {
                let mut launches = native::layers(self.depth, self.args);
                launcher.native(&self.kernel, self.native, &mut launches, &setup.run, &setup.args)?
            }
        };
        Ok(())
    }

    fn levels(&self, _: &Setup<'_>, _: &mut Launches) -> Result<Vec<LevelRun>, Error> {
        let kernels = LevelKernels { leaf: self.launched, ..LevelKernels::default() };
        Ok(vec![LevelRun { regions: 1, subdivided: 0, olt_entries: 0, olt_bytes: 0, kernels, time: None }])
    }

    fn collect(&self, _: &Setup<'_>) -> Result<(Vec<Terminal>, BricksLeft), Error> {
        Ok((Vec::new(), BricksLeft::default()))
    }
}
