//! Points in a file that memory does not hold: read piece by piece, as often as they are asked for.

use std::io::{self, Read};
use std::path::Path;

use crate::input::error::{InputError, InputFault};
use crate::input::points::columns::PointColumns;
use crate::input::points::format::PointsFormat;
use crate::input::points::npy::NpyPoints;
use crate::input::points::rows::{PointRows, ValueRange};
use crate::input::points::table::PointTable;
use crate::input::reader::{FilePart, head_of, open};
use orthant::CellType;
use orthant::disk::File;
use orthant::points::{OnBatch, PointBatches, PointsError, PointsExtent, PointsHash, bounds};

/// Bytes of text that are read at a time.
const BLOCK: usize = 1 << 23;

/// Rows of an array that are read at a time.
const ROWS: usize = 1 << 17;

/// Points in a file of text or of NumPy, of which a few are in memory at a time.
///
/// ```
/// use orthant_formats::input::PointsFile;
/// use orthant::points::PointBatches;
///
/// # let path = std::env::temp_dir().join(format!("orthant-doc-stream-{}.xyz", std::process::id()));
/// std::fs::write(&path, "0 0 0\n1 2 3\n")?;
/// let stream = PointsFile::of(&path)?.stream()?;
/// assert_eq!((stream.count(), stream.extent().bounds()[2]), (2, [0.0, 3.0]));
/// assert_eq!(stream.hash(), PointsFile::of(&path)?.read()?.hash());
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PointsStream {
    file: File,
    path: std::path::PathBuf,
    length: u64,
    layout: StreamLayout,
    extent: PointsExtent,
    count: u64,
    measured: Option<CellType>,
    hash: String,
}

/// How points lie in a file.
enum StreamLayout {
    Table(PointTable),
    Npy(NpyPoints),
}

impl std::fmt::Debug for PointsStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PointsStream").field("path", &self.path).field("count", &self.count).finish_non_exhaustive()
    }
}

impl PointsStream {
    /// Goes through a file once.
    pub(super) fn of(path: &Path, format: PointsFormat, columns: &PointColumns) -> Result<Self, InputError> {
        Self::new(path, format, columns).map_err(|wrong| InputError { path: path.to_owned(), wrong })
    }

    fn new(path: &Path, format: PointsFormat, columns: &PointColumns) -> Result<Self, InputFault> {
        let (file, length) = open(path)?;
        let layout = match format {
            PointsFormat::Table => StreamLayout::Table(table_of(&file, length, columns)?),
            PointsFormat::Npy => StreamLayout::Npy(NpyPoints::of(&head_of(path)?, length, columns)?),
            format => {
                let reason = format!(
                    "memory does not hold it, and points of {format} are read as a whole; text and .npy are not"
                );
                return Err(InputFault::Other(reason));
            }
        };
        let axes = match &layout {
            StreamLayout::Table(table) => table.axes(),
            StreamLayout::Npy(array) => array.axes(),
        };
        let mut stream = Self {
            file,
            path: path.to_owned(),
            length,
            layout,
            extent: PointsExtent::new(Vec::new()),
            count: 0,
            measured: None,
            hash: String::new(),
        };
        let (mut all, mut range, mut hash, mut count) = (Vec::new(), ValueRange::of(&[]), PointsHash::new(axes), 0);
        stream.rows(&mut |rows| {
            let own = bounds(axes, &rows.coordinates)?;
            match all.is_empty() {
                true => all = own,
                false => all.iter_mut().zip(own).for_each(|(all, own)| *all = [all[0].min(own[0]), all[1].max(own[1])]),
            }
            range = range.and(ValueRange::of(&rows.values));
            hash.add(&rows.coordinates, &rows.values);
            count += (rows.coordinates.len() / axes) as u64;
            Ok(())
        })?;
        if count == 0 {
            return Err(PointsError::None.into());
        }
        stream.measured = match &stream.layout {
            StreamLayout::Table(table) => {
                table.check(count)?;
                table.attribute().map(|_| range.narrowest())
            }
            StreamLayout::Npy(array) => array.attribute().map(|(_, kind)| kind),
        };
        (stream.extent, stream.count, stream.hash) = (PointsExtent::new(all), count, hash.text(stream.measured));
        Ok(stream)
    }

