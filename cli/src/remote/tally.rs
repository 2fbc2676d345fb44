//! What a command fetched, for `-v`.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::voice::Voice;

/// What a command fetched.
#[derive(Debug)]
pub(super) struct Tally {
    pub(super) requests: AtomicU64,
    /// Those that were made since an earlier one failed.
    pub(super) again: AtomicU64,
    pub(super) bytes: AtomicU64,
}

pub(super) static TALLY: Tally =
    Tally { requests: AtomicU64::new(0), again: AtomicU64::new(0), bytes: AtomicU64::new(0) };

/// Counts some more.
#[cfg(feature = "http")]
pub(super) fn count(sum: &AtomicU64, more: usize) {
    sum.fetch_add(more as u64, Ordering::Relaxed);
}

/// Says what was fetched, with `-v`.
pub(crate) fn tell(voice: Voice) {
    let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
    let (requests, again, bytes) = (read(&TALLY.requests), read(&TALLY.again), read(&TALLY.bytes));
    if voice.verbose && requests > 0 {
        let again = if again > 0 { format!(", {again} of them tries again") } else { String::new() };
        voice.say(format_args!("orthant: fetched {bytes} bytes in {requests} requests{again}"));
    }
}
