//! What a reader of a format tells of a file: how its cells lie, where they are, and what else is known.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use flate2::bufread::GzDecoder;
use flate2::read::ZlibDecoder;

use crate::input::error::{InputError, InputFault};
use crate::input::layout::Layout;
use crate::input::members::Members;
use crate::input::reader::{FilePart, LastFile};
use orthant::tree::About;

/// An array in a file or in several.
pub(super) struct Described {
    /// How cells lie once they are where they can be read. The offset is that in the file, or in what is unpacked.
    pub(super) layout: Layout,
    pub(super) cells: Located,
    pub(super) about: About,
    /// Files that were read for it beside the one that was named.
    pub(super) files: Members,
}

/// Where the cells are.
pub(super) enum Located {
    /// In one file after the other. A single piece that is not packed is read where it lies.
    Pieces(Vec<FilePiece>),
    /// In a file's own kind of order: this writes so many bytes, in which they lie as the layout says.
    Unpacked { bytes: u128, write: Box<WriteCells> },
    /// The same in an order of chunks: this writes into a file of so many zeros, wherever it likes.
    Scattered { bytes: u128, write: Box<PlaceCells> },
}

/// Writes all cells, or says what is wrong with the file.
pub(super) type WriteCells = dyn FnOnce(&mut dyn Write) -> Result<(), InputError>;

/// Writes all cells that are not 0 where they belong, or says what is wrong.
pub(super) type PlaceCells = dyn FnOnce(&mut File) -> Result<(), InputError>;

/// A run of cells in a file.
#[derive(Debug, Clone)]
pub(super) struct FilePiece {
    pub(super) path: PathBuf,
    /// Where it begins, or what is packed does.
    pub(super) start: PieceStart,
    pub(super) packing: Packing,
    /// Bytes of what was packed that come before the cells.
    pub(super) skip: u64,
    /// Bytes of cells.
    pub(super) bytes: u128,
    pub(super) after: After,
}

/// Where a piece begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PieceStart {
    At(u64),
    /// It is the end of the file.
    End,
}

/// What was done to bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packing {
    Nothing,
    Gzip,
    Zlib,
}

/// What is done about bytes that come after the cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    /// There must be none.
    Refused,
    /// They are let by, and reported.
    Reported,
    /// They are others'.
    Others,
}

impl Described {
    /// Cells that follow a header in the same file, which ends with them.
    pub(super) fn after_header(path: &Path, layout: Layout, after: After, about: About) -> Result<Self, InputFault> {
        let (start, bytes) = (PieceStart::At(layout.offset), layout.bytes()?);
        let path = path.to_owned();
        let piece = FilePiece { path, start, packing: Packing::Nothing, skip: 0, bytes, after };
        Ok(Self { layout, cells: Located::Pieces(vec![piece]), about, files: Members::default() })
    }
}

impl FilePiece {
    /// Where an unpacked piece begins in a file of so many bytes, and how many come after it.
    pub(super) fn find(&self, length: u64) -> Result<(u64, u64), InputFault> {
        let have = |offset: u64| length.saturating_sub(offset);
        let wrong = |offset: u64| InputFault::Length { offset, have: have(offset), need: self.bytes };
        let start = match self.start {
            PieceStart::At(start) => start.saturating_add(self.skip),
            PieceStart::End => u64::try_from(self.bytes).map_or(0, have),
        };
        match u128::from(have(start)).checked_sub(self.bytes) {
            Some(0) => Ok((start, 0)),
            Some(after) if self.after != After::Refused => Ok((start, after as u64)),
            _ => Err(wrong(start)),
        }
    }

    /// Fails if what is packed cannot have as many bytes as the header says: a byte of Deflate is at most 1032.
    pub(super) fn can_be(&self, files: &mut LastFile) -> Result<(), InputFault> {
        let PieceStart::At(offset) = self.start else { return Ok(()) };
        if self.packing == Packing::Nothing {
            return Ok(());
        }
        let (_, length) = files.open(&self.path)?;
        let need = self.bytes.saturating_add(self.skip.into());
        let most = u128::from(length.saturating_sub(offset)) * 1032;
        if need > most { Err(InputFault::Packed { offset, need }) } else { Ok(()) }
    }

