//! Laws that the library keeps, one binary for all of them.

mod acceptance;
mod api;
mod archives;
mod balance;
mod changes;
mod conformance;
mod defaults;
mod exports;
mod fleet;
mod formulas;
mod fuzzed;
#[cfg(feature = "hdf5")]
mod hdf5;
mod images;
mod inputs;
mod labels;
mod layers;
mod lists;
mod matrices;
mod meshes;
mod outcome;
mod own_fields;
mod paper_model;
mod parts;
mod patterns;
mod points;
mod reference;
mod sampled;
mod samples;
mod scans;
mod seeds;
mod shape;
mod slices;
mod throttle;
mod tiff;
mod trees;
mod unread;
mod values;
mod zarrs;

#[expect(dead_code, reason = "there are no lists of cases here")]
#[path = "../cli/tests/scope.rs"]
mod scope;

/// The folder of the project.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
