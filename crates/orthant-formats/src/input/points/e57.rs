//! E57, by the crate `e57`.
//!
//! A reader of others' code, as that of LAS: a panic in it is an error here, and counts are compared with the file before anything is read.
//! All scans of a file are read, each moved to where its pose puts it. Points that the file marks as not measured are left out and counted.

use std::io::Cursor;

use e57::{E57Reader, PointCloud, RecordDataType, RecordName, RecordValue};

use crate::input::error::{FilePlace, InputFault};
use crate::input::points::columns::PointColumns;
use crate::input::points::foreign::{damaged, guarded};
use crate::input::points::rows::{PointRows, exact};
use orthant::CellType;
use orthant::points::{Points, PointsError};

/// The points of a file.
pub(super) fn parse(bytes: &[u8], columns: &PointColumns) -> Result<Points, InputFault> {
    guarded(|| read(bytes, columns))
}

fn read(bytes: &[u8], columns: &PointColumns) -> Result<Points, InputFault> {
    if !bytes.starts_with(b"ASTM-E57") {
        return Err(damaged(0, "no E57 file, which begins with ASTM-E57"));
    }
    let mut file = E57Reader::new(Cursor::new(bytes)).map_err(|error| damaged(0, error))?;
    let scans = file.pointclouds();
    let Some(first) = scans.iter().find(|scan| scan.records > 0) else { return Err(PointsError::None.into()) };
    let names: Vec<String> = AXES.iter().map(|axis| (*axis).to_owned()).chain(measures(first)).collect();
    let found = columns.find(&names, names.len(), FilePlace::Byte(first.file_offset))?;
    let mut rows = PointRows::default();
    let (mut left_out, mut kinds) = (0, Vec::new());
    for (number, scan) in scans.iter().enumerate().filter(|(_, scan)| scan.records > 0) {
        check(number, scan, bytes.len())?;
        let at = FilePlace::Byte(scan.file_offset);
        let layout = ScanLayout::new(number, scan)?;
        let of = |column: usize| layout.column(&names[column], at);
        let coordinates = found.coordinates.iter().map(|&column| of(column)).collect::<Result<Vec<_>, _>>()?;
        let attribute = found.attribute.map(of).transpose()?;
        kinds.push(attribute.and_then(|column| layout.kind(column)));
        let in_scan = |error: e57::Error| damaged(scan.file_offset, format!("scan {number}: {error}"));
        for point in file.pointcloud_raw(scan).map_err(in_scan)? {
            let point = ScanPoint { layout: &layout, values: &point.map_err(in_scan)? };
            let Some(place) = point.place(at)? else {
                left_out += 1;
                continue;
            };
            // All that is read of a point, before any of it is kept.
            let number = |column: &Column| point.number(*column, place, at);
            let numbers = coordinates.iter().chain(&attribute).map(number).collect::<Result<Vec<_>, _>>()?;
            let Some(numbers) = numbers.into_iter().collect::<Option<Vec<f64>>>() else {
                left_out += 1;
                continue;
            };
            let (coordinates, value) = numbers.split_at(coordinates.len());
            coordinates.iter().try_for_each(|&coordinate| rows.coordinate(at, coordinate))?;
            value.iter().try_for_each(|&value| rows.value(at, value))?;
        }
    }
    // A type that all scans have; else the narrowest that holds all values.
    let kind = kinds.first().copied().flatten().filter(|kind| kinds.iter().all(|other| *other == Some(*kind)));
    let attribute = found.attribute.map(|column| (names[column].clone(), kind));
    Ok(rows.points(found.coordinates.len(), attribute)?.leaving_out(left_out))
}

/// Coordinates, after the pose of the scan.
const AXES: [&str; 3] = ["x", "y", "z"];

/// Refuses counts that the file cannot hold: a record of no bits says nothing of how many there are.
fn check(number: usize, scan: &PointCloud, bytes: usize) -> Result<(), InputFault> {
    let bits: u64 = scan.prototype.iter().map(|record| bits(&record.data_type)).sum();
    let what = match u128::from(scan.records) * u128::from(bits) {
        0 => format!("scan {number}: {} points of no bits, which could be any number", scan.records),
        all if all > 8 * bytes as u128 => {
            format!(
                "scan {number}: {} points of {bits} bits should follow, and the file has {bytes} bytes",
                scan.records
            )
        }
        _ => return Ok(()),
    };
    Err(damaged(scan.file_offset, what))
}

