//! Figures, chosen by what the rows vary; what has no data is left out.
//!
//! A point is always the fastest of the rows that agree on what its figure shows: whatever is not on an axis and not in the
//! legend is at its best.

mod dimensions;
mod energy;
mod figure;
mod landscape;
mod levels;
mod scaling;
mod tuning;

pub(super) use figure::Figure;

use super::facts::{Fact, subjects};

/// All figures that the facts allow.
pub(super) fn figures(facts: &[Fact]) -> Vec<Figure> {
    let mut figures = Vec::new();
    for (subject, facts) in subjects(facts) {
        figures.extend(scaling::figures(&subject, &facts));
        figures.extend(landscape::figures(&subject, &facts));
        figures.extend(tuning::figures(&subject, &facts));
        figures.extend(energy::figures(&subject, &facts));
    }
    figures.extend(levels::figures(facts));
    figures.extend(dimensions::figures(facts));
    figures
}
