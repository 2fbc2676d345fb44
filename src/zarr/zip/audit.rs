//! Whether every reader of zips reads a zip as this one does.
//!
//! Opening a zip needs its directory and the place of each member. Other readers use more: `zipfile` of Python refuses a
//! version that it does not know, and `unzip` trusts the header before a member. The audit compares both places in which a
//! zip describes a member, and reads every byte of it.

use crate::disk::ReadRange;
use crate::memory::zeros;
use crate::zarr::error::Fault;
use crate::zarr::zip::directory::Entry;
use crate::zarr::zip::extent::Extent;
use crate::zarr::zip::fields::{Fields, read};
use crate::zarr::zip::parts::{OTHER_NAME, length, signature};
use crate::zarr::zip::record::{Extras, Record, Records, wide};

/// The latest version of the format that Python's `zipfile` reads: 6.3.
const VERSION: u16 = 63;

/// The flag of names in UTF-8.
const UTF_8: u16 = 1 << 11;

/// The flag of lengths and checksum behind the bytes.
const BEHIND: u16 = 1 << 3;

/// Bytes that are read at a time.
const PIECE: usize = 1 << 18;

/// What is wrong with a zip, and with which member.
#[derive(Debug)]
pub(crate) struct Flaw {
    /// None of the zip as a whole.
    pub(crate) member: Option<String>,
    pub(crate) fault: Fault,
}

impl From<Fault> for Flaw {
    fn from(fault: Fault) -> Self {
        Self { member: None, fault }
    }
}

/// Checks that other readers find the same members with the same bytes, and reads all of them.
///
/// # Errors
/// The first difference.
pub(crate) fn audit(file: &dyn ReadRange) -> Result<(), Flaw> {
    let extent = Extent::find(file)?;
    let directory = extent.read(file)?;
    // A reader that looks for the locator before it reads the end would find another directory.
    if let Some(locator) = directory.len().checked_sub(length::LOCATOR)
        && Fields(&directory[locator..]).u32(0) == signature::LOCATOR
    {
        let offset = extent.start + locator as u64;
        return Err(Fault::Zip { offset, reason: "the directory ends as if there were another one" }.into());
    }
    let mut piece = zeros::<u8>(PIECE).map_err(Fault::from)?;
    for record in Records::new(&directory, &extent) {
        let record = record?;
        check(file, &extent, &record, &mut piece)
            .map_err(|fault| Flaw { member: Some(String::from_utf8_lossy(record.name).into_owned()), fault })?;
    }
    Ok(())
}

/// Checks a member: its record, its own header, and its bytes.
fn check(file: &dyn ReadRange, extent: &Extent, record: &Record<'_>, piece: &mut [u8]) -> Result<(), Fault> {
    is_regular(record).map_err(|reason| record.wrong(reason))?;
    has_plain_extras(record.extra, record.name).map_err(|reason| record.wrong(reason))?;
    let (entry, at) = Entry::find(file, extent, record, false)?;
    let header = read(file, at, entry.start - at)?;
    has_same_header(record, &entry, &header).map_err(|reason| Fault::Zip { offset: at, reason })?;
    if record.fields.u16(8) & BEHIND != 0 {
        let offset = entry.start + entry.packed;
        let room = (extent.start - offset).min(24);
        if !is_descriptor(&read(file, offset, room)?, &entry) {
            return Err(Fault::Zip { offset, reason: "the lengths and the checksum behind a member are not its own" });
        }
    }
    has_checksum(file, &entry, piece)
}

/// Checks that a record describes a file, or a folder where its name ends in `/`, that every reader can read.
fn is_regular(record: &Record<'_>) -> Result<(), &'static str> {
    let fields = &record.fields;
    if fields.u16(6) > VERSION {
        return Err("a member needs a version of zip after 6.3");
    }
    if fields.u16(34) != 0 {
        return Err("a member begins on another disk");
    }
    if record.name.contains(&0) {
        return Err("a name with a NUL, at which other readers end it");
    }
    if !record.name.is_ascii() && fields.u16(8) & UTF_8 == 0 {
        return Err("a name in UTF-8 without the flag that says so");
    }
    let folder = record.name.ends_with(b"/");
    if folder && fields.u32(24) != 0 {
        return Err("a folder with bytes");
    }
    // The type of file on Unix, where the zip has one, and the folder of DOS.
    let (unix, dos_folder) = (fields.u32(38) >> 28, fields.u32(38) & 0x10 != 0);
    match (folder, unix, dos_folder) {
        (false, 0 | 0o10, false) | (true, 0 | 0o4, _) => Ok(()),
        _ => Err("a member whose attributes say that it is no regular file"),
    }
}

/// Checks that extra fields are whole, and that none has another name of the member.
fn has_plain_extras(extra: &[u8], name: &[u8]) -> Result<(), &'static str> {
    for field in Extras(extra) {
        let Ok((kind, content)) = field else { return Err("an extra field is cut short") };
        // A version and a checksum, then the name.
        if kind == OTHER_NAME && content.get(5..) != Some(name) {
            return Err("an extra field has another name");
        }
    }
    Ok(())
}

