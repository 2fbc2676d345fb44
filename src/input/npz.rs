//! Members of `.npz` files, which are zip archives of `.npy` files.
//!
//! NumPy stores members as they are, or deflates them. What is stored is read where it lies, and no checksum is asked; what is
//! deflated has to be unpacked, and is held against its checksum.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};

use flate2::Crc;
use flate2::read::DeflateDecoder;

use crate::input::error::Wrong;
use crate::zarr::{Directory, Entry, Fault};

/// Names of members that are listed in a message.
const NAMES: usize = 20;

/// What arrays are called in an archive.
const EXTENSION: &str = ".npy";

/// Finds the member of that name, without `.npy`, or the only one.
pub(super) fn find(file: &File, wanted: Option<&str>) -> Result<(String, Entry), Wrong> {
    let directory = Directory::read_deflated(file).map_err(|fault| match fault {
        Fault::Io(error) => Wrong::Io(error),
        Fault::NoStore => Wrong::NoArchive,
        fault => Wrong::Archive(fault),
    })?;
    let bare = |name: &str| name.strip_suffix(EXTENSION).unwrap_or(name).to_owned();
    let mut names = directory.names();
    let found = match wanted {
        Some(wanted) => names.find(|name| bare(name) == wanted),
        None if directory.names().len() == 1 => names.next(),
        None => None,
    };
    match found.and_then(|name| Some((bare(name), *directory.entry(name)?))) {
        Some(found) => Ok(found),
        None => {
            let (members, names) = (directory.names().len(), directory.names().take(NAMES).map(bare).collect());
            Err(Wrong::Member { wanted: wanted.map(str::to_owned), members, names })
        }
    }
}

/// Writes the bytes of a deflated member.
pub(super) fn inflate(file: &File, member: &Entry, out: &mut File) -> Result<(), Wrong> {
    let damaged = Wrong::Deflated { offset: member.start };
    let mut bytes = inflated(file, member)?.take(member.length.saturating_add(1));
    let (mut buffer, mut crc) = (vec![0; 1 << 18], Crc::new());
    loop {
        let read = match bytes.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData) => {
                return Err(damaged);
            }
            Err(error) => return Err(error.into()),
        };
        crc.update(&buffer[..read]);
        out.write_all(&buffer[..read])?;
    }
    let whole = bytes.limit() == 1;
    if whole && crc.sum() == member.crc { Ok(()) } else { Err(damaged) }
}

/// The bytes of a deflated member, as they come.
pub(super) fn inflated<'f>(file: &'f File, member: &Entry) -> io::Result<impl Read + use<'f>> {
    let mut file = file;
    file.seek(SeekFrom::Start(member.start))?;
    Ok(DeflateDecoder::new(BufReader::new(file).take(member.packed)))
}
