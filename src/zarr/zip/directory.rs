//! What is in a zip, and where.
//!
//! Only the directory at the end is read, and of every member what stands before it, which must be what the directory says: no
//! checksum covers a name.

use std::collections::BTreeMap;

use crate::disk::ReadRange;
use crate::zarr::error::Fault;
use crate::zarr::zip::extent::Extent;
use crate::zarr::zip::fields::{Fields, read};
use crate::zarr::zip::parts::{length, signature};
use crate::zarr::zip::record::{MemberPlace, Record, Records};

/// Where a member's bytes lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The first.
    pub start: u64,
    /// How many, as they lie there.
    pub packed: u64,
    /// How many they are.
    pub length: u64,
    /// True if they are deflated.
    pub deflated: bool,
    /// Their CRC-32.
    pub crc: u32,
}

impl Entry {
    /// Where a member of the directory lies, and where its own header begins, which must name it as the directory does.
    ///
    /// # Errors
    /// If it is packed in a way that may not be, or is not where the directory has it.
    pub(super) fn find(
        file: &dyn ReadRange,
        extent: &Extent,
        record: &Record<'_>,
        deflate: bool,
    ) -> Result<(Self, u64), Fault> {
        let deflated = record.fields.deflated(8, deflate).map_err(|reason| record.wrong(reason))?;
        let MemberPlace { length, packed, at } = record.place()?;
        if length != packed && !deflated {
            return Err(record.wrong("a member that is stored has two lengths"));
        }
        let start = begins(file, extent.start, at, (record.name, deflated), packed)?;
        Ok((Self { start, packed, length, deflated, crc: record.fields.u32(16) }, at))
    }
}

/// The members of a zip by their names.
#[derive(Debug)]
pub struct Directory(BTreeMap<String, Entry>);

impl Directory {
    /// Reads what is in a zip in which nothing is compressed.
    ///
    /// # Errors
    /// If it is none, is cut short, or members are compressed, encrypted or not where the directory has them.
    pub(crate) fn read(file: &dyn ReadRange) -> Result<Self, Fault> {
        Self::of(file, false, false)
    }

    /// The same of a zip to which members were added again, of which the last counts.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub(crate) fn read_rewritten(file: &dyn ReadRange) -> Result<Self, Fault> {
        Self::of(file, false, true)
    }

    /// The same of a zip in which members may be deflated.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_deflated(file: &dyn ReadRange) -> Result<Self, Fault> {
        Self::of(file, true, false)
    }

    fn of(file: &dyn ReadRange, deflate: bool, again: bool) -> Result<Self, Fault> {
        let extent = Extent::find(file)?;
        let directory = extent.read(file)?;
        let mut members = BTreeMap::new();
        // Where the next member may begin.
        let mut next = 0;
        for record in Records::new(&directory, &extent) {
            let record = record?;
            let (entry, at) = Entry::find(file, &extent, &record, deflate)?;
            if at < next {
                return Err(record.wrong("a member begins within the one before"));
            }
            next = entry.start + entry.packed;
            let name = std::str::from_utf8(record.name).map_err(|_| record.wrong("a name that is no UTF-8"))?;
            // Folders are members to those who make them.
            if name.ends_with('/') && entry.length == 0 {
                continue;
            }
            if members.insert(name.to_owned(), entry).is_some() && !again {
                return Err(record.wrong("two members have one name"));
            }
        }
        Ok(Self(members))
    }

    /// The names of members, in alphabetical order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// A member.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.0.get(name)
    }
}

/// Where a member's bytes begin, whose own header is at `at`. They end before `end`.
pub(super) fn begins(
    file: &dyn ReadRange,
    end: u64,
    at: u64,
    (name, deflated): (&[u8], bool),
    packed: u64,
) -> Result<u64, Fault> {
    let wrong = |reason| Fault::Zip { offset: at, reason };
    let cut = "a member reaches into the directory";
    let room = end.checked_sub(at).ok_or(wrong(cut))?;
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
