//! Arrays in chunks as other programs read them: a strict subset of Zarr v3, written and read.
//!
//! An array is a `zarr.json` and a file per chunk of a regular grid, in a [`ZarrStore`]: a folder, or a zip in which nothing is
//! compressed. Such a file is one encoded chunk, or a *shard* of them with an index at its end. Every chunk is encoded in one
//! way: elements little-endian with the last axis fastest, one Zstandard frame that says how much it holds, and a CRC-32C. What
//! [`ArrayMetadata`] says is written as one exact text and must read as that, so that what is read is what this module writes.
//!
//! Every byte is under a checksum or compared, files are checked against themselves before they are believed, and no memory is
//! taken because a file says that it has much to tell.

mod chunk;
mod error;
mod json;
mod member;
mod metadata;
mod remote;
mod shard;
mod store;
#[cfg(test)]
mod tests;
mod zip;

pub use chunk::CHECKSUMS;
pub use chunk::encode;
pub use error::{Fault, ZarrError};
pub(crate) use json::group;
pub use json::group_of;
pub use member::Member;
pub use metadata::ArrayMetadata;
pub(crate) use metadata::number;
pub use shard::is_fill;
pub use shard::{ShardReader, ShardWriter};
pub use store::ZarrStore;
pub use zip::Directory;
pub use zip::Entry;
pub use zip::pack;
pub(crate) use zip::pack_folder;
