//! Sparse matrices of Matrix Market (`.mtx`), as NIST describes the format: a banner, comments, a line of sizes, a line per entry.

use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::Path;

use crate::input::error::{FilePlace, InputError, InputFault};
use orthant::memory::{Refused, zeros};

/// The longest line that is read.
const LONGEST: u64 = 1 << 16;

/// What the banner's last word says of entries that are not written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Symmetry {
    General,
    /// An entry beside the diagonal stands for its mirror image, too.
    Mirrored,
    /// The same with the opposite value.
    Negated,
}

/// Reads how many entries each row of a sparse matrix has: the work-items of a product with a vector.
///
/// Entries of a symmetric, skew-symmetric or hermitian matrix that are not written count as if they were. An entry that is written
/// twice counts twice, as the format adds them up.
///
/// ```
/// # let path = std::env::temp_dir().join(format!("orthant-doc-rows-{}.mtx", std::process::id()));
/// std::fs::write(&path, "%%MatrixMarket matrix coordinate real general\n3 4 4\n1 1 0.5\n1 4 2\n3 2 1\n3 3 -1\n")?;
/// assert_eq!(orthant_formats::input::matrix_rows(&path)?, [2, 0, 2]);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`InputError`] names the file and the line: it is no Matrix Market file, or none of coordinates; a number is out of range; there are
/// more or fewer entries than it says.
pub fn matrix_rows(path: &Path) -> Result<Vec<u32>, InputError> {
    let rows = File::open(path).map_err(InputFault::Io).and_then(|file| rows(BufReader::new(file)));
    rows.map_err(|wrong| InputError { path: path.to_owned(), wrong })
}

fn rows(reader: impl BufRead) -> Result<Vec<u32>, InputFault> {
    let mut matrix = MatrixReader::open(reader)?;
    let rows = matrix.rows;
    let refused = |Refused { bytes }| {
        InputFault::Io(std::io::Error::new(
            ErrorKind::OutOfMemory,
            format!("{rows} rows need {bytes} bytes of memory, which cannot be had"),
        ))
    };
    let mut lengths: Vec<u32> = zeros(rows as usize).map_err(refused)?;
    loop {
        let Some(entry) = matrix.next()? else { return Ok(lengths) };
        let mirrored = entry.mirrored && entry.row != entry.column;
        let (row, column) = (entry.row, entry.column);
        for row in [Some(row), mirrored.then_some(column)].into_iter().flatten() {
            let length = &mut lengths[row as usize - 1];
            *length = length
                .checked_add(1)
                .ok_or_else(|| matrix.lines.wrong("entry", "a row has at most 2^32 - 1 entries"))?;
        }
    }
}

/// What an entry has beside its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MatrixValue {
    Pattern,
    Integer,
    Real,
    Complex,
}

/// An entry as it is written.
pub(super) struct MatrixEntry<'l> {
    /// From 1 on.
    pub(super) row: u64,
    pub(super) column: u64,
    /// The text of its value, if it has one.
    pub(super) value: &'l str,
    /// Beside the diagonal it stands for its mirror image, too, which has the opposite value if it is `negated`.
    pub(super) mirrored: bool,
    pub(super) negated: bool,
    /// The line of the file.
    pub(super) line: u64,
}

/// Reads entry by entry. The banner and the sizes were read.
pub(super) struct MatrixReader<R> {
    lines: MatrixLines<R>,
    pub(super) value: MatrixValue,
    symmetry: Symmetry,
    pub(super) rows: u64,
    pub(super) columns: u64,
    pub(super) entries: u64,
    /// Entries that were read.
    read: u64,
}

impl<R: BufRead> MatrixReader<R> {
    pub(super) fn open(reader: R) -> Result<Self, InputFault> {
        let mut lines = MatrixLines { reader, number: 0, text: String::new() };
        let (value, symmetry) = banner(&mut lines)?;
        let wanted = "the numbers of rows, columns and entries are needed, rows below 2^32";
        let Some(line) = lines.next()? else { return Err(lines.ended("a line of sizes")) };
        let sizes: Option<Vec<u64>> = line.split_whitespace().map(|word| word.parse().ok()).collect();
        let Some(&[rows, columns, entries]) = sizes.as_deref() else { return Err(lines.wrong("sizes", wanted)) };
        if rows > u32::MAX.into() || (symmetry != Symmetry::General && rows != columns) {
            return Err(lines.wrong("sizes", wanted));
        }
        Ok(Self { lines, value, symmetry, rows, columns, entries, read: 0 })
    }

