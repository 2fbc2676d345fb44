//! The types that cells can have, and values of them.

use crate::registry::registry;

registry! { closed
    /// The type of a cell.
    ///
    /// ```
    /// use orthant::CellType;
    ///
    /// assert_eq!((CellType::U16.bytes(), CellType::U16.most()), (2, 65535));
    /// // The word of a cell is its bits, with zeros above.
    /// assert_eq!((CellType::I8.text(255), CellType::U8.text(255)), ("-1".to_owned(), "255".to_owned()));
    /// assert_eq!("f32".parse(), Ok(CellType::F32));
    /// ```
    pub enum CellType("cell type") {
        /// One byte; counts up to 255.
        U8 = "u8",
        /// Two bytes; counts up to 65535.
        U16 = "u16",
        /// Four bytes.
        U32 = "u32",
        /// Eight bytes.
        U64 = "u64",
        /// One byte, signed.
        I8 = "i8",
        /// Two bytes, signed.
        I16 = "i16",
        /// Four bytes, signed.
        I32 = "i32",
        /// Eight bytes, signed.
        I64 = "i64",
        /// A number of four bytes; counts up to 2^24.
        F32 = "f32",
        /// A number of eight bytes; counts up to 2^53.
        F64 = "f64",
    }
    hints {
        "f16" | "bf16" => "f32 holds every number that is an f16 or a bf16",
        "complex64" => "a cell is one number; the two parts of a complex one can be two fields of f32",
        "complex128" => "a cell is one number; the two parts of a complex one can be two fields of f64",
    }
}

/// Runs one body with `$T` as the type that a [`CellType`] names.
macro_rules! with_type {
    ($kind:expr, $T:ident => $body:expr) => {
        match $kind {
            $crate::cell::CellType::U8 => {
                type $T = u8;
                $body
            }
            $crate::cell::CellType::U16 => {
                type $T = u16;
                $body
            }
            $crate::cell::CellType::U32 => {
                type $T = u32;
                $body
            }
            $crate::cell::CellType::U64 => {
                type $T = u64;
                $body
            }
            $crate::cell::CellType::I8 => {
                type $T = i8;
                $body
            }
            $crate::cell::CellType::I16 => {
                type $T = i16;
                $body
            }
            $crate::cell::CellType::I32 => {
                type $T = i32;
                $body
            }
            $crate::cell::CellType::I64 => {
                type $T = i64;
                $body
            }
            $crate::cell::CellType::F32 => {
                type $T = f32;
                $body
            }
            $crate::cell::CellType::F64 => {
                type $T = f64;
                $body
            }
        }
    };
}

pub(crate) use with_type;

impl CellType {
    /// Bytes per cell.
    pub fn bytes(self) -> u64 {
        with_type!(self, T => size_of::<T>() as u64)
    }

    /// The largest number up to which the type holds every whole number from 0 on.
    pub fn most(self) -> u64 {
        with_type!(self, T => <T as Cell>::MOST)
    }

    /// True for `f32` and `f64`, which have NaNs.
    pub fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F64)
    }

    /// The word of a count that is at most [`most`](Self::most).
    pub fn word(self, count: u64) -> u64 {
        with_type!(self, T => <T as Cell>::of_count(count).word())
    }

    /// The count that a word holds: the inverse of [`word`](Self::word).
    #[allow(clippy::unnecessary_cast, reason = "one body for every type")]
    pub fn count(self, word: u64) -> u64 {
        with_type!(self, T => T::from_word(word) as u64)
    }

    /// The value of a word, as the nearest double.
    #[allow(clippy::unnecessary_cast, reason = "one body for every type")]
    pub fn number(self, word: u64) -> f64 {
        with_type!(self, T => T::from_word(word) as f64)
    }

    /// The word of the value that is nearest to a double; of NaN, that of 0 where the type has no NaN.
    #[allow(clippy::unnecessary_cast, reason = "one body for every type")]
    #[doc(hidden)]
    pub fn word_of(self, value: f64) -> u64 {
        with_type!(self, T => (value as T).word())
    }

    /// The value of a word as text.
    pub fn text(self, word: u64) -> String {
        with_type!(self, T => T::from_word(word).to_string())
    }

    /// A number that orders words as their values: -0 comes before 0, and NaNs come before or after all numbers, by
    /// their sign. Ranks of whole numbers are as far apart as the numbers.
    pub fn rank(self, word: u64) -> u64 {
        let sign = 1 << (8 * self.bytes() - 1);
        match self {
            Self::U8 | Self::U16 | Self::U32 | Self::U64 => word,
            Self::I8 | Self::I16 | Self::I32 | Self::I64 => word ^ sign,
            // Of negative numbers the larger bits are further down.
            Self::F32 | Self::F64 if word & sign != 0 => !word & (sign | (sign - 1)),
            Self::F32 | Self::F64 => word | sign,
        }
    }

    /// The word of a rank: the inverse of [`rank`](Self::rank).
    pub(crate) fn of_rank(self, rank: u64) -> u64 {
        let sign = 1 << (8 * self.bytes() - 1);
        match self {
            Self::F32 | Self::F64 if rank & sign == 0 => !rank & (sign | (sign - 1)),
            Self::F32 | Self::F64 => rank ^ sign,
            _ => self.rank(rank),
        }
    }

    /// The one word that stands for all that are not a number; None of types whose words all are.
    #[doc(hidden)]
    pub fn nan(self) -> Option<u64> {
        match self {
            Self::F32 => Some(0x7fc0_0000),
            Self::F64 => Some(0x7ff8 << 48),
            _ => None,
        }
    }
}

