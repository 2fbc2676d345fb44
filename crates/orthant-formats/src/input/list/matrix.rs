//! Sparse matrices of Matrix Market as lists.

use std::io::BufReader;
use std::path::{Path, PathBuf};

use crate::input::error::InputFault;
use crate::input::list::header::{ListHeader, OnEntry};
use crate::input::matrix_market::{MatrixReader, MatrixValue};
use orthant::{Cell, CellType};

/// A matrix whose banner and sizes are known.
#[derive(Debug)]
pub(super) struct MatrixList {
    path: PathBuf,
    header: ListHeader,
}

impl MatrixList {
    pub(super) fn open(path: &Path) -> Result<Self, InputFault> {
        let reader = MatrixReader::open(BufReader::new(std::fs::File::open(path)?))?;
        let kind = match reader.value {
            MatrixValue::Pattern => CellType::U8,
            MatrixValue::Integer => CellType::I64,
            MatrixValue::Real => CellType::F64,
            MatrixValue::Complex => {
                return Err(InputFault::Other(
                    "a matrix of complex numbers; real, integer and pattern are read".into(),
                ));
            }
        };
        let (rows, columns) = (u32::try_from(reader.rows), u32::try_from(reader.columns));
        let (Ok(rows @ 1..), Ok(columns @ 1..)) = (rows, columns) else {
            let reason = format!(
                "a matrix of {} rows and {} columns; 1 to 2^32 - 1 of each can be",
                reader.rows, reader.columns
            );
            return Err(InputFault::Other(reason));
        };
        // No line of an entry is shorter than "1 1" and its end.
        let length = std::fs::metadata(path)?.len();
        if reader.entries > length / 3 {
            return Err(InputFault::Other(format!("{} entries in a file of {length} bytes", reader.entries)));
        }
        let header = ListHeader { axes: 2, kind, size: Some(vec![columns, rows]), count: reader.entries };
        Ok(Self { path: path.to_owned(), header })
    }

    pub(super) fn header(&self) -> ListHeader {
        self.header.clone()
    }

    pub(super) fn each(&self, entry: &mut OnEntry<'_>) -> Result<(), InputFault> {
        let mut reader = MatrixReader::open(BufReader::new(std::fs::File::open(&self.path)?))?;
        let size = Some(vec![reader.columns as u32, reader.rows as u32]);
        if size != self.header.size {
            return Err(InputFault::Other("the file changed while it was read".into()));
        }
        while let Some(found) = reader.next()? {
            let word = |negative: bool| match (self.header.kind, found.value) {
                (CellType::U8, _) => Some(1),
                (CellType::I64, text) => {
                    let number = text.parse::<i64>().ok()?;
                    Some(if negative { number.checked_neg()? } else { number }.word())
                }
                (_, text) => {
                    let number = text.parse::<f64>().ok()?;
                    Some(if negative { -number } else { number }.word())
                }
            };
            let wanted = "a whole number of 64 bits is needed";
            let cell = [found.column as u32 - 1, found.row as u32 - 1];
            let mirrored = (found.mirrored && cell[0] != cell[1]).then_some([cell[1], cell[0]]);
            for (cell, negative) in [(Some(cell), false), (mirrored, found.negated)] {
                let Some(cell) = cell else { continue };
                let Some(word) = word(negative) else {
                    return Err(InputFault::Other(format!("line {}: value '{}'; {wanted}", found.line, found.value)));
                };
                entry(&cell, word).map_err(|error| InputFault::Other(format!("line {}: {error}", found.line)))?;
            }
        }
        Ok(())
    }
}
