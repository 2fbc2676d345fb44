//! `orthant balance`: balancers, and how they do on lists of work-items.

mod list;
mod run;
mod sizes;

use clap::Subcommand;

use crate::error::Error;
use crate::voice::Voice;

/// The balancing commands.
#[derive(Debug, Subcommand)]
pub(crate) enum BalanceCommand {
    /// What balancers there are, and the lists of work-items they can be compared on
    List,
    /// Measure balancers on lists of work-items; every unit is checked
    Run(run::BalanceOptions),
}

/// Runs a balancing command.
pub(crate) fn balance(command: BalanceCommand, voice: Voice) -> Result<(), Error> {
    match command {
        BalanceCommand::List => list::list(),
        BalanceCommand::Run(args) => run::run(args, voice),
    }
}
