//! The options of `compare`.

use std::path::PathBuf;

use clap::Args;

/// Options of `compare`.
#[derive(Debug, Args)]
pub(crate) struct CompareOptions {
    /// The rows to compare with
    #[arg(value_name = "A.jsonl")]
    pub(crate) a: PathBuf,
    /// The rows to compare
    #[arg(value_name = "B.jsonl")]
    pub(crate) b: PathBuf,
    /// Settings that need not agree, as strategy,curve: to compare cases that differ in them
    #[arg(long, value_delimiter = ',', value_name = "SETTINGS")]
    pub(crate) ignore: Vec<String>,
    /// Exit with 3 if a case of B is slower by more than this, as 5%, with significance where there are samples enough
    #[arg(long, value_parser = percent, value_name = "PERCENT", env = "ORTHANT_FAIL_ABOVE")]
    pub(crate) fail_above: Option<f64>,
    /// The probability of calling equal times different
    #[arg(long, default_value_t = 0.01, value_parser = share, value_name = "SHARE", env = "ORTHANT_ALPHA")]
    pub(crate) alpha: f64,
    /// The probability with which intervals hold the ratio
    #[arg(long, default_value_t = 0.95, value_parser = share, value_name = "SHARE", env = "ORTHANT_CONFIDENCE")]
    pub(crate) confidence: f64,
    /// Several rows of a case are its rounds, measured by turns with the other file's, in the order of the file
    #[arg(long, conflicts_with_all = ["alpha", "confidence"])]
    pub(crate) rounds: bool,
    /// The least difference that counts with --rounds, however little they scatter, or with too few samples for a rank test
    #[arg(
        long,
        default_value = "2%",
        value_parser = percent,
        value_name = "PERCENT",
        env = "ORTHANT_THRESHOLD"
    )]
    pub(crate) threshold: f64,
    /// One JSON object instead of the table
    #[arg(long)]
    pub(crate) json: bool,
}

/// `5%` or `5`, as a share.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim().strip_suffix('%').unwrap_or(text).trim();
    match number.parse::<f64>() {
        Ok(percent) if percent >= 0.0 && percent.is_finite() => Ok(percent / 100.0),
        _ => Err(format!("'{text}' is not a percentage of at least 0, as 5%")),
    }
}

/// A number between 0 and 1.
fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if 0.0 < share && share < 1.0 => Ok(share),
        _ => Err(format!("'{text}' is not a number between 0 and 1")),
    }
}
