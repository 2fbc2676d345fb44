//! Sparse matrices in `.npz`, as `scipy.sparse.save_npz` writes them: COO, of more axes than two as well, CSR and CSC.

use std::io::Read;
use std::path::Path;

use crate::input::error::InputFault;
use crate::input::layout::Layout;
use crate::input::list::header::{ListHeader, OnEntry};
use crate::input::list::number::{coordinate, word};
use crate::input::npy;
use crate::input::npz;
use crate::input::reader::open;
use orthant::CellType;
use orthant::disk::File;
use orthant::zarr::{Directory, Entry};
use orthant::{Endian, IndexOrder};

/// An archive whose members are known.
#[derive(Debug)]
pub(super) struct SciPyList {
    file: File,
    header: ListHeader,
    data: SciPyMember,
    indices: Indices,
}

/// Where the coordinates are.
#[derive(Debug)]
enum Indices {
    /// A coordinate on each axis for each entry, axis 0 first.
    Each(Vec<AxisNumbers>),
    /// One of them, and where the entries of each of the others begin.
    Compressed { index: SciPyMember, starts: SciPyMember, by_row: bool },
}

/// Where the coordinates on an axis are: behind so many other numbers of a member.
#[derive(Debug)]
struct AxisNumbers {
    member: SciPyMember,
    behind: u64,
}

/// An array in the archive, of one axis but for coordinates.
#[derive(Debug, Clone)]
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

fn find(file: &File, directory: &Directory, name: &'static str) -> Result<SciPyMember, InputFault> {
    match find_any(file, directory, name)? {
        (member, axes) if axes.len() == 1 => Ok(member),
        _ => Err(InputFault::InMember {
            name: name.into(),
            wrong: Box::new(InputFault::Other("one axis is needed".into())),
        }),
    }
}

/// A member, and how many numbers it has on each axis, the fastest first.
fn find_any(file: &File, directory: &Directory, name: &'static str) -> Result<(SciPyMember, Vec<u32>), InputFault> {
    let Some(entry) = directory.entry(&format!("{name}.npy")).copied() else {
        let reason = format!(
            "no member {name}; a sparse matrix of scipy has format, shape, data, and row and col, or indices and indptr"
        );
        return Err(InputFault::Other(reason));
    };
    let inside = |wrong| InputFault::InMember { name: name.into(), wrong: Box::new(wrong) };
    let layout = npy::layout_or_empty(&mut *npz::member(file, &entry), entry.length).map_err(inside)?;
    let Layout { kind, endian, size, order, offset } = layout;
    // A matrix may have no elements: axes of none are no fault.
    let need = size.iter().fold(u128::from(kind.bytes()), |bytes, &n| bytes.saturating_mul(n.into()));
    let have = entry.length.saturating_sub(offset);
    if u128::from(have) != need {
        return Err(inside(InputFault::Length { offset, have, need }));
    }
    if size.len() > 1 && order != IndexOrder::C {
        return Err(inside(InputFault::Other("in Fortran's order, which scipy does not write".into())));
    }
    let count = size.iter().map(|&n| u64::from(n)).product();
    Ok((SciPyMember { name, entry, kind, endian, count }, size))
}

impl SciPyList {
    /// True if an archive has the members of a sparse matrix.
    pub(super) fn is_one(path: &Path) -> bool {
        let named = |directory: Directory| {
            ["format.npy", "shape.npy", "data.npy"].iter().all(|name| directory.entry(name).is_some())
        };
        open(path).is_ok_and(|(file, _)| Directory::read_deflated(&file).is_ok_and(named))
    }

