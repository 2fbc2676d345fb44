//! A file of cells in the address space: nothing is copied but the boxes that are asked for.
//!
//! Nothing keeps others from writing to a file while it is read. What the system says of it is compared after every box, so that
//! a change is an error and no tree comes of two states of a file. A byte that is gone, because the file was cut or its disk
//! failed, is an error that names the byte.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::input::described::{After, Described, FilePiece, Located, Packing};
use crate::input::error::{InputError, InputFault};
use crate::input::format::{Access, Format};
use crate::input::label_table::LabelTable;
use crate::input::layout::Layout;
use crate::input::members::{FileState, Identity, Snapshot};
use crate::input::reader::{LastFile, open};
use crate::input::{npy, npz};
use orthant::CellType;
use orthant::dimension::here;
use orthant::disk::File;
use orthant::geometry::{Region, Rows};
use orthant::mapping::{FileMap, SharedBytes};
use orthant::tree::{About, AboutAxis, Remark};
use orthant::tree::{InMemory, Source};
use orthant::{Endian, IndexOrder};

/// An array in a file. The file says how many dimensions it has.
///
/// ```
/// use orthant_formats::input::ArrayFile;
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
/// let plan = Plan::builder(source.size()).scheme(Scheme::uniform(2, 2, 2)).rule(RuleKind::Full).build()?;
/// let tree = BottomUp::new(&plan, &source)?.tree()?;
/// # use orthant::tree::Source;
/// # std::fs::remove_file(&path)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct ArrayFile {
    path: PathBuf,
    /// Where the cells lie: a file that was named, or one in which they were put.
    cells: CellFile,
    layout: Layout,
    about: About,
    /// All files that were named, and what they were before cells were read.
    snapshot: Snapshot,
}

/// A file that cells are read from.
#[derive(Debug)]
struct CellFile {
    /// The file that errors name.
    path: PathBuf,
    file: File,
    map: FileMap,
    /// What it was when it was opened.
    state: FileState,
    /// True if it was named; else it has what was unpacked, all of which was read when it was opened.
    named: bool,
}

impl ArrayFile {
    /// Opens an array in a file or folder of any [format](Format). The name says which format. If the file has several
    /// arrays, `part` names one.
    ///
    /// Cells that lie in one file without gaps are read in place. Others, packed or in several files, are first written
    /// into a file: `room` opens it for reading and writing, for so many bytes, as `tempfile::tempfile` does. A header
    /// cannot name files outside of its own folder unless you use [`open_with`](Self::open_with).
    ///
    /// # Errors
    /// [`InputError`] names the file, the byte or line, and what is wrong there; whatever `room` fails with.
    pub fn open(
        path: &Path,
        part: Option<&str>,
        room: impl FnOnce(u64) -> io::Result<fs::File>,
    ) -> Result<Self, InputError> {
        Self::open_with(path, part, Access::default(), room)
    }

