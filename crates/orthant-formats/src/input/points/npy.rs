//! Arrays of coordinates in `.npy`: a point in each row, or in each column where there are few rows.

use std::ops::Range;

use crate::input::error::{FilePlace, InputFault};
use crate::input::layout::Layout;
use crate::input::npy;
use crate::input::points::columns::{FoundColumns, PointColumns};
use crate::input::points::rows::{PointRows, exact};
use orthant::CellType;
use orthant::points::Points;
use orthant::{Endian, IndexOrder};

/// Copies bytes from one of a file's on.
pub(super) type ReadAt<'r> = dyn FnMut(u64, &mut [u8]) -> Result<(), InputFault> + 'r;

/// An array whose header is known.
pub(super) struct NpyPoints {
    found: FoundColumns,
    kind: CellType,
    endian: Endian,
    /// The byte where cells begin.
    offset: u64,
    pub(super) count: usize,
    width: usize,
    /// True if the numbers of a point follow each other; else the points of a column do.
    by_point: bool,
}

impl NpyPoints {
    /// By the first bytes of a file of `length` bytes.
    pub(super) fn of(head: &[u8], length: u64, columns: &PointColumns) -> Result<Self, InputFault> {
        let Layout { kind, size, order, endian, offset } = npy::layout(head, length)?;
        let at = FilePlace::Byte(offset);
        let &[fast, slow] = &size[..] else {
            let shape = size.iter().rev().map(u32::to_string).collect::<Vec<_>>().join("x");
            return Err(InputFault::field(
                at,
                "shape",
                shape,
                "an array of coordinates has 2 axes, points and coordinates",
            ));
        };
        // In NumPy's words (slow, fast): points in rows, or in columns if there are few rows.
        let in_columns = fast > 6 && (2..=6).contains(&slow);
        let (count, width) = if in_columns { (fast, slow) } else { (slow, fast) };
        if width < 2 || (columns.coordinates.is_none() && width > 6) {
            let allowed = "2 to 6 coordinates of a point can be, in rows or columns; --columns chooses among more";
            return Err(InputFault::field(at, "shape", format!("{slow}x{fast}"), allowed));
        }
        let all = (1..=width).map(|column| column.to_string()).collect();
        let usual = PointColumns { coordinates: Some(all), ..columns.clone() };
        let columns = if columns.coordinates.is_none() && columns.attribute.is_none() { &usual } else { columns };
        let found = columns.find(&[], width as usize, at)?;
        let (have, need) =
            (length - offset.min(length), u128::from(count) * u128::from(width) * u128::from(kind.bytes()));
        if u128::from(have) != need {
            return Err(InputFault::Length { offset, have, need });
        }
        // In Fortran's order the first index is the fastest.
        let by_point = (order == IndexOrder::C) != in_columns;
        Ok(Self { found, kind, endian, offset, count: count as usize, width: width as usize, by_point })
    }

    /// Coordinates of a point.
    pub(super) fn axes(&self) -> usize {
        self.found.coordinates.len()
    }

    /// What the attribute is called, and its type, if there is one.
    pub(super) fn attribute(&self) -> Option<(String, CellType)> {
        self.found.attribute.map(|column| ((column + 1).to_string(), self.kind))
    }

    /// Points whose rows `read` copies: bytes from one of the file's on.
    pub(super) fn rows(&self, points: Range<usize>, read: &mut ReadAt<'_>) -> Result<PointRows, InputFault> {
        let each = self.kind.bytes() as usize;
        let place = |point: usize, column: usize| {
            each * if self.by_point { point * self.width + column } else { column * self.count + point }
        };
        let mut bytes = Vec::new();
        // The numbers of a column, or of all columns where they lie between each other.
        let mut column = |number: usize| -> Result<Vec<f64>, InputFault> {
            let (start, step) = match self.by_point {
                true => (place(points.start, 0), self.width),
                false => (place(points.start, number), 1),
            };
            if bytes.is_empty() || !self.by_point {
                bytes.resize(points.len() * step * each, 0);
                read(self.offset + start as u64, &mut bytes)?;
            }
            let first = if self.by_point { number } else { 0 };
            let number = |point: usize| self.number(&bytes[(point * step + first) * each..][..each]);
            Ok((0..points.len()).map(number).collect())
        };
        let coordinates = self.found.coordinates.iter().map(|&number| column(number)).collect::<Result<Vec<_>, _>>()?;
        let values = self.found.attribute.map(&mut column).transpose()?;
        let at =
            |point: usize, column: usize| FilePlace::Byte(self.offset + place(points.start + point, column) as u64);
        let mut rows = PointRows::default();
        for point in 0..points.len() {
            for (numbers, &column) in coordinates.iter().zip(&self.found.coordinates) {
                rows.coordinate(at(point, column), numbers[point])?;
            }
            if let (Some(values), Some(column)) = (&values, self.found.attribute) {
                exact(at(point, column), values[point], !self.kind.is_float())?;
                rows.value(at(point, column), values[point])?;
            }
        }
        Ok(rows)
    }

    #[inline]
    fn number(&self, cell: &[u8]) -> f64 {
        let mut wide = [0; 8];
        match self.endian {
            Endian::Little => wide[..cell.len()].copy_from_slice(cell),
            Endian::Big => cell.iter().rev().zip(&mut wide).for_each(|(byte, wide)| *wide = *byte),
        }
        self.kind.number(u64::from_le_bytes(wide))
    }
}

/// The points of a file.
pub(super) fn parse(bytes: &[u8], columns: &PointColumns) -> Result<Points, InputFault> {
    let array = NpyPoints::of(bytes, bytes.len() as u64, columns)?;
    let rows = array.rows(0..array.count, &mut |from, to| {
        to.copy_from_slice(&bytes[from as usize..from as usize + to.len()]);
        Ok(())
    })?;
    rows.points(array.axes(), array.attribute().map(|(name, kind)| (name, Some(kind))))
}
