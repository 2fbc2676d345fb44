//! One number as a vector of one lane: the portable path, and the readable meaning of the others.

use crate::simd::lanes::{Lanes, Real};

macro_rules! scalar {
    ($T:ident, $tiny:literal, $wide:ident, $half:ident, $Bits:ident) => {
        impl Real for $T {
            #[cfg(target_arch = "x86_64")]
            type Avx512 = $crate::simd::x86::$wide;
            #[cfg(target_arch = "x86_64")]
            type Avx2 = $crate::simd::x86::$half;
            const TINY: Self = $tiny;
            const UNIT: f64 = $T::EPSILON as f64 / 2.0;

            #[inline(always)]
            fn from_f64(x: f64) -> Self {
                x as $T
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn from_u32(x: u32) -> Self {
                x as $T
            }
            #[inline(always)]
            fn to_u32(self) -> u32 {
                // SAFETY: the caller's promise: a whole number of at most 2^24.
                #[allow(unsafe_code)]
                unsafe {
                    self.to_int_unchecked::<i32>() as u32
                }
            }
            #[inline(always)]
            fn from_index(index: u32) -> Self {
                $T::from_bits($Bits::from(index))
            }
            #[inline(always)]
            fn to_index(self) -> u32 {
                self.to_bits() as u32
            }
        }

        #[allow(unsafe_code)]
        impl Lanes for $T {
            type Real = $T;
            type Mask = bool;
            const N: usize = 1;

            #[inline(always)]
            fn splat(x: $T) -> Self {
                x
            }
            #[inline(always)]
            unsafe fn load(from: *const $T) -> Self {
                // SAFETY: the caller's promise.
                unsafe { *from }
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut $T) {
                // SAFETY: the caller's promise.
                unsafe { *to = self }
            }
            #[inline(always)]
            fn mul_add(self, b: Self, c: Self) -> Self {
                $T::mul_add(self, b, c)
            }
            #[inline(always)]
            fn mul_sub(self, b: Self, c: Self) -> Self {
                $T::mul_add(self, b, -c)
            }
            #[inline(always)]
            fn neg_mul_add(self, b: Self, c: Self) -> Self {
                $T::mul_add(-self, b, c)
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                $T::sqrt(self)
            }
            #[inline(always)]
            fn lt(self, other: Self) -> bool {
                self < other
            }
            #[inline(always)]
            fn le(self, other: Self) -> bool {
                self <= other
            }
            #[inline(always)]
            fn all() -> bool {
                true
            }
            #[inline(always)]
            fn and(a: bool, b: bool) -> bool {
                a & b
            }
            #[inline(always)]
            fn bits(mask: bool) -> u32 {
                u32::from(mask)
            }
            #[inline(always)]
            fn select(mask: bool, yes: Self, no: Self) -> Self {
                if mask { yes } else { no }
            }
            #[inline(always)]
            fn compress(self, _: u32) -> Self {
                self
            }
        }
    };
}

scalar!(f32, 1e-30, F32x16, F32x8, u32);
scalar!(f64, 1e-300, F64x8, F64x4, u64);
