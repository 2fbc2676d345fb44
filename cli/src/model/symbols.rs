//! The model's symbols as options, and its numbers for people.

use orthant_lab::model::ModelError;

use crate::error::Error;
use crate::model::args::Axes;

/// k: as asked for, else the axes of the size, else 2.
pub(super) fn dimensions(dim: Option<usize>, size: &Axes) -> Result<usize, Error> {
    let k = dim.unwrap_or(match size.0.len() {
        1 => 2,
        axes => axes,
    });
    match (1..=orthant::MAX_DIM).contains(&k) {
        true => Ok(k),
        false => {
            let reason = format!("--dim {k}: between 1 and {} dimensions are supported", orthant::MAX_DIM);
            Err(Error::Input(reason).about(&["dim", "size"]))
        }
    }
}

/// One number per axis.
pub(super) fn spread(flag: &'static str, axes: &Axes, k: usize) -> Result<Vec<u64>, Error> {
    match axes.0[..] {
        [number] => Ok(vec![number; k]),
        _ if axes.0.len() == k => Ok(axes.0.clone()),
        _ => {
            let reason = format!("{flag} has {} axes; with --dim {k} it takes 1 or {k} numbers", axes.0.len());
            Err(Error::Input(reason).about(&[flag.trim_start_matches('-'), "dim", "size"]))
        }
    }
}

/// An error of the model in terms of the flags.
pub(super) fn flagged(error: ModelError) -> Error {
    let (symbol, value, allowed) = match error {
        ModelError::Parameter { symbol, value, allowed } => (symbol, value, allowed),
        ModelError::Profile { .. } => {
            return Error::Input(format!("--profile: {error}")).about(&["profile", "size", "g", "r", "B"]);
        }
        ModelError::Infeasible { .. } | ModelError::Undefined { .. } => {
            let reason = format!("--tau-policy: {error}; use a smaller -g or -B, or --tau-policy clamp");
            return Error::Input(reason).about(&["tau-policy", "size", "g", "r", "B"]);
        }
        _ => return Error::Model(error),
    };
    let flag = match symbol {
        "n" => "--size",
        "g" => "-g",
        "r" => "-r",
        "B" => "-B",
        "P" => "-P",
        "A" => "-A",
        "lambda" => "--lambda",
        "q" => "--q",
        "c" => "--c",
        "dim" => "--box-dim",
        "k" => "--dim",
        _ => return Error::Model(ModelError::Parameter { symbol, value, allowed }),
    };
    let error = Error::Input(format!("{flag} {value}: must be {allowed}"));
    // A box dimension is at most k.
    if symbol == "dim" { error.about(&["box-dim", "dim", "size"]) } else { error }
}

/// A cost, short enough for a table.
pub(super) fn short(value: f64) -> String {
    match value.abs() {
        1e9.. => format!("{value:.4e}"),
        1e4.. => format!("{value:.0}"),
        _ if value.fract() == 0.0 => format!("{value}"),
        _ => format!("{value:.3}"),
    }
}
