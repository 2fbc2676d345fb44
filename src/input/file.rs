//! A file of cells in the address space: nothing is copied but the boxes that are asked for.
//!
//! Nothing keeps others from writing to a file while it is read. Its length and the time of its last change are looked at before
//! and after every box, so that a change is an error and no tree comes of two states of a file. A file that is cut short
//! between the two ends the process, as the system has it for mapped files.

use std::fs::{File, Metadata};
use std::io::{self, BufWriter, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use memmap2::Mmap;

use crate::cell::CellType;
use crate::geometry::Region;
use crate::input::about::{About, Remark};
use crate::input::described::{After, Described, Located, Packing};
use crate::input::error::{InputError, Wrong};
use crate::input::format::Format;
use crate::input::layout::{Endian, IndexOrder, Layout};
use crate::input::{npy, npz};
use crate::tree::{InMemory, Source};

/// An array in a file, of a number of dimensions that the file says.
///
/// ```
/// use orthant::input::ArrayFile;
/// use orthant::prelude::*;
/// use orthant::tree::BottomUp;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let path = std::env::temp_dir().join(format!("orthant-doc-{}.npy", std::process::id()));
/// # let mut bytes = b"\x93NUMPY\x01\x00\x3c\x00{'descr': '<u2', 'fortran_order': False, 'shape': (16, 32)}\n".to_vec();
/// # bytes.resize(bytes.len() + 16 * 32 * 2, 0);
/// # std::fs::write(&path, &bytes)?;
/// let file = ArrayFile::npy(&path)?;
/// assert_eq!(file.layout().size, [32, 16]); // in NumPy: shape (16, 32)
/// let source = file.source::<2>()?;
/// let domain = Domain::new(source.size(), [[0.0, 1.0]; 2], Sample::Centre)?;
/// let plan = Plan::new(domain, Scheme::uniform(2, 2, 2), CurveKind::Morton, RuleKind::Full)?;
/// let tree = BottomUp::new(&plan, &source)?.tree()?;
/// # use orthant::tree::Source;
/// # std::fs::remove_file(&path)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct ArrayFile {
    path: PathBuf,
    file: File,
    map: Mmap,
    layout: Layout,
    about: About,
    /// Beside the one that was named.
    files: Vec<PathBuf>,
    /// Length and last change when it was opened.
    state: (u64, Option<SystemTime>),
}

impl ArrayFile {
    /// An array in a file or folder of any [format](Format) that its name is of; of several arrays in it the one that `part` names.
    ///
    /// Cells that lie in one file without gaps are read there. Others are first written into a file that `room` opens, to write and to
    /// read, for so many bytes: those that are packed, and those of several files.
    ///
    /// # Errors
    /// [`InputError`] names the file, the byte or line, and what is wrong there; whatever `room` fails with.
    pub fn open(
        path: &Path,
        part: Option<&str>,
        room: impl FnOnce(u64) -> io::Result<File>,
    ) -> Result<Self, InputError> {
        let none = || InputError { path: path.to_owned(), wrong: Wrong::NoFormat { known: Format::endings() } };
        Self::of(path, (Format::of(path).ok_or_else(none)?.describe)(path, part)?, room)
    }

    /// A `.npy` file, of any version, whatever it is called.
    ///
    /// # Errors
    /// [`InputError`] names the file, the byte, and what is wrong there.
    pub fn npy(path: &Path) -> Result<Self, InputError> {
        Self::of(path, npy::describe(path, None)?, |_| unreachable!("nothing is packed"))
    }

    /// A file of nothing but cells, or of which `layout` says where they are.
    ///
    /// # Errors
    /// [`InputError`] if the file does not hold what the layout says, and no more from its offset on.
    pub fn raw(path: &Path, layout: Layout) -> Result<Self, InputError> {
        let wrong = |wrong| InputError { path: path.to_owned(), wrong };
        let described = Described::after_header(path, layout, After::Refused, About::default()).map_err(wrong)?;
        Self::of(path, described, |_| unreachable!("nothing is packed"))
    }

    /// A member of a `.npz` file: the one of that name, without `.npy`, or the only one. One that is stored is read where it lies; one
    /// that is deflated is first unpacked into a file that `room` opens, to write and to read, for so many bytes. The
    /// checksum of what is deflated is checked.
    ///
    /// # Errors
    /// As [`npy`](Self::npy); whatever `room` fails with.
    pub fn npz(
        path: &Path,
        member: Option<&str>,
        room: impl FnOnce(u64) -> io::Result<File>,
    ) -> Result<Self, InputError> {
        Self::of(path, npz::describe(path, member)?, room)
    }

