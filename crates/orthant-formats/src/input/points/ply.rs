//! The vertices of PLY.

use crate::input::error::InputFault;
use crate::input::ply::{PlyElement, PlyHeader, PlyNumber, PlyNumbers, PlyType};
use crate::input::points::columns::PointColumns;
use crate::input::points::rows::PointRows;
use orthant::CellType;
use orthant::points::{Points, PointsError};

/// The points, and how many faces were passed.
pub(super) fn parse(bytes: &[u8], columns: &PointColumns) -> Result<(Points, u64), InputFault> {
    let header = PlyHeader::of(bytes)?;
    let mut numbers = PlyNumbers::new(bytes, &header);
    let (mut points, mut faces) = (None, 0);
    for element in header.elements.iter().filter(|element| !element.properties.is_empty()) {
        match &element.name[..] {
            b"vertex" => points = Some(vertices(element, columns, &mut numbers)?),
            name => {
                faces += if name == b"face" { element.count } else { 0 };
                numbers.skip_all(element)?;
            }
        }
    }
    numbers.end()?;
    let points = points.ok_or(PointsError::None)?;
    Ok((points, faces))
}

fn vertices(element: &PlyElement, columns: &PointColumns, numbers: &mut PlyNumbers<'_>) -> Result<Points, InputFault> {
    let properties = &element.properties;
    let names: Vec<String> =
        properties.iter().map(|property| String::from_utf8_lossy(&property.name).into_owned()).collect();
    let found = columns.find(&names, names.len(), element.at)?;
    if let Some(list) =
        found.coordinates.iter().chain(&found.attribute).find(|&&place| properties[place].list.is_some())
    {
        return Err(InputFault::field(
            element.at,
            "property",
            &names[*list],
            "it is a list; a number for each point is needed",
        ));
    }
    // What is done with each property: a place among the coordinates, or the attribute.
    let places: Vec<(Option<usize>, bool)> = (0..properties.len())
        .map(|place| (found.coordinates.iter().position(|&own| own == place), found.attribute == Some(place)))
        .collect();
    let mut rows = PointRows::default();
    let mut point = vec![0.0; found.coordinates.len()];
    for _ in 0..element.count {
        let at = numbers.place();
        for (property, &(coordinate, attribute)) in properties.iter().zip(&places) {
            if coordinate.is_none() && !attribute {
                numbers.skip(property)?;
                continue;
            }
            let value = numbers.next(property.kind).map(PlyNumber::float)?;
            if let Some(place) = coordinate {
                point[place] = value;
            }
            if attribute {
                rows.value(at, value)?;
            }
        }
        point.iter().try_for_each(|&value| rows.coordinate(at, value))?;
    }
    let attribute = found.attribute.map(|place| (names[place].clone(), Some(kind(properties[place].kind))));
    rows.points(point.len(), attribute)
}

fn kind(kind: PlyType) -> CellType {
    match kind {
        PlyType::Integer { bytes: 1, signed: false } => CellType::U8,
        PlyType::Integer { bytes: 1, .. } => CellType::I8,
        PlyType::Integer { bytes: 2, signed: false } => CellType::U16,
        PlyType::Integer { bytes: 2, .. } => CellType::I16,
        PlyType::Integer { signed: false, .. } => CellType::U32,
        PlyType::Integer { .. } => CellType::I32,
        PlyType::Float { bytes: 4 } => CellType::F32,
        PlyType::Float { .. } => CellType::F64,
    }
}
