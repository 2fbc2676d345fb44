//! Members of `.npz` files, which are zip archives of `.npy` files.
//!
//! NumPy stores members as they are, or deflates them. What is stored is read where it lies, and no checksum is asked; what is
//! deflated has to be unpacked, and is held against its checksum.

use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use flate2::Crc;
use flate2::read::DeflateDecoder;

use crate::input::described::{After, Described, FilePiece, Located, Packing, PieceStart};
use crate::input::error::{InputError, InputFault};
use crate::input::format::{Access, Format, no_folder};
use crate::input::members::Members;
use crate::input::npy;
use crate::input::reader::{FilePart, open};
use orthant::disk::File;
use orthant::tree::About;
use orthant::zarr::{CHECKSUMS, Directory, Entry, Fault};

/// Names of members that are listed in a message.
const NAMES: usize = 20;

/// What arrays are called in an archive.
const EXTENSION: &str = ".npy";

pub(super) const FORMAT: Format =
    Format { name: "NumPy's archives", extensions: &["npz"], part: Some(":"), folder: no_folder, describe };

/// What the member of that name says, or the only one.
pub(super) fn describe(path: &Path, member: Option<&str>, _: Access) -> Result<Described, InputError> {
    let wrong = |wrong| InputError { path: path.to_owned(), wrong };
    let member = member.map(|name| name.strip_suffix(EXTENSION).unwrap_or(name));
    let (file, _) = open(path).map_err(wrong)?;
    let (name, found) = find(&file, member).map_err(wrong)?;
    let own = path.to_owned();
    let inside = move |inner| InputError {
        path: own.clone(),
        wrong: InputFault::InMember { name: name.clone(), wrong: Box::new(inner) },
    };
    // Nothing is unpacked that is no array.
    let layout = if found.deflated {
        npy::layout(inflated(&file, &found), found.length)
    } else {
        npy::layout(FilePart::new(&file, found.start, found.length), found.length)
    };
    let layout = layout.map_err(&inside)?;
    let (have, need) = (found.length.saturating_sub(layout.offset), layout.bytes().map_err(&inside)?);
    if u128::from(have) != need {
        return Err(inside(InputFault::Length { offset: layout.offset, have, need }));
    }
    let cells = if found.deflated {
        let write = move |out: &mut dyn Write| inflate(&file, &found, out).map_err(inside);
        Located::Unpacked { bytes: found.length.into(), write: Box::new(write) }
    } else {
        let start = PieceStart::At(found.start + layout.offset);
        let path = path.to_owned();
        Located::Pieces(vec![FilePiece {
            path,
            start,
            packing: Packing::Nothing,
            skip: 0,
            bytes: need,
            after: After::Others,
        }])
    };
    Ok(Described { layout, cells, about: About::default(), files: Members::default() })
}

/// Finds the member of that name, without `.npy`, or the only one.
fn find(file: &File, wanted: Option<&str>) -> Result<(String, Entry), InputFault> {
    let directory = Directory::read_deflated(file).map_err(|fault| match fault {
        Fault::Io(error) => InputFault::Io(error),
        Fault::NoStore => InputFault::NoArchive,
        fault => InputFault::Archive(fault),
    })?;
    let bare = |name: &str| name.strip_suffix(EXTENSION).unwrap_or(name).to_owned();
    let mut names = directory.names();
    let found = match wanted {
        Some(wanted) => {
            let mut named = names.filter(|name| bare(name) == wanted);
            let first = named.next();
            // `a` and `a.npy` are two members of one name.
            match named.next() {
                Some(_) => None,
                None => first,
            }
        }
        None if directory.names().len() == 1 => names.next(),
        None => None,
    };
    match found.and_then(|name| Some((bare(name), *directory.entry(name)?))) {
        Some(found) => Ok(found),
        None => {
            let (members, names) = (directory.names().len(), directory.names().take(NAMES).map(bare).collect());
            Err(InputFault::Member { wanted: wanted.map(str::to_owned), members, names })
        }
    }
}

/// Writes the bytes of a deflated member.
fn inflate(file: &File, member: &Entry, out: &mut dyn Write) -> Result<(), InputFault> {
    let damaged = InputFault::Deflated { offset: member.start };
    let mut bytes = inflated(file, member).take(member.length.saturating_add(1));
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
    if whole && (!CHECKSUMS || crc.sum() == member.crc) { Ok(()) } else { Err(damaged) }
}

/// The bytes of a member, as they come. What is deflated is held against its checksum at its end.
pub(super) fn member<'f>(file: &'f File, member: &Entry) -> Box<dyn Read + 'f> {
    match member.deflated {
        true => Box::new(CheckedMember {
            bytes: inflated(file, member),
            left: member.length,
            crc: Crc::new(),
            wanted: member.crc,
        }),
        false => Box::new(FilePart::new(file, member.start, member.length)),
    }
}

/// A deflated member whose length and checksum are known.
struct CheckedMember<R> {
    bytes: R,
    left: u64,
    crc: Crc,
    wanted: u32,
}

impl<R: Read> Read for CheckedMember<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let damaged = || io::Error::new(io::ErrorKind::InvalidData, "what is deflated is damaged");
        if buffer.is_empty() {
            return Ok(0);
        }
        if self.left == 0 {
            let right = self.bytes.read(&mut [0])? == 0 && (!CHECKSUMS || self.crc.sum() == self.wanted);
            return if right { Ok(0) } else { Err(damaged()) };
        }
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        let read = self.bytes.read(&mut buffer[..most])?;
        if read == 0 {
            return Err(damaged());
        }
        self.crc.update(&buffer[..read]);
        self.left -= read as u64;
        Ok(read)
    }
}

/// The bytes of a deflated member, as they come.
fn inflated<'f>(file: &'f File, member: &Entry) -> impl Read + use<'f> {
    DeflateDecoder::new(BufReader::new(FilePart::new(file, member.start, member.packed)))
}