    /// The same as [`open`](Self::open), but you choose which other files a header may name.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_with(
        path: &Path,
        part: Option<&str>,
        access: Access,
        room: impl FnOnce(u64) -> io::Result<fs::File>,
    ) -> Result<Self, InputError> {
        let none = || InputError { path: path.to_owned(), wrong: InputFault::NoFormat { known: Format::endings() } };
        let describe = Format::of(path).ok_or_else(none)?.describe;
        Self::of(path, || describe(path, part, access), room)
    }

    /// A `.npy` file, of any version, whatever it is called.
    ///
    /// # Errors
    /// [`InputError`] names the file, the byte, and what is wrong there.
    pub fn npy(path: &Path) -> Result<Self, InputError> {
        Self::of(path, || npy::describe(path, None, Access::default()), |_| unreachable!("nothing is packed"))
    }

    /// Opens a file of cells without a header. `layout` says where the cells are.
    ///
    /// # Errors
    /// [`InputError`] if the file does not hold what the layout says, and no more from its offset on.
    pub fn raw(path: &Path, layout: Layout) -> Result<Self, InputError> {
        let wrong = |wrong| InputError { path: path.to_owned(), wrong };
        let describe = || Described::after_header(path, layout, After::Refused, About::default()).map_err(wrong);
        Self::of(path, describe, |_| unreachable!("nothing is packed"))
    }

    /// Opens a member of a `.npz` file: the one called `member`, without `.npy`, or the only one.
    ///
    /// A stored member is read in place. A deflated member is first unpacked into a file: `room` opens it for reading
    /// and writing, for so many bytes. The checksum of a deflated member is checked.
    ///
    /// # Errors
    /// As [`npy`](Self::npy); whatever `room` fails with.
    pub fn npz(
        path: &Path,
        member: Option<&str>,
        room: impl FnOnce(u64) -> io::Result<fs::File>,
    ) -> Result<Self, InputError> {
        Self::of(path, || npz::describe(path, member, Access::default()), room)
    }

    /// What `describe` says of a file.
    fn of(
        path: &Path,
        describe: impl FnOnce() -> Result<Described, InputError>,
        room: impl FnOnce(u64) -> io::Result<fs::File>,
    ) -> Result<Self, InputError> {
        // Before anything is read. If there is none, `describe` says so.
        let before = path.metadata().ok().map(|metadata| FileState::of(&metadata));
        let Described { mut layout, cells, mut about, files } = describe()?;
        let snapshot = Snapshot::take(path, before, files)?;
        let found = FoundCells::of(path, &mut layout, cells, room);
        // What changed meanwhile explains whatever else seems to be wrong.
        snapshot.unchanged()?;
        let FoundCells { path: own, file, after, named } = found?;
        if after > 0 {
            about.remarks.push(Remark::After(after));
        }
        let wrong = |error: io::Error| InputError { path: own.clone(), wrong: error.into() };
        let state = FileState::of(&file.metadata().map_err(wrong)?);
        if named && FileState::of(&own.metadata().map_err(wrong)?) != state {
            return Err(InputError { path: own, wrong: InputFault::Changed });
        }
        let map = FileMap::new(file.system()).map_err(wrong)?;
        let cells = CellFile { path: own, file, map, state, named };
        Ok(Self { path: path.to_owned(), cells, layout, about, snapshot })
    }

    /// What is known beside the cells.
    pub fn about(&self) -> &About {
        &self.about
    }

    /// Takes the names and colours of labels from a table, instead of those that the file itself has. Labels of values that cells cannot
    /// have are counted in a [remark](About::remarks).
    pub fn name_labels(&mut self, table: LabelTable) {
        self.about.remarks.retain(|remark| !matches!(remark, Remark::OtherLabels(_)));
        if table.others > 0 {
            self.about.remarks.push(Remark::OtherLabels(table.others));
        }
        (self.about.labels, self.about.labelled) = (table.labels, true);
    }

    /// Takes other axes than the file has, one each; they lie along the space's own axes.
    ///
    /// # Panics
    /// If they are not as many as the array has.
    pub fn set_axes(&mut self, axes: Vec<AboutAxis>) {
        assert_eq!(axes.len(), self.layout().size.len(), "an axis for each of the array's");
        (self.about.axes, self.about.directions) = (axes, None);
    }

    /// Other files that were read for the array, besides the named one.
    pub fn others(&self) -> &[PathBuf] {
        self.snapshot.files()
    }

    /// Identifies the data of all files that are read, in the state in which they are. Writing to one of them changes
    /// it. A tree of the array can be resumed if its identity and its [layout](Self::layout) are the same as before.
    pub fn identity(&self) -> Identity {
        self.snapshot.identity()
    }

    /// Fails if a file that is read was written to, replaced, removed or cut since it was opened. Call it after you
    /// read all cells, before you use them. Cells that were unpacked when the file was opened were checked then, and
    /// are not looked at again.
    ///
    /// # Errors
    /// [`InputError`] names the file, and the byte if one could not be read.
    pub fn unchanged(&self) -> Result<(), InputError> {
        self.cells.unchanged().map_err(|wrong| InputError { path: self.cells.path.clone(), wrong })?;
        if self.cells.named { self.snapshot.unchanged() } else { Ok(()) }
    }

    /// Where its cells lie.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The array in K dimensions.
    ///
    /// # Errors
    /// [`InputFault::Dimensions`] if it has not K axes.
    pub fn source<const K: usize>(&self) -> Result<FileSource<'_, K>, InputError> {
        match self.layout.size[..].try_into() {
            Ok(size) => Ok(FileSource { file: self, size }),
            Err(_) => {
                let wrong = InputFault::Dimensions { axes: self.layout.size.len(), k: K };
                Err(InputError { path: self.path.clone(), wrong })
            }
        }
    }
}

