//! Digit sets: fields with exactly known counts in every dimension.
//!
//! A cell is 1 iff every one of its base-b digit vectors (the t-th digits of all coordinates) is in a set D of m of the
//! b^k vectors, else 0. With g = b^e, r = b^j and n = b^T a level has exactly m^(e+ij) mixed regions (while its regions
//! have inner structure), so P_i = (m/b^k)^j: these are the oracles of the engine. Exploration under `full` uses a
//! region predicate that is exact for every box, aligned or not. Under `border`, carpet and the 2-D Menger set are the
//! standing counter-examples: a kept region has a uniform border, and the holes inside it are lost.

use crate::abi::device_struct;
use crate::cell::WordsMut;
use crate::field::definition::{Evaluate, Field, Payload, Prove};
use crate::field::error::FieldError;
use crate::field::labels::Labels;
use crate::field::options::FieldOptions;
use crate::field::start::Defaults;
use crate::field::twin::DeviceTwin;
use crate::geometry::{DigitRule, Domain, Region};
use crate::per_axis;
use crate::rule::{RuleKind, Verdict};

/// A digit set: a cell is 1 if every one of its base-b digit vectors is kept, else 0. The t-th digit vector has the
/// t-th digits of all coordinates.
///
/// ```
/// use orthant::field::DigitSet;
/// use orthant::prelude::*;
///
/// // The carpet: of 3 x 3 squares the middle one is left out, and again in each of the others.
/// let carpet = DigitSet::new(3, [9, 9], |digits: &[u32; 2]| *digits != [1, 1]);
/// assert_eq!(carpet.kept(), 8);
/// let plan = Plan::builder([9, 9]).scheme(Scheme::uniform(3, 3, 1)).rule(RuleKind::Full).build()?;
/// let found = run(&plan, &carpet)?;
/// let array = found.array().ok_or("dense is the default")?;
/// assert_eq!([[0, 0], [4, 4], [1, 1]].map(|cell| array.label(cell)), [1, 0, 0]);
/// // 8 of the 9 regions of level 0 are mixed.
/// assert_eq!(found.levels()[0].counts.leaves, 8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct DigitSet<const K: usize, F = fn(&[u32; K]) -> bool> {
    base: u32,
    digits: u32,
    keeps: F,
    /// True if that is every vector: all cells are 1, and none has to be looked at.
    keeps_all: bool,
    /// The rule's name among the kernels.
    twin: Option<&'static str>,
}

device_struct! {
    struct DigitArgs { digits: u32 }
}

impl<const K: usize, F: Fn(&[u32; K]) -> bool> DigitSet<K, F> {
    /// The set of all cells whose base-`base` digit vectors `keeps` accepts, over a domain of `size` cells. All
    /// coordinates have as many digits as the longest axis needs, with leading zeros.
    ///
    /// # Panics
    /// If `base` is below 2.
    #[inline(never)]
    pub fn new(base: u32, size: [u32; K], keeps: F) -> Self {
        assert!(base >= 2, "a digit set needs a base of at least 2");
        let longest = u64::from(size.into_iter().max().unwrap_or(1));
        let digits = (0..).find(|&t| u64::from(base).pow(t) >= longest).expect("the powers of the base grow");
        let keeps_all = Region { corner: [0; K], extent: [base; K] }.cells().all(|digits| keeps(&digits));
        Self { base, digits, keeps, keeps_all, twin: None }
    }

    /// m, the number of kept digit vectors.
    pub fn kept(&self) -> u64 {
        Region { corner: [0; K], extent: [self.base; K] }.cells().filter(|digits| (self.keeps)(digits)).count() as u64
    }

    fn holds(&self, mut cell: [u32; K]) -> bool {
        for _ in 0..self.digits {
            if !(self.keeps)(&per_axis::each(|j| cell[j] % self.base)) {
                return false;
            }
            cell = per_axis::each(|j| cell[j] / self.base);
        }
        true
    }

