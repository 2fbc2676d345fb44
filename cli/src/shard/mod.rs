//! `orthant shard`: a run in pieces that any number of processes make, on any machines that see one folder.

mod chosen;
mod merge;
mod plan;
mod planned;
mod run;
mod status;
mod worker;

use clap::Subcommand;

use crate::error::Error;
use crate::voice::Voice;

/// The shard commands.
#[derive(Debug, Subcommand)]
pub(crate) enum ShardCommand {
    /// Cut a run into pieces of about equal cost, and write what they are into a folder
    #[command(override_usage = "orthant shard plan [OPTIONS] <FIELD> -o <X.pieces>")]
    Plan(Box<plan::CutOptions>),
    /// Make pieces until none is left: as many processes at the same time as you like
    Run(Box<run::MakeOptions>),
    /// Which pieces are finished, and whether every byte of them is what was written
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
