//! The number of levels, tau = log_r(n/(g·B)), exactly.
//!
//! In doubles ⌊log(x)/log(r)⌋ is wrong for one pair (r, t) in twelve: r = 3, t = 5 is the first. Here tau is the largest
//! integer t with g·B·r^t ≤ n, found by multiplying.
//!
//! Levels 0 to tau−2 are explored, level tau−1 is evaluated. When n = g·B·r^tau the last level has side r·B.

use super::{Geometry, ModelError};
use orthant::registry;

registry! {
    /// What tau < 1 means: g·B·r > n, not one division.
    ///
    /// ```
    /// use orthant_lab::model::{Geometry, ModelError, TauPolicy};
    ///
    /// // 64 * 4 cells are more than there are: not one division fits.
    /// let geometry = Geometry::uniform(&[64, 64], 64, 2, 4)?;
    /// assert_eq!(TauPolicy::Clamp.levels(&geometry)?, 1);
    /// assert!(TauPolicy::Strict.levels(&geometry).is_err());
    /// # Ok::<(), ModelError>(())
    /// ```
    #[derive(Default)]
    pub enum TauPolicy("tau policy") {
        /// max(1, tau): one flat pass over the domain.
        #[default]
        Clamp = "clamp",
        /// The literal tau in the equations, as in the authors' scripts.
        Raw = "raw",
        /// An error.
        Strict = "strict",
    }
}

impl TauPolicy {
    /// The number of levels that the equations use.
    ///
    /// # Errors
    /// [`ModelError::Infeasible`] if tau < 1 under [`TauPolicy::Strict`].
    pub fn levels(self, geometry: &Geometry) -> Result<i32, ModelError> {
        match (self, tau(geometry)) {
            (Self::Clamp, tau) => Ok(tau.max(1)),
            (Self::Strict, tau) if tau < 1 => Err(ModelError::Infeasible { tau }),
            (Self::Raw | Self::Strict, tau) => Ok(tau),
        }
    }
}

/// tau = ⌊log_r(n/(g·B))⌋: the largest t, perhaps negative, with g·B·r^t ≤ n; the least over the axes that are split.
///
/// ```
/// use orthant_lab::model::Geometry;
/// use orthant_lab::model::tau::tau;
///
/// // 4 * 4 * 2^2 = 64.
/// assert_eq!(tau(&Geometry::uniform(&[64, 64], 4, 2, 4)?), 2);
/// // The shorter axis decides.
/// assert_eq!(tau(&Geometry::uniform(&[64, 32], 4, 2, 4)?), 1);
/// # Ok::<(), orthant_lab::model::ModelError>(())
/// ```
pub fn tau(geometry: &Geometry) -> i32 {
    least(geometry, |[n, g, r, b]| {
        let (n, start, r) = (u128::from(n), u128::from(g) * u128::from(b), u128::from(r));
        let up = steps(start, r, |product| product <= n);
        if up > 0 || start <= n { up } else { -1 - steps(n, r, |product| product < start) }
    })
}

/// Levels of the stop rule 'divide while s_{i+1} > B', the framework's and the kernels' rule, on exact sides.
pub fn levels_while_above(geometry: &Geometry) -> i32 {
    least(geometry, |[n, g, r, b]| 1 + steps(u128::from(g) * u128::from(b), r.into(), |product| product < n.into()))
}

/// Levels of the stop rule 'divide while s_{i+1} ≥ B', on exact sides.
pub fn levels_while_not_below(geometry: &Geometry) -> i32 {
    least(geometry, |[n, g, r, b]| 1 + steps(u128::from(g) * u128::from(b), r.into(), |product| product <= n.into()))
}

/// Levels of the authors' kernel: d = ⌊n/g⌋; while ⌊d/r⌋ > B: d = ⌊d/r⌋.
pub fn levels_truncating(geometry: &Geometry) -> i32 {
    least(geometry, |[n, g, r, b]| {
        let (mut d, mut levels) = (n / g, 1);
        while d / r > b {
            d /= r;
            levels += 1;
        }
        levels
    })
}

/// The least of a number of levels over the axes that are split: the shortest of them decides. An axis with r = 1 keeps its
/// sides, and stops nothing.
fn least(geometry: &Geometry, levels: impl Fn([u64; 4]) -> i32) -> i32 {
    geometry.axes().filter(|[_, _, r, _]| *r > 1).map(levels).min().expect("a geometry splits at least one axis")
}

/// How often `start` can be multiplied by `r` so that the product still `fits`.
fn steps(start: u128, r: u128, fits: impl Fn(u128) -> bool) -> i32 {
    let mut steps = 0;
    let mut product = start;
    while let Some(next) = product.checked_mul(r).filter(|&next| fits(next)) {
        product = next;
        steps += 1;
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_power_is_found() {
        for r in 2..=64u64 {
            for t in 0..20 {
                let Some(n) = r.checked_pow(t) else { break };
                let tau = |n: u64| super::tau(&Geometry::uniform(&[n], 1, r, 1).unwrap());
                assert_eq!(tau(n), t as i32, "r = {r}");
                if n > 1 {
                    assert_eq!(tau(n - 1), t as i32 - 1, "r = {r}");
                }
            }
        }
    }

    #[test]
    fn below_one_level() {
        let geometry = Geometry::uniform(&[100, 100], 16, 3, 20).unwrap();
        assert_eq!(tau(&geometry), -2);
        assert_eq!(TauPolicy::Clamp.levels(&geometry), Ok(1));
        assert_eq!(TauPolicy::Raw.levels(&geometry), Ok(-2));
        assert_eq!(TauPolicy::Strict.levels(&geometry), Err(ModelError::Infeasible { tau: -2 }));
        // g·B = n·r exactly.
        assert_eq!(tau(&Geometry::uniform(&[32], 64, 2, 1).unwrap()), -1);
    }

    #[test]
    fn the_largest_sizes() {
        let geometry = Geometry::uniform(&[u64::MAX], 1, 2, 1).unwrap();
        assert_eq!((tau(&geometry), levels_while_above(&geometry)), (63, 64));
        assert_eq!(tau(&Geometry::uniform(&[1], u64::MAX, 2, u64::MAX).unwrap()), -128);
    }
}
