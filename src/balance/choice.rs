//! A balancer by name, or the one that fits.

use std::ops::RangeInclusive;

use crate::balance::balancer::{Balancer, BalancerKind};
use crate::balance::facts::Facts;
use crate::choice::ChoiceValue;

/// A balancer, or the one that fits the items.
///
/// ```
/// use orthant::balance::{BalancerChoice, BalancerKind, Items};
///
/// // Two sizes, each many times in a row: a division finds the item of a unit.
/// let items = Items::new([[64; 100], [16; 100]].concat())?;
/// assert_eq!(BalancerChoice::Auto.of(&items.facts()).kind(), BalancerKind::LevelArithmetic);
/// # Ok::<(), orthant::balance::ItemsError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BalancerChoice {
    /// The one that fits the sizes of the items.
    Auto,
    /// This one.
    Named(Balancer),
}

impl BalancerChoice {
    /// The balancer for items of which this is known.
    pub fn of(&self, facts: &Facts) -> Balancer {
        match self {
            Self::Named(balancer) => balancer.clone(),
            Self::Auto => fitting(facts),
        }
    }
}

/// The mean size from which on a block per tile is worth a search.
const LARGE: f64 = 512.0;

/// The balancer that fits: classes need no search; large items are cut into tiles; small ones of about one size have virtual
/// warps, all others equal units. Measured in docs/results/balance.md.
fn fitting(facts: &Facts) -> Balancer {
    let by = |kind: BalancerKind| kind.into();
    match facts {
        Facts { classes: Some(_), .. } => by(BalancerKind::LevelArithmetic),
        Facts { mean, .. } if *mean >= LARGE => "tile-search:tile=4096".parse().expect("it takes that"),
        Facts { mean, deviation, .. } if *deviation < 0.25 * mean && *mean <= 64.0 => by(BalancerKind::VirtualWarps),
        _ => by(BalancerKind::MultiPhase),
    }
}

impl ChoiceValue for BalancerChoice {
    const FORM: &'static str = "NAME|auto";

    fn read(text: &str, _: RangeInclusive<u64>) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            _ => text.parse().map(Self::Named).map_err(|error: crate::balance::BalancerError| error.to_string()),
        }
    }

    fn write(&self) -> Option<String> {
        Some(match self {
            Self::Auto => "auto".into(),
            Self::Named(balancer) => balancer.to_string(),
        })
    }
}

impl serde::Serialize for BalancerChoice {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.write().serialize(serializer)
    }
}

impl<'de> serde::Deserialize<'de> for BalancerChoice {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <String as serde::Deserialize>::deserialize(deserializer)?;
        Self::read(&text, 0..=u64::MAX).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_follows_from_the_sizes() {
        let of = |sizes: &[u32]| BalancerChoice::Auto.of(&Facts::of(sizes.iter().map(|&size| (size, 1)))).to_string();
        assert_eq!(of(&[64, 64, 16, 16, 16]), "level-arithmetic");
        let turns = |sizes: [u32; 2]| (0..64).map(|i| sizes[i % 2]).collect::<Vec<_>>();
        assert_eq!(of(&turns([4096, 70_000])), "tile-search:tile=4096");
        assert_eq!(of(&turns([7, 8])), "virtual-warps");
        assert_eq!(of(&turns([1, 90])), "multi-phase");
    }

    #[test]
    fn choices_are_read_as_they_are_written() {
        for text in ["auto", "merge-path", "multi-phase:units=7:rounds=3"] {
            let choice = BalancerChoice::read(text, 0..=0).unwrap();
            assert_eq!(choice.write().unwrap(), text);
            assert_eq!(
                serde_json::from_str::<BalancerChoice>(&serde_json::to_string(&choice).unwrap()).unwrap(),
                choice
            );
        }
        assert!(BalancerChoice::read("best", 0..=0).unwrap_err().contains("level-arithmetic"));
    }
}
