//! Bytes of a zip, and the numbers in them.

use crate::disk::ReadRange;
use crate::memory::zeros;
use crate::zarr::error::Fault;

/// A run of a zip's bytes, which lies before the end of the file.
pub(super) fn read(file: &dyn ReadRange, at: u64, length: u64) -> Result<Vec<u8>, Fault> {
    let size = file.length()?;
    if at.checked_add(length).is_none_or(|end| end > size) {
        return Err(Fault::Short { offset: at, have: size.saturating_sub(at), need: length });
    }
    let mut bytes = zeros::<u8>(length as usize)?;
    file.read_exact_at(at, &mut bytes).map_err(Fault::unread(at))?;
    Ok(bytes)
}

/// Numbers of a part, whose length was seen.
pub(super) struct Fields<'b>(pub(super) &'b [u8]);

impl Fields<'_> {
    fn bytes<const N: usize>(&self, at: usize) -> [u8; N] {
        self.0[at..at + N].try_into().expect("as many as were cut")
    }

    pub(super) fn u16(&self, at: usize) -> u16 {
        u16::from_le_bytes(self.bytes(at))
    }

    pub(super) fn u32(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.bytes(at))
    }

    pub(super) fn u64(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.bytes(at))
    }

    /// True if the method behind the flags at `at` is to deflate, which may be.
    pub(super) fn deflated(&self, at: usize, may_be: bool) -> Result<bool, &'static str> {
        // How hard it was compressed, lengths behind the bytes, names in UTF-8.
        const ALLOWED: u16 = 0b1000_0000_1110;
        match (self.u16(at), self.u16(at + 2)) {
            (flags, 0) if flags & !ALLOWED == 0 => Ok(false),
            (flags, 8) if flags & !ALLOWED == 0 && may_be => Ok(true),
            (_, 0) => Err("a member that is encrypted, or of a later kind"),
            (_, _) if may_be => Err("a member that is encrypted, or packed in another way than by deflate"),
            _ => Err("a member that is compressed; files in the zip must be stored, as `zip -0` does"),
        }
    }
}
