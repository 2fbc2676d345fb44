//! Exhaustive: every cell, without subdivision. The oracle of the others, hence the simplest.

use rayon::prelude::*;

use super::Strategy;
use crate::cpu::{Cpu, PIECE, Slabs};
use crate::error::Error;
use crate::how::Keep;
use crate::plan::Level;
use crate::subdivision::{Launches, LevelKernels, LevelStats};

pub(super) struct Exhaustive;

impl<const K: usize> Strategy<K> for Exhaustive {
    fn run(&self, cpu: &Cpu<'_, K>) -> Result<(Vec<LevelStats<K>>, Launches), Error> {
        if cpu.how.keep == Keep::Regions {
            return Err(Error::Input("--keep regions: exhaustive has no regions; use dense or counts".into()));
        }
        if cpu.plan.domain().cells() > u128::from(u64::MAX) {
            return Err(Error::Input(
                "--strategy exhaustive: the domain has more than 2^64 cells; use ask or dp".into(),
            ));
        }
        let domain = cpu.plan.domain().region();
        let slabs = Slabs::new(domain, PIECE);
        (0..slabs.len()).into_par_iter().try_for_each(|i| cpu.evaluate(&slabs.get(i)))?;
        let mut counts = cpu.counts(0);
        (counts.regions, counts.leaves, counts.leaf_cells) = (1, 1, counts.evaluated_cells);
        let kernels = LevelKernels { leaf: 1, ..LevelKernels::default() };
        let level = Level::whole(domain.extent);
        let stats = LevelStats { level, counts, olt_entries: 0, olt_bytes: 0, kernels, time: None };
        let launches = Launches { kernels: 1, most_in_flight: 1, ..Launches::default() };
        Ok((vec![stats], launches))
    }
}
