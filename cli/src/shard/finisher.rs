//! What brings computed pieces to the disk while the next ones are computed.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use orthant::backend::Tuning;
use orthant::tree::{Collector, PieceClaim, PieceWork};

use super::worker::Worker;
use crate::error::Error;

/// Threads of a process for each thread that writes pieces. A piece's files are packed side by side, so that some threads serve each.
const THREADS_OF_A_FINISHER: usize = 4;

/// How many threads write pieces in a process that computes with so many threads.
pub(super) fn finishers(threads: usize) -> usize {
    (threads / THREADS_OF_A_FINISHER).max(1)
}

/// A piece whose regions and bricks are in memory. Whoever drops it gives the piece back.
pub(super) struct ComputedPiece<'w, const K: usize> {
    pub(super) worker: &'w Worker<'w, K>,
    pub(super) piece: usize,
    pub(super) claim: PieceClaim,
    pub(super) collector: Collector<K>,
    /// When it was claimed.
    pub(super) begun: Instant,
    /// When all of it was in memory.
    pub(super) computed: Instant,
    pub(super) work: PieceWork,
}

impl<const K: usize> ComputedPiece<'_, K> {
    /// Puts the piece in order and writes it.
    fn finish(self) -> Result<(), Error> {
        let Self { worker, piece, claim, collector, begun, computed, mut work } = self;
        work.waiting = computed.elapsed().as_secs_f64();
        let ordering = Instant::now();
        let collector = worker.how.mem_limit.into_iter().fold(collector, Collector::mem_limit);
        let roots = worker.pieces.roots(piece);
        let mut tree = collector.part(0, roots.start.into()..roots.end.into())?;
        // Whoever makes it: its bytes must not depend on how.
        if Tuning::default().asks_proofs(worker.plan.rule()) {
            tree = tree.proved_by(worker.field, worker.control)?;
        }
        let writing = Instant::now();
        work.ordering = (writing - ordering).as_secs_f64();
        let seconds = || begun.elapsed().as_secs_f64();
        let work = || PieceWork { seconds: seconds(), writing: writing.elapsed().as_secs_f64(), ..work.clone() };
        claim.write(worker.pieces, &tree, &work, Some(worker.control))?;
        if worker.voice.verbose {
            let (of, device, seconds) = (worker.pieces.len(), &worker.device, seconds());
            worker.voice.say(format_args!("orthant: piece {piece} of {of} in {seconds:.3} s on {device}"));
        }
        Ok(())
    }
}

/// How many pieces of each device a thread wrote, and what kept it from going on.
pub(super) type Finished = (BTreeMap<String, usize>, Result<(), Error>);

/// Writes pieces until no worker makes any.
pub(super) fn finish<const K: usize>(computed: &Arc<Mutex<Receiver<ComputedPiece<'_, K>>>>) -> Finished {
    let mut made = BTreeMap::new();
    loop {
        let next = computed.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(piece) = next else { return (made, Ok(())) };
        let worker = piece.worker;
        if let Err(error) = piece.finish() {
            worker.stop.store(true, Ordering::Relaxed);
            return (made, Err(error));
        }
        *made.entry(worker.device.clone()).or_insert(0) += 1;
    }
}
