//! The threads that commands work with: as many as wanted, or as many as can be had.

use std::time::Duration;

use orthant::threads::worker;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::Error;
use crate::voice::Voice;

/// Most threads. Pools of ten thousands do not come up, and hear no signal meanwhile.
const MOST: usize = 1024;

/// A pool of so many threads, if they can be had.
fn few(threads: usize) -> Option<ThreadPool> {
    // Those of a pool that did not come up go first.
    std::thread::sleep(Duration::from_millis(20));
    ThreadPoolBuilder::new().num_threads(threads).spawn_handler(worker).build().ok()
}

/// As many threads as can be started beside those that there are, and no more than `wanted`.
pub(crate) fn spare(wanted: usize) -> usize {
    (1..=wanted).rev().find(|&threads| few(threads).is_some()).unwrap_or(0)
}

/// Runs a command where rayon has its threads; where the system does not give as many as there are cores, with fewer.
///
/// # Errors
/// [`Error::System`] if there can be no pool at all.
pub(crate) fn with_threads<R: Send>(voice: Voice, command: impl FnOnce() -> R + Send) -> Result<R, Error> {
    let asked = std::env::var("RAYON_NUM_THREADS").ok().and_then(|text| text.trim().parse().ok());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let wanted = asked.filter(|&threads| threads > 0).unwrap_or(cores);
    if wanted > MOST {
        voice.say(format_args!("orthant: RAYON_NUM_THREADS {wanted}: at most {MOST} threads are taken"));
    }
    let wanted = wanted.min(MOST);
    let refused = match ThreadPoolBuilder::new().num_threads(wanted).spawn_handler(worker).build_global() {
        Ok(()) => return Ok(command()),
        Err(error) => error,
    };
    // Whoever carries this program may have a pool, which is as good.
    if std::error::Error::source(&refused).is_none() {
        return Ok(command());
    }
    let halves = std::iter::successors(Some(wanted / 2), |&threads| Some(threads / 2));
    let pool = halves.take_while(|&threads| threads > 1).find_map(few);
    let got = pool.as_ref().map_or(1, ThreadPool::current_num_threads);
    voice.say(format_args!("orthant: threads {got} instead of {wanted}, since no more can be started"));
    match pool {
        Some(pool) => Ok(pool.install(command)),
        None => {
            let alone = ThreadPoolBuilder::new().num_threads(1).use_current_thread().build();
            let _alone = alone.map_err(|error| Error::System(format!("threads: {error}")))?;
            Ok(command())
        }
    }
}

/// A pool of just so many threads, as they were asked for.
///
/// # Errors
/// [`Error::Library`] if they cannot be started.
pub(crate) fn pool(threads: usize) -> Result<ThreadPool, Error> {
    let start = || ThreadPoolBuilder::new().num_threads(threads).spawn_handler(worker).build();
    let refused = |error| orthant::Error::System(format!("{threads} threads cannot be started: {error}"));
    Ok(start().map_err(refused)?)
}
