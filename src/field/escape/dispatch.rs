//! One entry per vector unit: the generic passes, compiled for it. Certificates are of one number at a time, and for fused products.
#![allow(unsafe_code)]

use crate::field::escape::orbit::{Orbit, Rounding};
use crate::field::escape::passes;
use crate::field::escape::sampled::EscapeField;
use crate::geometry::Region;
use crate::rule::Verdict;
use crate::simd::{Isa, Real};

/// The labels of `cells` on the field's instruction set.
pub(super) fn evaluate<const K: usize, const V: usize, O: Orbit<K, V>, T: Real, A: Rounding>(
    field: &EscapeField<K, V, O, T, A>,
    cells: &[[u32; K]],
    labels: &mut [u32],
) {
    assert_eq!(cells.len(), labels.len(), "a label for every cell");
    match field.isa {
        // SAFETY: the field holds an instruction set that `Isa::is_available` found.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => unsafe { avx512(field, cells, labels) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => unsafe { avx2(field, cells, labels) },
        // SAFETY: plain numbers need no vector unit.
        _ => unsafe { passes::evaluate::<T, 8, K, V, O, A>(field, cells, labels) },
    }
}

/// # Safety
/// The processor has the features.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx2,fma")]
unsafe fn avx512<const K: usize, const V: usize, O: Orbit<K, V>, T: Real, A: Rounding>(
    field: &EscapeField<K, V, O, T, A>,
    cells: &[[u32; K]],
    labels: &mut [u32],
) {
    // SAFETY: this function is compiled for the unit.
    unsafe { passes::evaluate::<T::Avx512, 6, K, V, O, A>(field, cells, labels) }
}

/// # Safety
/// The processor has the features.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn avx2<const K: usize, const V: usize, O: Orbit<K, V>, T: Real, A: Rounding>(
    field: &EscapeField<K, V, O, T, A>,
    cells: &[[u32; K]],
    labels: &mut [u32],
) {
    // SAFETY: this function is compiled for the unit.
    unsafe { passes::evaluate::<T::Avx2, 4, K, V, O, A>(field, cells, labels) }
}

/// What a certificate in N says of a region.
pub(super) fn certified<const K: usize, const V: usize, O: Orbit<K, V>, T: Real, A: Rounding, N: Real>(
    field: &EscapeField<K, V, O, T, A>,
    region: &Region<K>,
) -> Verdict {
    match field.isa {
        // SAFETY: the field holds an instruction set that `Isa::is_available` found; either has this.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 | Isa::Avx2 => unsafe { certified_fused::<K, V, O, T, A, N>(field, region) },
        _ => field.certified::<N>(region),
    }
}

/// # Safety
/// The processor has the features.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn certified_fused<const K: usize, const V: usize, O: Orbit<K, V>, T: Real, A: Rounding, N: Real>(
    field: &EscapeField<K, V, O, T, A>,
    region: &Region<K>,
) -> Verdict {
    field.certified::<N>(region)
}
