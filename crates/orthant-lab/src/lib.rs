//! What judges [orthant]: the cost model, and the suite that every backend passes.
//!
//! [`model`] says what a subdivision should cost before it is run, in the equations of the ASK paper and in constants that are fitted from
//! measured runs. [`conformance`] runs one list of cases on any backend, and compares every cell with a reference.
//!
//! Who runs subdivisions needs neither, and so this is a crate of its own above the library.

#![deny(unsafe_code)]
#![deny(missing_docs, missing_debug_implementations)]

pub mod conformance;
pub mod model;

/// The page of the cost model, so that its code is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/model.md")]
pub struct Page;
