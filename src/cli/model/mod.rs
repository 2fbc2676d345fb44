//! `orthant model`: the cost model on the command line, one file per subcommand.

mod args;
mod eval;
mod inputs;

pub use args::Model;

use super::Voice;
use crate::error::Error;

/// Does what the subcommand says.
pub(super) fn model(command: Model, voice: Voice) -> Result<(), Error> {
    match command {
        Model::Eval(args) => eval::eval(args, voice),
    }
}