    /// The next entry; None behind the last.
    pub(super) fn next(&mut self) -> Result<Option<MatrixEntry<'_>>, InputFault> {
        let (rows, columns, entries) = (self.rows, self.columns, self.entries);
        if self.read == entries {
            return match self.lines.next()? {
                None => Ok(None),
                Some(_) => {
                    Err(self.lines.wrong("entry", &format!("no more lines can be, since there are {entries} entries")))
                }
            };
        }
        if self.lines.next()?.is_none() {
            return Err(self.lines.ended(&format!("{entries} entries in all")));
        }
        let mut said = self.lines.text.split_whitespace();
        let mut place = || said.next().and_then(|word| word.parse::<u64>().ok());
        let (Some(row @ 1..), Some(column @ 1..)) = (place(), place()) else {
            return Err(self.lines.wrong("entry", "a row and a column are needed, from 1 on"));
        };
        let numbers = said.clone().try_fold(0, |numbers, word| word.parse::<f64>().is_ok().then_some(numbers + 1));
        let words = match self.value {
            MatrixValue::Pattern => 0,
            MatrixValue::Integer | MatrixValue::Real => 1,
            MatrixValue::Complex => 2,
        };
        if row > rows || column > columns || numbers != Some(words) {
            let values = ["no value", "a value", "a real and an imaginary part"][words];
            let allowed = format!("a row up to {rows}, a column up to {columns} and {values} are needed");
            return Err(self.lines.wrong("entry", &allowed));
        }
        self.read += 1;
        let (mirrored, negated) = (self.symmetry != Symmetry::General, self.symmetry == Symmetry::Negated);
        let (value, line) = (said.next().unwrap_or_default(), self.lines.number);
        Ok(Some(MatrixEntry { row, column, value, mirrored, negated, line }))
    }
}

/// What a value is, and what stands for what.
fn banner(lines: &mut MatrixLines<impl BufRead>) -> Result<(MatrixValue, Symmetry), InputFault> {
    let wanted =
        "'%%MatrixMarket matrix coordinate', a field (real, integer, complex, pattern) and a symmetry are needed";
    let first = lines.line()?;
    let words: Vec<String> = lines.text.split_whitespace().map(str::to_ascii_lowercase).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let &["%%matrixmarket", "matrix", "coordinate", field, symmetry] = &words[..] else {
        let allowed = if first && words.get(2) == Some(&"array") {
            "a matrix of coordinates is needed: this one is dense"
        } else {
            wanted
        };
        return Err(lines.wrong("banner", allowed));
    };
    let value = match field {
        "pattern" => MatrixValue::Pattern,
        "real" | "double" => MatrixValue::Real,
        "integer" => MatrixValue::Integer,
        "complex" => MatrixValue::Complex,
        _ => return Err(lines.wrong("banner", wanted)),
    };
    let symmetry = match symmetry {
        "general" => Symmetry::General,
        "symmetric" | "hermitian" => Symmetry::Mirrored,
        "skew-symmetric" => Symmetry::Negated,
        _ => return Err(lines.wrong("banner", "general, symmetric, skew-symmetric or hermitian is needed")),
    };
    Ok((value, symmetry))
}

/// Lines of the file, one at a time.
struct MatrixLines<R> {
    reader: R,
    number: u64,
    text: String,
}

impl<R: BufRead> MatrixLines<R> {
    /// Reads a line; false at the end.
    fn line(&mut self) -> Result<bool, InputFault> {
        let mut bytes = std::mem::take(&mut self.text).into_bytes();
        bytes.clear();
        let read = (&mut self.reader).take(LONGEST).read_until(b'\n', &mut bytes)? as u64;
        self.number += 1;
        self.text =
            String::from_utf8(bytes).unwrap_or_else(|wrong| String::from_utf8_lossy(wrong.as_bytes()).into_owned());
        if read == LONGEST { Err(InputFault::LongHeader { most: LONGEST }) } else { Ok(read > 0) }
    }

    /// The next line that is neither empty nor a comment; None at the end.
    fn next(&mut self) -> Result<Option<&str>, InputFault> {
        while self.line()? {
            let text = self.text.trim();
            if !text.is_empty() && !text.starts_with('%') {
                return Ok(Some(self.text.trim()));
            }
        }
        Ok(None)
    }

    fn wrong(&self, what: &str, allowed: &str) -> InputFault {
        let said: String = self.text.trim().chars().take(60).collect();
        InputFault::field(FilePlace::Line(self.number), what, said, allowed)
    }

    fn ended(&self, what: &str) -> InputFault {
        InputFault::Damaged {
            at: FilePlace::Line(self.number),
            what: format!("the file ends here, and {what} should be there"),
        }
    }
}
