//! What workers on the pieces of a run share. It does not depend on the number of axes.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::backend::control::Control;
use crate::backend::error::Error;
use crate::result::{MemoryError, Stored, Terminal};

use super::gathered::{FoundOfPiece, FoundPieces};
use super::queue::{PieceQueue, is_of_a_device};
use super::workers::Busy;

/// Who carries out pieces.
pub(super) trait PieceWorker {
    /// False once it has stopped.
    fn goes_on(&self) -> bool;

    /// Carries out a piece, and adds to `busy` when the device ran something.
    fn carry_out(&mut self, piece: usize, control: &Control, busy: &mut Busy) -> Result<(), Error>;

    /// Stops, and gives up what it has on the device.
    fn stop(&mut self);
}

/// The pieces that are left, and what was found of the others.
pub(super) struct CommonWork<'w> {
    pub(super) queue: PieceQueue,
    pub(super) found: FoundPieces,
    /// Bytes of the pieces that are found, and how many there may be.
    bytes: AtomicU64,
    limit: Option<u64>,
    /// The run as a whole, as its caller sees it.
    control: &'w Control,
}

impl<'w> CommonWork<'w> {
    /// Begins with the pieces of `queue`. None of them is found yet.
    pub(super) fn new(queue: PieceQueue, found: FoundPieces, limit: Option<u64>, control: &'w Control) -> Self {
        Self { queue, found, bytes: AtomicU64::new(0), limit, control }
    }

    /// Lets a worker carry out pieces until there are none, or it has to stop. Returns when the device ran something.
    pub(super) fn by(&self, worker: &mut dyn PieceWorker, device: usize, control: &Control) -> Result<Busy, Error> {
        let mut busy = Vec::new();
        while worker.goes_on() {
            let Some((piece, with)) = self.queue.take(device, control)? else { break };
            match worker.carry_out(piece, control, &mut busy) {
                Ok(()) => self.queue.done(),
                Err(error) if is_of_a_device(&error) => {
                    self.queue.give_back(piece, device, with, error, &mut || worker.stop());
                }
                Err(error) => return Err(error),
            }
        }
        Ok(busy)
    }

    /// Takes what was found of a piece with so many cells.
    pub(super) fn put(&self, piece: usize, found: FoundOfPiece, cells: u128) -> Result<(), Error> {
        let (terminals, bricks) = &found;
        // Regions are there twice when they are put together.
        let bytes = 2 * terminals.len() as u64 * Terminal::BYTES + bricks.len() as u64 * bricks.kind().bytes();
        let need = self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if self.limit.is_some_and(|limit| need > limit) {
            return Err(MemoryError { what: Stored::Terminals, need: need.into(), limit: self.limit }.into());
        }
        self.control.advance(cells as u64);
        Ok(self.found.put(piece, found)?)
    }
}