/// The bits that a value takes.
fn bits(kind: &RecordDataType) -> u64 {
    match *kind {
        RecordDataType::Single { .. } => 32,
        RecordDataType::Double { .. } => 64,
        RecordDataType::ScaledInteger { min, max, .. } | RecordDataType::Integer { min, max } => {
            u64::from(64 - (max as u64).wrapping_sub(min as u64).leading_zeros())
        }
    }
}

/// The names of what a scan measures: all that is no coordinate and no flag.
fn measures(scan: &PointCloud) -> impl Iterator<Item = String> {
    scan.prototype.iter().filter_map(|record| measure(&record.name))
}

fn measure(name: &RecordName) -> Option<String> {
    Some(match name {
        RecordName::Intensity => "intensity".into(),
        RecordName::ColorRed => "red".into(),
        RecordName::ColorGreen => "green".into(),
        RecordName::ColorBlue => "blue".into(),
        RecordName::RowIndex => "row".into(),
        RecordName::ColumnIndex => "column".into(),
        RecordName::ReturnCount => "return_count".into(),
        RecordName::ReturnIndex => "return_index".into(),
        RecordName::TimeStamp => "time".into(),
        RecordName::Unknown { name, .. } => name.clone(),
        _ => return None,
    })
}

/// Where a column comes from: an axis of the point's place, or a record and perhaps the flag that says if it is invalid.
#[derive(Debug, Clone, Copy)]
enum Column {
    Axis(usize),
    Record { at: usize, invalid: Option<usize> },
}

/// What the values of a point of a scan are.
struct ScanLayout<'a> {
    scan: &'a PointCloud,
    number: usize,
    /// x, y, z, and the flag that says if they are invalid.
    cartesian: Option<([usize; 3], Option<usize>)>,
    /// Range, azimuth and elevation, and their flag.
    spherical: Option<([usize; 3], Option<usize>)>,
    pose: Pose,
}

impl<'a> ScanLayout<'a> {
    fn new(number: usize, scan: &'a PointCloud) -> Result<Self, InputFault> {
        let find = |name: RecordName| scan.prototype.iter().position(|record| record.name == name);
        let all = |[a, b, c]: [RecordName; 3], invalid| Some(([find(a)?, find(b)?, find(c)?], find(invalid)));
        let cartesian = all(
            [RecordName::CartesianX, RecordName::CartesianY, RecordName::CartesianZ],
            RecordName::CartesianInvalidState,
        );
        let spherical = all(
            [RecordName::SphericalRange, RecordName::SphericalAzimuth, RecordName::SphericalElevation],
            RecordName::SphericalInvalidState,
        );
        let pose = Pose::of(scan)
            .ok_or_else(|| damaged(scan.file_offset, format!("scan {number}: its rotation is 0 or not finite")))?;
        Ok(Self { scan, number, cartesian, spherical, pose })
    }

    fn column(&self, name: &str, at: FilePlace) -> Result<Column, InputFault> {
        if let Some(axis) = AXES.iter().position(|axis| *axis == name) {
            return Ok(Column::Axis(axis));
        }
        let prototype = &self.scan.prototype;
        let place = prototype.iter().position(|record| measure(&record.name).as_deref() == Some(name));
        let place = place.ok_or_else(|| {
            let allowed = format!("scan {} has no such number; every scan of the file needs it", self.number);
            InputFault::field(at, "column", name, allowed)
        })?;
        let flag = match prototype[place].name {
            RecordName::Intensity => Some(RecordName::IsIntensityInvalid),
            RecordName::ColorRed | RecordName::ColorGreen | RecordName::ColorBlue => Some(RecordName::IsColorInvalid),
            RecordName::TimeStamp => Some(RecordName::IsTimeStampInvalid),
            _ => None,
        };
        let invalid = flag.and_then(|flag| prototype.iter().position(|record| record.name == flag));
        Ok(Column::Record { at: place, invalid })
    }

