//! The options of when cells of an array count as one value.

use clap::Args;
use orthant::CellType;
use orthant::tree::{NotANumber, Number, Predicate};

use super::heading;
use crate::error::Error;

/// Options of the predicate.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = heading::WHAT)]
pub(crate) struct PredicateOptions {
    /// A region is one value if all its cells are within E of it: what makes noisy values sparse [default: equal cells]
    ///
    /// The value is the middle of the least and the greatest cell, as the type has it, and E is guaranteed of every cell; of whole
    /// numbers it is the whole part of E. Cells of leaves are kept as they are.
    #[arg(long, value_name = "E", value_parser = number, allow_negative_numbers = true, env = "ORTHANT_TOLERANCE", hide_short_help = true)]
    pub(crate) tolerance: Option<Number>,
    /// Cells become classes of one byte: 0 below T, 1 from T on
    ///
    /// What is not a number is 2, and what is no data 255.
    #[arg(long, value_name = "T", value_parser = number, allow_negative_numbers = true, env = "ORTHANT_THRESHOLD",
        conflicts_with = "tolerance", hide_short_help = true)]
    pub(crate) threshold: Option<Number>,
    /// A region is one value if all its cells, and all around it, are below T, or none is: for contours
    ///
    /// The value is that of its cells which is nearest to T. Cells of leaves, among them all through which a contour goes, are kept as
    /// they are.
    #[arg(long, value_name = "T", value_parser = number, allow_negative_numbers = true, env = "ORTHANT_ISO",
        conflicts_with_all = ["tolerance", "threshold"], hide_short_help = true)]
    pub(crate) iso: Option<Number>,
    /// Cells become labels: the label of a cell v is floor((v - LO) / STEP). LO is 0 unless it is given
    ///
    /// Labels are stored as the smallest signed type that fits every possible label, those of f32 and f64 as i32. The least number of the
    /// type stands for NaN, and the next for no data.
    #[arg(long, alias = "labels", value_name = "STEP[,LO]", value_parser = steps, allow_negative_numbers = true, env = "ORTHANT_STEP",
        conflicts_with_all = ["tolerance", "threshold", "iso"], hide_short_help = true)]
    pub(crate) step: Option<Steps>,
    /// Cells that are not a number: they count as one value, are an error, or are V: equal, error, fill=V [default: equal]
    #[arg(long, value_name = "HOW", value_parser = str::parse::<NotANumber>, env = "ORTHANT_NAN", hide_short_help = true)]
    pub(crate) nan: Option<NotANumber>,
    /// The value of cells that hold no data: they are one with no others, and the tree says which they are
    #[arg(long, value_name = "V", value_parser = number, allow_negative_numbers = true, env = "ORTHANT_NODATA", hide_short_help = true)]
    pub(crate) nodata: Option<Number>,
}

/// Where labels begin, and how far they are from each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Steps {
    step: Number,
    lo: Number,
}

fn number(text: &str) -> Result<Number, String> {
    text.parse().map_err(|error: orthant::tree::NoNumber| error.to_string())
}

fn steps(text: &str) -> Result<Steps, String> {
    let (step, lo) = text.split_once(',').unwrap_or((text, "0"));
    Ok(Steps { step: number(step)?, lo: number(lo)? })
}

impl PredicateOptions {
    /// What is done about cells that are not a number.
    pub(crate) fn not_a_number(&self) -> NotANumber {
        self.nan.unwrap_or_default()
    }

    /// The predicate of an array with cells of a type, and the word of those that hold no data: the one that was given, or the file's own.
    ///
    /// # Errors
    /// [`Error`] names the option, its value and what is allowed.
    pub(crate) fn of(&self, kind: CellType, known: Option<u64>) -> Result<(Predicate, Option<u64>), Error> {
        let Self { tolerance, threshold, iso, step, nodata, .. } = *self;
        let predicate = match (tolerance, threshold, iso, step) {
            (Some(e), ..) => Predicate::tolerance(kind, e)?,
            (_, Some(t), ..) => Predicate::threshold(kind, t)?,
            (_, _, Some(t), _) => Predicate::iso(kind, t)?,
            (_, _, _, Some(Steps { step, lo })) => Predicate::labels(kind, step, lo)?,
            _ => Predicate::EXACT,
        };
        let predicate = predicate.nan(kind, self.not_a_number())?;
        let held = |number: Number| {
            let reason = || format!("--nodata {number}: cells are {kind}, which does not hold it");
            number.word(kind).ok_or_else(|| Error::Input(reason()))
        };
        let word = nodata.map(held).transpose()?.or(known);
        let predicate = word.map_or(Ok(predicate), |word| predicate.nodata(kind, word))?;
        Ok((predicate, word))
    }

    /// Those that were given, by name.
    pub(crate) fn given(&self) -> Vec<&'static str> {
        let Self { tolerance, threshold, iso, step, nan, nodata } = self;
        let given = [
            ("tolerance", tolerance.is_some()),
            ("threshold", threshold.is_some()),
            ("iso", iso.is_some()),
            ("step", step.is_some()),
            ("nan", nan.is_some()),
            ("nodata", nodata.is_some()),
        ];
        given.into_iter().filter(|given| given.1).map(|given| given.0).collect()
    }
}
