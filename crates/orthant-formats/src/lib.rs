//! Files of other programs, for [orthant].
//!
//! [`input`] reads arrays, meshes, points and lists of cells where they lie, or where they were unpacked. [`export`] writes trees and
//! arrays as files that other programs open. A format is a file of either module, and a line of its list.
//!
//! A program whose arrays and trees are in memory does not need this crate.

#![deny(unsafe_code)]
#![deny(missing_docs, missing_debug_implementations)]

pub mod export;
pub mod input;

/// The pages of the guide whose code reads or writes files, so that it is compiled and run.
#[cfg(doctest)]
pub mod pages {
    #[doc = include_str!("../../../docs/meshes.md")]
    pub struct Meshes;
    #[doc = include_str!("../../../docs/points.md")]
    pub struct Points;
}
