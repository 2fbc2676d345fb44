//! Numbers within a tolerance of one that stands for them.
//!
//! Some number of the type is within e of both ends of a range if the one nearest to the middle is: whatever is further from the
//! middle is further from one of the ends. Whether it is, is decided as in real arithmetic: whole numbers by their difference, doubles by
//! a difference and what rounding took from it.

use crate::cell::{Cell, CellType, with_type};
use crate::number::{Number, range};

/// The bound that a tolerance is for cells of a type: whole numbers are no further from each other than the whole part of it, and no
/// further than the type's ends. None if it is below 0.
pub(super) fn bound(e: Number, kind: CellType) -> Option<Number> {
    let double = e.double_below();
    if double < 0.0 {
        return None;
    }
    Some(match (kind.is_float(), e) {
        (true, _) => Number::from(double.abs()),
        (false, Number::Natural(whole)) => Number::Natural(whole.min(widest(kind))),
        (false, _) => Number::Natural((double.floor() as u64).min(widest(kind))),
    })
}

/// How far the ends of a type without a point are from each other.
fn widest(kind: CellType) -> u64 {
    let [least, greatest] = range(kind);
    (greatest - least) as u64
}

/// The word that stands for all cells from one to another that is not less, both of them numbers; None if there is none within the bound.
/// The one nearest to the middle is preferred, and otherwise one of those next to it, as whatever stands for cells is in a row: one
/// of them may be `apart`.
pub(super) fn between(
    kind: CellType,
    least: u64,
    greatest: u64,
    bound: Number,
    apart: impl Fn(u64) -> bool,
) -> Option<u64> {
    with_type!(kind, T => {
        let (least, greatest) = (T::from_word(least), T::from_word(greatest));
        let middle = Measured::middle(least, greatest);
        let stands = |&middle: &T| {
            let within = least <= middle && middle <= greatest;
            within && Measured::near(greatest, middle, bound) && Measured::near(middle, least, bound)
        };
        let found = std::iter::once(middle).chain(Measured::beside(middle)).filter(stands).map(Cell::word);
        found.into_iter().find(|&word| !apart(word))
    })
}

/// True if two numbers are no further from each other than the bound.
pub(super) fn near(kind: CellType, one: u64, other: u64, bound: Number) -> bool {
    with_type!(kind, T => {
        let (one, other) = (T::from_word(one), T::from_word(other));
        if one < other { Measured::near(other, one, bound) } else { Measured::near(one, other, bound) }
    })
}

/// The least tolerance under which some word stands for a range of numbers; infinite where none does.
pub(super) fn needed(kind: CellType, least: u64, greatest: u64) -> f64 {
    with_type!(kind, T => {
        let (least, greatest) = (T::from_word(least), T::from_word(greatest));
        let middle = Measured::middle(least, greatest);
        Measured::distance(greatest, middle).max(Measured::distance(middle, least))
    })
}

/// Numbers with a distance.
trait Measured: Copy {
    /// The number nearest to the middle of two.
    fn middle(least: Self, greatest: Self) -> Self;
    /// Those next to it.
    fn beside(self) -> [Self; 2];
    /// True if one that is not less than another is no further from it than the bound.
    fn near(greater: Self, less: Self, bound: Number) -> bool;
    /// About how far one that is not less is from another.
    fn distance(greater: Self, less: Self) -> f64;
}

macro_rules! whole {
    ($($T:ty),+) => { $(
        impl Measured for $T {
            fn middle(least: Self, greatest: Self) -> Self {
                least.wrapping_add((greatest.abs_diff(least) / 2) as Self)
            }

            fn beside(self) -> [Self; 2] {
                [self.saturating_add(1), self.saturating_sub(1)]
            }

            fn near(greater: Self, less: Self, bound: Number) -> bool {
                matches!(bound, Number::Natural(bound) if u64::from(greater.abs_diff(less)) <= bound)
            }

            fn distance(greater: Self, less: Self) -> f64 {
                greater.abs_diff(less) as f64
            }
        }
    )+ };
}
whole!(u8, u16, u32, u64, i8, i16, i32, i64);