    /// Looks for cells of both kinds where `region` meets the cube of side b^`digits` at `corner`, all of whose leading
    /// digit vectors are kept.
    fn scan(&self, digits: u32, corner: [u64; K], region: &Region<K>, found: &mut [bool; 2]) {
        if digits == 0 || self.keeps_all {
            found[1] = true;
            return;
        }
        let side = u64::from(self.base).pow(digits - 1);
        let low: [u64; K] = per_axis::each(|j| u64::from(region.corner[j]).saturating_sub(corner[j]) / side);
        let high: [u64; K] = per_axis::each(|j| {
            let last = u64::from(region.corner[j]) + u64::from(region.extent[j]) - 1;
            ((last - corner[j]) / side).min(u64::from(self.base) - 1)
        });
        let children = Region {
            corner: per_axis::each(|j| low[j] as u32),
            extent: per_axis::each(|j| (high[j] - low[j] + 1) as u32),
        };
        for digit in children.cells() {
            if !(self.keeps)(&digit) {
                found[0] = true;
            } else {
                let corner = per_axis::each(|j| corner[j] + u64::from(digit[j]) * side);
                self.scan(digits - 1, corner, region, found);
            }
            if *found == [true, true] {
                return;
            }
        }
    }
}

impl<const K: usize, F> std::fmt::Debug for DigitSet<K, F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DigitSet").field("base", &self.base).field("digits", &self.digits).finish_non_exhaustive()
    }
}

impl<const K: usize, F: Fn(&[u32; K]) -> bool + Send + Sync> Field<K> for DigitSet<K, F> {
    fn labels(&self) -> Labels {
        Labels::counts(1)
    }

    fn host(&self) -> Option<&dyn Evaluate<K>> {
        Some(self)
    }

    fn prover(&self) -> Option<&dyn Prove<K>> {
        Some(self)
    }

    fn twin(&self) -> Option<DeviceTwin> {
        let twin = DeviceTwin::built_in("fields/digits.cuh", &DigitArgs { digits: self.digits });
        let twin = twin.proves().define("BASE", self.base).define("KEEPS_ALL", self.keeps_all);
        self.twin.map(|rule| twin.define("DIGIT_SET", rule))
    }

    /// log_b m, exactly.
    fn boundary_dimension(&self) -> f64 {
        (self.kept().max(1) as f64).ln() / f64::from(self.base).ln()
    }
}

impl<const K: usize, F: Fn(&[u32; K]) -> bool + Sync> Evaluate<K> for DigitSet<K, F> {
    fn evaluate(&self, cells: &[[u32; K]], labels: WordsMut<'_>) {
        for (cell, label) in cells.iter().zip(labels.narrow()) {
            *label = u32::from(self.holds(*cell));
        }
    }
}

impl<const K: usize, F: Fn(&[u32; K]) -> bool + Sync> Prove<K> for DigitSet<K, F> {
    fn prove(&self, region: &Region<K>, _: Payload) -> Verdict {
        let mut found = [false; 2];
        self.scan(self.digits, [0; K], region, &mut found);
        match found {
            [true, true] => Verdict::Mixed,
            [_, kept] => Verdict::Uniform(kept.into()),
        }
    }
}

/// About a million cells, a whole number of digits.
pub(crate) fn defaults(base: u32, k: usize) -> Defaults {
    let digits = (20.0 / (k as f64 * f64::from(base).log2())).floor().clamp(2.0, 10.0) as u32;
    let size = base.pow(digits);
    Defaults {
        size,
        g: base,
        r: base,
        b: 1,
        dwell: None,
        window: vec![[0.0, f64::from(size)]; k],
        explore: RuleKind::Full,
        by_index: true,
    }
}

