//! One of those that make pieces, in this process or in others.

use std::sync::Arc;
use std::time::Instant;

use orthant::backend::{Part, Prepared, Roots, Tuning};
use orthant::field::Field;
use orthant::tree::{Collector, PieceFolder, PieceState, PieceWork};
use orthant::{Control, How, Plan, Target};

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
    pub(super) voice: Voice,
}

impl<const K: usize> Worker<'_, K> {
    /// Makes pieces until every piece is finished or in progress, and says how many it made.
    pub(super) fn work(&self) -> (usize, Result<(), Error>) {
        let (mut made, mut prepared) = (0, None);
        loop {
            let before = made;
            for &piece in self.chosen {
                match self.piece(piece, &mut prepared) {
                    Ok(done) => made += usize::from(done),
                    Err(error) => return (made, Err(error)),
                }
            }
            // A worker that failed or was killed meanwhile has given its piece back.
            if made == before {
                return (made, Ok(()));
            }
        }
    }

    /// Makes a piece, unless it is there or somebody makes it. Kernels are compiled for the first one.
    fn piece<'p>(&'p self, piece: usize, prepared: &mut Option<Box<dyn Prepared<K> + 'p>>) -> Result<bool, Error> {
        self.control.check()?;
        let pieces = self.pieces;
        if let PieceState::Damaged(reason) = pieces.state(piece, false)?
            && pieces.retract(piece, false)?
        {
            self.voice.say(format_args!("orthant: piece {piece} is made again: {reason}"));
        }
        let Some(claim) = pieces.claim(piece)? else { return Ok(false) };
        let begun = Instant::now();
        let prepared = match prepared {
            Some(prepared) => prepared,
            none => none.insert(self.target.of().prepare(self.plan, self.field, self.how)?),
        };
        let roots = pieces.roots(piece);
        let started = Instant::now();
        prepared.run(&Part::of(Roots::Codes { level: 0, range: roots.clone() }), self.control)?;
        let running = started.elapsed().as_secs_f64();
        let collector = Collector::new(self.plan);
        let mut collector = self.how.mem_limit.into_iter().fold(collector, Collector::mem_limit);
        prepared.result(&mut collector)?;
        let mut tree = collector.part(0, roots.start.into()..roots.end.into())?;
        // Whoever makes it: its bytes must not depend on how.
        if Tuning::default().asks_proofs(self.plan.rule()) {
            tree = tree.proved_by(self.field, self.control)?;
        }
        let seconds = || begun.elapsed().as_secs_f64();
        let work = || PieceWork { device: self.device.clone(), seconds: seconds(), running };
        claim.write(pieces, &tree, &work, Some(self.control))?;
        if self.voice.verbose {
            let (of, device, seconds) = (pieces.len(), &self.device, seconds());
            self.voice.say(format_args!("orthant: piece {piece} of {of} in {seconds:.3} s on {device}"));
        }
        Ok(true)
    }
}
