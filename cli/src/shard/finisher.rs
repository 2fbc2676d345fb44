//! Threads that put computed pieces in order and write them, while workers compute the next ones.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use orthant::backend::Tuning;
use orthant::tree::{Collector, PieceClaim, PieceWork};

use super::making::Making;
use crate::error::Error;

/// Threads of a process for each thread that writes pieces. A piece's files are packed side by side, so that some threads serve each.
const THREADS_OF_A_FINISHER: usize = 4;

/// How many threads write pieces in a process that computes with so many threads.
pub(super) fn finishers(threads: usize) -> usize {
    (threads / THREADS_OF_A_FINISHER).max(1)
}

/// A piece whose regions and bricks are in memory. Whoever drops it gives the piece back.
pub(super) struct ComputedPiece<'w, const K: usize> {
    pub(super) making: &'w Making<'w, K>,
    pub(super) piece: usize,
    pub(super) claim: PieceClaim,
    pub(super) collector: Collector<K>,
    /// When it was claimed.
    pub(super) begun: Instant,
    /// When all of it was in memory.
    pub(super) computed: Instant,
    pub(super) work: PieceWork,
}

/// A piece of any number of axes: threads and channels are compiled once.
pub(super) trait UnwrittenPiece: Send {
    /// What computed it.
    fn device(&self) -> String;

    /// Puts the piece in order and writes it, or lets all workers stop.
    fn finish(self: Box<Self>) -> Result<(), Error>;
}

impl<const K: usize> UnwrittenPiece for ComputedPiece<'_, K> {
    fn device(&self) -> String {
        self.work.device.clone()
    }

    fn finish(self: Box<Self>) -> Result<(), Error> {
        let making = self.making;
        self.write().inspect_err(|_| making.stop.store(true, Ordering::Relaxed))
    }
}

impl<const K: usize> ComputedPiece<'_, K> {
    fn write(self) -> Result<(), Error> {
        let Self { making, piece, claim, collector, begun, computed, mut work } = self;
        work.waiting = computed.elapsed().as_secs_f64();
        let ordering = Instant::now();
        let collector = making.how.mem_limit.into_iter().fold(collector, Collector::mem_limit);
        let roots = making.pieces.roots(piece);
        let mut tree = collector.part(0, roots.start.into()..roots.end.into())?;
        // Whoever makes it: its bytes must not depend on how.
        if Tuning::default().asks_proofs(making.plan.rule()) {
            tree = tree.proved_by(making.field, making.control)?;
        }
        let writing = Instant::now();
        work.ordering = (writing - ordering).as_secs_f64();
        let seconds = || begun.elapsed().as_secs_f64();
        let done = || PieceWork { seconds: seconds(), writing: writing.elapsed().as_secs_f64(), ..work.clone() };
        claim.write(making.pieces, &tree, &done, Some(making.control))?;
        if making.voice.verbose {
            let (of, device, seconds) = (making.pieces.len(), &work.device, seconds());
            making.voice.say(format_args!("orthant: piece {piece} of {of} in {seconds:.3} s on {device}"));
        }
        Ok(())
    }
}

/// How many pieces of each device a thread wrote, and what kept it from going on.
pub(super) type Finished = (BTreeMap<String, usize>, Result<(), Error>);

/// Writes pieces until no worker makes any.
pub(super) fn finish(computed: &Arc<Mutex<Receiver<Box<dyn UnwrittenPiece + '_>>>>) -> Finished {
    let mut made = BTreeMap::new();
    loop {
        let next = computed.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(piece) = next else { return (made, Ok(())) };
        let device = piece.device();
        if let Err(error) = piece.finish() {
            return (made, Err(error));
        }
        *made.entry(device).or_insert(0) += 1;
    }
}
