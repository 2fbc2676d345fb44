//! What is in a zip, and where.
//!
//! Only the directory at the end is read, and of every member what stands before it, which must be what the directory says: no
//! checksum covers a name.

use std::collections::BTreeMap;
use std::fs::File;

use crate::memory::zeros;
use crate::zarr::error::Fault;
use crate::zarr::range::read_exact_at;
use crate::zarr::zip::parts::{WIDE, length, signature};

/// The most bytes that a directory has.
const MOST: u64 = 1 << 28;

/// Where a member's bytes lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The first.
    pub(crate) start: u64,
    /// How many, as they lie there.
    pub(crate) packed: u64,
    /// How many they are.
    pub(crate) length: u64,
    /// True if they are deflated.
    pub(crate) deflated: bool,
    /// Their CRC-32.
    pub(crate) crc: u32,
}

/// The members of a zip by their names.
#[derive(Debug)]
pub(crate) struct Directory(BTreeMap<String, Entry>);

impl Directory {
    /// Reads what is in a zip in which nothing is compressed.
    ///
    /// # Errors
    /// If it is none, is cut short, or members are compressed, encrypted or not where the directory has them.
    pub(crate) fn read(file: &File) -> Result<Self, Fault> {
        Self::of(file, false, false)
    }

    /// The same of a zip to which members were added again, of which the last counts.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub(crate) fn read_rewritten(file: &File) -> Result<Self, Fault> {
        Self::of(file, false, true)
    }

    /// The same of a zip in which members may be deflated.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub(crate) fn read_deflated(file: &File) -> Result<Self, Fault> {
        Self::of(file, true, false)
    }

    fn of(file: &File, deflate: bool, again: bool) -> Result<Self, Fault> {
        let size = file.metadata()?.len();
        let Extent { entries, bytes, start } = Extent::find(file, size)?;
        if bytes > MOST {
            return Err(Fault::Large { length: bytes, most: MOST });
        }
        let directory = read(file, start, bytes)?;
        let mut members = BTreeMap::new();
        let mut rest = &directory[..];
        // What is said to begin where: a name is the same in both places.
        let mut next = 0;
        for _ in 0..entries {
            let offset = start + bytes - rest.len() as u64;
            let wrong = |reason| Fault::Zip { offset, reason };
            let header = rest.split_off(..length::ENTRY).ok_or(wrong("the directory ends within a member"))?;
            let field = Fields(header);
            if field.u32(0) != signature::ENTRY {
                return Err(wrong("no member of the directory begins here"));
            }
            let deflated = field.deflated(8, deflate).map_err(wrong)?;
            let mut part =
                |at| rest.split_off(..usize::from(field.u16(at))).ok_or(wrong("the directory ends within a member"));
            let (name, extra, _comment) = (part(28)?, part(30)?, part(32)?);
            let mut wide = wide(extra);
            let mut number = |at| match field.u32(at) {
                u32::MAX => wide.next().ok_or(wrong("a number of 64 bits is missing")),
                narrow => Ok(narrow.into()),
            };
            let (length, packed, at) = (number(24)?, number(20)?, number(42)?);
            if length != packed && !deflated {
                return Err(wrong("a member that is stored has two lengths"));
            }
            let begin = begins(file, start, at, (name, deflated), packed)?;
            let entry = Entry { start: begin, packed, length, deflated, crc: field.u32(16) };
            if at < next {
                return Err(wrong("a member begins within the one before"));
            }
            next = entry.start + packed;
            let name = std::str::from_utf8(name).map_err(|_| wrong("a name that is no UTF-8"))?;
            // Folders are members to those who make them.
            if name.ends_with('/') && length == 0 {
                continue;
            }
            if members.insert(name.to_owned(), entry).is_some() && !again {
                return Err(wrong("two members have one name"));
            }
        }
        match rest {
            [] => Ok(Self(members)),
            _ => Err(Fault::Zip {
                offset: start + bytes - rest.len() as u64,
                reason: "the directory has more members than its end says",
            }),
        }
    }

    /// The names of members, in alphabetical order.
    pub(crate) fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// A member.
    pub(crate) fn entry(&self, name: &str) -> Option<&Entry> {
        self.0.get(name)
    }
}

/// Where a member's bytes begin, whose own header is at `at`.
fn begins(file: &File, directory: u64, at: u64, (name, deflated): (&[u8], bool), packed: u64) -> Result<u64, Fault> {
    let wrong = |reason| Fault::Zip { offset: at, reason };
    let cut = "a member reaches into the directory";
    let room = directory.checked_sub(at).ok_or(wrong(cut))?;
    let need = length::MEMBER + name.len();
    if room < need as u64 {
        return Err(wrong(cut));
    }
    let header = read(file, at, need as u64)?;
    let field = Fields(&header);
    if field.u32(0) != signature::MEMBER {
        return Err(wrong("no member begins here, where the directory has one"));
    }
    if field.deflated(6, deflated).map_err(wrong)? != deflated {
        return Err(wrong("a member is packed in another way than in the directory"));
    }
    if usize::from(field.u16(26)) != name.len() || &header[length::MEMBER..] != name {
        return Err(wrong("a member has another name than in the directory"));
    }
    let before = need as u64 + u64::from(field.u16(28));
    match room.checked_sub(before) {
        Some(room) if room >= packed => Ok(at + before),
        _ => Err(wrong(cut)),
    }
}

/// The directory as the end of the zip has it.
struct Extent {
    entries: u64,
    bytes: u64,
    start: u64,
}

impl Extent {
    fn find(file: &File, size: u64) -> Result<Self, Fault> {
        let at = size.checked_sub(length::END as u64).ok_or(Fault::NoStore)?;
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

    /// The same in 64 bits, and where that stands.
    fn find_wide(file: &File, end: u64) -> Result<(Self, u64), Fault> {
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

/// The numbers of 64 bits among a member's extra fields.
fn wide(mut extra: &[u8]) -> impl Iterator<Item = u64> {
    let mut numbers: &[u8] = &[];
    while let Some(head) = extra.split_off(..4) {
        let field = Fields(head);
        let Some(content) = extra.split_off(..usize::from(field.u16(2))) else { break };
        if field.u16(0) == WIDE {
            numbers = content;
            break;
        }
    }
    numbers.chunks_exact(8).map(|bytes| Fields(bytes).u64(0))
}

/// A run of a zip's bytes, which lies before the end of the file.
fn read(file: &File, at: u64, length: u64) -> Result<Vec<u8>, Fault> {
    let size = file.metadata()?.len();
    if at.checked_add(length).is_none_or(|end| end > size) {
        return Err(Fault::Short { offset: at, have: size.saturating_sub(at), need: length });
    }
    let mut bytes = zeros::<u8>(length as usize)?;
    read_exact_at(file, at, &mut bytes)?;
    Ok(bytes)
}

/// Numbers of a part, whose length was seen.
struct Fields<'b>(&'b [u8]);

impl Fields<'_> {
    fn bytes<const N: usize>(&self, at: usize) -> [u8; N] {
        self.0[at..at + N].try_into().expect("as many as were cut")
    }

    fn u16(&self, at: usize) -> u16 {
        u16::from_le_bytes(self.bytes(at))
    }

    fn u32(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.bytes(at))
    }

    fn u64(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.bytes(at))
    }

    /// True if the method behind the flags at `at` is to deflate, which may be.
    fn deflated(&self, at: usize, may_be: bool) -> Result<bool, &'static str> {
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