    pub(super) fn open(path: &Path) -> Result<Self, InputFault> {
        let (file, _) = open(path)?;
        let directory = Directory::read_deflated(&file).map_err(|_| InputFault::NoArchive)?;
        let format = format_of(&file, &directory)?;
        if !["coo", "csr", "csc"].contains(&&*format) {
            return Err(unread(&format, 2));
        }
        let [shape, data] = ["shape", "data"].map(|name| find(&file, &directory, name));
        let (shape, data) = (shape?, data?);
        let mut numbers = shape.numbers(&file)?;
        let mut side = || {
            let (kind, word) = numbers.next()?;
            match coordinate(kind, word, &|| "shape".into())? {
                0 => Err(InputFault::Other("shape: 0; a domain has cells on every axis".into())),
                side => Ok(side),
            }
        };
        if !(2..=6).contains(&shape.count) {
            return Err(InputFault::Other(format!("a shape of {} numbers; lists have 2 to 6 axes", shape.count)));
        }
        let mut size = (0..shape.count).map(|_| side()).collect::<Result<Vec<u32>, _>>()?;
        drop(numbers);
        size.reverse();
        let (axes, columns, rows) = (size.len(), size[0], size[1]);
        let indices = match &format[..] {
            "coo" if directory.entry("coords.npy").is_some() => {
                let (member, shape) = find_any(&file, &directory, "coords")?;
                if shape.len() != 2 || shape[1] as usize != axes || u64::from(shape[0]) != data.count {
                    let reason = format!("coordinates of another shape than {axes} axes by {} entries", data.count);
                    return Err(InputFault::Other(reason));
                }
                // The slowest axis comes first.
                let behind = |axis: usize| (axes - 1 - axis) as u64 * data.count;
                let axis = |axis| AxisNumbers { member: member.clone(), behind: behind(axis) };
                Indices::Each((0..axes).map(axis).collect())
            }
            "coo" if axes == 2 => {
                let member = |name| find(&file, &directory, name);
                let axis = |name| Ok::<_, InputFault>(AxisNumbers { member: member(name)?, behind: 0 });
                Indices::Each(vec![axis("col")?, axis("row")?])
            }
            "csr" | "csc" if axes == 2 => {
                let [index, starts] = ["indices", "indptr"].map(|name| find(&file, &directory, name));
                Indices::Compressed { index: index?, starts: starts?, by_row: format == "csr" }
            }
            _ => return Err(unread(&format, axes)),
        };
        let lengths = match &indices {
            // Coordinates of all axes in one member were counted above.
            Indices::Each(axes) if axes[0].behind > 0 => [data.count; 2],
            Indices::Each(axes) => [axes[0].member.count, axes[1].member.count],
            Indices::Compressed { index, starts, by_row } => {
                let lines = u64::from(if *by_row { rows } else { columns });
                if starts.count != lines + 1 {
                    return Err(InputFault::Other(format!(
                        "{} numbers in indptr, where {} are needed",
                        starts.count,
                        lines + 1
                    )));
                }
                [index.count, index.count]
            }
        };
        if lengths != [data.count; 2] {
            return Err(InputFault::Other(format!(
                "{} values of {} and {} indices",
                data.count, lengths[0], lengths[1]
            )));
        }
        let header = ListHeader { axes, kind: data.kind, size: Some(size), count: data.count };
        Ok(Self { file, header, data, indices })
    }

    pub(super) fn header(&self) -> ListHeader {
        self.header.clone()
    }

