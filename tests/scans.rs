//! Scans: points in files of E57, LAS and LAZ.

use e57::{E57Writer, Quaternion, Record, RecordDataType, RecordName, RecordValue, Transform, Translation};
use orthant::points::PointAttribute;

use crate::points::file;

/// A file of two scans: one that is turned by a quarter about z and moved, in which some points and some intensities are marked as invalid,
/// and one with ranges and angles.
fn e57_scans() -> Vec<u8> {
    let double = |name| Record { name, data_type: RecordDataType::Double { min: None, max: None } };
    let whole = |name, max| Record { name, data_type: RecordDataType::Integer { min: 0, max } };
    let mut file = std::io::Cursor::new(Vec::new());
    let mut writer = E57Writer::new(&mut file, "a file").unwrap();
    let prototype = vec![
        double(RecordName::CartesianX),
        double(RecordName::CartesianY),
        double(RecordName::CartesianZ),
        whole(RecordName::CartesianInvalidState, 2),
        whole(RecordName::Intensity, 1000),
        whole(RecordName::IsIntensityInvalid, 1),
    ];
    let mut scan = writer.add_pointcloud("a scan", prototype).unwrap();
    let half = 0.5f64.sqrt();
    scan.set_transform(Some(Transform {
        rotation: Quaternion { w: half, x: 0.0, y: 0.0, z: half },
        translation: Translation { x: 10.0, y: 20.0, z: 30.0 },
    }));
    for i in 0..200i64 {
        let place = [i as f64 * 0.5, 1.0, -2.0].map(RecordValue::Double);
        let flags = [i % 3 * i64::from(i % 5 == 0), i, i64::from(i % 7 == 0)].map(RecordValue::Integer);
        scan.add_point(place.into_iter().chain(flags).collect()).unwrap();
    }
    scan.finalize().unwrap();
    let spherical = [RecordName::SphericalRange, RecordName::SphericalAzimuth, RecordName::SphericalElevation];
    let prototype = spherical.map(double).into_iter().chain([whole(RecordName::Intensity, 1000)]).collect();
    let mut scan = writer.add_pointcloud("another", prototype).unwrap();
    for i in 0..50i64 {
        let place = [2.0, i as f64 * 0.1, 0.25].map(RecordValue::Double);
        scan.add_point(place.into_iter().chain([RecordValue::Integer(i)]).collect()).unwrap();
    }
    scan.finalize().unwrap();
    writer.finalize().unwrap();
    drop(writer);
    file.into_inner()
}

/// The same with the checksums of its pages as they have to be.
fn mended(mut pages: Vec<u8>) -> Vec<u8> {
    for page in pages.chunks_exact_mut(1024) {
        let checksum = crc32c::crc32c(&page[..1020]).to_be_bytes();
        page[1020..].copy_from_slice(&checksum);
    }
    pages
}