/// A type that cells can have.
///
/// ```
/// use orthant::{Cell, CellType};
///
/// assert_eq!((i8::TYPE, (-1i8).word()), (CellType::I8, 255));
/// assert_eq!(i8::from_word(255), -1);
/// assert_eq!(f32::from_word(2.5f32.word()), 2.5);
/// ```
pub trait Cell: bytemuck::Pod + sealed::Sealed + Send + Sync + PartialEq + std::fmt::Display {
    /// Its name in the registry.
    const TYPE: CellType;
    /// As [`CellType::most`].
    const MOST: u64;
    /// Its bits, with zeros above them.
    fn word(self) -> u64;
    /// The value of a word, whose bits above the type's are not looked at.
    fn from_word(word: u64) -> Self;
    /// The value of a count of at most [`MOST`](Self::MOST).
    fn of_count(count: u64) -> Self;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! cells {
    ($($T:ident: $Type:ident, $Bits:ty, $most:expr, $to:expr, $from:expr);+ $(;)?) => { $(
        impl sealed::Sealed for $T {}
        impl Cell for $T {
            const TYPE: CellType = CellType::$Type;
            const MOST: u64 = $most;
            #[inline]
            fn word(self) -> u64 {
                let to: fn($T) -> $Bits = $to;
                u64::from(to(self))
            }
            #[inline]
            fn from_word(word: u64) -> Self {
                let from: fn($Bits) -> $T = $from;
                from(word as $Bits)
            }
            #[inline]
            fn of_count(count: u64) -> Self {
                count as $T
            }
        }
    )+ };
}
cells! {
    u8: U8, u8, 0xff, |v| v, |v| v;
    u16: U16, u16, 0xffff, |v| v, |v| v;
    u32: U32, u32, 0xffff_ffff, |v| v, |v| v;
    u64: U64, u64, u64::MAX, |v| v, |v| v;
    i8: I8, u8, 0x7f, i8::cast_unsigned, u8::cast_signed;
    i16: I16, u16, 0x7fff, i16::cast_unsigned, u16::cast_signed;
    i32: I32, u32, 0x7fff_ffff, i32::cast_unsigned, u32::cast_signed;
    i64: I64, u64, u64::MAX >> 1, i64::cast_unsigned, u64::cast_signed;
    f32: F32, u32, 1 << 24, f32::to_bits, f32::from_bits;
    f64: F64, u64, 1 << 53, f64::to_bits, f64::from_bits;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: Cell>(values: &[T]) {
        assert_eq!((T::TYPE.bytes(), T::TYPE.most()), (size_of::<T>() as u64, T::MOST));
        for &value in values {
            let word = value.word();
            assert!(size_of::<T>() == 8 || word >> (8 * size_of::<T>()) == 0, "{value}: {word:#x}");
            assert_eq!(T::from_word(word).word(), word);
            assert_eq!(T::TYPE.text(word), value.to_string());
        }
        for count in [0, 1, 100, T::MOST - 1, T::MOST] {
            assert_eq!(T::TYPE.count(T::TYPE.word(count)), count, "{} {count}", T::TYPE);
        }
    }

    #[test]
    fn types_that_are_none_are_answered_with_what_is_possible() {
        let said = |name: &str| name.parse::<CellType>().unwrap_err().to_string();
        for (name, way) in
            [("f16", "f32 holds"), ("bf16", "f32 holds"), ("complex64", "of f32"), ("complex128", "of f64")]
        {
            let said = said(name);
            assert!(said.contains(&format!("'{name}'")) && said.contains("u8, u16") && said.contains(way), "{said}");
        }
        assert!(said("f128").ends_with("f32, f64"), "{}", said("f128"));
    }

    #[test]
    fn words_are_the_bits_of_values() {
        check(&[0u8, 1, 255]);
        check(&[0u16, 65535]);
        check(&[0u32, u32::MAX]);
        check(&[0u64, u64::MAX]);
        check(&[0i8, -1, i8::MIN]);
        check(&[0i16, -1, i16::MIN]);
        check(&[0i32, -1, i32::MIN]);
        check(&[0i64, -1, i64::MIN]);
        check(&[0f32, -0.0, f32::NAN, -f32::NAN, f32::INFINITY, 1e-45]);
        check(&[0f64, -0.0, f64::NAN, f64::NEG_INFINITY, 5e-324]);
        assert_eq!((-1i8).word(), 0xff);
        assert_eq!((f32::NAN.word(), f64::NAN.word()), (CellType::F32.nan().unwrap(), CellType::F64.nan().unwrap()));
    }

    #[test]
    fn words_have_the_order_of_values() {
        fn check<T: Cell>(ascending: &[T]) {
            assert!(ascending.is_sorted_by_key(|value| T::TYPE.rank(value.word())), "{}", T::TYPE);
            let back = ascending.iter().map(|value| T::TYPE.of_rank(T::TYPE.rank(value.word())));
            assert!(back.eq(ascending.iter().map(|value| value.word())), "{}", T::TYPE);
        }
        check(&[0u16, 1, 0x8000, 0xffff]);
        check(&[i8::MIN, -1, 0, 1, i8::MAX]);
        check(&[i64::MIN, -1, 0, 1, i64::MAX]);
        check(&[f32::NEG_INFINITY, -2.0, -1.0, -1e-45, -0.0, 0.0, 1e-45, 1.0, f32::INFINITY, f32::NAN]);
        check(&[f64::NEG_INFINITY, -1.0, -0.0, 0.0, 1.0, f64::NAN]);
    }
}
