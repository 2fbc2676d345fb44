//! Adaptive Serial Kernels (ASK paper, §5): one pass per level over a double-buffered OLT.
//!
//! ```text
//!   read table i ──explore──> outcomes ──insert children of the mixed──> write table i+1 ──swap──> ...
//! ```
//!
//! Nothing is allocated inside a level but its tables: what is mixed (a byte per region) and the next table, which has
//! a code per mixed region.

use std::time::Instant;

use crate::backend::{Error, Pass, table_bytes};
use crate::cpu::olt::Olt;
use crate::cpu::strategy::definition::Strategy;
use crate::cpu::work::Work;
use crate::memory::copies;
use crate::parallel;
use crate::result::{Launches, LevelCounts, LevelKernels, LevelStats, MemoryError, Stored};

/// Regions per task: enough cells for a vectorised field, few enough to balance.
const REGIONS: usize = 256;

pub(super) struct Ask;

impl<const K: usize> Strategy<K> for Ask {
    fn run(&self, work: &Work<'_, K>) -> Result<(Vec<LevelStats<K>>, Launches), Error> {
        let payloads = work.host.carry.is_some();
        // Proofs of so many regions cost as much as that of one.
        let siblings = work.host.prove.map_or(1, |prove| prove.siblings().clamp(1, REGIONS));
        let mut launches = Launches { most_in_flight: 1, ..Launches::default() };
        let mut stats = Vec::new();
        // A byte per root.
        work.fits(Stored::NextTable, work.start.len().into())?;
        let mut olt = Olt::roots(work.plan, work.host.carry, work.start);
        loop {
            let start = Instant::now();
            let level = olt.level;
            let mut mixed = copies(false, olt.len()).map_err(MemoryError::refused(Stored::Outcomes))?;
            // A single thread has nobody to share with.
            let threads = rayon::current_num_threads();
            let share = if threads == 1 { REGIONS } else { olt.len() / (8 * threads) };
            let piece = share.clamp(1, REGIONS).next_multiple_of(siblings);
            parallel::try_pieces_mut(&mut mixed, piece, &|i, mixed| {
                let mut regions = Vec::new();
                olt.read(i * piece..i * piece + mixed.len(), &mut regions)?;
                work.process(level, &regions, mixed)
            })?;
            let settled = work.how.tuning.pass_on_cpu() == Pass::Level && work.settle_listed()?;
            let kernels = LevelKernels { explore: 1, leaf: u64::from(settled), ..LevelKernels::default() };
            launches.kernels += kernels.explore + kernels.leaf;
            let subdivided = work.counts(level).subdivided;
            let children = u128::from(subdivided) * u128::from(work.plan.scheme().children());
            let bytes = |level: u32, entries: u128| table_bytes(work.plan, level, payloads, entries);
            let read = bytes(level.saturating_sub(1), olt.entries() as u128);
            let held = read + bytes(level, subdivided.into());
            let next = if children > 0 {
                // And a byte per region of the next level.
                work.fits(Stored::NextTable, held + size_of_val(&mixed[..]) as u128 + children)?;
                Some(olt.next(&mixed, work.how.tuning.insertion)?)
            } else {
                None
            };
            launches.tables(olt.entries() as u64 + subdivided, held as u64);
            // What version 0.1 counted: a code for every region of both levels.
            let regions = bytes(level, olt.len() as u128) + bytes(level + u32::from(children > 0), children);
            launches.peak_olt_bytes = launches.peak_olt_bytes.max(regions as u64);
            stats.push(LevelStats {
                level: work.plan.levels()[level as usize],
                counts: LevelCounts::default(),
                olt_entries: olt.len() as u64 + children as u64,
                olt_bytes: regions as u64,
                table_entries: olt.entries() as u64 + subdivided,
                table_bytes: held as u64,
                kernels,
                time: Some(start.elapsed()),
            });
            match next {
                Some(next) => olt = next,
                None => break,
            }
        }
        let start = Instant::now();
        if work.settle_listed()? {
            launches.kernels += 1;
            let deepest = stats.last_mut().expect("a run has a level");
            deepest.kernels.leaf += 1;
            deepest.time = deepest.time.map(|time| time + start.elapsed());
        }
        stats.iter_mut().for_each(|stats| stats.counts = work.counts(stats.level.index));
        Ok((stats, launches))
    }
}
