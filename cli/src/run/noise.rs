//! What is said of arrays of which subdividing saves little.

use std::time::Duration;

use orthant::tree::{BottomUp, Noise, Predicate, When};

use crate::error::Error;
use crate::voice::Voice;

/// The share of cells in leaves from which on it does.
const NOISY: f64 = 0.6;

/// Cells from which on this is said before the work.
const LARGE: u128 = 1 << 26;

/// How long regions are looked at for that.
const TIME: Duration = Duration::from_millis(200);

/// Says before the work, if that is much, what some regions say of all; true if it was said.
pub(super) fn before<const K: usize>(
    builder: &BottomUp<'_, K>,
    (predicate, cells): (&Predicate, u128),
    voice: Voice,
) -> Result<bool, Error> {
    if voice.quiet || cells < LARGE {
        return Ok(false);
    }
    let Some(noise) = builder.noise(TIME)?.filter(|noise| noise.leaves > NOISY) else { return Ok(false) };
    say("about ", noise.leaves, Some(&noise), predicate, voice);
    Ok(true)
}

/// Says it after the work, of the share of cells that are in leaves.
pub(super) fn after<const K: usize>(
    builder: &BottomUp<'_, K>,
    (predicate, leaves): (&Predicate, f64),
    voice: Voice,
) -> Result<(), Error> {
    if voice.quiet || leaves <= NOISY {
        return Ok(());
    }
    say("", leaves, builder.noise(TIME)?.as_ref(), predicate, voice);
    Ok(())
}

fn say(about: &str, leaves: f64, noise: Option<&Noise>, predicate: &Predicate, voice: Voice) {
    let measured = matches!(predicate.when, When::Exact | When::Tolerance { .. });
    let tolerances = noise.filter(|_| measured).map_or(&[][..], |noise| &noise.tolerances);
    let tolerance = |(place, &(e, left)): (usize, &(f64, f64))| {
        let (e, left) = (text(e), left * 100.0);
        if place == 0 { format!("; --tolerance {e} would leave {left:.0} %") } else { format!(", {e}: {left:.0} %") }
    };
    let advice: String = tolerances.iter().enumerate().map(tolerance).collect();
    voice.say(format_args!(
        "orthant: {about}{:.0} % of the cells are in leaves, as of measured values with noise: subdividing this array saves little{advice}",
        leaves * 100.0
    ));
}

/// A tolerance in a few digits, and no less than it is.
fn text(e: f64) -> String {
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
    use super::text;

    #[test]
    fn tolerances_are_short_and_suffice() {
        for (e, expected) in [(40.0, "40"), (0.123_41, "0.124"), (1234.5, "1240"), (3e-7, "0.0000003")] {
            assert_eq!(text(e), expected);
        }
        assert!(text(0.1 + 0.2).parse::<f64>().unwrap() >= 0.1 + 0.2);
    }
}