macro_rules! real {
    ($($T:ty),+) => { $(
        impl Measured for $T {
            fn middle(least: Self, greatest: Self) -> Self {
                // The sum is rounded once, and its half is not where it is large; sums of small numbers are not rounded.
                let sum = least + greatest;
                if sum.is_finite() { sum / 2.0 } else { least / 2.0 + greatest / 2.0 }
            }

            fn beside(self) -> [Self; 2] {
                [self.next_up(), self.next_down()]
            }

            fn near(greater: Self, less: Self, bound: Number) -> bool {
                no_further(greater.into(), less.into(), bound.real())
            }

            fn distance(greater: Self, less: Self) -> f64 {
                if greater == less { 0.0 } else { f64::from(greater) - f64::from(less) }
            }
        }
    )+ };
}
real!(f32, f64);

/// True if `greater - less`, which is not rounded, is at most `bound`.
fn no_further(greater: f64, less: f64, bound: f64) -> bool {
    if greater == less {
        return true;
    }
    let difference = greater - less;
    if difference != bound || !difference.is_finite() {
        // Rounding keeps the order with a bound that is a double itself; what is infinite is near to itself alone.
        return difference < bound && difference.is_finite();
    }
    let (large, small) = if greater.abs() > less.abs() { (greater, -less) } else { (-less, greater) };
    // What rounding took, exactly, since the first is not the smaller one (Dekker).
    small - (difference - large) <= 0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn word<T: Cell>(value: T) -> u64 {
        value.word()
    }

    #[test]
    fn bounds_are_what_types_hold() {
        let of = |text: &str, kind| bound(text.parse().unwrap(), kind);
        assert_eq!(
            (of("2.9", CellType::U16), of("-0", CellType::U8)),
            (Some(Number::Natural(2)), Some(Number::Natural(0)))
        );
        assert_eq!(
            (of("1e30", CellType::I8), of("300", CellType::I8)),
            (Some(Number::Natural(255)), Some(Number::Natural(255)))
        );
        assert_eq!(of("18446744073709551615", CellType::I64), Some(Number::Natural(u64::MAX)));
        assert_eq!((of("0.5", CellType::F32), of("-1", CellType::F32)), (Some(Number::Real(0.5)), None));
        assert_eq!((of("-0.5", CellType::U8), of("-1e-300", CellType::I64)), (None, None));
    }

    /// Every range of bytes against every value.
    #[test]
    fn a_number_is_found_where_there_is_one() {
        for e in [0u64, 1, 2, 7, 127, 128, 255] {
            for least in i8::MIN..=i8::MAX {
                for greatest in least..=i8::MAX {
                    let stands = |v: i16| {
                        i64::from(i16::from(greatest) - v) <= e as i64 && i64::from(v - i16::from(least)) <= e as i64
                    };
                    let found = between(CellType::I8, word(least), word(greatest), Number::Natural(e), |_| false);
                    let any = (i8::MIN..=i8::MAX).any(|v| stands(v.into()));
                    assert_eq!(found.is_some(), any, "{least}..{greatest} within {e}");
                    assert!(found.is_none_or(|found| stands(i8::from_word(found).into())), "{least}..{greatest}");
                    // Without one of them, others that stand do.
                    let apart = |found: u64| i8::from_word(found) == 3;
                    let other = between(CellType::I8, word(least), word(greatest), Number::Natural(e), apart);
                    let any = (least..=greatest).any(|v| v != 3 && stands(v.into()));
                    assert_eq!(other.is_some(), any, "{least}..{greatest} within {e} without 3");
                    assert!(other.is_none_or(|found| !apart(found) && stands(i8::from_word(found).into())));
                }
            }
        }
        let whole = |bound| between(CellType::I64, word(i64::MIN), word(i64::MAX), Number::Natural(bound), |_| false);
        assert_eq!((whole(1 << 63).map(i64::from_word), whole((1 << 63) - 1)), (Some(-1), None));
    }

    /// A float as a whole number of the smallest ones: exact, as long as it is not too large.
    fn units(value: f32) -> i128 {
        let (bits, negative) = (value.abs().to_bits(), value < 0.0);
        let (exponent, digits) = (bits >> 23, i128::from(bits & 0x7f_ffff));
        let size = if exponent == 0 { digits } else { (digits | 0x80_0000) << (exponent - 1) };
        if negative { -size } else { size }
    }

    /// Floats whose units fit 128 bits, many of them near each other, small or at the ends of a binade.
    fn small() -> impl Strategy<Value = f32> {
        prop_oneof![
            (0u32..96 << 23, any::<bool>()).prop_map(|(bits, sign)| f32::from_bits(bits | u32::from(sign) << 31)),
            (0u32..40, any::<bool>()).prop_map(|(bits, sign)| f32::from_bits(bits | u32::from(sign) << 31)),
            (0u32..96, 0u32..3)
                .prop_map(|(exponent, next)| f32::from_bits((exponent << 23).saturating_add(next).saturating_sub(1))),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]
        /// In whole numbers, and by all floats near the middle.
        #[test]
        fn floats_are_within_the_bound_exactly(a in small(), b in small(), e in small(), tight in 0i32..3) {
            let (least, greatest) = if a <= b { (a, b) } else { (b, a) };
            let half = (f64::from(greatest) - f64::from(least)) / 2.0;
            let e = if tight == 0 { e.abs() } else { (half as f32).abs() };
            let e = if tight == 2 { e.next_down().max(0.0) } else { e };
            let stands = |v: f32| units(greatest) - units(v) <= units(e) && units(v) - units(least) <= units(e);
            let found = between(CellType::F32, word(least), word(greatest), Number::from(f64::from(e)), |_| false);
            if let Some(found) = found {
                prop_assert!(stands(f32::from_word(found)), "{least:e}..{greatest:e} within {e:e}");
            } else {
                let middle = half as f32 + least;
                let near = [middle.next_down().next_down(), middle.next_down(), middle, middle.next_up(), least, greatest];
                prop_assert!(!near.into_iter().any(stands), "{least:e}..{greatest:e} within {e:e}");
            }
            let (one, other) = (word(a), word(b));
            let expected = (units(a) - units(b)).abs() <= units(e);
            prop_assert_eq!(near_of(CellType::F32, one, other, e), expected);
        }
    }

    fn near_of(kind: CellType, one: u64, other: u64, e: f32) -> bool {
        near(kind, one, other, Number::from(f64::from(e)))
    }

    #[test]
    fn doubles_at_the_ends() {
        let of = |least: f64, greatest: f64, e: f64| {
            between(CellType::F64, word(least), word(greatest), Number::from(e), |_| false).map(f64::from_word)
        };
        assert_eq!(of(f64::MIN, f64::MAX, f64::MAX), Some(0.0));
        assert_eq!(of(f64::MIN, f64::MAX, f64::MAX.next_down()), None);
        assert_eq!(of(f64::INFINITY, f64::INFINITY, 0.0), Some(f64::INFINITY));
        assert_eq!((of(1.0, f64::INFINITY, f64::MAX), of(f64::NEG_INFINITY, f64::INFINITY, f64::MAX)), (None, None));
        assert_eq!((of(0.0, 5e-324, 5e-324), of(0.0, 1.5e-323, 5e-324)), (Some(0.0), None));
        // The difference rounds to the bound from above.
        assert!(!no_further(1.0, -f64::EPSILON / 4.0, 1.0) && no_further(1.0, f64::EPSILON / 8.0, 1.0));
        assert_eq!(of(-0.0, 0.0, 0.0), Some(0.0));
    }
}