#[test]
fn e57_holds_scans_where_their_poses_put_them() {
    let bytes = e57_scans();
    assert_eq!(mended(bytes.clone()), bytes);
    let read = file("a.e57", None, None).parse(&bytes).unwrap();
    let kept: Vec<i64> = (0..200).filter(|i| i % 5 != 0 || i % 3 == 0).collect();
    assert_eq!((read.len(), read.left_out()), (kept.len() + 50, 200 - kept.len() as u64));
    // A quarter turn takes x to y and y to -x.
    let first = kept.iter().map(|&i| [10.0 - 1.0, 20.0 + i as f64 * 0.5, 28.0]);
    let flat = 2.0 * 0.25f64.cos();
    let second =
        (0..50).map(|i| f64::from(i) * 0.1).map(|turn| [flat * turn.cos(), flat * turn.sin(), 2.0 * 0.25f64.sin()]);
    for (place, expected) in read.coordinates().chunks(3).zip(first.chain(second)) {
        assert!(place.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{place:?} {expected:?}");
    }
    let read = file("a.e57", None, Some("intensity")).parse(&bytes).unwrap();
    let measured: Vec<u64> =
        kept.iter().filter(|&&i| i % 7 != 0).chain(&(0..50).collect::<Vec<_>>()).map(|&i| i as u64).collect();
    let values: Vec<u8> = measured.iter().map(|&i| i as u8).collect();
    assert_eq!(read.measured(), Some(&PointAttribute::new("intensity", &values)));
    assert_eq!(read.left_out(), 250 - values.len() as u64);
    let error = file("a.e57", None, Some("red")).parse(&bytes).unwrap_err().to_string();
    assert!(error.contains("red"), "{error}");
    for end in (0..bytes.len()).step_by(97) {
        assert!(file("a.e57", None, None).parse(&bytes[..end]).is_err(), "{end}");
    }
    // Any byte changed, behind a checksum that is right: a message, or points.
    for at in (0..bytes.len()).step_by(11) {
        for byte in [b'9', 0xff] {
            let mut damaged = bytes.clone();
            damaged[at] = byte;
            let _ = file("a.e57", None, Some("intensity")).parse(&mended(damaged));
        }
    }
    // Counts that the file cannot hold, and points of no bits.
    let text = |from: &str, to: &str| {
        let at = bytes.windows(from.len()).position(|part| part == from.as_bytes()).unwrap();
        let changed = [&bytes[..at], to.as_bytes(), &bytes[at + from.len()..]].concat();
        assert_eq!(changed.len(), bytes.len());
        file("a.e57", None, None).parse(&mended(changed)).unwrap_err().to_string()
    };
    let many = text("recordCount=\"200\"", "recordCount=\"999\"");
    assert!(many.contains("999 points of 205 bits should follow"), "{many}");
    let double = |name| Record { name, data_type: RecordDataType::Double { min: None, max: None } };
    let prototype = [RecordName::CartesianX, RecordName::CartesianY, RecordName::CartesianZ].map(double);
    let mut same = std::io::Cursor::new(Vec::new());
    let mut writer = E57Writer::new(&mut same, "a file").unwrap();
    let mut scan = writer.add_pointcloud("a scan", prototype.to_vec()).unwrap();
    (0..5).for_each(|_| scan.add_point(vec![RecordValue::Double(7.0); 3]).unwrap());
    scan.finalize().unwrap();
    // As whole numbers that are all the same.
    let one = |xml: String, axis| {
        let to = format!("<cartesian{axis} type=\"Integer\" minimum=\"7\" maximum=\"7\"");
        xml.replace(&format!("<cartesian{axis} type=\"Float\""), &to)
    };
    let seven = |xml: String| Ok(["X", "Y", "Z"].into_iter().fold(xml, one));
    writer.finalize_customized_xml(seven).unwrap();
    drop(writer);
    let none = file("a.e57", None, None).parse(&same.into_inner()).unwrap_err().to_string();
    assert!(none.contains("5 points of no bits"), "{none}");
}

/// LAS and LAZ, as the crate that reads them writes them.
#[cfg(feature = "las")]
#[test]
fn las_holds_the_same_points() {
    use std::io::Cursor;
    use std::path::Path;

    use las::{Builder, Point, Transform, Vector, Writer};
    use orthant_formats::input::PointsFile;

    use crate::points::{points, sample};

    let (places, values) = sample();
    let written = |compressed: bool| {
        let mut builder = Builder::from((1, 2));
        builder.point_format = las::point::Format::new(1).unwrap();
        builder.point_format.is_compressed = compressed;
        let transform = Transform { scale: 0.125, offset: 0.0 };
        builder.transforms = Vector { x: transform, y: transform, z: transform };
        let mut writer = Writer::new(Cursor::new(Vec::new()), builder.into_header().unwrap()).unwrap();
        for (i, (&[x, y, z], &intensity)) in places.iter().zip(&values).enumerate() {
            // The crate that compresses counts on times that ascend: others overflow in it.
            let gps_time = Some(1000.0 + i as f64);
            writer.write_point(Point { x, y, z, intensity, gps_time, ..Point::default() }).unwrap();
        }
        writer.into_inner().unwrap().into_inner()
    };
    let expected = points();
    for (name, bytes) in [("a.las", written(false)), ("a.laz", written(true))] {
        let read = file(name, None, Some("intensity")).parse(&bytes).unwrap();
        let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 0.0626;
        assert!(read.coordinates().iter().zip(expected.coordinates()).all(near), "{name}");
        assert_eq!(read.measured(), expected.measured(), "{name}");
        let moving = PointsFile::of(Path::new(name)).unwrap().columns(&["x", "y", "z", "gps_time"]);
        assert_eq!(moving.parse(&bytes).unwrap().axes(), 4);
        let error = file(name, None, Some("red")).parse(&bytes).unwrap_err().to_string();
        assert!(error.contains("column 'red': points of this file have no such number"), "{error}");
        // Cut anywhere, and with any byte of the header and of the first points changed: a message, or points.
        for end in (0..bytes.len()).step_by(5) {
            assert!(file(name, None, None).parse(&bytes[..end]).is_err(), "{name} {end}");
        }
        for at in 0..bytes.len().min(700) {
            for byte in [0, 0x7f, 0xff] {
                let mut damaged = bytes.clone();
                damaged[at] = byte;
                let _ = file(name, None, Some("intensity")).parse(&damaged);
            }
        }
    }
}

#[cfg(not(feature = "las"))]
#[test]
fn without_the_feature_las_says_how_to_get_it() {
    let error = file("a.laz", None, None).parse(b"LASF").unwrap_err().to_string();
    assert!(error.contains("--features las"), "{error}");
}
