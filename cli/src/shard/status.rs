//! `orthant shard status`: what is finished, and whether it is what was written.

use std::path::PathBuf;

use clap::Args;
use orthant::backend::{Partition, PieceCost};
use orthant::tree::{PieceFolder, PieceState, PieceWork};
use serde_json::json;

use crate::error::Error;
use crate::voice::{Voice, align_right, print, table};

/// Options of `shard status`.
#[derive(Debug, Args)]
pub(crate) struct StatusOptions {
    /// The folder that `orthant shard plan` made
    folder: PathBuf,
    /// Look at names and lengths of files only, and not at every byte
    #[arg(long)]
    quick: bool,
    /// One line of JSON
    #[arg(long)]
    json: bool,
}

/// Says what is finished. Damaged pieces are taken away, so that they are made again.
pub(super) fn status(args: StatusOptions, voice: Voice) -> Result<(), Error> {
    let pieces = PieceFolder::open(&args.folder)?;
    let found = FoundPieces::of(&pieces, 0..pieces.len(), !args.quick)?;
    for (piece, reason) in &found.damaged {
        voice.say(format_args!("orthant: piece {piece} is damaged: {reason}"));
        if !args.quick {
            pieces.retract(*piece, true)?;
        }
    }
    if args.json {
        print(format!("{}\n", found.json(&pieces)))?;
    } else {
        print(found.text(&pieces))?;
    }
    found.complete(&pieces, !args.quick)
}

/// What there is of each piece.
pub(super) struct FoundPieces {
    pub(super) done: Vec<(usize, PieceWork)>,
    pub(super) busy: Vec<usize>,
    missing: Vec<usize>,
    damaged: Vec<(usize, String)>,
}

impl FoundPieces {
    /// Looks at some pieces.
    ///
    /// # Errors
    /// [`Error`] if the system says no.
    pub(super) fn of(
        pieces: &PieceFolder,
        numbers: impl IntoIterator<Item = usize>,
        thorough: bool,
    ) -> Result<Self, Error> {
        let mut found = Self { done: Vec::new(), busy: Vec::new(), missing: Vec::new(), damaged: Vec::new() };
        for piece in numbers {
            match pieces.state(piece, thorough)? {
                PieceState::Done(work) => found.done.push((piece, work)),
                PieceState::Busy => found.busy.push(piece),
                PieceState::Damaged(reason) => found.damaged.push((piece, reason)),
                _ => found.missing.push(piece),
            }
        }
        Ok(found)
    }

    /// Checks that nothing is missing.
    ///
    /// # Errors
    /// [`Error::Difference`] says what is.
    pub(super) fn complete(&self, pieces: &PieceFolder, retracted: bool) -> Result<(), Error> {
        let (done, all, path) = (self.done.len(), pieces.len(), pieces.path().display());
        if done == all {
            return Ok(());
        }
        let damaged = match (self.damaged.len(), retracted) {
            (0, _) => String::new(),
            (damaged, true) => format!(", damaged and taken away {damaged}"),
            (damaged, false) => format!(", damaged {damaged}"),
        };
        let busy = if self.busy.is_empty() { String::new() } else { format!(", being made {}", self.busy.len()) };
        Err(Error::Difference(format!(
            "{path}: {done} of {all} pieces are finished{busy}{damaged}; `orthant shard run {path}` makes those that are missing"
        )))
    }

    fn json(&self, pieces: &PieceFolder) -> serde_json::Value {
        let damaged = self.damaged.iter().map(|(piece, reason)| json!({ "piece": piece, "reason": reason }));
        let done = self.done.iter().map(|(piece, work)| {
            json!({
                "piece": piece, "device": work.device, "seconds": work.seconds, "running": work.running,
                "collecting": work.collecting, "waiting": work.waiting, "ordering": work.ordering, "writing": work.writing,
                "weight": pieces.partition().weights()[*piece],
            })
        });
        let cost = self.cost(pieces).map(|PieceCost { floor, each }| json!({ "floor": floor, "each": each }));
        json!({
            "schema": 1, "pieces": pieces.len(), "cost": cost, "done": done.collect::<Vec<_>>(), "busy": self.busy,
            "missing": self.missing, "damaged": damaged.collect::<Vec<_>>(),
        })
    }

    /// For people: counts, and what was predicted beside what was measured.
    fn text(&self, pieces: &PieceFolder) -> String {
        let mut rows = table(&["pieces", "finished", "being made", "missing", "damaged", "seconds"]);
        // A piece that waits costs nothing.
        let seconds: Vec<f64> = self.done.iter().map(|(_, work)| work.seconds - work.waiting).collect();
        rows.add_row([
            pieces.len().to_string(),
            self.done.len().to_string(),
            self.busy.len().to_string(),
            self.missing.len().to_string(),
            self.damaged.len().to_string(),
            format!("{:.3}", seconds.iter().fold(0.0, |sum, seconds| sum + seconds)),
        ]);
        align_right(&mut rows);
        let mut text = format!("{rows}\n");
        if self.done.len() == pieces.len() && pieces.len() > 1 {
            let measured = Partition::each(seconds);
            let mut rows = table(&["workers", "busiest / mean predicted", "measured"]);
            let counts = (1..).map(|bits| 1usize << bits).take_while(|&workers| workers <= pieces.len());
            for workers in counts {
                let balance = |cut: &Partition| format!("{:.3}", cut.balance(workers));
                rows.add_row([workers.to_string(), balance(pieces.partition()), balance(&measured)]);
            }
            align_right(&mut rows);
            text += &format!("\n{rows}\n");
        }
        if let Some(PieceCost { floor, each }) = self.cost(pieces) {
            let mean = pieces.partition().weights().iter().sum::<f64>() / pieces.len() as f64;
            text += &format!(
                "\na piece takes {:.1} ms, and {:.1} ms more for what it weighs on average\n",
                floor * 1e3,
                each * mean * 1e3
            );
        }
        text
    }

    /// What pieces take, as far as they are made. None if that cannot be told.
    pub(super) fn cost(&self, pieces: &PieceFolder) -> Option<PieceCost> {
        let weights: Vec<f64> = self.done.iter().map(|&(piece, _)| pieces.partition().weights()[piece]).collect();
        let seconds: Vec<f64> = self.done.iter().map(|(_, work)| work.seconds - work.waiting).collect();
        PieceCost::fit(&weights, &seconds)
    }
}
