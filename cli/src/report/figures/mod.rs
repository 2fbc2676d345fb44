//! Figures, chosen by what the rows vary; what has no data is left out.
//!
//! A point is always the fastest of the rows that agree on what its figure shows: whatever is not on an axis and not in the
//! legend is at its best.

pub(super) mod dimensions;
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
    let subjects = subjects(facts);
    let everywhere = |part: &&str| subjects.keys().all(|subject| subject.split(", ").any(|other| other == *part));
    for (subject, facts) in &subjects {
        let own: Vec<&str> = subject.split(", ").filter(|part| !everywhere(part)).collect();
        let kinds = [scaling::figures, landscape::figures, tuning::figures, energy::figures];
        let drawn = kinds.into_iter().flat_map(|kind| kind(subject, facts));
        figures.extend(drawn.map(|figure| figure.of(&own.join(", "))));
    }
    figures.extend(levels::figures(facts));
    figures.extend(dimensions::figures(facts));
    figures
}
