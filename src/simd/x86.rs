//! The vector units of x86-64.
//!
//! The types wrap the intrinsics one to one. They are used only inside functions compiled with the unit's features
//! (`escape::dispatch`), entered after `Isa::is_available`; that is what every `SAFETY: unit` below refers to.
// Masks of AVX-512 are plain integers, those of AVX2 are not: some blocks need no `unsafe` in one of the two.
#![allow(unsafe_code, unused_unsafe)]

use std::arch::x86_64::*;
use std::ops::{Add, Div, Mul, Sub};

use crate::simd::lanes::Lanes;

/// Declares a vector type: its arithmetic, and what differs between the units.
macro_rules! vector {
    (
        $(#[$doc:meta])* $V:ident = $n:literal x $T:ident in $raw:ident, mask $Mask:ident,
        splat $splat:ident, load $load:ident, store $store:ident, add $add:ident, sub $sub:ident, mul $mul:ident,
        div $div:ident, fmadd $fmadd:ident, fmsub $fmsub:ident, fnmadd $fnmadd:ident, sqrt $sqrt:ident,
        lt |$la:ident, $lb:ident| $lt:expr, le |$ea:ident, $eb:ident| $le:expr, all $all:expr, and |$aa:ident, $ab:ident| $and:expr, bits |$bm:ident| $bits:expr,
        select |$sm:ident, $sy:ident, $sn:ident| $select:expr, compress |$cv:ident, $ck:ident| $compress:expr
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub(crate) struct $V($raw);

        vector!(@op $V, Add, add, $add);
        vector!(@op $V, Sub, sub, $sub);
        vector!(@op $V, Mul, mul, $mul);
        vector!(@op $V, Div, div, $div);

        // SAFETY of every block: unit; loads and stores by the caller's promise.
        impl Lanes for $V {
            type Real = $T;
            type Mask = $Mask;
            const N: usize = $n;

            #[inline(always)]
            fn splat(x: $T) -> Self {
                Self(unsafe { $splat(x) })
            }
            #[inline(always)]
            unsafe fn load(from: *const $T) -> Self {
                Self(unsafe { $load(from) })
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut $T) {
                unsafe { $store(to, self.0) }
            }
            #[inline(always)]
            fn mul_add(self, b: Self, c: Self) -> Self {
                Self(unsafe { $fmadd(self.0, b.0, c.0) })
            }
            #[inline(always)]
            fn mul_sub(self, b: Self, c: Self) -> Self {
                Self(unsafe { $fmsub(self.0, b.0, c.0) })
            }
            #[inline(always)]
            fn neg_mul_add(self, b: Self, c: Self) -> Self {
                Self(unsafe { $fnmadd(self.0, b.0, c.0) })
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                Self(unsafe { $sqrt(self.0) })
            }
            #[inline(always)]
            fn lt(self, other: Self) -> $Mask {
                let ($la, $lb) = (self.0, other.0);
                unsafe { $lt }
            }
            #[inline(always)]
            fn le(self, other: Self) -> $Mask {
                let ($ea, $eb) = (self.0, other.0);
                unsafe { $le }
            }
            #[inline(always)]
            fn all() -> $Mask {
                unsafe { $all }
            }
            #[inline(always)]
            fn and($aa: $Mask, $ab: $Mask) -> $Mask {
                unsafe { $and }
            }
            #[inline(always)]
            fn bits($bm: $Mask) -> u32 {
                unsafe { $bits }
            }
            #[inline(always)]
            fn select($sm: $Mask, yes: Self, no: Self) -> Self {
                let ($sy, $sn) = (yes.0, no.0);
                Self(unsafe { $select })
            }
            #[inline(always)]
            fn compress(self, $ck: u32) -> Self {
                let $cv = self.0;
                Self(unsafe { $compress })
            }
        }
    };
    (@op $V:ident, $Op:ident, $op:ident, $intrinsic:ident) => {
        impl $Op for $V {
            type Output = Self;
            #[inline(always)]
            fn $op(self, other: Self) -> Self {
                // SAFETY: unit.
                Self(unsafe { $intrinsic(self.0, other.0) })
            }
        }
    };
}

vector! {
    /// Sixteen f32 (AVX-512).
    F32x16 = 16 x f32 in __m512, mask __mmask16,
    splat _mm512_set1_ps, load _mm512_loadu_ps, store _mm512_storeu_ps, add _mm512_add_ps, sub _mm512_sub_ps,
    mul _mm512_mul_ps, div _mm512_div_ps, fmadd _mm512_fmadd_ps, fmsub _mm512_fmsub_ps, fnmadd _mm512_fnmadd_ps,
    sqrt _mm512_sqrt_ps,
    lt |a, b| _mm512_cmp_ps_mask::<_CMP_LT_OQ>(a, b),
    le |a, b| _mm512_cmp_ps_mask::<_CMP_LE_OQ>(a, b), all u16::MAX, and |a, b| a & b, bits |m| u32::from(m),
    select |m, y, n| _mm512_mask_blend_ps(m, n, y), compress |v, k| _mm512_maskz_compress_ps(k as u16, v)
}

vector! {
    /// Eight f64 (AVX-512).
    F64x8 = 8 x f64 in __m512d, mask __mmask8,
    splat _mm512_set1_pd, load _mm512_loadu_pd, store _mm512_storeu_pd, add _mm512_add_pd, sub _mm512_sub_pd,
    mul _mm512_mul_pd, div _mm512_div_pd, fmadd _mm512_fmadd_pd, fmsub _mm512_fmsub_pd, fnmadd _mm512_fnmadd_pd,
    sqrt _mm512_sqrt_pd,
    lt |a, b| _mm512_cmp_pd_mask::<_CMP_LT_OQ>(a, b),
    le |a, b| _mm512_cmp_pd_mask::<_CMP_LE_OQ>(a, b), all u8::MAX, and |a, b| a & b, bits |m| u32::from(m),
    select |m, y, n| _mm512_mask_blend_pd(m, n, y), compress |v, k| _mm512_maskz_compress_pd(k as u8, v)
}

vector! {
    /// Eight f32 (AVX2).
    F32x8 = 8 x f32 in __m256, mask __m256,
    splat _mm256_set1_ps, load _mm256_loadu_ps, store _mm256_storeu_ps, add _mm256_add_ps, sub _mm256_sub_ps,
    mul _mm256_mul_ps, div _mm256_div_ps, fmadd _mm256_fmadd_ps, fmsub _mm256_fmsub_ps, fnmadd _mm256_fnmadd_ps,
    sqrt _mm256_sqrt_ps,
    lt |a, b| _mm256_cmp_ps::<_CMP_LT_OQ>(a, b),
    le |a, b| _mm256_cmp_ps::<_CMP_LE_OQ>(a, b), all _mm256_castsi256_ps(_mm256_set1_epi32(-1)),
    and |a, b| _mm256_and_ps(a, b), bits |m| _mm256_movemask_ps(m) as u32,
    select |m, y, n| _mm256_blendv_ps(n, y, m),
    compress |v, k| {
        let order = _mm256_loadu_si256(COMPRESS_8[k as usize & 255].as_ptr().cast());
        _mm256_permutevar8x32_ps(v, order)
    }
}

vector! {
    /// Four f64 (AVX2).
    F64x4 = 4 x f64 in __m256d, mask __m256d,
    splat _mm256_set1_pd, load _mm256_loadu_pd, store _mm256_storeu_pd, add _mm256_add_pd, sub _mm256_sub_pd,
    mul _mm256_mul_pd, div _mm256_div_pd, fmadd _mm256_fmadd_pd, fmsub _mm256_fmsub_pd, fnmadd _mm256_fnmadd_pd,
    sqrt _mm256_sqrt_pd,
    lt |a, b| _mm256_cmp_pd::<_CMP_LT_OQ>(a, b),
    le |a, b| _mm256_cmp_pd::<_CMP_LE_OQ>(a, b), all _mm256_castsi256_pd(_mm256_set1_epi32(-1)),
    and |a, b| _mm256_and_pd(a, b), bits |m| _mm256_movemask_pd(m) as u32,
    select |m, y, n| _mm256_blendv_pd(n, y, m),
    compress |v, k| {
        let order = _mm256_loadu_si256(COMPRESS_4[k as usize & 15].as_ptr().cast());
        _mm256_castps_pd(_mm256_permutevar8x32_ps(_mm256_castpd_ps(v), order))
    }
}

/// AVX2 has no compression: the permutation for every mask of eight lanes.
static COMPRESS_8: [[u32; 8]; 256] = permutations();

/// The same for every mask of four lanes of two words.
static COMPRESS_4: [[u32; 8]; 16] = permutations();

/// For every mask, the source words of its lanes moved to the front; a lane is as many words as it takes for the masks
/// to cover all eight.
const fn permutations<const MASKS: usize>() -> [[u32; 8]; MASKS] {
    let lanes = MASKS.trailing_zeros();
    let words = 8 / lanes;
    let mut table = [[0; 8]; MASKS];
    let mut mask = 0;
    while mask < MASKS {
        let (mut to, mut lane) = (0, 0);
        while lane < lanes {
            if mask >> lane & 1 == 1 {
                let mut word = 0;
                while word < words {
                    table[mask][to] = lane * words + word;
                    to += 1;
                    word += 1;
                }
            }
            lane += 1;
        }
        mask += 1;
    }
    table
}