    pub(super) fn each(&self, entry: &mut OnEntry<'_>) -> Result<(), InputFault> {
        let mut values = self.data.numbers(&self.file)?;
        let mut put = |number: u64, cell: &[u32], values: &mut MemberNumbers<'_>| -> Result<(), InputFault> {
            let (_, value) = values.next()?;
            entry(cell, value).map_err(|error| InputFault::Other(format!("entry {number}: {error}")))
        };
        match &self.indices {
            Indices::Each(axes) => {
                let begun = axes.iter().map(|axis| axis.member.numbers_behind(&self.file, axis.behind));
                let mut axes = begun.collect::<Result<Vec<_>, _>>()?;
                let mut cell = vec![0; axes.len()];
                for number in 0..self.data.count {
                    for (c, axis) in cell.iter_mut().zip(&mut axes) {
                        *c = axis.coordinate()?;
                    }
                    put(number, &cell, &mut values)?;
                }
                axes.into_iter().filter(MemberNumbers::is_read).try_for_each(MemberNumbers::end)?;
            }
            Indices::Compressed { index, starts, by_row } => {
                let (mut others, mut starts) = (index.numbers(&self.file)?, starts.numbers(&self.file)?);
                let mut start = starts.count()?;
                let wrong = |start: u64| {
                    InputFault::Other(format!("indptr: {start}; it must ascend from 0 to {}", self.data.count))
                };
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
                        put(number, &if *by_row { [other, line] } else { [line, other] }, &mut values)?;
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

/// That a format is not read.
fn unread(format: &str, axes: usize) -> InputFault {
    InputFault::Other(format!("{axes} axes in the format '{format}'; coo, csr and csc are read: save matrix.tocoo()"))
}

/// The name of the format, which is an array of one text.
fn format_of(file: &File, directory: &Directory) -> Result<String, InputFault> {
    let Some(entry) = directory.entry("format.npy") else {
        return Err(InputFault::Other("no member format; a sparse matrix of scipy has one".into()));
    };
    let mut bytes = Vec::new();
    npz::member(file, entry).take(1 << 12).read_to_end(&mut bytes)?;
    // Behind the header are three letters, of one byte or of four.
    let start = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    Ok(bytes[start..].iter().filter(|byte| byte.is_ascii_alphanumeric()).map(|&byte| byte as char).take(16).collect())
}

impl SciPyMember {
    fn numbers<'f>(&'f self, file: &'f File) -> Result<MemberNumbers<'f>, InputFault> {
        let mut bytes = npz::member(file, &self.entry);
        npy::layout_or_empty(&mut *bytes, self.entry.length)?;
        Ok(MemberNumbers { member: self, bytes: Box::new(std::io::BufReader::with_capacity(1 << 18, bytes)), read: 0 })
    }
}

impl SciPyMember {
    /// The same behind so many numbers.
    fn numbers_behind<'f>(&'f self, file: &'f File, behind: u64) -> Result<MemberNumbers<'f>, InputFault> {
        let mut numbers = self.numbers(file)?;
        let bytes = behind * self.kind.bytes();
        match std::io::copy(&mut (&mut numbers.bytes).take(bytes), &mut std::io::sink()) {
            Ok(skipped) if skipped == bytes => Ok(MemberNumbers { read: behind, ..numbers }),
            Ok(_) => Err(numbers.wrong(std::io::Error::from(std::io::ErrorKind::UnexpectedEof))),
            Err(error) => Err(numbers.wrong(error)),
        }
    }
}

impl MemberNumbers<'_> {
    /// True if all numbers were read.
    fn is_read(&self) -> bool {
        self.read == self.member.count
    }

    fn wrong(&self, wrong: impl Into<InputFault>) -> InputFault {
        InputFault::InMember { name: self.member.name.into(), wrong: Box::new(wrong.into()) }
    }

    /// The type and the word of the next number.
    fn next(&mut self) -> Result<(CellType, u64), InputFault> {
        let mut bytes = [0; 8];
        let own = &mut bytes[..self.member.kind.bytes() as usize];
        if let Err(error) = self.bytes.read_exact(own) {
            return Err(self.wrong(error));
        }
        self.read += 1;
        Ok((self.member.kind, word(own, self.member.endian)))
    }

    fn coordinate(&mut self) -> Result<u32, InputFault> {
        let (kind, word) = self.next()?;
        coordinate(kind, word, &|| format!("{}, number {}", self.member.name, self.read - 1))
    }

    /// A number of entries.
    fn count(&mut self) -> Result<u64, InputFault> {
        let (kind, word) = self.next()?;
        let count = if kind.is_float() { None } else { kind.rank(word).checked_sub(kind.rank(0)) };
        count.ok_or_else(|| {
            InputFault::Other(format!("{}: {}, which is no number of entries", self.member.name, kind.text(word)))
        })
    }

    /// Reads the end, at which a checksum is held against what came.
    fn end(mut self) -> Result<(), InputFault> {
        match self.bytes.read(&mut [0]) {
            Ok(0) => Ok(()),
            Ok(_) => Err(self.wrong(InputFault::Other("more numbers than its shape says".into()))),
            Err(error) => Err(self.wrong(error)),
        }
    }
}
