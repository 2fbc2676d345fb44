//! Fields whose counts are known exactly: the oracles that tie the model to the engine.
//!
//! N_0 = g^k, N_{i+1} = r^k·a_i, P_i = a_i/N_i. All hold while regions have sides of at least 2: a single cell is never
//! mixed. Digit sets also need n = b^T with T > e + j·(τ−1).

use super::ModelError;
use orthant::geometry::DigitRule;

/// Exact counts per level, the last one counted like the others.
///
/// ```
/// use orthant::geometry::DigitRule;
/// use orthant_lab::model::fields::FieldCounts;
///
/// // The Menger sponge divided in 3 per axis: 20 of 27 regions are mixed on each level.
/// let counts = FieldCounts::of_digits(DigitRule::Menger, 3, 1, 1, 2)?;
/// assert_eq!((counts.regions, counts.active), (vec![27, 20 * 27], vec![20, 400]));
/// # Ok::<(), orthant_lab::model::ModelError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldCounts {
    /// N_i, the regions examined.
    pub regions: Vec<u128>,
    /// a_i, those that are mixed.
    pub active: Vec<u128>,
}

impl FieldCounts {
    /// N_{i+1} = r^k·a_i from N_0 = g^k and the a_i of `tau` levels.
    fn from_active(
        k: u32,
        g: u64,
        r: u64,
        tau: u32,
        active: impl Fn(u32) -> Option<u128>,
    ) -> Result<FieldCounts, ModelError> {
        check(k, g, r)?;
        let mut counts = Self { regions: Vec::new(), active: Vec::new() };
        let mut regions = u128::from(g).checked_pow(k);
        for i in 0..tau {
            let (reached, mixed) = regions.zip(active(i)).ok_or(TOO_MANY)?;
            counts.regions.push(reached);
            counts.active.push(mixed);
            regions = u128::from(r).checked_pow(k).and_then(|children| mixed.checked_mul(children));
        }
        Ok(counts)
    }

    /// P_i = a_i / N_i.
    pub fn densities(&self) -> Vec<f64> {
        self.active.iter().zip(&self.regions).map(|(&active, &regions)| active as f64 / regions as f64).collect()
    }
}

const TOO_MANY: ModelError = ModelError::TooLarge { what: "a count", allowed: "counts are below 2^128" };

fn check(k: u32, g: u64, r: u64) -> Result<(), ModelError> {
    if !(1..=orthant::MAX_DIM as u32).contains(&k) {
        return Err(ModelError::parameter("k", k, "between 1 and 8"));
    }
    if g == 0 {
        return Err(ModelError::parameter("g", g, "at least 1"));
    }
    if r < 2 {
        return Err(ModelError::parameter("r", r, "at least 2"));
    }
    Ok(())
}

impl FieldCounts {
    /// The counts of a digit set: a_i = m^{e+ij} with g = b^e, r = b^j.
    ///
    /// # Errors
    /// [`ModelError::Parameter`] if k is not 1 to 8 or j is 0; [`ModelError::TooLarge`] above 128 bits.
    pub fn of_digits(rule: DigitRule, k: u32, e: u32, j: u32, tau: u32) -> Result<FieldCounts, ModelError> {
        check(k, 1, 2)?;
        if j == 0 {
            return Err(ModelError::parameter("j", j, "at least 1"));
        }
        let power = |exponent| rule.base().checked_pow(exponent).ok_or(TOO_MANY);
        FieldCounts::from_active(k, power(e)?, power(j)?, tau, |i| {
            rule.kept(k).checked_pow(i.checked_mul(j)?.checked_add(e)?)
        })
    }
}

/// The diagonal line x_1 = .. = x_k: a_i = g·r^i, any g and r.
///
/// # Errors
/// [`ModelError`] if a parameter is out of range or a count leaves 128 bits.
pub fn line(k: u32, g: u64, r: u64, tau: u32) -> Result<FieldCounts, ModelError> {
    FieldCounts::from_active(k, g, r, tau, |i| along(g, r, i))
}

/// A slab x_1 = x_0 of one cell: a_i = (g·r^i)^{k−1}.
///
/// # Errors
/// [`ModelError`] if a parameter is out of range or a count leaves 128 bits.
pub fn slab(k: u32, g: u64, r: u64, tau: u32) -> Result<FieldCounts, ModelError> {
    FieldCounts::from_active(k, g, r, tau, |i| along(g, r, i)?.checked_pow(k - 1))
}

/// M = g·r^i.
fn along(g: u64, r: u64, i: u32) -> Option<u128> {
    u128::from(r).checked_pow(i)?.checked_mul(g.into())
}

/// Which cells a diagonal field over [0, n)^k holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Diagonal {
    /// The half-space Σ x < t.
    HalfSpace,
    /// The plane Σ x = t; its surface test is exact for k ≥ 2.
    Plane,
}