    /// Writes the cells, and answers how many bytes come after them.
    pub(super) fn write(&self, files: &mut LastFile, out: &mut dyn Write) -> Result<u64, InputFault> {
        let (file, length) = files.open(&self.path)?;
        if self.packing == Packing::Nothing {
            let (start, after) = self.find(length)?;
            // As many as the file had when it was opened.
            if !files.copy(start, self.bytes as u64, out)? {
                return Err(InputFault::Length { offset: start, have: 0, need: self.bytes });
            }
            return Ok(after);
        }
        let PieceStart::At(offset) = self.start else { unreachable!("what is packed begins somewhere") };
        let file = FilePart::new(file, offset, u64::MAX);
        let damaged = || InputFault::Packed { offset, need: self.bytes.saturating_add(self.skip.into()) };
        let mut packed = Unpacking { bytes: unpack(BufReader::new(file), self.packing), failed: false };
        let mut whole = || -> Result<Option<u64>, InputFault> {
            if copy(&mut packed, self.skip.into(), &mut io::sink())?.is_none()
                || copy(&mut packed, self.bytes, out)?.is_none()
            {
                return Ok(None);
            }
            // To its end, where its checksum is.
            Ok(Some(io::copy(&mut packed, &mut io::sink())?))
        };
        match whole() {
            Ok(Some(after)) if self.after != After::Refused || after == 0 => Ok(after),
            Ok(_) => Err(damaged()),
            Err(_) if packed.failed => Err(damaged()),
            Err(error) => Err(error),
        }
    }
}

/// What is packed, and whether that is what failed.
struct Unpacking<R> {
    bytes: R,
    failed: bool,
}

impl<R: Read> Read for Unpacking<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.bytes.read(buffer).inspect_err(|error| {
            self.failed |=
                matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::InvalidData | ErrorKind::UnexpectedEof);
        })
    }
}

/// Members of gzip one after the other, and after the last one nothing but the NULs that fill a block.
struct GzipMembers<R> {
    member: Option<GzDecoder<R>>,
}

impl<R: BufRead> Read for GzipMembers<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            let read = member.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            self.member = match self.member.take().map(GzDecoder::into_inner) {
                Some(mut rest) => after_nuls(&mut rest)?.then(|| GzDecoder::new(rest)),
                None => None,
            };
        }
        Ok(0)
    }
}

/// True if there is more; NULs to the end are nothing.
fn after_nuls(bytes: &mut impl BufRead) -> io::Result<bool> {
    let mut padded = false;
    loop {
        let here = match bytes.fill_buf() {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            here => here?,
        };
        let nuls = here.iter().take_while(|&&byte| byte == 0).count();
        padded |= nuls > 0;
        match here.len() - nuls {
            0 if here.is_empty() => return Ok(false),
            0 => bytes.consume(nuls),
            _ if padded => return Err(ErrorKind::InvalidData.into()),
            _ => return Ok(true),
        }
    }
}

/// Bytes as they were before they were packed.
pub(super) fn unpack<'r>(bytes: impl BufRead + 'r, packing: Packing) -> Box<dyn Read + 'r> {
    match packing {
        Packing::Nothing => Box::new(bytes),
        Packing::Gzip => Box::new(GzipMembers { member: Some(GzDecoder::new(bytes)) }),
        Packing::Zlib => Box::new(ZlibDecoder::new(bytes)),
    }
}

/// Copies so many bytes; None if there are fewer.
fn copy(from: &mut dyn Read, bytes: u128, out: &mut dyn Write) -> io::Result<Option<()>> {
    let copied = io::copy(&mut from.take(u64::try_from(bytes).unwrap_or(u64::MAX)), out)?;
    Ok((u128::from(copied) == bytes).then_some(()))
}
