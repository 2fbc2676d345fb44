//! One case in two files.

use serde::Serialize;

use crate::bench::ran::RanRow;
use crate::bench::row::Row;
use crate::bench::settings::Case;

/// How B stands to A.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Judgement {
    Faster,
    Slower,
    Same,
    /// Only A has a result.
    Failed,
}

impl Judgement {
    /// By a ratio that counts when it is further than `threshold` from 1.
    pub(super) fn of(ratio: f64, threshold: f64) -> Self {
        match ratio {
            _ if ratio > 1.0 + threshold => Self::Slower,
            _ if ratio < 1.0 - threshold => Self::Faster,
            _ => Self::Same,
        }
    }

    /// As a table says it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "**slower**",
            Self::Same => "the same",
            Self::Failed => "**failed**",
        }
    }
}

/// One case in both files.
#[derive(Debug, Serialize)]
pub(super) struct Pair {
    pub(super) key: String,
    /// What the key is made of.
    #[serde(skip)]
    pub(super) case: Case,
    /// Which times are compared.
    pub(super) clock: &'static str,
    /// Seconds.
    pub(super) median_a: Option<f64>,
    pub(super) median_b: Option<f64>,
    /// B over A.
    pub(super) ratio: Option<f64>,
    pub(super) interval: Option<[f64; 2]>,
    /// Of times as different as these if there were no difference; None where there are too few for a rank test.
    pub(super) p: Option<f64>,
    pub(super) verdict: Judgement,
    /// True if both have a checksum and these differ.
    pub(super) cells_differ: bool,
    /// This and `three_mad` with --rounds only. Medians are of the rounds' medians then, and the ratio is that of their ratios.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rounds: Option<usize>,
    /// Three median absolute deviations of the rounds' ratios.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) three_mad: Option<f64>,
    /// How far the ratio must be from 1 to count, where no test decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) threshold: Option<f64>,
}

impl Pair {
    /// True if there were too few samples for a rank test.
    pub(super) fn too_few(&self) -> bool {
        self.rounds.is_none() && self.threshold.is_some()
    }
}

pub(super) fn checksum(row: &Row<RanRow>) -> Option<&str> {
    row.run.as_ref()?.checksum.as_deref()
}

/// A cell of a table.
pub(super) fn number(value: Option<f64>, scale: f64) -> String {
    value.map_or("-".into(), |value| format!("{:.4}", value * scale))
}
