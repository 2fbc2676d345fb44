//! One of those that compute pieces, in this process or in others.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::Instant;

use orthant::backend::{Part, Prepared, Roots};
use orthant::field::Field;
use orthant::tree::{Collector, PieceFolder, PieceState, PieceWork, tree_order};
use orthant::{Control, How, Plan, Target};

use super::finisher::ComputedPiece;
use crate::error::Error;
use crate::voice::Voice;

/// What a worker has.
pub(super) struct Worker<'w, const K: usize> {
    pub(super) pieces: &'w PieceFolder,
    /// The pieces that it may make, in this order.
    pub(super) chosen: &'w [usize],
    pub(super) plan: &'w Plan<K>,
    pub(super) field: &'w dyn Field<K>,
    pub(super) how: &'w How,
    pub(super) target: &'w Target,
    pub(super) device: String,
    pub(super) control: &'w Arc<Control>,
    /// True when a piece could not be written.
    pub(super) stop: &'w AtomicBool,
    pub(super) voice: Voice,
}

impl<const K: usize> Worker<'_, K> {
    /// Computes pieces until every piece is finished or in progress, and hands them to those that write them.
    pub(super) fn work<'w>(&'w self, hand: &SyncSender<ComputedPiece<'w, K>>) -> Result<(), Error> {
        let mut prepared = None;
        loop {
            let mut made = 0;
            for &piece in self.chosen {
                if self.stop.load(Ordering::Relaxed) {
                    return Ok(());
                }
                let Some(computed) = self.piece(piece, &mut prepared)? else { continue };
                // Nobody writes any more, and whoever failed says why.
                if hand.send(computed).is_err() {
                    return Ok(());
                }
                made += 1;
            }
            // A worker that failed or was killed meanwhile has given its piece back.
            if made == 0 {
                return Ok(());
            }
        }
    }

    /// Computes a piece, unless it is there or somebody makes it. Kernels are compiled for the first one.
    fn piece<'w>(
        &'w self,
        piece: usize,
        prepared: &mut Option<Box<dyn Prepared<K> + 'w>>,
    ) -> Result<Option<ComputedPiece<'w, K>>, Error> {
        self.control.check()?;
        let pieces = self.pieces;
        if let PieceState::Damaged(reason) = pieces.state(piece, false)?
            && pieces.retract(piece, false)?
        {
            self.voice.say(format_args!("orthant: piece {piece} is made again: {reason}"));
        }
        let Some(claim) = pieces.claim(piece)? else { return Ok(None) };
        let begun = Instant::now();
        let prepared = match prepared {
            Some(prepared) => prepared,
            none => none.insert(self.target.of().prepare(self.plan, self.field, self.how)?),
        };
        let started = Instant::now();
        let range = pieces.roots(piece);
        prepared.run(&Part::of(Roots::Codes { level: 0, range }), self.control)?;
        let ran = Instant::now();
        let collector = Collector::of(prepared.subdivision_in(&tree_order(self.plan))?)?;
        let work = PieceWork {
            device: self.device.clone(),
            running: (ran - started).as_secs_f64(),
            collecting: ran.elapsed().as_secs_f64(),
            ..PieceWork::default()
        };
        Ok(Some(ComputedPiece { worker: self, piece, claim, collector, begun, computed: Instant::now(), work }))
    }
}