/// Checks that a member's own header says what the directory says.
fn has_same_header(record: &Record<'_>, entry: &Entry, header: &[u8]) -> Result<(), &'static str> {
    let (own, flags) = (Fields(header), record.fields.u16(8));
    let extra = &header[length::MEMBER + record.name.len()..];
    if own.u16(4) > VERSION {
        return Err("a member needs a version of zip after 6.3");
    }
    if own.u16(6) != flags {
        return Err("a member has other flags than in the directory");
    }
    has_plain_extras(extra, record.name)?;
    let behind = flags & BEHIND != 0;
    if own.u32(14) != entry.crc && !(behind && own.u32(14) == 0) {
        return Err("a member has another checksum than in the directory");
    }
    let mut wide = wide(extra);
    // The length comes first among the numbers of 64 bits.
    for (at, expected) in [(22, entry.length), (18, entry.packed)] {
        let found = match own.u32(at) {
            u32::MAX => wide.next().ok_or("a number of 64 bits is missing")?,
            narrow => narrow.into(),
        };
        if found != expected && !(behind && found == 0) {
            return Err("a member has another length than in the directory");
        }
    }
    Ok(())
}

/// True if bytes begin with an entry's checksum and lengths, of 32 or 64 bits, with or without a signature.
fn is_descriptor(bytes: &[u8], entry: &Entry) -> bool {
    let mut narrow = entry.crc.to_le_bytes().to_vec();
    let mut wide = narrow.clone();
    for number in [entry.packed, entry.length] {
        narrow.extend((number as u32).to_le_bytes());
        wide.extend(number.to_le_bytes());
    }
    let fits = entry.length.max(entry.packed) <= u32::MAX.into();
    let unsigned = bytes.strip_prefix(&signature::DESCRIPTOR.to_le_bytes()).unwrap_or(bytes);
    [bytes, unsigned].iter().any(|bytes| bytes.starts_with(&wide) || fits && bytes.starts_with(&narrow))
}

/// Checks all bytes of a member against the checksum that the directory has.
fn has_checksum(file: &dyn ReadRange, entry: &Entry, piece: &mut [u8]) -> Result<(), Fault> {
    let (mut hasher, mut at) = (crc32fast::Hasher::new(), entry.start);
    let end = entry.start + entry.packed;
    while at < end {
        let some = &mut piece[..(end - at).min(PIECE as u64) as usize];
        file.read_exact_at(at, some).map_err(Fault::unread(at))?;
        hasher.update(some);
        at += some.len() as u64;
    }
    match hasher.finalize() == entry.crc {
        true => Ok(()),
        false => Err(Fault::Checksum { offset: entry.start, length: entry.packed }),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write};
    use std::path::Path;
    use std::process::{Command, Stdio};

    use super::*;
    use crate::zarr::ZarrStore;
    use crate::zarr::zip::pack_narrow;

    /// A zip of two files, with 64 bits for numbers from `limit` on.
    fn zip(limit: u32) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("c")).unwrap();
        std::fs::write(folder.path().join("zarr.json"), "{}").unwrap();
        std::fs::write(folder.path().join("c/0"), "twelve bytes").unwrap();
        pack_narrow(folder.path(), Cursor::new(Vec::new()), limit).unwrap().into_inner()
    }

    /// What is wrong with a zip that opens; a zip that does not open is refused, too.
    fn judge(path: &Path, bytes: &[u8]) -> Result<(), String> {
        std::fs::write(path, bytes).unwrap();
        let store = ZarrStore::open(path).map_err(|error| error.to_string())?;
        store.audit().map_err(|error| error.to_string())
    }

    /// `c/0` is the last member.
    #[test]
    fn both_places_must_say_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.zip");
        let whole = zip(u32::MAX);
        assert_eq!(judge(&path, &whole), Ok(()));
        let end = whole.len() - length::END;
        let (entry, bytes) = (end - length::ENTRY - 3, b"twelve bytes".len());
        let own = whole.windows(12).position(|some| some == b"twelve bytes").unwrap() - length::MEMBER - 3;
        for (at, byte, reason) in [
            (own + 4, 64, "needs a version of zip after 6.3"),
            (own + 6, 2, "other flags"),
            (own + 14, whole[own + 14] ^ 1, "another checksum than in the directory"),
            (own + 18, 11, "another length than in the directory"),
            (own + 22, 13, "another length than in the directory"),
            (own + 33 + bytes - 1, b'S', "are not those that were written, by their checksum"),
            (entry + 6, 64, "needs a version of zip after 6.3"),
            (entry + 7, 1, "needs a version of zip after 6.3"),
            (entry + 8, 2, "other flags"),
            (entry + 8, 1, "encrypted"),
            (entry + 16, whole[entry + 16] ^ 1, "another checksum than in the directory"),
            (entry + 34, 1, "on another disk"),
            (entry + 38, 0x10, "no regular file"),
            (entry + 41, 0x41, "no regular file"),
            (entry + 41, 0xa1, "no regular file"),
        ] {
            let mut changed = whole.clone();
            changed[at] = byte;
            let found = judge(&path, &changed).expect_err(reason);
            assert!(found.contains(reason), "{at}: {found}");
        }
        // Times are no one's business, and a member may be made on any system.
        for at in [own + 10, own + 12, entry + 5, entry + 12] {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            assert_eq!(judge(&path, &changed), Ok(()));
        }
    }

    /// Reads a zip as Python does after each change on stdin, `place value`, and says whether it reads the same as before.
    const PYTHON: &str = r#"
