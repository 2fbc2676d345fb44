//! What is said of arrays of which subdividing saves little.

use std::time::Duration;

use orthant::per_axis::{shortest, text};
use orthant::tree::{About, BottomUp, Noise, Predicate, When};
use orthant::{Computed, Plan};

use crate::error::Error;
use crate::voice::Voice;

/// The share of cells in leaves from which on it does.
const NOISY: f64 = 0.6;

/// A smaller leaf is named if it leaves less than this share of the cells that are in leaves: of noise it would leave nearly all.
const PAYS: f64 = 0.75;

/// Smaller leaves that are named, at most.
const FINER: usize = 3;

/// Smaller leaves that are considered where cells are no labels: of measured values with noise a tolerance does more.
const FINER_OF_VALUES: usize = 2;

/// Cells from which on this is said before the work.
const LARGE: u128 = 1 << 26;

/// How long regions are looked at for that.
const TIME: Duration = Duration::from_millis(200);

/// An array as it is divided.
pub(super) struct Divided<'a, 'b, const K: usize> {
    pub(super) builder: &'a BottomUp<'b, K>,
    pub(super) predicate: &'a Predicate,
    /// Whether its values are said to be labels, or not to be.
    pub(super) labels: Option<bool>,
    pub(super) plan: &'a Plan<K>,
    /// What the plan was made of.
    pub(super) computed: &'a Computed,
    pub(super) about: &'a About,
    pub(super) voice: Voice,
}

impl<const K: usize> Divided<'_, '_, K> {
    /// Says before the work, if that is much, what some regions say of all; true if it was said.
    pub(super) fn warn_before(&self) -> Result<bool, Error> {
        if self.voice.quiet || self.plan.domain().cells() < LARGE {
            return Ok(false);
        }
        let Some(noise) = self.builder.noise(TIME)?.filter(|noise| noise.leaves > NOISY) else { return Ok(false) };
        self.warn("about ", noise.leaves, Some(&noise));
        Ok(true)
    }

    /// Says it after the work, of how many cells are in leaves.
    pub(super) fn warn_after(&self, leaf_cells: u64) -> Result<(), Error> {
        let leaves = leaf_cells as f64 / self.plan.domain().cells() as f64;
        if !self.voice.quiet && leaves > NOISY {
            self.warn("", leaves, self.builder.noise(TIME)?.as_ref());
        }
        Ok(())
    }

    /// What the options lead g to with another B.
    fn grid_with(&self, sides: &[u32]) -> Option<[u32; K]> {
        let mut computed = self.computed.clone();
        computed.b = Some(sides.to_vec());
        let plan = computed.array_plan::<K>(self.plan.domain().size(), self.about).ok()?;
        Some(plan.scheme().g)
    }

    /// Names smaller leaves that pay, the largest first, else what makes noise sparse; a tolerance would make wrong labels.
    fn warn(&self, about: &str, leaves: f64, noise: Option<&Noise>) {
        let found = format!("orthant: {about}{:.0} % of the cells are in leaves", leaves * 100.0);
        let labels = self.labels.unwrap_or(noise.is_some_and(|noise| noise.labels));
        let finer = noise.map_or(Vec::new(), |noise| paying(noise, if labels { usize::MAX } else { FINER_OF_VALUES }));
        let advice = match (&finer[..], noise) {
            ([(sides, left), others @ ..], _) => {
                let g = self.plan.scheme().g;
                let grid = finer.iter().any(|(sides, _)| self.grid_with(sides) != Some(g));
                let grid = if grid { format!("-g {} ", text(&shortest(&g))) } else { String::new() };
                let shown = |sides: &[u32]| text(&shortest(sides));
                let others: String =
                    others.iter().map(|(sides, left)| format!(", -B {} {:.0} %", shown(sides), left * 100.0)).collect();
                let sides = shown(sides);
                format!("; {grid}-B {sides} would leave about {:.0} %{others}, in more regions", left * 100.0)
            }
            ([], _) if labels => ", since labels change from cell to cell: subdividing this array saves little".into(),
            ([], noise) => {
                let measured = matches!(self.predicate.when, When::Exact | When::Tolerance { .. });
                let tolerances = noise.filter(|_| measured).map_or(&[][..], |noise| &noise.tolerances);
                let tolerance = |(place, &(e, left)): (usize, &(f64, f64))| {
                    let (e, left) = (digits(e), left * 100.0);
                    if place == 0 {
                        format!("; --tolerance {e} would leave {left:.0} %")
                    } else {
                        format!(", {e}: {left:.0} %")
                    }
                };
                let tolerances: String = tolerances.iter().enumerate().map(tolerance).collect();
                // What one threshold makes of the values is what a segmentation would.
                let classes = noise.filter(|_| measured).and_then(|noise| noise.threshold);
                let classes = classes.filter(|(_, left)| *left < leaves * PAYS).map_or(String::new(), |(t, left)| {
                    format!("; two classes part at --threshold {}, which would leave {:.0} %", value(t), left * 100.0)
                });
                format!(", as of measured values with noise: subdividing this array saves little{tolerances}{classes}")
            }
        };
        self.voice.say(found + &advice);
    }
}

/// The first `most` smaller leaves that are worth naming: each leaves clearly less than the one before.
fn paying(noise: &Noise, most: usize) -> Vec<(&[u32], f64)> {
    let mut last = noise.leaves;
    let finer = noise.finer.iter().take(most).filter(|(_, left)| {
        let pays = *left < last * PAYS;
        last = if pays { *left } else { last };
        pays
    });
    finer.take(FINER).map(|(sides, left)| (&sides[..], *left)).collect()
}

/// A value as `--threshold` reads it back, to the bit.
fn value(t: f64) -> String {
    if t.fract() == 0.0 && t.abs() < 1e15 { format!("{t:.0}") } else { format!("{t}") }
}

/// A tolerance in a few digits, and no less than it is.
fn digits(e: f64) -> String {
    if e.fract() == 0.0 && e < 1e15 {
        return format!("{e}");
    }
    let digit = 10f64.powi(e.log10().floor() as i32 - 2);
    let few = (e / digit).ceil() * digit;
    // Of what the product has beyond three digits nothing is meant.
    format!("{few:.2e}").parse::<f64>().map_or(format!("{few:e}"), |few| format!("{few}"))
}

#[cfg(test)]
mod tests {
    use super::digits;

    #[test]
    fn tolerances_are_short_and_suffice() {
        for (e, expected) in [(40.0, "40"), (0.123_41, "0.124"), (1234.5, "1240"), (3e-7, "0.0000003")] {
            assert_eq!(digits(e), expected);
        }
        assert!(digits(0.1 + 0.2).parse::<f64>().unwrap() >= 0.1 + 0.2);
    }
}