    /// What was described.
    fn of(path: &Path, described: Described, room: impl FnOnce(u64) -> io::Result<File>) -> Result<Self, InputError> {
        let Described { mut layout, cells, mut about, mut files } = described;
        let wrong = |wrong| InputError { path: path.to_owned(), wrong };
        let (file, after) = match cells {
            Located::Pieces(pieces) => match &pieces[..] {
                [piece] if piece.packing == Packing::Nothing => {
                    let at = |wrong| InputError { path: piece.path.clone(), wrong };
                    let (file, start, after) = piece.find().map_err(at)?;
                    layout.offset = start;
                    (file, if piece.after == After::Said { after } else { 0 })
                }
                _ => {
                    let mut after = 0u64;
                    layout.offset = 0;
                    let bytes = layout.bytes().map_err(wrong)?;
                    // Before there is room for what cannot be.
                    for piece in &pieces {
                        piece.can_be().map_err(|wrong| InputError { path: piece.path.clone(), wrong })?;
                    }
                    let file = in_room(path, bytes, room, |out| {
                        for piece in &pieces {
                            let at = |wrong| InputError { path: piece.path.clone(), wrong };
                            let more = piece.write(out).map_err(at)?;
                            after = after.saturating_add(if piece.after == After::Said { more } else { 0 });
                        }
                        Ok(())
                    })?;
                    files.extend(pieces.into_iter().map(|piece| piece.path).filter(|file| file != path));
                    (file, after)
                }
            },
            Located::Unpacked { bytes, write } => (in_room(path, bytes, room, write)?, 0),
            Located::Scattered { bytes, write } => {
                let whole = u64::try_from(bytes);
                let whole = whole.map_err(|_| wrong(Wrong::Length { offset: 0, have: 0, need: bytes }))?;
                let mut file = room(whole).map_err(|error| wrong(error.into()))?;
                file.set_len(whole).map_err(|error| wrong(error.into()))?;
                write(&mut file)?;
                (file, 0)
            }
        };
        if after > 0 {
            about.remarks.push(Remark::After(after));
        }
        files.dedup();
        let metadata = file.metadata().map_err(|error| wrong(error.into()))?;
        // SAFETY: bytes of the map are copied out or compared, by way of integers of which all bits are values. That others do not write
        // meanwhile cannot be known; if they do, what was read is told from what should have been by the file's state.
        #[allow(unsafe_code)]
        let map = unsafe { Mmap::map(&file) }.map_err(|error| wrong(error.into()))?;
        Ok(Self { path: path.to_owned(), state: state(&metadata), file, map, layout, about, files })
    }

    /// What is known beside the cells.
    pub fn about(&self) -> &About {
        &self.about
    }

    /// Files that were read for it beside the one that was named.
    pub fn others(&self) -> &[PathBuf] {
        &self.files
    }

    /// Where its cells lie.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The array in K dimensions.
    ///
    /// # Errors
    /// [`Wrong::Dimensions`] if it has not K axes.
    pub fn source<const K: usize>(&self) -> Result<FileSource<'_, K>, InputError> {
        match self.layout.size[..].try_into() {
            Ok(size) => Ok(FileSource { file: self, size }),
            Err(_) => {
                let wrong = Wrong::Dimensions { axes: self.layout.size.len(), k: K };
                Err(InputError { path: self.path.clone(), wrong })
            }
        }
    }

    /// Fails if somebody wrote to the file, of which a box is read.
    fn unchanged_before<const K: usize>(&self, window: &Region<K>) -> io::Result<()> {
        let wrong = match self.file.metadata() {
            Ok(metadata) if state(&metadata) == self.state => return Ok(()),
            Ok(_) => Wrong::Changed { corner: window.corner.to_vec(), extent: window.extent.to_vec() },
            Err(error) => error.into(),
        };
        Err(io::Error::other(InputError { path: self.path.clone(), wrong }))
    }
}

