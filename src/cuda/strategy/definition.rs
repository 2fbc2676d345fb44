//! What a strategy is on CUDA.

use std::ops::Range;
use std::time::Duration;

use crate::backend::{Error, How};
use crate::cuda::gather::BricksLeft;
use crate::cuda::launcher::Launcher;
use crate::cuda::outline::Outline;
use crate::cuda::setup::Setup;
use crate::cuda::specialise::Specialisation;
use crate::field::DeviceTwin;
use crate::result::{Launches, LevelKernels, Terminal};

/// What a program tells of one level of its last run.
#[derive(Debug, Clone, Copy)]
pub(in crate::cuda) struct LevelRun {
    pub(in crate::cuda) regions: u64,
    pub(in crate::cuda) subdivided: u64,
    pub(in crate::cuda) olt_entries: u64,
    pub(in crate::cuda) olt_bytes: u64,
    pub(in crate::cuda) kernels: LevelKernels,
    pub(in crate::cuda) time: Option<Duration>,
}

/// Lists of terminal regions that a run left on a device, in the order of levels and codes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cuda) struct RegionsLeft {
    /// Addresses: codes of eight bytes, words of cells, and the first cells of bricks, or all ones.
    pub(in crate::cuda) codes: u64,
    pub(in crate::cuda) words: u64,
    pub(in crate::cuda) places: u64,
    /// Which entries are of a level, from that of the roots on.
    pub(in crate::cuda) levels: Vec<Range<u64>>,
    /// The address of the bricks, and how many there are.
    pub(in crate::cuda) bricks: u64,
    pub(in crate::cuda) leaves: u64,
}

/// A host program with its kernels and tables.
pub(in crate::cuda) trait Program: Send {
    /// True if kernels launch kernels, so that the device's limit of pending launches matters.
    fn launches_from_device(&self) -> bool {
        false
    }

    /// Makes ready for a run from where the setup says, outside of its time.
    fn aim(&mut self, _: &Setup<'_>) -> Result<(), Error> {
        Ok(())
    }

    /// One run, up to the last kernel.
    fn run(&mut self, setup: &Setup<'_>, launcher: &mut Launcher<'_>) -> Result<(), Error>;

    /// What the last run found per level, when it is done; adds what only the device counted to `launches`.
    fn levels(&self, setup: &Setup<'_>, launches: &mut Launches) -> Result<Vec<LevelRun>, Error>;

    /// The terminal regions of the last run and the cells of its leaves, in any order.
    fn collect(&self, setup: &Setup<'_>) -> Result<(Vec<Terminal>, BricksLeft), Error>;

    /// Where the terminal regions of the last run lie in their order; None if they do not.
    fn regions(&self, _: &Setup<'_>) -> Option<RegionsLeft> {
        None
    }
}

/// What a strategy says before there is a program.
pub(super) trait MakeProgram: Program + Sized + 'static {
    /// The program of a run, with its tables.
    fn new(setup: &Setup<'_>) -> Result<Self, Error>;

    /// Its kernels.
    fn specialise(outline: &Outline<'_>, twin: &DeviceTwin, how: &How) -> Result<Specialisation, Error>;

    /// Bytes that its tables and lists are expected to take on the device, beside the dense array and the bricks.
    fn table_bytes(outline: &Outline<'_>, how: &How) -> u128;

    /// The share of that of a run whose roots come to a share of all regions.
    fn table_share(roots: f64) -> f64 {
        roots
    }
}

/// The functions of a strategy.
pub(in crate::cuda) struct Maker {
    pub(in crate::cuda) program: fn(&Setup<'_>) -> Result<Box<dyn Program>, Error>,
    pub(in crate::cuda) specialise: fn(&Outline<'_>, &DeviceTwin, &How) -> Result<Specialisation, Error>,
    pub(in crate::cuda) table_bytes: fn(&Outline<'_>, &How) -> u128,
    pub(in crate::cuda) table_share: fn(f64) -> f64,
}

impl Maker {
    pub(super) fn of<S: MakeProgram>() -> Self {
        Self {
            program: |setup| Ok(Box::new(S::new(setup)?)),
            specialise: S::specialise,
            table_bytes: S::table_bytes,
            table_share: S::table_share,
        }
    }
}
