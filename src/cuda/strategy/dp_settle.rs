//! What dynamic parallelism lists, settled when all of it is found: sorted by level, then by a balancer.

use crate::backend::{Error, Pass, Unsupported};
use crate::cuda::args::ExploreArgs;
use crate::cuda::constants::{TALLY_COLUMNS, TALLY_FILLED, TALLY_LEAVES, TALLY_ROWS};
use crate::cuda::launcher::Launcher;
use crate::cuda::memory::read_integers;
use crate::cuda::setup::{Setup, tally};
use crate::cuda::strategy::dp::DpProgram;

impl DpProgram {
    /// Settles the terminal regions from their list, sorted by level into uniform ones and leaves.
    pub(super) fn settle_listed(&mut self, setup: &Setup<'_>, launcher: &mut Launcher<'_>) -> Result<(), Error> {
        let per_level = (TALLY_ROWS * TALLY_COLUMNS) as usize;
        let words = self.levels.len() * per_level;
        let tallies = read_integers(setup.device, setup.tallies(0), words as u64, 8)?;
        let found = |column| tallies.chunks(per_level).map(move |level| tally(level, column));
        let found: Vec<[u64; 2]> = found(TALLY_FILLED).zip(found(TALLY_LEAVES)).map(<[u64; 2]>::from).collect();
        let regions: u64 = found.iter().flatten().sum();
        if regions != self.terminals.count {
            return Err(Error::Unsupported { backend: "cuda", what: Unsupported::Terminals { regions } });
        }
        let mut place = self.terminals.sorted();
        for (args, [fills, leaves]) in self.levels.iter_mut().zip(&found) {
            (args.fills, args.leaves) = (place, place + 4 * fills);
            place += 4 * (fills + leaves);
        }
        self.upload(setup)?;
        let mut kernels = launcher.entry(&self.sort, regions.div_ceil(self.threads), self.args[0], regions)?;
        let (items, threads, told) = (&self.items, self.threads, self.args[0]);
        let Some(settling) = &mut self.settling else { return Ok(()) };
        let mut make = |launcher: &mut Launcher<'_>, list: &[ExploreArgs], parts: u64| {
            launcher.entry(items, list[0].listed.div_ceil(threads), told, parts)
        };
        for ((level, args), &[fills, leaves]) in setup.outline.levels.iter().zip(&self.levels).zip(&found) {
            settling.add(setup, level, fills, ExploreArgs { leaves: 0, ..*args })?;
            settling.add(setup, level, leaves, ExploreArgs { fills: 0, ..*args })?;
            if setup.how.tuning.pass_on_cuda() == Pass::Level {
                kernels += settling.settle(setup, launcher, true, &mut make)?.iter().sum::<u64>();
            }
        }
        kernels += settling.settle(setup, launcher, true, &mut make)?.iter().sum::<u64>();
        self.ran.settled = kernels;
        Ok(())
    }
}
