//! Arrays of coordinates of cells in `.npy`, an entry in each row.

use std::io::Read;
use std::path::Path;

use crate::input::error::{FilePlace, InputFault};
use crate::input::layout::Layout;
use crate::input::list::header::{ListHeader, OnEntry};
use crate::input::list::number::{coordinate, word};
use crate::input::npy;
use crate::input::reader::{FilePart, head_of, open};
use orthant::CellType;
use orthant::IndexOrder;
use orthant::disk::File;

/// Rows that are read at a time.
const ROWS: u64 = 1 << 16;

/// An array whose header is known.
#[derive(Debug)]
pub(super) struct NpyList {
    file: File,
    layout: Layout,
    axes: usize,
    rows: u64,
    width: usize,
}

impl NpyList {
    pub(super) fn open(path: &Path, axes: Option<usize>) -> Result<Self, InputFault> {
        let (file, length) = open(path)?;
        let layout = npy::layout_or_empty(&head_of(path)?[..], length)?;
        let at = FilePlace::Byte(layout.offset);
        let shape = layout.size.iter().rev().map(u32::to_string).collect::<Vec<_>>().join("x");
        if let Some(axes) = axes.filter(|axes| !(2..=6).contains(axes)) {
            return Err(InputFault::field(at, "axes", axes, "a list of cells has 2 to 6 axes"));
        }
        let [width, rows] = match (&layout.size[..], axes) {
            // Without an entry an array may have no columns either, as `numpy.array([])`.
            ([0] | [0, 0], Some(axes)) => [axes as u32, 0],
            ([0] | [0, 0], None) => {
                let allowed = "a list without entries and columns; the number of axes is needed";
                return Err(InputFault::field(at, "shape", shape, allowed));
            }
            (&[width, rows], _) => [width, rows],
            _ => {
                return Err(InputFault::field(
                    at,
                    "shape",
                    shape,
                    "a list of cells has 2 axes, entries and their numbers",
                ));
            }
        };
        let columns = width as usize;
        let own = axes.unwrap_or(columns);
        if !(2..=6).contains(&own) || !(own..=own + 1).contains(&columns) {
            let transposed = if (2..=7).contains(&rows) && width > 7 { "; is it transposed (array.T)?" } else { "" };
            let allowed = match axes {
                Some(axes) => format!("{axes} columns of coordinates, or {} with the value last{transposed}", axes + 1),
                None => format!(
                    "an entry in each row, of 2 to 6 coordinates{transposed}; with values last the number of axes is needed"
                ),
            };
            return Err(InputFault::field(at, "shape", shape, allowed));
        }
        let need = u128::from(rows) * u128::from(width) * u128::from(layout.kind.bytes());
        let have = length.saturating_sub(layout.offset);
        if u128::from(have) != need {
            return Err(InputFault::Length { offset: layout.offset, have, need });
        }
        Ok(Self { file, axes: own, rows: rows.into(), width: columns, layout })
    }

    pub(super) fn header(&self) -> ListHeader {
        let kind = if self.width > self.axes { self.layout.kind } else { CellType::U8 };
        ListHeader { axes: self.axes, kind, size: None, count: self.rows }
    }

    pub(super) fn each(&self, entry: &mut OnEntry<'_>) -> Result<(), InputFault> {
        let Layout { kind, order, endian, offset, .. } = self.layout;
        let each = kind.bytes();
        // Rows follow each other, or columns do.
        let by_row = order == IndexOrder::C;
        let (mut bytes, mut cell) = (vec![Vec::new(); if by_row { 1 } else { self.width }], vec![0; self.axes]);
        for first in (0..self.rows).step_by(ROWS as usize) {
            let rows = ROWS.min(self.rows - first);
            for (column, bytes) in bytes.iter_mut().enumerate() {
                let (start, count) = match by_row {
                    true => (first * self.width as u64, rows * self.width as u64),
                    false => (column as u64 * self.rows + first, rows),
                };
                bytes.resize((count * each) as usize, 0);
                let from = offset + start * each;
                FilePart::new(&self.file, from, count * each).read_exact(bytes).map_err(|error| {
                    match error.kind() {
                        std::io::ErrorKind::UnexpectedEof => InputFault::Cut { byte: from, length: from },
                        _ => error.into(),
                    }
                })?;
            }
            for row in 0..rows as usize {
                let number = |column: usize| {
                    let (list, at) = if by_row { (0, row * self.width + column) } else { (column, row) };
                    word(&bytes[list][at * each as usize..][..each as usize], endian)
                };
                for (axis, c) in cell.iter_mut().enumerate() {
                    let place = || format!("row {}, column {axis}", first + row as u64);
                    *c = coordinate(kind, number(axis), &place)?;
                }
                let value = if self.width > self.axes { number(self.axes) } else { 1 };
                entry(&cell, value)
                    .map_err(|error| InputFault::Other(format!("row {}: {error}", first + row as u64)))?;
            }
        }
        Ok(())
    }
}
