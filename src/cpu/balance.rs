//! Balancers on the CPU, measured.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use crate::backend::{BalanceTimes, Balanced, Balancing, Error};
use crate::balance::{UnitRun, expand};

/// What a unit adds to its cell: it tells that the right item came to the right place.
fn mark(item: u32, rank: u64) -> u32 {
    item.wrapping_mul(0x9e37_79b1).wrapping_add((rank as u32).wrapping_mul(0x85eb_ca77)).wrapping_add(1)
}

/// Does all units again and again.
///
/// # Errors
/// [`Error::Balancer`] of one that is none on the CPU, [`Error::Interrupted`].
pub(super) fn balance(asked: &Balancing<'_>) -> Result<Balanced, Error> {
    let mut prefix = asked.items.prefix();
    let cells: Vec<AtomicU32> = (0..prefix[prefix.len() - 1]).map(|_| AtomicU32::new(0)).collect();
    let body = |UnitRun { item, ranks, unit }: UnitRun| {
        let own = &cells[unit as usize..][..(ranks.end - ranks.start) as usize];
        for (cell, rank) in own.iter().zip(ranks) {
            // Nobody else's: as fast as plain memory.
            cell.store(cell.load(Ordering::Relaxed).wrapping_add(mark(item, rank)), Ordering::Relaxed);
        }
    };
    let mut samples = Vec::new();
    for sample in 0..asked.warm_up + asked.samples {
        asked.control.check()?;
        let start = Instant::now();
        prefix = asked.items.prefix();
        let scanned = start.elapsed().as_secs_f64();
        asked.balancer.run(&prefix, &body)?;
        if sample >= asked.warm_up {
            let expansion = start.elapsed().as_secs_f64() - scanned;
            samples.push(BalanceTimes { scan: scanned, partition: 0.0, expansion });
        }
    }
    let runs = (asked.warm_up + asked.samples) as u32;
    let mut mistakes = 0;
    expand(&prefix, |UnitRun { item, ranks, unit }| {
        let right =
            |&(rank, cell): &(u64, &AtomicU32)| cell.load(Ordering::Relaxed) == mark(item, rank).wrapping_mul(runs);
        let own = ranks.clone().zip(&cells[unit as usize..]);
        mistakes += (ranks.end - ranks.start) - own.filter(right).count() as u64;
    });
    let wall = samples.iter().map(BalanceTimes::total).collect();
    Ok(Balanced { samples, wall, mistakes, copies: 1 })
}
