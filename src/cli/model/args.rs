//! The options of `orthant model`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// The commands of the cost model.
#[derive(Debug, Subcommand)]
pub enum Model {
    /// Evaluate the functions of the model on the cases of a JSON file; prints one JSON line per case
    Eval(Eval),
}

/// Options of `model eval`.
#[derive(Debug, Args)]
pub struct Eval {
    /// A list of cases, or an object with such a list under 'cases'
    #[arg(value_name = "CASES.json")]
    pub cases: PathBuf,
}
