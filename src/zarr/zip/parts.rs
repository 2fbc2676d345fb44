//! The parts of a zip: what they begin with, and how long they are.

/// What the parts of a zip begin with.
pub(super) mod signature {
    /// A member, before its bytes.
    pub(in crate::zarr) const MEMBER: u32 = 0x0403_4b50;
    /// A member, in the directory.
    pub(in crate::zarr) const ENTRY: u32 = 0x0201_4b50;
    /// The lengths and the checksum behind a member.
    pub(in crate::zarr) const DESCRIPTOR: u32 = 0x0807_4b50;
    /// What is 64 bits wide of the end.
    pub(in crate::zarr) const WIDE_END: u32 = 0x0606_4b50;
    /// Where that is.
    pub(in crate::zarr) const LOCATOR: u32 = 0x0706_4b50;
    /// The end.
    pub(in crate::zarr) const END: u32 = 0x0605_4b50;
}

/// Bytes of the parts, without names.
pub(super) mod length {
    pub(in crate::zarr) const MEMBER: usize = 30;
    pub(in crate::zarr) const ENTRY: usize = 46;
    pub(in crate::zarr) const WIDE_END: usize = 56;
    pub(in crate::zarr) const LOCATOR: usize = 20;
    pub(in crate::zarr) const END: usize = 22;
}

/// The extra field with numbers of 64 bits.
pub(super) const WIDE: u16 = 1;

/// The extra field with a name in UTF-8.
pub(super) const OTHER_NAME: u16 = 0x7075;