/// A half-space or plane at threshold t: a_i counts the u in [0, M)^k, M = g·r^i, s = n/M, U = Σ u, with
/// sU < t ≤ sU + k(s−1) (half-space) or sU ≤ t ≤ sU + k(s−1) (plane).
///
/// # Errors
/// [`ModelError::Parameter`] unless g·r^(τ−1) divides n into sides of at least 2; [`ModelError::TooLarge`] if a count
/// leaves 128 bits.
pub fn diagonal(
    field: Diagonal,
    k: u32,
    n: u64,
    threshold: u64,
    [g, r]: [u64; 2],
    tau: u32,
) -> Result<FieldCounts, ModelError> {
    check(k, g, r)?;
    let cells = u128::from(n);
    let deepest = along(g, r, tau.saturating_sub(1)).ok_or(TOO_MANY)?;
    if !cells.is_multiple_of(deepest) || cells / deepest < 2 {
        return Err(ModelError::parameter("n", n, "a multiple of g·r^(tau-1), at least twice it"));
    }
    FieldCounts::from_active(k, g, r, tau, |i| {
        let regions = along(g, r, i)?;
        let side = cells / regions;
        let t = u128::from(threshold);
        // The sums U for which the region's cells lie on both sides of the threshold.
        let reach = u128::from(k) * (side - 1);
        let first = t.saturating_sub(reach).div_ceil(side);
        let end = match field {
            Diagonal::HalfSpace => t.div_ceil(side),
            Diagonal::Plane => t / side + 1,
        };
        let end = end.min(u128::from(k) * (regions - 1) + 1);
        (first..end).try_fold(0u128, |mixed, sum| mixed.checked_add(with_sum(k, regions, sum)?))
    })
}

/// How many u in [0, M)^k have the sum U: Σ_j (−1)^j·C(k, j)·C(U − jM + k−1, k−1).
fn with_sum(k: u32, extent: u128, sum: u128) -> Option<u128> {
    let (mut more, mut less) = (0u128, 0u128);
    for j in 0..=k {
        let Some(rest) = u128::from(j).checked_mul(extent).and_then(|jm| sum.checked_sub(jm)) else { break };
        let ways = choose(k.into(), j)?.checked_mul(choose(rest + u128::from(k) - 1, k - 1)?)?;
        let side = if j % 2 == 0 { &mut more } else { &mut less };
        *side = side.checked_add(ways)?;
    }
    more.checked_sub(less)
}

/// C(n, k).
fn choose(n: u128, k: u32) -> Option<u128> {
    // Each partial product is a binomial coefficient itself, so the division leaves nothing.
    (0..u128::from(k)).try_fold(1u128, |product, i| match n.checked_sub(i) {
        Some(factor) => Some(product.checked_mul(factor)? / (i + 1)),
        None => Some(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Costs, Counts, Density, Geometry, Options, work};

    /// The regions of [0, M)^k of side s that hold both kinds of cells, by looking at every cell sum.
    fn mixed_by_looking(k: u32, m: u64, s: u64, inside: impl Fn(u64) -> bool) -> u128 {
        let regions = m.pow(k);
        (0..regions)
            .filter(|&index| {
                let base: u64 = (0..k).map(|j| index / m.pow(j) % m).sum::<u64>() * s;
                let mut found = [false; 2];
                (base..=base + u64::from(k) * (s - 1)).for_each(|sum| found[usize::from(inside(sum))] = true);
                found == [true, true]
            })
            .count() as u128
    }

    #[test]
    fn diagonal_fields_are_counted_right() {
        for (k, n, g, r, tau) in [(1, 64, 2, 2, 4), (2, 48, 3, 2, 4), (3, 32, 2, 2, 4), (4, 18, 3, 3, 2)] {
            for t in (0..=u64::from(k) * n + 2).step_by(5) {
                let half = diagonal(Diagonal::HalfSpace, k, n, t, [g, r], tau).unwrap();
                let plane = diagonal(Diagonal::Plane, k, n, t, [g, r], tau).unwrap();
                for i in 0..tau {
                    let m = g * r.pow(i);
                    assert_eq!(half.active[i as usize], mixed_by_looking(k, m, n / m, |sum| sum < t), "k={k} t={t}");
                    if k > 1 {
                        let expected = mixed_by_looking(k, m, n / m, |sum| sum == t);
                        assert_eq!(plane.active[i as usize], expected, "k={k} t={t}");
                    }
                }
            }
        }
        let wrong = diagonal(Diagonal::Plane, 2, 64, 3, [3, 2], 2).unwrap_err().to_string();
        assert_eq!(wrong, "n = 64: must be a multiple of g·r^(tau-1), at least twice it");
    }

    #[test]
    fn counted_work_of_a_digit_set_is_eq_20() {
        // With g = r the density of a digit set is constant on every level.
        let (k, tau) = (3, 4);
        for &rule in DigitRule::ALL {
            let b = rule.base();
            let geometry = Geometry::uniform(&[b.pow(6); 3], b, b, b).unwrap();
            let counts = FieldCounts::of_digits(rule, k, 1, 1, tau).unwrap();
            let active: Vec<u64> = counts.active[..tau as usize - 1].iter().map(|&a| a as u64).collect();
            let counted = Counts::measured(geometry.initial_regions(), geometry.children(), &active).unwrap();
            let costs = Costs::new(16.0, 100.0).unwrap();
            let p = rule.kept(k) as f64 / (b.pow(k)) as f64;
            let model = work::work(&geometry, &Density::Constant(p), costs, Options::default()).unwrap();
            assert_eq!(model.tau, tau as i32);
            let counted = work::from_counts(&geometry, &counted, costs, Options::default());
            assert!((counted / model.total - 1.0).abs() < 1e-13, "{rule}: {counted} {}", model.total);
        }
    }

    #[test]
    fn counts_that_are_too_large_are_said() {
        assert!(matches!(FieldCounts::of_digits(DigitRule::Carpet, 8, 20, 20, 9), Err(ModelError::TooLarge { .. })));
        assert!(matches!(line(8, 1 << 40, 2, 2), Err(ModelError::TooLarge { .. })));
        assert!(slab(0, 2, 2, 2).is_err() && line(2, 0, 2, 2).is_err() && line(2, 1, 1, 2).is_err());
        assert!(FieldCounts::of_digits(DigitRule::Menger, 2, 1, 0, 2).is_err());
    }
}