/// A file of so many bytes, in which `write` puts them.
fn in_room(
    path: &Path,
    bytes: u128,
    room: impl FnOnce(u64) -> io::Result<File>,
    write: impl FnOnce(&mut dyn Write) -> Result<(), InputError>,
) -> Result<File, InputError> {
    let wrong = |wrong| InputError { path: path.to_owned(), wrong };
    let short = |have| wrong(Wrong::Length { offset: 0, have, need: bytes });
    let whole = u64::try_from(bytes).map_err(|_| short(0))?;
    let mut out = BufWriter::with_capacity(1 << 18, room(whole).map_err(|error| wrong(error.into()))?);
    write(&mut out)?;
    let file = out.into_inner().map_err(|error| wrong(error.into_error().into()))?;
    let have = file.metadata().map_err(|error| wrong(error.into()))?.len();
    if u128::from(have) == bytes { Ok(file) } else { Err(short(have)) }
}

fn state(metadata: &Metadata) -> (u64, Option<SystemTime>) {
    (metadata.len(), metadata.modified().ok())
}

/// An array in a file, as a source of boxes of cells.
#[derive(Debug, Clone, Copy)]
pub struct FileSource<'f, const K: usize> {
    file: &'f ArrayFile,
    size: [u32; K],
}

impl<const K: usize> FileSource<'_, K> {
    /// All cells, as a box.
    fn whole(&self) -> Region<K> {
        Region { corner: [0; K], extent: self.size }
    }
}

impl<const K: usize> Source<K> for FileSource<'_, K> {
    fn kind(&self) -> CellType {
        self.file.layout.kind
    }

    fn size(&self) -> [u32; K] {
        self.size
    }

    fn in_memory(&self) -> Option<InMemory<'_>> {
        let Layout { order, endian, offset, .. } = self.file.layout;
        let bytes = self.whole().cells_wide() * u128::from(self.kind().bytes());
        let bytes = &self.file.map[offset as usize..(u128::from(offset) + bytes) as usize];
        Some(InMemory { bytes, reversed: order == IndexOrder::Fortran && K > 1, swapped: endian != Endian::HERE })
    }

    fn will_need(&self, bytes: Range<usize>) {
        #[cfg(unix)]
        {
            let length = self.file.map.len();
            let start = bytes.start.saturating_add(self.file.layout.offset as usize).min(length);
            let end = bytes.end.saturating_add(self.file.layout.offset as usize).min(length);
            // Advice: what is not followed is brought when it is looked at.
            let _ = self.file.map.advise_range(memmap2::Advice::WillNeed, start, end - start);
        }
        #[cfg(not(unix))]
        let _ = bytes;
    }

    fn unchanged(&self) -> io::Result<()> {
        self.file.unchanged_before(&self.whole())
    }

    fn read(&self, window: &Region<K>, bytes: &mut [u8]) -> io::Result<()> {
        self.check(window, bytes)?;
        let Layout { kind, order, endian, offset, .. } = self.file.layout;
        self.file.unchanged_before(window)?;
        let cells = &self.file.map[offset as usize..];
        let width = kind.bytes() as usize;
        let len = |axis: usize| window.extent[axis] as usize;
        match order {
            IndexOrder::C => {
                let whole = self.whole();
                for (row, bytes) in window.rows().zip(bytes.chunks_exact_mut(len(0) * width)) {
                    let start = whole.place(row) * width;
                    bytes.copy_from_slice(&cells[start..start + bytes.len()]);
                }
            }
            IndexOrder::Fortran => {
                // Rows of the file run along the last axis, which is the slowest of the box.
                let last = K - 1;
                let layer = bytes.len() / len(last);
                let mut first = *window;
                first.extent[last] = 1;
                for (place, row) in first.cells().enumerate() {
                    let start = (0..K).fold(0, |at, j| at * self.size[j] as usize + row[j] as usize) * width;
                    let row = cells[start..start + len(last) * width].chunks_exact(width);
                    for (layer, cell) in bytes.chunks_exact_mut(layer).zip(row) {
                        layer[place * width..(place + 1) * width].copy_from_slice(cell);
                    }
                }
            }
        }
        if endian != Endian::HERE {
            swap(bytes, width);
        }
        self.file.unchanged_before(window)
    }
}

/// Turns the bytes of every cell around.
fn swap(bytes: &mut [u8], width: usize) {
    fn each<const W: usize>(bytes: &mut [u8]) {
        bytes.as_chunks_mut::<W>().0.iter_mut().for_each(|cell| cell.reverse());
    }
    match width {
        2 => each::<2>(bytes),
        4 => each::<4>(bytes),
        8 => each::<8>(bytes),
        _ => {}
    }
}
