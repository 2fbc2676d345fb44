//! `orthant run`: one run, its table, its outputs.

mod array;
mod array_outputs;
mod field;
mod kept_tree;
mod mesh;
mod mesh_tree;
mod noise;
mod outputs;
mod painted;
mod points;
mod summary;

use orthant::field::FieldKind;

use crate::error::Error;
use crate::options::RunOptions;
use crate::stdout;
use crate::voice::Voice;

pub(crate) use array::{ArrayOptions, subdivide, threads};
pub(crate) use mesh_tree::mesh_tree;
pub(crate) use points::points_tree;

/// Runs a workload as asked.
pub(crate) fn run(args: RunOptions, voice: Voice) -> Result<(), Error> {
    // The table goes there.
    if !voice.quiet {
        stdout::is_open()?;
    }
    match args.workload {
        FieldKind::Array => match args.divides_from_the_top() {
            None => array::run(args, voice),
            Some(option) => {
                if args.how.tuning.0.get("strategy").is_none() {
                    voice.say(format_args!(
                        "orthant: the array is divided from the top, by ask, since --{option} is given"
                    ));
                }
                field::run(args, voice)
            }
        },
        FieldKind::Points => match args.divides_from_the_top() {
            None => points::run(args, voice),
            Some(option) => {
                if args.how.tuning.0.get("strategy").is_none() {
                    voice.say(format_args!(
                        "orthant: the points are divided from the top, by ask, since --{option} is given"
                    ));
                }
                field::run(args, voice)
            }
        },
        _ => field::run(args, voice),
    }
}
