//! `orthant curves`: orders of regions.

mod compare;
mod walk;

use clap::Subcommand;

use super::Voice;
use crate::error::Error;

/// The curve commands.
#[derive(Debug, Subcommand)]
pub enum Curves {
    /// Print the regions of a level in code order, one per line
    Walk(walk::Walk),
    /// Compare curves as orders of the tables of a run: bytes, speed, locality
    Compare(compare::Compare),
}

/// Runs a curve command.
pub(super) fn curves(command: Curves, voice: Voice) -> Result<(), Error> {
    match command {
        Curves::Walk(args) => walk::walk(args),
        Curves::Compare(args) => compare::compare(args, voice),
    }
}
