//! Sparse matrices in `.npz`, as `scipy.sparse.save_npz` writes them: COO, CSR and CSC.

use std::io::Read;
use std::path::Path;

use crate::cell::CellType;
use crate::disk::File;
use crate::input::error::Wrong;
use crate::input::layout::{Endian, Layout};
use crate::input::list::number::{coordinate, word};
use crate::input::list::said::{ListSaid, OnEntry};
use crate::input::npy;
use crate::input::npz;
use crate::input::reader::open;
use crate::zarr::{Directory, Entry};

/// An archive whose members are known.
#[derive(Debug)]
pub(super) struct SciPyList {
    file: File,
    said: ListSaid,
    data: SciPyMember,
    indices: Indices,
}

/// Where the coordinates are.
#[derive(Debug)]
enum Indices {
    /// A row and a column for each entry.
    Both { row: SciPyMember, column: SciPyMember },
    /// One of them, and where the entries of each of the others begin.
    Compressed { index: SciPyMember, starts: SciPyMember, by_row: bool },
}

/// An array of one axis in the archive.
#[derive(Debug)]
struct SciPyMember {
    name: &'static str,
    entry: Entry,
    kind: CellType,
    endian: Endian,
    count: u64,
}

/// A member as it is read, number by number.
struct MemberNumbers<'f> {
    member: &'f SciPyMember,
    bytes: Box<dyn Read + 'f>,
    read: u64,
}

fn find(file: &File, directory: &Directory, name: &'static str) -> Result<SciPyMember, Wrong> {
    let Some(entry) = directory.entry(&format!("{name}.npy")).copied() else {
        let reason = format!(
            "no member {name}; a sparse matrix of scipy has format, shape, data, and row and col, or indices and indptr"
        );
        return Err(Wrong::Other(reason));
    };
    let inside = |wrong| Wrong::InMember { name: name.into(), wrong: Box::new(wrong) };
    let layout = npy::layout(&mut *npz::member(file, &entry), entry.length).map_err(inside)?;
    let (have, need) = (entry.length.saturating_sub(layout.offset), layout.bytes().map_err(inside)?);
    let Layout { kind, endian, size, offset, .. } = layout;
    if u128::from(have) != need {
        return Err(inside(Wrong::Length { offset, have, need }));
    }
    match size[..] {
        [count] => Ok(SciPyMember { name, entry, kind, endian, count: count.into() }),
        _ => Err(inside(Wrong::Other(format!("{} axes, where one is needed", size.len())))),
    }
}

impl SciPyList {
    pub(super) fn open(path: &Path) -> Result<Self, Wrong> {
        let (file, _) = open(path)?;
        let directory = Directory::read_deflated(&file).map_err(|_| Wrong::NoArchive)?;
        let format = format_of(&file, &directory)?;
        let [shape, data] = ["shape", "data"].map(|name| find(&file, &directory, name));
        let (shape, data) = (shape?, data?);
        let mut numbers = shape.numbers(&file)?;
        let mut side = |what: &str| {
            let (kind, word) = numbers.next()?;
            match coordinate(kind, word, &|| format!("shape: {what}"))? {
                0 => Err(Wrong::Other(format!("shape: no {what}; a domain has cells"))),
                side => Ok(side),
            }
        };
        if shape.count != 2 {
            return Err(Wrong::Other(format!("a shape of {} numbers; matrices have rows and columns", shape.count)));
        }
        let (rows, columns) = (side("rows")?, side("columns")?);
        drop(numbers);
        let indices = match &format[..] {
            "coo" => {
                let [row, column] = ["row", "col"].map(|name| find(&file, &directory, name));
                Indices::Both { row: row?, column: column? }
            }
            "csr" | "csc" => {
                let [index, starts] = ["indices", "indptr"].map(|name| find(&file, &directory, name));
                Indices::Compressed { index: index?, starts: starts?, by_row: format == "csr" }
            }
            other => {
                let reason =
                    format!("a sparse matrix of format '{other}'; coo, csr and csc are read: save matrix.tocsr()");
                return Err(Wrong::Other(reason));
            }
        };
        let lengths = match &indices {
            Indices::Both { row, column } => [row.count, column.count],
            Indices::Compressed { index, starts, by_row } => {
                let lines = u64::from(if *by_row { rows } else { columns });
                if starts.count != lines + 1 {
                    return Err(Wrong::Other(format!(
                        "{} numbers in indptr, where {} are needed",
                        starts.count,
                        lines + 1
                    )));
                }
                [index.count, index.count]
            }
        };
        if lengths != [data.count; 2] {
            return Err(Wrong::Other(format!("{} values of {} and {} indices", data.count, lengths[0], lengths[1])));
        }
        let said = ListSaid { axes: 2, kind: data.kind, size: Some(vec![columns, rows]), count: data.count };
        Ok(Self { file, said, data, indices })
    }

