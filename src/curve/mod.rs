//! Orders of the regions of a level: the map from region coordinates to a scalar code and back.
//!
//! An [`Encoding`] is one curve over the levels of one scheme {g, r}. On every level its codes are a bijection between
//! the level's lattice and 0..∏M_j: nothing is padded, so a code needs ⌈log2 ∏M_j⌉ bits and no more. Codes are `u64` in
//! this interface; a table stores fewer bytes where they suffice.
//!
//! `morton` and `hilbert` are hierarchical: the children of code c are exactly c·R + i, i = 0..R, written without
//! evaluating the curve. `canonical` is the flat row-major order of the papers (ASK paper, eqs. 31-33), which has no
//! such rule and must decode, scale and encode.
//!
//! Axis 0 is x, the fastest: bit j of every k-bit digit belongs to axis j.

mod canonical;
mod device;
mod encoding;
mod error;
mod forest;
mod hilbert;
mod kind;
mod lattice;
mod morton;
#[cfg(feature = "packages")]
mod packages;

pub use device::DeviceCurve;
pub use encoding::Encoding;
pub use error::CurveError;
pub use kind::CurveKind;
pub use lattice::Lattice;
#[cfg(feature = "packages")]
pub use packages::Package;

#[cfg(test)]
mod tests;
