//! Exhaustive: every cell of the window, without subdivision. The oracle of the others, hence the simplest.

use crate::backend::{Error, PIECE};
use crate::choice::ChoiceError;
use crate::cpu::strategy::definition::Strategy;
use crate::cpu::work::Work;
use crate::geometry::{Level, Slabs};
use crate::parallel;
use crate::result::{Keep, Launches, LevelKernels, LevelStats};

pub(super) struct Exhaustive;

impl<const K: usize> Strategy<K> for Exhaustive {
    fn run(&self, work: &Work<'_, K>) -> Result<(Vec<LevelStats<K>>, Launches), Error> {
        if work.how.kept.keep == Keep::Regions {
            return Err(ChoiceError::new(
                "keep",
                "regions",
                "exhaustive has no regions; keep the dense array or counts",
            )
            .with(&["strategy"])
            .into());
        }
        let window = work.start.window;
        if window.cells_wide() > u128::from(u64::MAX) {
            let reason = "the domain has more than 2^64 cells; use ask or dp";
            return Err(ChoiceError::new("strategy", "exhaustive", reason).into());
        }
        let slabs = Slabs::new(window, PIECE);
        parallel::try_each(slabs.len() as usize, &|i| work.evaluate(&slabs.get(i as u64)))?;
        let mut counts = work.counts(0);
        (counts.regions, counts.leaves, counts.leaf_cells) = (1, 1, counts.evaluated_cells);
        let kernels = LevelKernels { leaf: 1, ..LevelKernels::default() };
        let stats = LevelStats::without_tables(Level::whole(window.extent), counts, kernels);
        let launches = Launches { kernels: 1, most_in_flight: 1, ..Launches::default() };
        Ok((vec![stats], launches))
    }
}
