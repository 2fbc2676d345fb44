//! The members of a zip as its directory lists them, one after the other.

use crate::zarr::error::Fault;
use crate::zarr::zip::extent::Extent;
use crate::zarr::zip::fields::Fields;
use crate::zarr::zip::parts::{WIDE, length, signature};

/// A member as the directory has it.
pub(super) struct Record<'d> {
    /// Where in the zip the directory says this.
    pub(super) offset: u64,
    /// The numbers before the name.
    pub(super) fields: Fields<'d>,
    pub(super) name: &'d [u8],
    pub(super) extra: &'d [u8],
}

/// What 32 bits may not hold of a member.
#[derive(Debug, Clone, Copy)]
pub(super) struct MemberPlace {
    /// Its bytes when they are unpacked.
    pub(super) length: u64,
    /// Its bytes as they lie there.
    pub(super) packed: u64,
    /// Where its own header begins.
    pub(super) at: u64,
}

impl Record<'_> {
    /// An error about it.
    pub(super) fn wrong(&self, reason: &'static str) -> Fault {
        Fault::Zip { offset: self.offset, reason }
    }

    /// Its lengths and its place; in 64 bits where 32 do not hold them.
    pub(super) fn place(&self) -> Result<MemberPlace, Fault> {
        let mut wide = wide(self.extra);
        let mut number = |at| match self.fields.u32(at) {
            u32::MAX => wide.next().ok_or(self.wrong("a number of 64 bits is missing")),
            narrow => Ok(narrow.into()),
        };
        let (length, packed, at) = (number(24)?, number(20)?, number(42)?);
        Ok(MemberPlace { length, packed, at })
    }
}

/// The records of a directory, as many as the end of the zip says, and nothing behind them.
pub(super) struct Records<'d> {
    rest: &'d [u8],
    left: u64,
    end: u64,
}

impl<'d> Records<'d> {
    /// Those of the bytes that an extent has.
    pub(super) fn new(directory: &'d [u8], extent: &Extent) -> Self {
        Self { rest: directory, left: extent.entries, end: extent.start + extent.bytes }
    }

    fn next_record(&mut self) -> Result<Record<'d>, Fault> {
        let offset = self.end - self.rest.len() as u64;
        let cut = Fault::Zip { offset, reason: "the directory ends within a member" };
        let Some(header) = self.rest.split_off(..length::ENTRY) else { return Err(cut) };
        let fields = Fields(header);
        if fields.u32(0) != signature::ENTRY {
            return Err(Fault::Zip { offset, reason: "no member of the directory begins here" });
        }
        let mut part = |at| self.rest.split_off(..usize::from(fields.u16(at)));
        match (part(28), part(30), part(32)) {
            (Some(name), Some(extra), Some(_comment)) => Ok(Record { offset, fields, name, extra }),
            _ => Err(cut),
        }
    }
}

impl<'d> Iterator for Records<'d> {
    type Item = Result<Record<'d>, Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        let Some(left) = self.left.checked_sub(1) else {
            let offset = self.end - self.rest.len() as u64;
            let more = Fault::Zip { offset, reason: "the directory has more members than its end says" };
            return (!std::mem::take(&mut self.rest).is_empty()).then_some(Err(more));
        };
        self.left = left;
        let record = self.next_record();
        if record.is_err() {
            (self.left, self.rest) = (0, &[]);
        }
        Some(record)
    }
}

/// The numbers of 64 bits among a member's extra fields.
pub(super) fn wide(extra: &[u8]) -> impl Iterator<Item = u64> {
    let numbers = Extras(extra).map_while(Result::ok).find(|&(kind, _)| kind == WIDE).map_or(&[][..], |(_, of)| of);
    numbers.chunks_exact(8).map(|bytes| Fields(bytes).u64(0))
}

/// A member's extra fields: a number that says of which kind, and the bytes of each. An error is a field that is cut short.
pub(super) struct Extras<'b>(pub(super) &'b [u8]);

impl<'b> Iterator for Extras<'b> {
    type Item = Result<(u16, &'b [u8]), ()>;

    fn next(&mut self) -> Option<Self::Item> {
        let head = Fields(self.0.split_off(..4)?);
        let content = self.0.split_off(..usize::from(head.u16(2)));
        if content.is_none() {
            self.0 = &[];
        }
        Some(content.map(|content| (head.u16(0), content)).ok_or(()))
    }
}
