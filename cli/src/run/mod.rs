//! `orthant run`: one run, its table, its outputs.

mod array;
mod array_outputs;
mod field;
mod mesh;
mod mesh_tree;
mod noise;
mod outputs;
mod summary;

use crate::error::Error;
use crate::options::{RunOptions, Workload};
use crate::stdout;
use crate::voice::Voice;

pub(crate) use array::{ArrayOptions, subdivide, threads};
pub(crate) use mesh_tree::mesh_tree;

/// Runs a workload as asked.
pub(crate) fn run(args: RunOptions, voice: Voice) -> Result<(), Error> {
    // The table goes there.
    if !voice.quiet {
        stdout::is_open()?;
    }
    match args.workload {
        Workload::Field(_) => field::run(args, voice),
        Workload::Array => array::run(args, voice),
    }
}
