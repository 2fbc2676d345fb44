//! Exhaustive: every cell, without subdivision. The oracle of the others, hence the simplest.

use rayon::prelude::*;

use super::Strategy;
use crate::cpu::{Cpu, slabs};
use crate::error::Error;
use crate::how::Keep;
use crate::plan::Level;
use crate::subdivision::{Launches, LevelStats};

pub(super) struct Exhaustive;

impl<const K: usize> Strategy<K> for Exhaustive {
    fn run(&self, cpu: &Cpu<'_, K>) -> Result<(Vec<LevelStats<K>>, Launches), Error> {
        if cpu.how.keep == Keep::Regions {
            return Err(Error::Input("--keep regions: exhaustive has no regions; use dense or counts".into()));
        }
        let domain = cpu.plan.domain().region();
        let pieces = slabs(&domain);
        pieces.par_iter().try_for_each(|piece| cpu.evaluate(piece))?;
        let mut counts = cpu.counts(0);
        (counts.regions, counts.leaves, counts.leaf_cells) = (1, 1, counts.evaluated_cells);
        let stats = LevelStats { level: Level::whole(domain.extent), counts, olt_entries: 0, olt_bytes: 0, time: None };
        let launches = Launches { kernels: 1, most_in_flight: 1, ..Launches::default() };
        Ok((vec![stats], launches))
    }
}
