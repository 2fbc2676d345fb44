//! `orthant shard`: a run in pieces that any number of processes make, on any machines that see one folder.

mod chosen;
mod finisher;
mod making;
mod merge;
mod plan;
mod planned;
mod run;
mod status;
mod worker;

use clap::Subcommand;

use crate::error::Error;
use crate::voice::Voice;

pub(crate) use planned::{PlannedRun, made_of};

/// The shard commands.
#[derive(Debug, Subcommand)]
pub(crate) enum ShardCommand {
    /// Plan a run in pieces of about equal cost, and write the plan into a folder
    #[command(override_usage = "orthant shard plan [OPTIONS] <FIELD> -o <X.pieces>")]
    Plan(Box<plan::CutOptions>),
    /// Make the missing pieces; start as many processes as you like
    Run(Box<run::MakeOptions>),
    /// Check every byte of the finished pieces, and remove damaged ones
    Status(status::StatusOptions),
    /// Put all pieces together as one tree
    Merge(merge::MergeOptions),
}

/// Runs a shard command.
pub(crate) fn shard(command: ShardCommand, voice: Voice) -> Result<(), Error> {
    match command {
        ShardCommand::Plan(args) => plan::plan(*args, voice),
        ShardCommand::Run(args) => run::run(*args, voice),
        ShardCommand::Status(args) => status::status(args, voice),
        ShardCommand::Merge(args) => merge::merge(args, voice),
    }
}
