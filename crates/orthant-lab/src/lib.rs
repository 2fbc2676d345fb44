//! What judges and compares subdivisions of [orthant].
//!
//! [`model`] predicts what a subdivision costs. It has the equations of the ASK paper, and constants that are fitted from measured runs.
//! [`conformance`] runs one list of cases on any backend, and compares every cell with a reference. [`curves`] measures how near to each
//! other an order of regions keeps what is near. [`balance`] has the lists of work-items on which load balancers are compared.
//!
//! A program that only runs subdivisions does not need this crate.

#![deny(unsafe_code)]
#![deny(missing_docs, missing_debug_implementations)]

pub mod balance;
pub mod conformance;
pub mod curves;
pub mod model;

/// The page of the cost model, so that its code is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/model.md")]
pub struct Page;
