//! What is in a zip that lies far away, by its directory alone.
//!
//! Where a member's bytes begin stands before the member. To read that of every member takes as many requests; here it is read of those
//! that are asked for, and it is checked as [`Directory`](super::Directory) checks it of all.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::disk::ReadRange;
use crate::zarr::error::Fault;
use crate::zarr::zip::directory::{Entry, begins};
use crate::zarr::zip::extent::Extent;
use crate::zarr::zip::parts::length;
use crate::zarr::zip::record::{MemberPlace, Records};

/// The members of a zip by their names, as the directory has them.
#[derive(Debug)]
pub(crate) struct Listing(BTreeMap<String, ListedMember>);

/// What the directory says of a member.
#[derive(Debug)]
struct ListedMember {
    /// Where the member's own header begins.
    at: u64,
    /// Where what follows begins: the next member, or the directory.
    end: u64,
    length: u64,
    crc: u32,
}

impl Listing {
    /// Reads the directory of a zip in which nothing is compressed.
    ///
    /// # Errors
    /// If there is none, it is cut short, or members are compressed, encrypted, or not one after the other.
    pub(crate) fn read(file: &dyn ReadRange) -> Result<Self, Fault> {
        let extent = Extent::find(file)?;
        let directory = extent.read(file)?;
        let mut found: Vec<(String, ListedMember)> = Vec::new();
        for record in Records::new(&directory, &extent) {
            let record = record?;
            record.fields.deflated(8, false).map_err(|reason| record.wrong(reason))?;
            let MemberPlace { length, packed, at } = record.place()?;
            if length != packed {
                return Err(record.wrong("a member that is stored has two lengths"));
            }
            let least = at.checked_add((length::MEMBER + record.name.len()) as u64);
            if least.and_then(|start| start.checked_add(packed)).is_none_or(|end| end > extent.start) {
                return Err(record.wrong("a member reaches into the directory"));
            }
            if let Some((_, before)) = found.last_mut() {
                if before.at >= at {
                    return Err(record.wrong("a member begins within the one before"));
                }
                before.end = at;
            }
            let name = std::str::from_utf8(record.name).map_err(|_| record.wrong("a name that is no UTF-8"))?;
            found.push((name.to_owned(), ListedMember { at, end: extent.start, length, crc: record.fields.u32(16) }));
        }
        let mut members = BTreeMap::new();
        for (name, listed) in found {
            // Folders are members to those who make them.
            if name.ends_with('/') && listed.length == 0 {
                continue;
            }
            let at = listed.at;
            if members.insert(name, listed).is_some() {
                return Err(Fault::Zip { offset: at, reason: "two members have one name" });
            }
        }
        Ok(Self(members))
    }

    /// From where a member's own header begins to where what follows it does.
    pub(crate) fn span(&self, name: &str) -> Option<Range<u64>> {
        self.0.get(name).map(|listed| listed.at..listed.end)
    }

    /// A member, whose header is read; None if there is none.
    ///
    /// # Errors
    /// If the header says something else than the directory, or the member reaches into the next.
    pub(crate) fn entry(&self, name: &str, file: &dyn ReadRange) -> Result<Option<Entry>, Fault> {
        let Some(&ListedMember { at, end, length, crc }) = self.0.get(name) else { return Ok(None) };
        let start = begins(file, end, at, (name.as_bytes(), false), length)?;
        Ok(Some(Entry { start, packed: length, length, deflated: false, crc }))
    }
}
