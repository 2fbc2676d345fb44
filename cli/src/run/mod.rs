//! `orthant run`: one run, its table, its outputs.

mod array;
mod cell_outputs;
mod field;
mod field_outputs;
mod kept_tree;
mod list;
mod mesh;
mod mesh_tree;
mod noise;
mod outputs;
mod painted;
mod points;
mod run_trees;
mod sooner;
mod summary;
mod tree_build;

use orthant::field::FieldKind;

use crate::error::Error;
use crate::options::RunOptions;
use crate::stdout;
use crate::voice::Voice;

pub(crate) use array::{ArrayOptions, subdivide, threads};
pub(crate) use list::{building, list_tree};
pub(crate) use mesh_tree::mesh_tree;
pub(crate) use points::points_tree;

/// Carries out a run.
type RunOne = fn(RunOptions, Voice) -> Result<(), Error>;

/// Runs a workload as asked.
pub(crate) fn run(args: RunOptions, voice: Voice) -> Result<(), Error> {
    // The table goes there.
    if !voice.quiet {
        stdout::is_open()?;
    }
    // What has a way of its own, from the cells up, or by sorting.
    let (data, own): (&str, RunOne) = match args.workload {
        FieldKind::Array if args.input.is_list() => ("list is", list::run),
        FieldKind::Array => ("array is", array::run),
        FieldKind::Points => ("points are", points::run),
        _ => return field::run(args, voice),
    };
    args.joins()?;
    let Some(option) = args.divides_from_the_top() else { return own(args, voice) };
    if args.how.tuning.0.get("strategy").is_none() {
        voice.say(format_args!("orthant: the {data} divided from the top, by ask, since --{option} is given"));
    }
    field::run(args, voice)
}
