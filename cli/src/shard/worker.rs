//! One of those that compute pieces, in this process or in others.

use std::sync::atomic::Ordering;
use std::sync::mpsc::SyncSender;
use std::time::Instant;

use orthant::Target;
use orthant::backend::{Part, Prepared, Roots};
use orthant::tree::{Collector, PieceState, PieceWork};

use super::finisher::{ComputedPiece, UnwrittenPiece};
use super::making::Making;
use crate::error::Error;

/// What a worker has.
pub(super) struct Worker<'w, const K: usize> {
    pub(super) making: &'w Making<'w, K>,
    /// The pieces that it may make, in this order.
    pub(super) chosen: &'w [usize],
    pub(super) target: &'w Target,
    pub(super) device: String,
}

/// Work of any number of axes.
pub(super) trait Works: Sync {
    /// What it is done by.
    fn device(&self) -> &str;

    /// Computes pieces until every piece is finished or in progress, and hands them to those that write them.
    fn work<'w>(&'w self, hand: &SyncSender<Box<dyn UnwrittenPiece + 'w>>) -> Result<(), Error>;
}

impl<const K: usize> Works for Worker<'_, K> {
    fn device(&self) -> &str {
        &self.device
    }

    fn work<'w>(&'w self, hand: &SyncSender<Box<dyn UnwrittenPiece + 'w>>) -> Result<(), Error> {
        let mut prepared = None;
        loop {
            let mut made = 0;
            for &piece in self.chosen {
                if self.making.stop.load(Ordering::Relaxed) {
                    return Ok(());
                }
                let Some(computed) = self.piece(piece, &mut prepared)? else { continue };
                // Nobody writes any more, and whoever failed says why.
                if hand.send(Box::new(computed)).is_err() {
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
}

impl<const K: usize> Worker<'_, K> {
    /// Computes a piece, unless it is there or somebody makes it. Kernels are compiled for the first one.
    fn piece<'w>(
        &'w self,
        piece: usize,
        prepared: &mut Option<Box<dyn Prepared<K> + 'w>>,
    ) -> Result<Option<ComputedPiece<'w, K>>, Error> {
        let Making { pieces, plan, field, how, control, voice, .. } = self.making;
        control.check()?;
        if let PieceState::Damaged(reason) = pieces.state(piece, false)?
            && pieces.retract(piece, false)?
        {
            voice.say(format_args!("orthant: piece {piece} is made again: {reason}"));
        }
        let Some(claim) = pieces.claim(piece)? else { return Ok(None) };
        let begun = Instant::now();
        let prepared = match prepared {
            Some(prepared) => prepared,
            none => none.insert(self.target.of().prepare(plan, *field, how)?),
        };
        let started = Instant::now();
        let range = pieces.roots(piece);
        prepared.run(&Part::of(Roots::Codes { level: 0, range }), control)?;
        let ran = Instant::now();
        let collector = Collector::of(prepared.subdivision()?)?;
        let work = PieceWork {
            device: self.device.clone(),
            running: (ran - started).as_secs_f64(),
            collecting: ran.elapsed().as_secs_f64(),
            ..PieceWork::default()
        };
        Ok(Some(ComputedPiece { making: self.making, piece, claim, collector, begun, computed: Instant::now(), work }))
    }
}
