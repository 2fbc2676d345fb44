//! `orthant curves`: orders of regions.

mod compare;
mod walk;

use clap::Subcommand;

pub(crate) use compare::CurveRow;

use crate::error::Error;
use crate::voice::Voice;

/// The curve commands.
#[derive(Debug, Subcommand)]
pub(crate) enum CurvesCommand {
    /// Print the regions of a level in code order, one per line
    Walk(walk::WalkOptions),
    /// Compare curves as orders of the tables of a run: bytes, speed, locality
    Compare(Box<compare::CurvesOptions>),
}

/// Runs a curve command.
pub(crate) fn curves(command: CurvesCommand, voice: Voice) -> Result<(), Error> {
    match command {
        CurvesCommand::Walk(args) => walk::walk(args),
        CurvesCommand::Compare(args) => compare::compare(*args, voice),
    }
}