    /// The type of a column whose numbers have one that a cell can have.
    fn kind(&self, column: Column) -> Option<CellType> {
        match column {
            Column::Axis(_) => Some(CellType::F64),
            Column::Record { at, .. } => match self.scan.prototype[at].data_type {
                RecordDataType::Single { .. } => Some(CellType::F32),
                RecordDataType::Double { .. } | RecordDataType::ScaledInteger { .. } => Some(CellType::F64),
                RecordDataType::Integer { .. } => None,
            },
        }
    }
}

/// A point as it is read.
struct ScanPoint<'a> {
    layout: &'a ScanLayout<'a>,
    values: &'a [RecordValue],
}

impl ScanPoint<'_> {
    fn value(&self, record: usize, at: FilePlace) -> Result<f64, InputFault> {
        let kind = &self.layout.scan.prototype[record].data_type;
        let value = self.values[record].to_f64(kind);
        let value = value.map_err(|error| InputFault::Damaged { at, what: error.to_string() })?;
        exact(at, value, matches!(kind, RecordDataType::Integer { .. }))?;
        Ok(value)
    }

    /// The state that a flag says: 0 is valid. What has no flag is.
    fn valid(&self, flag: Option<usize>, at: FilePlace) -> Result<bool, InputFault> {
        let Some(flag) = flag else { return Ok(true) };
        match self.value(flag, at)? {
            0.0 => Ok(true),
            1.0 | 2.0 => Ok(false),
            other => Err(InputFault::field(at, "invalid state", other, "0, 1 and 2 can be")),
        }
    }

    /// Where the point lies, after the scan's pose; None if the file does not say.
    fn place(&self, at: FilePlace) -> Result<Option<[f64; 3]>, InputFault> {
        let numbers =
            |[a, b, c]: [usize; 3]| Ok::<_, InputFault>([self.value(a, at)?, self.value(b, at)?, self.value(c, at)?]);
        if let Some((records, flag)) = self.layout.cartesian
            && self.valid(flag, at)?
        {
            return Ok(Some(self.layout.pose.of_point(numbers(records)?)));
        }
        if let Some((records, flag)) = self.layout.spherical
            && self.valid(flag, at)?
        {
            let [range, azimuth, elevation] = numbers(records)?;
            let flat = range * elevation.cos();
            let place = [flat * azimuth.cos(), flat * azimuth.sin(), range * elevation.sin()];
            return Ok(Some(self.layout.pose.of_point(place)));
        }
        Ok(None)
    }

    /// The number of a column; None if the file says that it is invalid.
    fn number(&self, column: Column, place: [f64; 3], at: FilePlace) -> Result<Option<f64>, InputFault> {
        match column {
            Column::Axis(axis) => Ok(Some(place[axis])),
            Column::Record { at: record, invalid } => match self.valid(invalid, at)? {
                true => self.value(record, at).map(Some),
                false => Ok(None),
            },
        }
    }
}

/// Where a scan stands: a rotation, as the vector and the scalar of a quaternion of length 1, and then a translation.
struct Pose {
    vector: [f64; 3],
    scalar: f64,
    translation: [f64; 3],
}

impl Pose {
    /// None if the rotation is none.
    fn of(scan: &PointCloud) -> Option<Self> {
        let transform = scan.transform.clone().unwrap_or_default();
        let (q, t) = (transform.rotation, transform.translation);
        let length = (q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z).sqrt();
        if !length.is_normal() {
            return None;
        }
        let vector = [q.x, q.y, q.z].map(|part| part / length);
        Some(Self { vector, scalar: q.w / length, translation: [t.x, t.y, t.z] })
    }

    fn of_point(&self, p: [f64; 3]) -> [f64; 3] {
        let cross = |a: [f64; 3], b: [f64; 3]| {
            [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
        };
        let once = cross(self.vector, p);
        let twice = cross(self.vector, once);
        [0, 1, 2].map(|j| p[j] + 2.0 * (self.scalar * once[j] + twice[j]) + self.translation[j])
    }
}
