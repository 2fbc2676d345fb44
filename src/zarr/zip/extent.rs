//! Where the directory of a zip lies, as the end of the zip says.

use crate::disk::ReadRange;
use crate::zarr::error::Fault;
use crate::zarr::zip::fields::{Fields, read};
use crate::zarr::zip::parts::{length, signature};

/// The most bytes that a directory has.
const MOST: u64 = 1 << 28;

/// The directory as the end of the zip has it.
pub(super) struct Extent {
    /// Members in it.
    pub(super) entries: u64,
    /// Its bytes.
    pub(super) bytes: u64,
    /// The first of them.
    pub(super) start: u64,
}

impl Extent {
    /// Finds it.
    ///
    /// # Errors
    /// If the file is no zip, is cut short, or is one of several parts.
    pub(super) fn find(file: &dyn ReadRange) -> Result<Self, Fault> {
        let at = file.length()?.checked_sub(length::END as u64).ok_or(Fault::NoStore)?;
        let end = read(file, at, length::END as u64)?;
        let field = Fields(&end);
        if field.u32(0) != signature::END {
            return Err(Fault::NoStore);
        }
        let wrong = |reason| Fault::Zip { offset: at, reason };
        let one =
            |field: &Fields<'_>| [field.u16(4), field.u16(6), field.u16(20)] == [0; 3] && field.u16(8) == field.u16(10);
        if !one(&field) {
            return Err(wrong("a zip in several parts, or with a comment"));
        }
        let narrow = Self { entries: field.u16(8).into(), bytes: field.u32(12).into(), start: field.u32(16).into() };
        let wide = narrow.entries == u64::from(u16::MAX) || [narrow.bytes, narrow.start].contains(&u32::MAX.into());
        let (found, ends) = if wide { Self::find_wide(file, at)? } else { (narrow, at) };
        match found.start.checked_add(found.bytes) {
            Some(end) if end == ends => Ok(found),
            _ => Err(wrong("the directory is not what is before the end")),
        }
    }

    /// Its bytes.
    ///
    /// # Errors
    /// If they are too many, or the system says no.
    pub(super) fn read(&self, file: &dyn ReadRange) -> Result<Vec<u8>, Fault> {
        match self.bytes {
            length if length > MOST => Err(Fault::Large { length, most: MOST }),
            length => read(file, self.start, length),
        }
    }

    /// The same in 64 bits, and where that stands.
    fn find_wide(file: &dyn ReadRange, end: u64) -> Result<(Self, u64), Fault> {
        let wrong = |offset, reason| Fault::Zip { offset, reason };
        let missing = "numbers of 64 bits are missing before the end";
        let at = end.checked_sub(length::LOCATOR as u64).ok_or(wrong(end, missing))?;
        let locator = read(file, at, length::LOCATOR as u64)?;
        let field = Fields(&locator);
        if [field.u32(0), field.u32(4), field.u32(16)] != [signature::LOCATOR, 0, 1] {
            return Err(wrong(at, missing));
        }
        let at = field.u64(8);
        if at.checked_add((length::WIDE_END + length::LOCATOR) as u64) != Some(end) {
            return Err(wrong(at, missing));
        }
        let bytes = read(file, at, length::WIDE_END as u64)?;
        let field = Fields(&bytes);
        let plain = field.u32(0) == signature::WIDE_END
            && field.u64(4) == length::WIDE_END as u64 - 12
            && [field.u32(16), field.u32(20)] == [0; 2]
            && field.u64(24) == field.u64(32);
        match plain {
            true => Ok((Self { entries: field.u64(24), bytes: field.u64(40), start: field.u64(48) }, at)),
            false => Err(wrong(at, missing)),
        }
    }
}
