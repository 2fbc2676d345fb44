//! Folders as one file: a zip in which nothing is compressed, so that its members can be read by ranges.
//!
//! Offsets are 64 bits wide where they must be (zip64). A zip that others made is read too, if nothing in it is compressed.

mod audit;
mod directory;
mod extent;
mod fields;
mod listing;
mod pack;
mod parts;
mod record;

pub(crate) use audit::{Flaw, audit};
pub use directory::{Directory, Entry};
pub(super) use listing::Listing;
pub use pack::pack;
pub(crate) use pack::pack_folder;
#[cfg(test)]
pub(super) use pack::pack_narrow;
