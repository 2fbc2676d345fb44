//! Members of `.npz` files, which are zip archives of `.npy` files.
//!
//! NumPy stores members as they are, or deflates them. Of the archive the directory at its end is read, entry by entry, and the
//! header of one member: as little as it takes, strictly, and no memory is taken on its word.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};

use flate2::Crc;
use flate2::read::DeflateDecoder;

use crate::input::error::Wrong;

/// The end of the directory: its bytes, and those of the longest comment after it.
const END: usize = 22;
const LONGEST_END: u64 = END as u64 + u16::MAX as u64;

/// Names of members that are listed in a message.
const NAMES: usize = 20;

/// A member of an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Packed {
    /// Its name without `.npy`.
    pub(super) name: String,
    /// Where its bytes begin.
    pub(super) offset: u64,
    /// Its bytes in the archive.
    pub(super) stored: u64,
    /// Its bytes.
    pub(super) length: u64,
    /// True if they are deflated.
    pub(super) deflated: bool,
    checksum: u32,
}

/// Finds the member of that name, or the only one.
pub(super) fn find(file: &File, length: u64, wanted: Option<&str>) -> Result<Packed, Wrong> {
    let directory = directory(file, length)?;
    let mut reader = At { inner: BufReader::new(file), at: directory.start };
    reader.inner.seek(SeekFrom::Start(directory.start))?;
    let (mut found, mut names, mut members) = (None, Vec::new(), 0u64);
    for _ in 0..directory.entries {
        let (entry, header) = entry(&mut reader, &directory)?;
        members += 1;
        if names.len() < NAMES {
            names.push(entry.name.clone());
        }
        match wanted {
            Some(wanted) if wanted != entry.name => {}
            Some(_) if found.is_some() => return Err(zip(reader.at, "the name comes twice")),
            _ => found = Some((entry, header)),
        }
    }
    match found {
        Some((entry, header)) if wanted.is_some() || members == 1 => local(file, &directory, entry, header),
        _ => Err(Wrong::Member { wanted: wanted.map(str::to_owned), members, names }),
    }
}

/// Writes the bytes of a deflated member.
pub(super) fn inflate(file: &File, member: &Packed, out: &mut File) -> Result<(), Wrong> {
    let mut bytes = inflated(file, member)?.take(member.length.saturating_add(1));
    let (mut buffer, mut crc) = (vec![0; 1 << 18], Crc::new());
    loop {
        let read = match bytes.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData) => {
                return Err(zip(member.offset, "what is deflated here is damaged"));
            }
            Err(error) => return Err(error.into()),
        };
        crc.update(&buffer[..read]);
        out.write_all(&buffer[..read])?;
    }
    let whole = bytes.limit() == 1;
    match whole && crc.sum() == member.checksum {
        true => Ok(()),
        false => {
            Err(zip(member.offset, "what is deflated here has not the length or the checksum that the directory says"))
        }
    }
}

/// The bytes of a deflated member, as they come.
pub(super) fn inflated<'f>(file: &'f File, member: &Packed) -> io::Result<impl Read + use<'f>> {
    let mut file = file;
    file.seek(SeekFrom::Start(member.offset))?;
    Ok(DeflateDecoder::new(BufReader::new(file).take(member.stored)))
}

fn zip(offset: u64, what: &'static str) -> Wrong {
    Wrong::Zip { offset, what }
}

/// Where the directory lies.
struct Contents {
    start: u64,
    end: u64,
    entries: u64,
}

fn directory(mut file: &File, length: u64) -> Result<Contents, Wrong> {
    let mut tail = vec![0; LONGEST_END.min(length) as usize];
    let begins = length - tail.len() as u64;
    file.seek(SeekFrom::Start(begins))?;
    file.read_exact(&mut tail)?;
    // The last that reaches just to the end of the file: its comment can hold anything.
    let is_end = |&at: &usize| {
        tail[at..].starts_with(b"PK\x05\x06") && at + END + usize::from(u16_at(&tail[at..], 20)) == tail.len()
    };
    let last = tail.len().checked_sub(END).and_then(|last| (0..=last).rev().find(is_end));
    let Some(at) = last else {
        return Err(zip(0, "not a .npz file, which is a zip archive and ends with its directory"));
    };
    let (end, offset) = (&tail[at..], begins + at as u64);
    let found = Contents {
        start: u32_at(end, 16).into(),
        end: u64::from(u32_at(end, 16)) + u64::from(u32_at(end, 12)),
        entries: u16_at(end, 10).into(),
    };
    let single = |disks: &[u8]| disks.iter().all(|&byte| byte == 0);
    if !single(&end[4..8]) {
        return Err(zip(offset, "an archive of several disks"));
    }
    let large = u32_at(end, 16) == u32::MAX || u32_at(end, 12) == u32::MAX || u16_at(end, 10) == u16::MAX;
    let (found, limit) = if large { large_directory(file, &tail[..at], begins)? } else { (found, offset) };
    if found.start > found.end || found.end > limit {
        return Err(zip(offset, "the directory does not lie in the file"));
    }
    Ok(found)
}

