//! Arrays of coordinates in `.npy`: a point in each row, or in each column where there are few rows.

use crate::cell::CellType;
use crate::input::error::{FilePlace, Wrong};
use crate::input::layout::{Endian, IndexOrder, Layout};
use crate::input::npy;
use crate::input::points::columns::Columns;
use crate::input::points::rows::PointRows;
use crate::points::Points;

pub(super) fn parse(bytes: &[u8], columns: &Columns) -> Result<Points, Wrong> {
    let Layout { kind, size, order, endian, offset } = npy::layout(bytes, bytes.len() as u64)?;
    let at = FilePlace::Byte(offset);
    let &[fast, slow] = &size[..] else {
        let shape = size.iter().rev().map(u32::to_string).collect::<Vec<_>>().join("x");
        return Err(Wrong::field(at, "shape", shape, "an array of coordinates has 2 axes, points and coordinates"));
    };
    // In NumPy's words (slow, fast): points in rows, or in columns if there are few rows.
    let in_columns = fast > 6 && (2..=6).contains(&slow);
    let (count, width) = if in_columns { (fast, slow) } else { (slow, fast) };
    if width < 2 || (columns.coordinates.is_none() && width > 6) {
        let allowed = "2 to 6 coordinates of a point can be, in rows or columns; --columns chooses among more";
        return Err(Wrong::field(at, "shape", format!("{slow}x{fast}"), allowed));
    }
    let usual =
        Columns { coordinates: Some((1..=width).map(|column| column.to_string()).collect()), ..columns.clone() };
    let columns = if columns.coordinates.is_none() && columns.attribute.is_none() { &usual } else { columns };
    let found = columns.find(&[], width as usize, at)?;
    let (count, width, bytes_each) = (count as usize, width as usize, kind.bytes() as usize);
    let cells = &bytes[offset as usize..];
    let needed = count as u128 * width as u128 * u128::from(kind.bytes());
    if cells.len() as u128 != needed {
        return Err(Wrong::Length { offset, have: cells.len() as u64, need: needed });
    }
    // In Fortran's order the first index is the fastest.
    let by_point = (order == IndexOrder::C) != in_columns;
    let place = |point: usize, column: usize| {
        bytes_each * if by_point { point * width + column } else { column * count + point }
    };
    let word = |place: usize| {
        let mut wide = [0; 8];
        let own = &cells[place..place + bytes_each];
        match endian {
            Endian::Little => wide[..bytes_each].copy_from_slice(own),
            Endian::Big => own.iter().rev().zip(&mut wide).for_each(|(byte, wide)| *wide = *byte),
        }
        u64::from_le_bytes(wide)
    };
    let mut rows = PointRows::default();
    for point in 0..count {
        for &column in &found.coordinates {
            let place = place(point, column);
            rows.coordinate(FilePlace::Byte(offset + place as u64), number(kind, word(place)))?;
        }
        if let Some(column) = found.attribute {
            let place = place(point, column);
            rows.value(FilePlace::Byte(offset + place as u64), number(kind, word(place)))?;
        }
    }
    rows.points(found.coordinates.len(), found.attribute.map(|column| ((column + 1).to_string(), Some(kind))))
}

fn number(kind: CellType, word: u64) -> f64 {
    kind.number(word)
}
