//! Digit sets: sets of cells with exactly known counts in every dimension.
//!
//! A cell is in the set iff every one of its base-b digit vectors (the t-th digits of all coordinates) is among the m kept
//! ones of the b^k vectors.

use crate::registry::registry;

registry! {
    /// Sets D of base-b digit vectors that are kept.
    ///
    /// ```
    /// use orthant::geometry::DigitRule;
    ///
    /// // Of the 27 subcubes of a cube, the Menger sponge keeps those with at most one middle coordinate.
    /// let sponge = DigitRule::Menger;
    /// assert!(sponge.keeps(&[1, 0, 2]) && !sponge.keeps(&[1, 1, 2]));
    /// assert_eq!((sponge.base(), sponge.kept(3)), (3, 20));
    /// assert!((sponge.dimension(3) - 2.727).abs() < 1e-3);
    /// ```
    pub enum DigitRule("digit set") {
        /// b = 3, no centre digit: m = 2^k.
        CantorDust = "cantor_dust",
        /// b = 3, at most one centre digit: m = 2^k + k·2^{k−1}.
        Menger = "menger",
        /// b = 3, not all digits centre: m = 3^k − 1.
        Carpet = "carpet",
        /// b = 3, at most one digit off centre: m = 2k + 1.
        Vicsek = "vicsek",
        /// b = 2, x_i & x_j = 0 for all pairs: m = k + 1.
        Simplex = "simplex",
        /// b = 2, x_1 & .. & x_k = 0: m = 2^k − 1.
        CornerOut = "corner_out",
        /// b = 2, all digits equal: m = b.
        Diagonal = "diagonal",
    }
}

impl DigitRule {
    /// b.
    pub fn base(self) -> u64 {
        match self {
            Self::CantorDust | Self::Menger | Self::Carpet | Self::Vicsek => 3,
            Self::Simplex | Self::CornerOut | Self::Diagonal => 2,
        }
    }

    /// True if a digit vector is kept.
    #[inline(always)]
    pub fn keeps(self, digits: &[u32]) -> bool {
        let centre = || digits.iter().filter(|&&d| d == 1).count();
        match self {
            Self::CantorDust => centre() == 0,
            Self::Menger => centre() <= 1,
            Self::Carpet => centre() < digits.len(),
            Self::Vicsek => centre() + 1 >= digits.len(),
            Self::Simplex => digits.iter().sum::<u32>() <= 1,
            Self::CornerOut => digits.contains(&0),
            Self::Diagonal => digits.iter().all(|&d| d == digits[0]),
        }
    }

    /// m, the digit vectors that are kept, for 1 ≤ k ≤ 8.
    pub fn kept(self, k: u32) -> u128 {
        match self {
            Self::CantorDust => 1 << k,
            Self::Menger => (1 << k) + u128::from(k) * (1 << (k - 1)),
            Self::Carpet => 3u128.pow(k) - 1,
            Self::Vicsek => 2 * u128::from(k) + 1,
            Self::Simplex => u128::from(k) + 1,
            Self::CornerOut => (1 << k) - 1,
            Self::Diagonal => u128::from(self.base()),
        }
    }

    /// log_b m, the box dimension.
    pub fn dimension(self, k: u32) -> f64 {
        (self.kept(k) as f64).ln() / (self.base() as f64).ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::region::Region;

    fn check<const K: usize>(rule: DigitRule) {
        let vectors = Region { corner: [0; K], extent: [rule.base() as u32; K] }.cells();
        let kept = vectors.filter(|digits| rule.keeps(digits)).count();
        assert_eq!(kept as u128, rule.kept(K as u32), "{rule} in {K} dimensions");
    }

    #[test]
    fn as_many_vectors_are_kept_as_the_formulas_say() {
        for &rule in DigitRule::ALL {
            check::<1>(rule);
            check::<2>(rule);
            check::<3>(rule);
            check::<5>(rule);
            check::<8>(rule);
        }
    }
}
