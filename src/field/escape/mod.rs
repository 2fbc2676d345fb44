//! Escape-time fields: the number of iterations before an orbit leaves a disc.
//!
//! An `Orbit` is a few lines of arithmetic over `Lanes`; `EscapeField` samples cells, iterates batches of them on the
//! vector unit that the processor has, and is a [`Field`](crate::field::Field). Dwell d is defined by the plain loop
//!
//! ```text
//! d = 0;  while d < D and |z|² < R²  { step;  d += 1 }
//! ```
//!
//! in the run's precision and arithmetic; every path returns exactly that (`EscapeField::dwell_of` is the loop itself).

mod dispatch;
pub(super) mod enclosure;
pub(super) mod labels;
pub(super) mod orbit;
mod passes;
pub(super) mod sampled;
pub(super) mod square;

#[cfg(test)]
mod tests;
