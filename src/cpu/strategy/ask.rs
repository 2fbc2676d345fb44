//! Adaptive Serial Kernels (ASK paper, §5): one pass per level over a double-buffered OLT.
//!
//! ```text
//!   read table i ──explore──> outcomes ──insert children of the mixed──> write table i+1 ──swap──> ...
//! ```
//!
//! Nothing is allocated inside a level but its tables: what is mixed (a byte per region) and the next table, which is
//! as large as the children that enter it.

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
        work.fits(Stored::NextTable, table_bytes(work.plan, work.start.level, payloads, work.start.len().into()))?;
        let mut olt = Olt::roots(work.plan, work.host.carry, work.start)?;
        loop {
            let start = Instant::now();
            let level = olt.level;
            let mut mixed = copies(false, olt.len()).map_err(MemoryError::refused(Stored::Outcomes))?;
            // A single thread has nobody to share with.
            let threads = rayon::current_num_threads();
            let share = if threads == 1 { REGIONS } else { olt.len() / (8 * threads) };
            let piece = share.clamp(1, REGIONS).next_multiple_of(siblings);
            parallel::try_pieces_mut(&mut mixed, piece, &|i, mixed| {
                work.process(level, &|slot| (olt.code(i * piece + slot), olt.payload(i * piece + slot)), mixed)
            })?;
            let settled = work.how.tuning.pass_on_cpu() == Pass::Level && work.settle_listed()?;
            let kernels = LevelKernels { explore: 1, leaf: u64::from(settled), ..LevelKernels::default() };
            launches.kernels += kernels.explore + kernels.leaf;
            let children = u128::from(work.counts(level).subdivided) * u128::from(work.plan.scheme().children());
            let mut bytes = table_bytes(work.plan, level, payloads, olt.len() as u128);
            let next = if children > 0 {
                bytes += table_bytes(work.plan, level + 1, payloads, children);
                work.fits(Stored::NextTable, bytes + size_of_val(&mixed[..]) as u128)?;
                Some(olt.children(work.plan, work.host.carry, &mixed, work.how.tuning.insertion)?)
            } else {
                None
            };
            launches.peak_olt_bytes = launches.peak_olt_bytes.max(bytes as u64);
            stats.push(LevelStats {
                level: work.plan.levels()[level as usize],
                counts: LevelCounts::default(),
                olt_entries: olt.len() as u64 + children as u64,
                olt_bytes: bytes as u64,
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