impl CellFile {
    /// Fails if a byte could not be read, or somebody wrote to the file.
    fn unchanged(&self) -> Result<(), InputFault> {
        let metadata = self.file.metadata();
        if let Some(byte) = self.map.missing() {
            let length = metadata.map_or(u64::MAX, |metadata| metadata.len());
            if length <= byte {
                return Err(InputFault::Cut { byte, length });
            }
            let again = || io::Error::other("the system had it not when it was needed");
            let error = self.file.read_at(byte, &mut [0]).err().unwrap_or_else(again);
            return Err(InputFault::Unread { byte, error });
        }
        if FileState::of(&metadata?) == self.state { Ok(()) } else { Err(InputFault::Changed) }
    }
}

/// Where cells were found.
struct FoundCells {
    path: PathBuf,
    file: File,
    /// Bytes after the cells that are to be told.
    after: u64,
    named: bool,
}

impl FoundCells {
    /// The file that cells lie in as the layout says, or one of `room` in which they are put.
    fn of(
        path: &Path,
        layout: &mut Layout,
        cells: Located,
        room: impl FnOnce(u64) -> io::Result<fs::File>,
    ) -> Result<Self, InputError> {
        let wrong = |wrong| InputError { path: path.to_owned(), wrong };
        let told = |piece: &FilePiece, after: u64| if piece.after == After::Reported { after } else { 0 };
        let mut after = 0u64;
        let file = match cells {
            Located::Pieces(pieces) => match &pieces[..] {
                [piece] if piece.packing == Packing::Nothing => {
                    let at = |wrong| InputError { path: piece.path.clone(), wrong };
                    let (file, length) = open(&piece.path).map_err(at)?;
                    let (start, after) = piece.find(length).map_err(at)?;
                    layout.offset = start;
                    return Ok(Self { path: piece.path.clone(), file, after: told(piece, after), named: true });
                }
                _ => {
                    layout.offset = 0;
                    let bytes = layout.bytes().map_err(wrong)?;
                    let mut files = LastFile::default();
                    // Before there is room for what cannot be.
                    for piece in &pieces {
                        let at = |wrong| InputError { path: piece.path.clone(), wrong };
                        piece.can_be(&mut files).map_err(at)?;
                    }
                    in_room(path, bytes, room, |out| {
                        for piece in &pieces {
                            let at = |wrong| InputError { path: piece.path.clone(), wrong };
                            after = after.saturating_add(told(piece, piece.write(&mut files, out).map_err(at)?));
                        }
                        Ok(())
                    })?
                }
            },
            Located::Unpacked { bytes, write } => in_room(path, bytes, room, write)?,
            Located::Scattered { bytes, write } => {
                let whole = u64::try_from(bytes);
                let whole = whole.map_err(|_| wrong(InputFault::Length { offset: 0, have: 0, need: bytes }))?;
                let mut file = room(whole).map_err(|error| wrong(error.into()))?;
                file.set_len(whole).map_err(|error| wrong(error.into()))?;
                write(&mut file)?;
                file
            }
        };
        Ok(Self { path: path.to_owned(), file: File::new(file, path.to_owned()), after, named: false })
    }
}

/// A file of so many bytes, in which `write` puts them.
fn in_room(
    path: &Path,
    bytes: u128,
    room: impl FnOnce(u64) -> io::Result<fs::File>,
    write: impl FnOnce(&mut dyn Write) -> Result<(), InputError>,
) -> Result<fs::File, InputError> {
    let wrong = |wrong| InputError { path: path.to_owned(), wrong };
    let short = |have| wrong(InputFault::Length { offset: 0, have, need: bytes });
    let whole = u64::try_from(bytes).map_err(|_| short(0))?;
    let mut out = BufWriter::with_capacity(1 << 18, room(whole).map_err(|error| wrong(error.into()))?);
    write(&mut out)?;
    let file = out.into_inner().map_err(|error| wrong(error.into_error().into()))?;
    let have = file.metadata().map_err(|error| wrong(error.into()))?.len();
    if u128::from(have) == bytes { Ok(file) } else { Err(short(have)) }
}

