//! Bit patterns that an engine might take for something else.

use orthant::{Cell, CellType};

/// Values of a type that engines could trip over: zeros, ones, both ends, and what is not a number in two patterns.
pub fn awkward<T: Cell>() -> Vec<T> {
    let ones = u64::MAX;
    let mut words = vec![0, ones, 1, ones >> 1, 1 << (8 * size_of::<T>() - 1)];
    match T::TYPE {
        CellType::F32 => words.extend([(-0.0f32).word(), f32::NAN.word(), f32::NAN.word() | 0x8000_0001]),
        CellType::F64 => words.extend([(-0.0f64).word(), f64::NAN.word(), f64::NAN.word() | 1 << 63 | 1]),
        _ => {}
    }
    words.into_iter().map(T::from_word).collect()
}