/// The directory of an archive whose sizes take 64 bits, and where its end lies; `before` is what comes before the usual end.
fn large_directory(mut file: &File, before: &[u8], begins: u64) -> Result<(Contents, u64), Wrong> {
    let at = begins + before.len() as u64;
    let locator = before.len().checked_sub(20).map(|start| &before[start..]);
    let Some(locator) = locator.filter(|locator| locator.starts_with(b"PK\x06\x07")) else {
        return Err(zip(at, "the directory lies beyond 32 bits, and nothing says where"));
    };
    let offset = u64_at(locator, 8);
    if offset > at.saturating_sub(20 + 56) {
        return Err(zip(at - 20, "the end of the directory does not lie in the file"));
    }
    let mut end = [0; 56];
    file.seek(SeekFrom::Start(offset))?;
    file.read_exact(&mut end)?;
    if !end.starts_with(b"PK\x06\x06") {
        return Err(zip(offset, "no end of a directory here"));
    }
    let (size, start) = (u64_at(&end, 40), u64_at(&end, 48));
    Ok((Contents { start, end: start.saturating_add(size), entries: u64_at(&end, 32) }, offset))
}

/// A reader that knows where it is.
struct At<R> {
    inner: R,
    at: u64,
}

impl<R: Read> At<R> {
    /// The next bytes, which end before `end`.
    fn take(&mut self, bytes: usize, end: u64) -> Result<Vec<u8>, Wrong> {
        if bytes as u64 > end.saturating_sub(self.at) {
            return Err(zip(self.at, "the directory ends within an entry"));
        }
        let mut taken = vec![0; bytes];
        self.inner.read_exact(&mut taken)?;
        self.at += bytes as u64;
        Ok(taken)
    }
}

/// The next entry of the directory, and where the member's own header lies.
fn entry<R: Read>(reader: &mut At<R>, directory: &Contents) -> Result<(Packed, u64), Wrong> {
    let offset = reader.at;
    let fixed = reader.take(46, directory.end)?;
    if !fixed.starts_with(b"PK\x01\x02") {
        return Err(zip(offset, "no entry of the directory here"));
    }
    let name = reader.take(u16_at(&fixed, 28).into(), directory.end)?;
    let extra = reader.take(u16_at(&fixed, 30).into(), directory.end)?;
    reader.take(u16_at(&fixed, 32).into(), directory.end)?;
    // Sizes that take 64 bits are in the extra field of number 1, in this order.
    let mut large = extra_field(&extra, 1).unwrap_or_default();
    let mut wide = |at: usize| match u32_at(&fixed, at) {
        u32::MAX => {
            let (first, rest) = large.split_at_checked(8).ok_or(zip(offset, "a size of 64 bits is not there"))?;
            large = rest;
            Ok(u64_at(first, 0))
        }
        narrow => Ok::<_, Wrong>(narrow.into()),
    };
    let (length, stored, header) = (wide(24)?, wide(20)?, wide(42)?);
    let name = String::from_utf8_lossy(&name);
    let name = name.strip_suffix(".npy").unwrap_or(&name).to_owned();
    let deflated = match u16_at(&fixed, 10) {
        _ if u16_at(&fixed, 8) & 1 != 0 => return Err(zip(offset, "an encrypted member")),
        0 if stored == length => false,
        0 => return Err(zip(offset, "a member that is stored has two lengths")),
        8 => true,
        _ => return Err(zip(offset, "a member that is packed in another way than by deflate")),
    };
    Ok((Packed { name, offset: 0, stored, length, deflated, checksum: u32_at(&fixed, 16) }, header))
}

/// The member with the place of its bytes, which its own header says.
fn local(mut file: &File, directory: &Contents, member: Packed, header: u64) -> Result<Packed, Wrong> {
    let mut fixed = [0; 30];
    if header > directory.start.saturating_sub(30) {
        return Err(zip(header, "the member does not lie before the directory"));
    }
    file.seek(SeekFrom::Start(header))?;
    file.read_exact(&mut fixed)?;
    if !fixed.starts_with(b"PK\x03\x04") {
        return Err(zip(header, "no member here"));
    }
    let offset = header + 30 + u64::from(u16_at(&fixed, 26)) + u64::from(u16_at(&fixed, 28));
    if offset.checked_add(member.stored).is_none_or(|end| end > directory.start) {
        return Err(zip(header, "the member does not lie before the directory"));
    }
    Ok(Packed { offset, ..member })
}

/// The content of the extra field of that number.
fn extra_field(mut extra: &[u8], number: u16) -> Option<&[u8]> {
    while extra.len() >= 4 {
        let (head, rest) = extra.split_at(4);
        let (field, rest) = rest.split_at_checked(u16_at(head, 2).into())?;
        if u16_at(head, 0) == number {
            return Some(field);
        }
        extra = rest;
    }
    None
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(bytes[at..at + 2].try_into().expect("two bytes"))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}
