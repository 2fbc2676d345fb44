//! LAS and LAZ, by the crate `las`.
//!
//! A reader of others' code: a panic in it is an error here, and counts are compared with the file before anything is read.

use std::io::Cursor;

use las::{PointData, PointDataBuilder, Reader};

use crate::input::error::{FilePlace, InputFault};
use crate::input::points::columns::PointColumns;
use crate::input::points::foreign::{damaged, guarded};
use crate::input::points::rows::PointRows;
use orthant::CellType;
use orthant::points::{Points, PointsError};

/// Points that are read at a time.
const TOGETHER: u64 = 1 << 16;

/// What each point has, in the order of columns; colours and times are there in some formats only.
const NAMES: [(&str, CellType); 15] = [
    ("x", CellType::F64),
    ("y", CellType::F64),
    ("z", CellType::F64),
    ("intensity", CellType::U16),
    ("classification", CellType::U8),
    ("return_number", CellType::U8),
    ("number_of_returns", CellType::U8),
    ("scan_angle", CellType::F32),
    ("user_data", CellType::U8),
    ("point_source_id", CellType::U16),
    ("gps_time", CellType::F64),
    ("red", CellType::U16),
    ("green", CellType::U16),
    ("blue", CellType::U16),
    ("nir", CellType::U16),
];

/// The points of a file.
pub(super) fn parse(bytes: &[u8], columns: &PointColumns) -> Result<Points, InputFault> {
    guarded(|| read(bytes, columns))
}

fn read(bytes: &[u8], columns: &PointColumns) -> Result<Points, InputFault> {
    if !bytes.starts_with(b"LASF") {
        return Err(damaged(0, "no LAS or LAZ file, which begins with LASF"));
    }
    let mut reader = Reader::new(Cursor::new(bytes.to_vec())).map_err(|error| damaged(0, error))?;
    let header = reader.header();
    let (count, format) = (header.number_of_points(), *header.point_format());
    let record = u64::from(format.len());
    // Where points begin, as every version of the header has it.
    let begin =
        bytes.get(96..100).map_or(0, |word| u64::from(u32::from_le_bytes([word[0], word[1], word[2], word[3]])));
    let rest = (bytes.len() as u64).saturating_sub(begin);
    if !format.is_compressed && u128::from(count) * u128::from(record) > rest.into() {
        return Err(damaged(begin, format!("{count} points of {record} bytes should follow, and {rest} bytes do")));
    }
    if count == 0 {
        return Err(PointsError::None.into());
    }
    let names: Vec<String> = NAMES.iter().map(|(name, _)| (*name).to_owned()).collect();
    let found = columns.find(&names, names.len(), FilePlace::Byte(begin))?;
    let mut rows = PointRows::default();
    let mut data = PointDataBuilder::new().for_header(header).build();
    let mut done = 0;
    while done < count {
        let at = begin + if format.is_compressed { 0 } else { done * record };
        let read = reader
            .fill_points(TOGETHER.min(count - done), &mut data)
            .map_err(|error| damaged(at, format!("after point {done} of {count}: {error}")))?;
        if read == 0 {
            return Err(damaged(at, format!("{count} points should follow, and {done} do")));
        }
        let place = FilePlace::Byte(at);
        let of = |column: usize| {
            numbers(&data, column).ok_or_else(|| {
                let allowed = "points of this file have no such number";
                InputFault::field(FilePlace::Byte(begin), "column", NAMES[column].0, allowed)
            })
        };
        let coordinates = found.coordinates.iter().map(|&column| of(column)).collect::<Result<Vec<_>, _>>()?;
        for point in 0..read as usize {
            coordinates.iter().try_for_each(|column| rows.coordinate(place, column[point]))?;
        }
        if let Some(column) = found.attribute {
            of(column)?.into_iter().try_for_each(|value| rows.value(place, value))?;
        }
        done += read;
    }
    let attribute = found.attribute.map(|column| (NAMES[column].0.to_owned(), Some(NAMES[column].1)));
    rows.points(found.coordinates.len(), attribute)
}

/// A number of each point; None if they have none of this kind.
fn numbers(data: &PointData, column: usize) -> Option<Vec<f64>> {
    Some(match NAMES[column].0 {
        "x" => data.x().collect(),
        "y" => data.y().collect(),
        "z" => data.z().collect(),
        "intensity" => data.intensity().map(f64::from).collect(),
        "classification" => data.classification().map(f64::from).collect(),
        "return_number" => data.return_number().map(f64::from).collect(),
        "number_of_returns" => data.number_of_returns().map(f64::from).collect(),
        "scan_angle" => data.scan_angle_degrees().map(f64::from).collect(),
        "user_data" => data.user_data().map(f64::from).collect(),
        "point_source_id" => data.point_source_id().map(f64::from).collect(),
        "gps_time" => data.gps_time()?.collect(),
        "red" => data.rgb()?.map(|(red, _, _)| f64::from(red)).collect(),
        "green" => data.rgb()?.map(|(_, green, _)| f64::from(green)).collect(),
        "blue" => data.rgb()?.map(|(_, _, blue)| f64::from(blue)).collect(),
        _ => data.nir()?.map(f64::from).collect(),
    })
}