/// The array of an [`ArrayFile`] in K dimensions, as a source of boxes of cells.
///
/// ```
/// use orthant_formats::input::ArrayFile;
/// use orthant::prelude::*;
/// use orthant::tree::Source;
///
/// # let path = std::env::temp_dir().join(format!("orthant-doc-source-{}.nrrd", std::process::id()));
/// let header = "NRRD0004\ntype: uint8\ndimension: 2\nsizes: 3 2\nencoding: raw\n\n";
/// std::fs::write(&path, [header.as_bytes(), &[1, 2, 3, 4, 5, 6]].concat())?;
/// let file = ArrayFile::open(&path, None, |_| tempfile::tempfile())?;
/// // The number of dimensions becomes a type; another one is refused.
/// let source = file.source::<2>()?;
/// assert!(file.source::<3>().is_err());
/// let mut cells = [0; 4];
/// source.read(&Region { corner: [1, 0], extent: [2, 2] }, &mut cells)?;
/// assert_eq!(cells, [2, 3, 5, 6]);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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

    /// Copies the cells of a box as they lie in the file.
    fn copy(&self, window: &Region<K>, bytes: &mut [u8]) {
        let Layout { kind, order, offset, .. } = self.file.layout;
        let map = &self.file.cells.map;
        let cells = SharedBytes::mapped(map, offset as usize..map.len());
        let width = kind.bytes() as usize;
        let len = |axis: usize| window.extent[axis] as usize;
        match order {
            IndexOrder::C => {
                let rows = Rows::of(window, &self.whole());
                let mut to = bytes.chunks_exact_mut(len(0) * width);
                rows.each(|start| {
                    let Some(bytes) = to.next() else { return };
                    cells.slice(start * width..start * width + bytes.len()).copy_to(bytes);
                });
            }
            IndexOrder::Fortran => {
                // Rows of the file run along the last axis, which is the slowest of the box.
                let last = K - 1;
                let layer = bytes.len() / len(last);
                let mut first = *window;
                first.extent[last] = 1;
                let mut held = vec![0; len(last) * width];
                for (place, row) in first.cells().enumerate() {
                    let start = (0..K).fold(0, |at, j| at * self.size[j] as usize + row[j] as usize) * width;
                    cells.slice(start..start + held.len()).copy_to(&mut held);
                    for (layer, cell) in bytes.chunks_exact_mut(layer).zip(held.chunks_exact(width)) {
                        layer[place * width..(place + 1) * width].copy_from_slice(cell);
                    }
                }
            }
        }
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
        let bytes = SharedBytes::mapped(&self.file.cells.map, offset as usize..(u128::from(offset) + bytes) as usize);
        Some(InMemory { bytes, reversed: order == IndexOrder::Fortran && K > 1, swapped: endian != Endian::HERE })
    }

    fn will_need(&self, bytes: Range<usize>) {
        let place = |byte: usize| byte.saturating_add(self.file.layout.offset as usize);
        self.file.cells.map.will_need(place(bytes.start)..place(bytes.end));
    }

    fn unchanged(&self) -> io::Result<()> {
        let wrong = |wrong| io::Error::other(InputError { path: self.file.cells.path.clone(), wrong });
        self.file.cells.unchanged().map_err(wrong)
    }

    fn read(&self, window: &Region<K>, bytes: &mut [u8]) -> io::Result<()> {
        self.check(window, bytes)?;
        let copy =
            here!(fn(&FileSource<'_, K>, &Region<K>, &mut [u8]) -> () = |this, window, bytes| this.copy(window, bytes));
        self.file.cells.map.reading(|| copy(self, window, bytes));
        if self.file.layout.endian != Endian::HERE {
            swap(bytes, self.kind().bytes() as usize);
        }
        self.unchanged()
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
