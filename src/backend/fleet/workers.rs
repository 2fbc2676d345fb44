//! Threads that give devices their work.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use crate::backend::control::Control;
use crate::backend::error::Error;
use crate::backend::seam::Prepared;

/// How often whoever waits for devices looks for a cancellation.
pub(super) const LOOK: Duration = Duration::from_millis(10);

/// A thread's way to a device.
pub(super) struct Worker<'a, const K: usize> {
    /// The number of the device in the fleet.
    pub(super) device: usize,
    /// The plan there; None from a failure on.
    pub(super) plan: Option<Box<dyn Prepared<K> + 'a>>,
}

/// When a worker's device ran something for it, from when until when.
pub(super) type Busy = Vec<(Instant, Instant)>;

/// What a worker does, and for which device.
pub(super) type WorkerTask<'t> = (usize, Box<dyn FnOnce(&Control) -> Result<Busy, Error> + Send + 't>);

/// Lets a thread per worker work, and ends them all when the caller cancels or one of them fails. When each device ran something.
pub(super) fn together(tasks: Vec<WorkerTask<'_>>, caller: &Control) -> Result<Vec<Busy>, Error> {
    let controls: Vec<Control> = tasks.iter().map(|_| Control::default()).collect();
    let cancel = |signal| controls.iter().for_each(|control| control.cancel(signal));
    let mut busy: Vec<Busy> = Vec::new();
    busy.resize(tasks.iter().map(|(device, _)| device + 1).max().unwrap_or(0), Vec::new());
    std::thread::scope(|scope| {
        let (ended, ends) = channel();
        let mut failure = None;
        for ((device, task), control) in tasks.into_iter().zip(&controls) {
            let (ended, all) = (ended.clone(), &controls[..]);
            let thread = std::thread::Builder::new().name("device".into());
            let started = thread.spawn_scoped(scope, move || {
                let _ends = EndsAllByPanic(all);
                // If nobody listens any more, the run has failed.
                let _ = ended.send((device, task(control)));
            });
            if let Err(error) = started {
                failure = Some(Error::System(format!("a thread for a device cannot be started: {error}")));
                cancel(0);
                break;
            }
        }
        drop(ended);
        loop {
            match ends.recv_timeout(LOOK) {
                Ok((device, Ok(more))) => busy[device].extend(more),
                Ok((_, Err(error))) => {
                    cancel(0);
                    failure.get_or_insert(error);
                }
                Err(RecvTimeoutError::Timeout) => {
                    if let Err(Error::Interrupted(signal)) = caller.check() {
                        cancel(signal);
                    }
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        caller.check()?;
        failure.map_or(Ok(busy), Err)
    })
}

/// Ends all workers when its own one panics: else they would wait for its piece.
struct EndsAllByPanic<'c>(&'c [Control]);

impl Drop for EndsAllByPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.iter().for_each(|control| control.cancel(0));
        }
    }
}

/// How long each device ran anything; nothing if none says.
pub(super) fn all_covered(busy: Vec<Busy>) -> Vec<Duration> {
    if busy.iter().all(Vec::is_empty) { Vec::new() } else { busy.into_iter().map(covered).collect() }
}

/// How long a device ran anything: what overlaps counts once.
fn covered(mut busy: Busy) -> Duration {
    busy.sort_unstable();
    let (mut all, mut until) = (Duration::ZERO, None);
    for (start, end) in busy {
        let start = until.map_or(start, |until| start.max(until));
        all += end.saturating_duration_since(start);
        until = until.max(Some(end));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlaps_count_once() {
        let begun = Instant::now();
        let at = |from, until| [from, until].map(|ms| begun + Duration::from_millis(ms)).into();
        assert_eq!(covered(vec![at(5, 9), at(0, 4), at(2, 3), at(3, 6), at(20, 21)]), Duration::from_millis(10));
        assert_eq!(covered(Vec::new()), Duration::ZERO);
    }
}
