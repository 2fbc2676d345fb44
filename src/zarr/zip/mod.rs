//! Folders as one file: a zip in which nothing is compressed, so that its members can be read by ranges.
//!
//! Offsets are 64 bits wide where they must be (zip64). A zip that others made is read too, if nothing in it is compressed.

mod directory;
mod pack;

pub(super) use directory::{Directory, Entry};
pub(crate) use pack::pack;

/// What the parts of a zip begin with.
mod signature {
    /// A member, before its bytes.
    pub(super) const MEMBER: u32 = 0x0403_4b50;
    /// A member, in the directory.
    pub(super) const ENTRY: u32 = 0x0201_4b50;
    /// What is 64 bits wide of the end.
    pub(super) const WIDE_END: u32 = 0x0606_4b50;
    /// Where that is.
    pub(super) const LOCATOR: u32 = 0x0706_4b50;
    /// The end.
    pub(super) const END: u32 = 0x0605_4b50;
}

/// Bytes of the parts, without names.
mod length {
    pub(super) const MEMBER: usize = 30;
    pub(super) const ENTRY: usize = 46;
    pub(super) const WIDE_END: usize = 56;
    pub(super) const LOCATOR: usize = 20;
    pub(super) const END: usize = 22;
}

/// The extra field with numbers of 64 bits.
const WIDE: u16 = 1;