    /// The hash of all points, which is that of [`Points`](orthant::points::Points::hash).
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// Reads all points, a few at a time.
    fn rows(&self, each: &mut dyn FnMut(PointRows) -> Result<(), InputFault>) -> Result<(), InputFault> {
        match &self.layout {
            StreamLayout::Npy(array) => {
                let mut read = |from: u64, to: &mut [u8]| -> Result<(), InputFault> {
                    let cut = |_| InputFault::Cut { byte: from, length: self.length };
                    FilePart::new(&self.file, from, to.len() as u64).read_exact(to).map_err(cut)
                };
                (0..array.count)
                    .step_by(ROWS)
                    .try_for_each(|first| each(array.rows(first..array.count.min(first + ROWS), &mut read)?))
            }
            StreamLayout::Table(table) => {
                let (mut held, mut lines) = (Vec::new(), table.lines());
                let mut part = FilePart::new(&self.file, table.start as u64, self.length - table.start as u64);
                loop {
                    let before = held.len();
                    let read = (&mut part).take(BLOCK as u64).read_to_end(&mut held)?;
                    let last = read < BLOCK;
                    // What follows the last end of a line goes on in the next block.
                    let end = held[before..].iter().rposition(|&byte| byte == table.end()).map(|end| before + end + 1);
                    let end = if last { held.len() } else { end.unwrap_or(0) };
                    let rows = table.rows(&held[..end], lines)?;
                    lines += held[..end].iter().filter(|&&byte| byte == table.end()).count() as u64;
                    if !rows.coordinates.is_empty() {
                        each(rows)?;
                    }
                    if last {
                        return Ok(());
                    }
                    held.drain(..end);
                }
            }
        }
    }
}

/// A table by what comes before its points and by the first of them, which may be anywhere.
fn table_of(file: &File, length: u64, columns: &PointColumns) -> Result<PointTable, InputFault> {
    let mut most = HEAD;
    loop {
        let mut head = Vec::new();
        FilePart::new(file, 0, length.min(most)).read_to_end(&mut head)?;
        let whole = most >= length;
        // A line that is cut says something else.
        let end = head.iter().rposition(|byte| matches!(byte, b'\n' | b'\r')).map_or(0, |end| end + 1);
        match PointTable::of(if whole { &head } else { &head[..end] }, columns) {
            Err(InputFault::Points(PointsError::None)) if !whole => most *= 8,
            found => return found,
        }
    }
}

/// Bytes that are read first for what comes before the points.
const HEAD: u64 = 1 << 16;

impl PointBatches for PointsStream {
    fn extent(&self) -> &PointsExtent {
        &self.extent
    }

    fn count(&self) -> u64 {
        self.count
    }

    fn measured(&self) -> Option<CellType> {
        self.measured
    }

    fn each(&self, batch: &mut OnBatch<'_>) -> io::Result<()> {
        let (mut count, axes) = (0, self.extent.axes() as u64);
        let mut hash = PointsHash::new(self.extent.axes());
        let read = self.rows(&mut |rows| {
            hash.add(&rows.coordinates, &rows.values);
            let words: Vec<u64> = match self.measured {
                Some(kind) => rows.values.iter().map(|&value| kind.word_of(value)).collect(),
                None => Vec::new(),
            };
            count += rows.coordinates.len() as u64 / axes;
            Ok(batch(&rows.coordinates, &words)?)
        });
        // As many points can be others.
        let same = count == self.count && hash.text(self.measured) == self.hash;
        let read = read.and(if same { Ok(()) } else { Err(InputFault::Changed) });
        read.map_err(|wrong| match wrong {
            InputFault::Io(error) => error,
            wrong => io::Error::other(InputError { path: self.path.clone(), wrong }),
        })
    }
}