    pub(super) fn said(&self) -> ListSaid {
        self.said.clone()
    }

    pub(super) fn each(&self, entry: &mut OnEntry<'_>) -> Result<(), Wrong> {
        let mut values = self.data.numbers(&self.file)?;
        let mut put = |number: u64, cell: [u32; 2], values: &mut MemberNumbers<'_>| -> Result<(), Wrong> {
            let (_, value) = values.next()?;
            entry(&cell, value).map_err(|error| Wrong::Other(format!("entry {number}: {error}")))
        };
        match &self.indices {
            Indices::Both { row, column } => {
                let (mut rows, mut columns) = (row.numbers(&self.file)?, column.numbers(&self.file)?);
                for number in 0..self.data.count {
                    let cell = [columns.coordinate()?, rows.coordinate()?];
                    put(number, cell, &mut values)?;
                }
                rows.end()?;
                columns.end()?;
            }
            Indices::Compressed { index, starts, by_row } => {
                let (mut others, mut starts) = (index.numbers(&self.file)?, starts.numbers(&self.file)?);
                let mut start = starts.count()?;
                let wrong =
                    |start: u64| Wrong::Other(format!("indptr: {start}; it must ascend from 0 to {}", self.data.count));
                if start != 0 {
                    return Err(wrong(start));
                }
                for line in 0..starts.member.count as u32 - 1 {
                    let end = starts.count()?;
                    if end < start || end > self.data.count {
                        return Err(wrong(end));
                    }
                    for number in start..end {
                        let other = others.coordinate()?;
                        put(number, if *by_row { [other, line] } else { [line, other] }, &mut values)?;
                    }
                    start = end;
                }
                if start != self.data.count {
                    return Err(wrong(start));
                }
                others.end()?;
            }
        }
        values.end()
    }
}

/// The name of the format, which is an array of one text.
fn format_of(file: &File, directory: &Directory) -> Result<String, Wrong> {
    let Some(entry) = directory.entry("format.npy") else {
        return Err(Wrong::Other("no member format; a sparse matrix of scipy has one".into()));
    };
    let mut bytes = Vec::new();
    npz::member(file, entry).take(1 << 12).read_to_end(&mut bytes)?;
    // Behind the header are three letters, of one byte or of four.
    let start = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    Ok(bytes[start..].iter().filter(|byte| byte.is_ascii_alphanumeric()).map(|&byte| byte as char).take(16).collect())
}

impl SciPyMember {
    fn numbers<'f>(&'f self, file: &'f File) -> Result<MemberNumbers<'f>, Wrong> {
        let mut bytes = npz::member(file, &self.entry);
        npy::layout(&mut *bytes, self.entry.length)?;
        Ok(MemberNumbers { member: self, bytes: Box::new(std::io::BufReader::with_capacity(1 << 18, bytes)), read: 0 })
    }
}

impl MemberNumbers<'_> {
    fn wrong(&self, wrong: impl Into<Wrong>) -> Wrong {
        Wrong::InMember { name: self.member.name.into(), wrong: Box::new(wrong.into()) }
    }

    /// The type and the word of the next number.
    fn next(&mut self) -> Result<(CellType, u64), Wrong> {
        let mut bytes = [0; 8];
        let own = &mut bytes[..self.member.kind.bytes() as usize];
        if let Err(error) = self.bytes.read_exact(own) {
            return Err(self.wrong(error));
        }
        self.read += 1;
        Ok((self.member.kind, word(own, self.member.endian)))
    }

    fn coordinate(&mut self) -> Result<u32, Wrong> {
        let (kind, word) = self.next()?;
        coordinate(kind, word, &|| format!("{}, number {}", self.member.name, self.read - 1))
    }

    /// A number of entries.
    fn count(&mut self) -> Result<u64, Wrong> {
        let (kind, word) = self.next()?;
        let count = if kind.is_float() { None } else { kind.rank(word).checked_sub(kind.rank(0)) };
        count.ok_or_else(|| {
            Wrong::Other(format!("{}: {}, which is no number of entries", self.member.name, kind.text(word)))
        })
    }

    /// Reads the end, at which a checksum is held against what came.
    fn end(mut self) -> Result<(), Wrong> {
        match self.bytes.read(&mut [0]) {
            Ok(0) => Ok(()),
            Ok(_) => Err(self.wrong(Wrong::Other("more numbers than its shape says".into()))),
            Err(error) => Err(self.wrong(error)),
        }
    }
}
