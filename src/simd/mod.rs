//! Lanes: the same arithmetic on one number or on a vector of them.
//!
//! Field kernels are written once over `Lanes` and compiled for AVX-512, AVX2 with FMA, and plain numbers; [`Isa`] picks
//! at run time what the processor has. Every operation is correctly rounded on every path, so labels are equal to the
//! bit. Beyond arithmetic, a kernel needs one thing from a vector unit: `Lanes::compress`, which closes the gaps that
//! finished cells leave.

mod lanes;
mod scalar;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use lanes::Isa;
pub(crate) use lanes::{Lanes, Real};
