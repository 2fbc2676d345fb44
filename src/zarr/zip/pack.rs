//! A folder becomes a zip: the same one whenever and wherever that is done.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use crate::disk::{File, Folder};
use crate::zarr::zip::parts::{WIDE, length, signature};

/// The first of January 1980, before which a zip knows no time.
const DATE: u16 = 1 << 5 | 1;

/// Bytes that are copied at a time.
const PIECE: usize = 1 << 18;

/// Writes all files of a folder and of those in it as a zip, the one closest to the top whose name is `zarr.json` first, then
/// the others of that name, then the rest, each by their names.
///
/// # Errors
/// If a file cannot be read, is none or a link, or the writer fails.
pub fn pack<W: Write + Seek>(folder: &Path, out: W) -> io::Result<W> {
    pack_narrow(folder, out, u32::MAX)
}

/// The same with 64 bits for numbers from `limit` on, which need not be the first that 32 bits do not hold.
pub(in crate::zarr) fn pack_narrow<W: Write + Seek>(folder: &Path, out: W, limit: u32) -> io::Result<W> {
    pack_folder(&Folder::open(folder)?, out, limit)
}

/// The same of an open folder. Links in it are refused.
pub(crate) fn pack_folder<W: Write + Seek>(folder: &Folder, out: W, limit: u32) -> io::Result<W> {
    let mut names = folder.files()?;
    names.sort_by_cached_key(|name| {
        let text = name.rsplit('/').next() == Some("zarr.json");
        (!text, text.then(|| name.matches('/').count()), name.clone())
    });
    let mut zip = Zip { out, at: 0, directory: Vec::new(), entries: 0, limit: limit.into() };
    let mut piece = vec![0; PIECE];
    for name in &names {
        zip.member(name, &mut folder.find(name)?, &mut piece)?;
    }
    zip.finish()
}

struct Zip<W> {
    out: W,
    at: u64,
    directory: Vec<u8>,
    entries: u64,
    limit: u64,
}

/// A member but for its name, as both its places say it.
struct MemberFields {
    crc: u32,
    length: u64,
    /// Where it begins; 0 before its own bytes, which need not say it.
    at: u64,
    limit: u64,
}

impl MemberFields {
    /// The numbers that 32 bits do not hold.
    fn wide(&self) -> Vec<u64> {
        // Both lengths are there or none.
        let lengths = [self.length, self.length].into_iter().filter(|&length| length >= self.limit);
        lengths.chain((self.at >= self.limit).then_some(self.at)).collect()
    }

    /// Version to version's end, for both places: up to the length of the extra field.
    fn write(&self, name: &str, to: &mut Vec<u8>) {
        let wide = !self.wide().is_empty();
        put16(to, &[if wide { 45 } else { 20 }, if name.is_ascii() { 0 } else { 1 << 11 }, 0, 0, DATE]);
        let narrow = narrow(self.length, self.limit);
        put32(to, &[self.crc, narrow, narrow]);
        put16(to, &[name.len() as u16, if wide { 4 + 8 * self.wide().len() as u16 } else { 0 }]);
    }

    fn write_wide(&self, to: &mut Vec<u8>) {
        let wide = self.wide();
        if !wide.is_empty() {
            put16(to, &[WIDE, 8 * wide.len() as u16]);
            put64(to, &wide);
        }
    }
}

/// A number of 32 bits, or what says that it stands elsewhere in 64.
fn narrow(number: u64, limit: u64) -> u32 {
    if number < limit { number as u32 } else { u32::MAX }
}

impl<W: Write + Seek> Zip<W> {
    fn member(&mut self, name: &str, file: &mut File, piece: &mut [u8]) -> io::Result<()> {
        if name.len() > u16::MAX.into() {
            return Err(io::Error::other(format!("{name}: a name of more than {} bytes", u16::MAX)));
        }
        let (length, limit) = (file.metadata()?.len(), self.limit);
        let header = |crc| {
            let mut header = Vec::new();
            put32(&mut header, &[signature::MEMBER]);
            let about = MemberFields { crc, length, at: 0, limit };
            about.write(name, &mut header);
            header.extend(name.as_bytes());
            about.write_wide(&mut header);
            header
        };
        // Once for its place, and again when the checksum is known.
        let start = self.at;
        let before = header(0);
        self.out.write_all(&before)?;
        self.at += before.len() as u64;
        let (mut hasher, mut left) = (crc32fast::Hasher::new(), length);
        while left > 0 {
            let some = &mut piece[..PIECE.min(usize::try_from(left).unwrap_or(PIECE))];
            file.read_exact(some)?;
            hasher.update(some);
            self.out.write_all(some)?;
            left -= some.len() as u64;
        }
        self.at += length;
        let crc = hasher.finalize();
        self.out.seek(SeekFrom::Start(start))?;
        self.out.write_all(&header(crc))?;
        self.out.seek(SeekFrom::Start(self.at))?;

        let about = MemberFields { crc, length, at: start, limit };
        let to = &mut self.directory;
        put32(to, &[signature::ENTRY]);
        // Made on Unix, whose permissions say that it is a file that its owner may write.
        put16(to, &[3 << 8 | 45]);
        about.write(name, to);
        put16(to, &[0, 0, 0]);
        put32(to, &[0o100_644 << 16, narrow(start, limit)]);
        to.extend(name.as_bytes());
        about.write_wide(to);
        self.entries += 1;
        Ok(())
    }

    fn finish(mut self) -> io::Result<W> {
        let (entries, bytes, start, limit) = (self.entries, self.directory.len() as u64, self.at, self.limit);
        self.out.write_all(&self.directory)?;
        let mut end = Vec::new();
        let few = u16::try_from(entries).unwrap_or(u16::MAX);
        if few == u16::MAX || [bytes, start].iter().any(|&number| number >= limit) {
            put32(&mut end, &[signature::WIDE_END]);
            put64(&mut end, &[length::WIDE_END as u64 - 12]);
            put16(&mut end, &[3 << 8 | 45, 45]);
            put32(&mut end, &[0, 0]);
            put64(&mut end, &[entries, entries, bytes, start]);
            put32(&mut end, &[signature::LOCATOR, 0]);
            put64(&mut end, &[start + bytes]);
            put32(&mut end, &[1]);
        }
        put32(&mut end, &[signature::END]);
        put16(&mut end, &[0, 0, few, few]);
        put32(&mut end, &[narrow(bytes, limit), narrow(start, limit)]);
        put16(&mut end, &[0]);
        self.out.write_all(&end)?;
        Ok(self.out)
    }
}

fn put16(to: &mut Vec<u8>, numbers: &[u16]) {
    numbers.iter().for_each(|number| to.extend(number.to_le_bytes()));
}

fn put32(to: &mut Vec<u8>, numbers: &[u32]) {
    numbers.iter().for_each(|number| to.extend(number.to_le_bytes()));
}

fn put64(to: &mut Vec<u8>, numbers: &[u64]) {
    numbers.iter().for_each(|number| to.extend(number.to_le_bytes()));
}