import io, sys, zipfile
def look(data):
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as zip:
            if zip.testzip() is not None:
                return None
            members = zip.infolist()
            kind = lambda m: m.external_attr >> 28 or (4 if m.is_dir() else 8)
            return [(m.filename, m.file_size, kind(m), m.is_dir(), zip.read(m)) for m in members]
    except Exception:
        return None
whole = bytearray(open(sys.argv[1], 'rb').read())
same = look(whole)
assert same is not None
for line in sys.stdin:
    at, value = map(int, line.split())
    before, whole[at] = whole[at], value
    print(int(look(whole) == same))
    whole[at] = before
"#;

    /// The zip that Python writes where it cannot go back: lengths stand behind the bytes.
    const STREAMED: &str = r#"
import sys, zipfile
class Stream:
    def __init__(self, file): self.file = file
    def write(self, data): return self.file.write(data)
    def flush(self): self.file.flush()
with open(sys.argv[1], 'wb') as file, zipfile.ZipFile(Stream(file), 'w') as zip:
    zip.writestr('zarr.json', '{}')
    zip.writestr('c/', '')
    zip.writestr('c/0', 'twelve bytes')
"#;

    /// Every third bit of the zips is changed in turn, and all eight of a byte within three bytes.
    #[test]
    fn what_python_refuses_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let [whole, changed] = ["whole.zip", "changed.zip"].map(|name| folder.path().join(name));
        let python = |script| {
            let mut python = Command::new("python3");
            python.arg("-c").arg(script).arg(&whole);
            python
        };
        match python(STREAMED).status() {
            Ok(status) => assert!(status.success()),
            Err(error) => return println!("not compared with zipfile, since python3 cannot be started: {error}"),
        }
        for zip in [std::fs::read(&whole).unwrap(), zip(u32::MAX), zip(0)] {
            assert_eq!(judge(&changed, &zip), Ok(()));
            std::fs::write(&whole, &zip).unwrap();
            let bits = (0..8 * zip.len()).step_by(3);
            let changes: Vec<_> = bits.map(|bit| (bit / 8, zip[bit / 8] ^ 1 << (bit % 8))).collect();
            let mut child = python(PYTHON).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
            let mut stdin = child.stdin.take().unwrap();
            let lines: String = changes.iter().map(|(at, value)| format!("{at} {value}\n")).collect();
            let writer = std::thread::spawn(move || stdin.write_all(lines.as_bytes()).unwrap());
            let output = child.wait_with_output().unwrap();
            writer.join().unwrap();
            let same = String::from_utf8(output.stdout).unwrap();
            assert_eq!(same.lines().count(), changes.len());
            let mut passed = Vec::new();
            for (&(at, value), same) in changes.iter().zip(same.lines()) {
                let mut bytes = zip.clone();
                bytes[at] = value;
                if same == "0" && judge(&changed, &bytes).is_ok() {
                    passed.push((at, value));
                }
            }
            assert!(passed.is_empty(), "zipfile refuses {} changes that pass: {passed:?}", passed.len());
        }
    }
}
