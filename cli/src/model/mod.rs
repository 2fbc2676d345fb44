//! `orthant model`: the cost model on the command line, one file per subcommand.

mod args;
mod figures;
mod fit;
mod measured;
mod plan;
mod plot;
mod predict;
mod reports;
mod symbols;
mod tune;

pub(crate) use args::ModelCommand;

use crate::error::Error;
use crate::voice::Voice;

/// Does what the subcommand says.
pub(crate) fn model(command: ModelCommand, voice: Voice) -> Result<(), Error> {
    match command {
        ModelCommand::Predict(args) => predict::predict(*args),
        ModelCommand::Plan(args) => plan::plan(*args),
        ModelCommand::Fit(args) => fit::fit(args, voice),
        ModelCommand::Tune(args) => tune::tune(*args, voice),
        ModelCommand::Plot(command) => plot::plot(command, voice),
    }
}
