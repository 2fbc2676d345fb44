//! Pieces of a run that several workers share: each piece is done once, by whichever worker has nothing to do.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::backend::control::Control;
use crate::backend::error::Error;

use super::workers::LOOK;

/// The pieces that are left, by number.
pub(super) struct PieceQueue {
    state: Mutex<QueueState>,
    changed: Condvar,
}

struct QueueState {
    next: usize,
    pieces: usize,
    /// Pieces that a worker took and could not do.
    returned: Vec<usize>,
    under_way: usize,
    /// Workers of each device that go on.
    alive: Vec<usize>,
    /// Why a worker stopped, and whether it was the last one of its device.
    reason: Option<(Error, bool)>,
}

impl PieceQueue {
    /// So many pieces, for devices that have so many workers each.
    pub(super) fn new(pieces: usize, workers: Vec<usize>) -> Self {
        let state = QueueState { next: 0, pieces, returned: Vec::new(), under_way: 0, alive: workers, reason: None };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A piece to do, with the number of workers that its device has meanwhile; None if all are done. A worker waits while others may
    /// still give pieces back.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if the worker is to end.
    pub(super) fn take(&self, device: usize, control: &Control) -> Result<Option<(usize, usize)>, Error> {
        let mut state = self.state();
        loop {
            control.check()?;
            let fresh = (state.next < state.pieces).then_some(state.next);
            if let Some(piece) = state.returned.pop().or(fresh) {
                state.next += usize::from(Some(piece) == fresh);
                state.under_way += 1;
                return Ok(Some((piece, state.alive[device])));
            }
            if state.under_way == 0 {
                return Ok(None);
            }
            (state, _) = self.changed.wait_timeout(state, LOOK).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Says that a piece is done.
    pub(super) fn done(&self) {
        self.state().under_way -= 1;
        self.changed.notify_all();
    }

    /// Gives a piece back, which a worker could not do for this reason. `with` workers had the device when it took the piece. If the
    /// worker has to stop, `free` gives up what it has on the device, before another worker hears of it.
    pub(super) fn give_back(&self, piece: usize, device: usize, with: usize, reason: Error, free: &mut dyn FnMut()) {
        let mut state = self.state();
        state.under_way -= 1;
        state.returned.push(piece);
        // What another worker of the device had is free now, if it stopped since.
        let more_memory = matches!(reason, Error::DeviceMemory { .. }) && state.alive[device] == 1 && with > 1;
        if !more_memory {
            free();
            state.alive[device] -= 1;
            let last = state.alive[device] == 0;
            if state.reason.as_ref().is_none_or(|(_, was_last)| last && !was_last) {
                state.reason = Some((reason, last));
            }
        }
        self.changed.notify_all();
    }

    /// Why a device stopped, if one did. A device that does one piece at a time instead of two is not worth a word.
    ///
    /// # Errors
    /// Why one did, if pieces are left that nobody could do.
    pub(super) fn stopped(self) -> Result<Option<Error>, Error> {
        let QueueState { next, pieces, returned, reason, .. } =
            self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        match reason {
            Some((reason, _)) if next < pieces || !returned.is_empty() => Err(reason),
            reason => Ok(reason.filter(|&(_, last)| last).map(|(reason, _)| reason)),
        }
    }
}

/// True if another device may do a piece that failed for this reason.
pub(super) fn is_of_a_device(error: &Error) -> bool {
    matches!(error, Error::DeviceMemory { .. } | Error::Cuda(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn no_memory() -> Error {
        Error::DeviceMemory { what: "a test", need: 2, free: 1 }
    }

    /// A piece that is given back is done by another worker, and the one that gave it back stops.
    #[test]
    fn pieces_that_are_given_back_are_done() {
        let (queue, control) = (PieceQueue::new(3, vec![1, 1]), Control::default());
        let (first, with) = queue.take(0, &control).unwrap().unwrap();
        assert_eq!(queue.take(1, &control).unwrap(), Some((1, 1)));
        let mut freed = false;
        queue.give_back(first, 0, with, no_memory(), &mut || freed = true);
        assert!(freed);
        queue.done();
        let mut rest = Vec::new();
        while let Some((piece, _)) = queue.take(1, &control).unwrap() {
            rest.push(piece);
            queue.done();
        }
        assert_eq!(rest, [0, 2]);
        assert!(matches!(queue.stopped(), Ok(Some(Error::DeviceMemory { .. }))));
    }

    /// The last worker of a device tries again when the other one has left it its memory, and once only.
    #[test]
    fn memory_that_another_worker_had_is_tried() {
        let (queue, control, mut freed) = (PieceQueue::new(2, vec![2]), Control::default(), 0);
        let taken = [(); 2].map(|()| queue.take(0, &control).unwrap().unwrap());
        assert_eq!(taken, [(0, 2), (1, 2)]);
        taken.iter().for_each(|&(piece, with)| queue.give_back(piece, 0, with, no_memory(), &mut || freed += 1));
        assert_eq!(freed, 1);
        let (again, with) = queue.take(0, &control).unwrap().unwrap();
        assert_eq!(with, 1);
        queue.give_back(again, 0, with, no_memory(), &mut || freed += 1);
        assert_eq!(freed, 2);
        assert!(matches!(queue.stopped(), Err(Error::DeviceMemory { .. })));
    }

    /// What is no device's fault ends a run.
    #[test]
    fn other_failures_are_nobodys_to_mend() {
        assert!(is_of_a_device(&no_memory()));
        assert!(!is_of_a_device(&Error::Interrupted(2)));
    }
}
