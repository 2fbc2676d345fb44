//! P_i, the probability that a region of level i is mixed and divided.
//!
//! The paper holds P constant (self-similar density). Measured fields do not: for a nested field the number of mixed
//! regions depends on their side alone, so that a boundary of box dimension d has P_0 = g^(d−k), P_i = r^(d−k). Where axes
//! are split unequally it is that of [`Plan::expected_regions`](orthant::Plan::expected_regions).

use serde::Serialize;

use super::{Geometry, ModelError, Ratio};
use orthant::geometry::boundary;

/// The probability P that a region is mixed: one number, one per level, or what follows from a box dimension. This is
/// the self-similar density of the paper.
///
/// ```
/// use orthant_lab::model::{Density, Geometry};
///
/// // A line in the plane meets a quarter of 4 x 4 regions, and half of the children.
/// let geometry = Geometry::uniform(&[64, 64], 4, 2, 4)?;
/// let line = Density::Dimension(1.0);
/// line.check(2)?;
/// assert_eq!(line.chain(&geometry, 3)?.probabilities(), [0.25, 0.5]);
/// assert!(Density::Constant(1.5).check(2).is_err());
/// # Ok::<(), orthant_lab::model::ModelError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub enum Density {
    /// P on every level: Eq. (17).
    #[serde(rename = "P")]
    Constant(f64),
    /// P_0, P_1, .. of Eq. (16), one for every explored level; more are not read.
    #[serde(rename = "profile")]
    Profile(Vec<f64>),
    /// The box dimension d of the boundary: P_0 = g^(d−k), P_i = r^(d−k) where all axes are split alike.
    #[serde(rename = "box_dim")]
    Dimension(f64),
}

/// In words, after "P".
impl std::fmt::Display for Density {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Constant(p) => write!(f, "{p}"),
            Self::Profile(list) => write!(f, "of {} levels", list.len()),
            Self::Dimension(d) => write!(f, "of dimension {d:.4}"),
        }
    }
}

impl Density {
    /// Checks that the numbers can be probabilities, or a dimension in `k` dimensions.
    ///
    /// # Errors
    /// [`ModelError::Parameter`] if a probability is not in 0..=1, or a dimension not in 0..=k.
    pub fn check(&self, k: usize) -> Result<(), ModelError> {
        let share = |p: &f64| (0.0..=1.0).contains(p);
        match self {
            Self::Constant(p) if !share(p) => Err(ModelError::parameter("P", p, "a probability between 0 and 1")),
            Self::Profile(list) => match list.iter().find(|p| !share(p)) {
                Some(p) => Err(ModelError::parameter("P", p, "a probability between 0 and 1")),
                None => Ok(()),
            },
            Self::Dimension(d) if !(0.0..=k as f64).contains(d) => {
                Err(ModelError::parameter("dim", d, "a box dimension between 0 and k"))
            }
            _ => Ok(()),
        }
    }

    /// The probabilities of a scheme of `tau` levels.
    ///
    /// # Errors
    /// As [`Density::check`]; [`ModelError::Profile`] if a profile is too short; [`ModelError::Undefined`] if tau < 1
    /// and P^(tau−1) has no value.
    pub fn chain(&self, geometry: &Geometry, tau: i32) -> Result<Chain, ModelError> {
        self.check(geometry.k())?;
        let explored = (tau - 1).max(0) as usize;
        let p = match self {
            Self::Constant(p) => vec![*p; explored],
            Self::Profile(list) => list
                .get(..explored)
                .ok_or(ModelError::Profile { symbol: "P", found: list.len(), needed: explored, tau })?
                .to_vec(),
            Self::Dimension(d) => {
                let axes = geometry.axes().map(|[n, g, r, _]| [n, g, r]);
                boundary::Grid::new(axes).densities(*d).take(explored).collect()
            }
        };
        let beyond = match (self, tau) {
            (_, 1..) => Ratio::ONE,
            (Self::Constant(p), _) if *p > 0.0 => Ratio::decimal(*p).pow(tau - 1),
            _ => return Err(ModelError::Undefined { tau }),
        };
        Ok(Chain { p, beyond })
    }
}

/// P_0 .. P_{tau−2} of one scheme.
#[derive(Debug, Clone, PartialEq)]
pub struct Chain {
    p: Vec<f64>,
    /// P^(tau−1) for a literal tau < 1, else 1.
    beyond: Ratio,
}

impl Chain {
    /// P_i of every explored level.
    pub fn probabilities(&self) -> &[f64] {
        &self.p
    }

    /// ∏_{j<i} P_j, the share of level i that is reached: P^i of Eq. (17). One factor per level, i ≤ tau−1.
    pub fn reach(&self, i: usize) -> f64 {
        self.p[..i].iter().product()
    }

    /// ∏_{j<tau−1} P_j, the share of the last level.
    pub fn reach_last(&self) -> f64 {
        self.reach(self.p.len()) * self.beyond.to_f64()
    }

    /// [`Chain::reach`] as a rational, reading every P as the decimal that was written.
    pub fn exact_reach(&self, i: usize) -> Ratio {
        self.p[..i].iter().map(|&p| Ratio::decimal(p)).product()
    }

    /// [`Chain::reach_last`] as a rational.
    pub fn exact_reach_last(&self) -> Ratio {
        self.exact_reach(self.p.len()) * self.beyond
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dimension_is_a_density_per_split() {
        let geometry = Geometry::uniform(&[4096, 4096], 16, 4, 4).unwrap();
        let chain = Density::Dimension(1.5).chain(&geometry, 4).unwrap();
        let expected = [0.25, 0.5, 0.5];
        assert!(chain.probabilities().iter().zip(expected).all(|(p, expected)| (p - expected).abs() < 1e-15));
        assert!((chain.reach_last() - 0.0625).abs() < 1e-15);
    }

    #[test]
    fn what_is_not_a_density() {
        let geometry = Geometry::uniform(&[64, 64], 2, 2, 1).unwrap();
        let message = |density: Density, tau| density.chain(&geometry, tau).unwrap_err().to_string();
        assert_eq!(message(Density::Constant(1.5), 3), "P = 1.5: must be a probability between 0 and 1");
        assert!(message(Density::Constant(f64::NAN), 3).contains("NaN"));
        assert!(message(Density::Profile(vec![0.5, -0.1]), 3).contains("-0.1"));
        assert!(message(Density::Dimension(2.5), 3).contains("dim = 2.5"));
        assert_eq!(
            message(Density::Profile(vec![0.5]), 4),
            "P has 1 values; tau = 4 explores 3 levels and needs one for each"
        );
        assert_eq!(Density::Constant(0.0).chain(&geometry, 0), Err(ModelError::Undefined { tau: 0 }));
        assert!(Density::Constant(0.0).chain(&geometry, 1).is_ok());
    }
}