/// Declares one digit set as a field module: what `fields!` expects of a file.
macro_rules! digit_set {
    ($(#[$doc:meta])* $name:ident, $rule:ident, $about:literal) => {
        $(#[$doc])*
        pub mod $name {
            use super::*;

            /// One line for lists.
            pub(crate) const ABOUT: &str = $about;

            /// What a bare run uses.
            pub(crate) fn defaults(k: usize) -> Defaults {
                super::defaults(DigitRule::$rule.base() as u32, k)
            }

            /// The field over `domain`.
            ///
            /// # Errors
            /// Never.
            pub fn open<const K: usize>(domain: &Domain<K>, _: &FieldOptions) -> Result<Box<dyn Field<K>>, FieldError> {
                let keeps: fn(&[u32; K]) -> bool = |digits| DigitRule::$rule.keeps(digits);
                let base = DigitRule::$rule.base() as u32;
                Ok(Box::new(DigitSet { twin: Some(stringify!($name)), ..DigitSet::new(base, domain.size(), keeps) }))
            }
        }
    };
}

digit_set! {
    /// Cantor dust: no centre digit; m = 2^k, dimension k·log_3 2. Its surface test is exact.
    cantor, CantorDust, "Cantor dust, base 3: no coordinate has a digit 1"
}

digit_set! {
    /// The carpet: not all digits centre; m = 3^k − 1. Its surface test fails: a kept region has a uniform border.
    carpet, Carpet, "Sierpinski carpet, base 3: no digit vector is all 1"
}

digit_set! {
    /// The Menger sponge: at most one centre digit; m = 2^k + k·2^(k−1). The surface test fails in 2-D only.
    menger, Menger, "Menger sponge, base 3: at most one digit of a vector is 1"
}

digit_set! {
    /// The Sierpinski simplex: x_i & x_j = 0 for all pairs; m = k + 1. Its surface test is exact.
    simplex, Simplex, "Sierpinski simplex, base 2: no two coordinates share a 1 bit"
}

digit_set! {
    /// The diagonal x_1 = .. = x_k: m = 2; a_i = g·r^i for every g and r. Its surface test is exact.
    diagonal, Diagonal, "the diagonal: all coordinates are equal"
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn kept_vectors() {
        let size = [9; 3];
        let options = FieldOptions::default();
        let domain = Domain::new(size, [[0.0, 9.0]; 3], crate::geometry::Sample::Centre).unwrap();
        let d =
            |w: Result<Box<dyn Field<3>>, FieldError>, base: f64| base.powf(w.unwrap().boundary_dimension()).round();
        assert_eq!(d(cantor::open(&domain, &options), 3.0), 8.0);
        assert_eq!(d(carpet::open(&domain, &options), 3.0), 26.0);
        assert_eq!(d(menger::open(&domain, &options), 3.0), 20.0);
        assert_eq!(d(simplex::open(&domain, &options), 2.0), 4.0);
        assert_eq!(d(diagonal::open(&domain, &options), 2.0), 2.0);
    }

    proptest! {
        #[test]
        fn predicate_is_exact_for_every_box(
            corner in prop::array::uniform3(0u32..30), extent in prop::array::uniform3(1u32..12), which in 0usize..5,
        ) {
            let size = [41; 3];
            let domain = Domain::new(size, [[0.0, 41.0]; 3], crate::geometry::Sample::Corner).unwrap();
            let opens = [cantor::open::<3>, carpet::open, menger::open, simplex::open, diagonal::open];
            let field = opens[which](&domain, &FieldOptions::default()).unwrap();
            let region = Region { corner, extent };
            let cells: Vec<_> = region.cells().collect();
            let mut labels = vec![0; cells.len()];
            field.host().unwrap().evaluate(&cells, WordsMut::Narrow(&mut labels));
            let wanted = match labels.iter().all(|&label| label == labels[0]) {
                true => Verdict::Uniform(labels[0].into()),
                false => Verdict::Mixed,
            };
            prop_assert_eq!(field.prover().unwrap().prove(&region, Payload::default()), wanted);
        }
    }
}
