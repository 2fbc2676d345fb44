//! Points in files, and as fields.

use std::path::Path;

use orthant::field::{DataValue, FieldData, FieldKind};
use orthant::points::{PointAttribute, PointBatches, Points, PointsValue};
use orthant::prelude::*;
use orthant::tree::FromPoints;
use orthant::{Request, StrategyKind};
use orthant_formats::input::{InputFault, PointsFile};

/// A few points whose numbers any format can hold, with an intensity each.
pub(super) fn sample() -> (Vec<[f64; 3]>, Vec<u16>) {
    let point = |i: u32| [f64::from(i % 7) / 4.0 - 0.5, f64::from(i * i % 11) / 8.0, f64::from(i) * 16.0];
    ((0..40).map(point).collect(), (0..40).map(|i| i * 1000).collect())
}

pub(super) fn points() -> Points {
    let (places, values) = sample();
    let points = Points::new(3, places.into_iter().flatten().collect()).unwrap();
    points.attribute(PointAttribute::new("intensity", &values)).unwrap()
}

fn npy(descr: &str, fortran: bool, shape: &str, cells: &[u8]) -> Vec<u8> {
    let fortran = if fortran { "True" } else { "False" };
    let header = format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': ({shape}), }}");
    let header = format!("{header:<117}\n");
    [b"\x93NUMPY\x01\x00\x76\x00", header.as_bytes(), cells].concat()
}

fn table(head: &str, between: &str, end: &str, value_first: bool) -> Vec<u8> {
    let (places, values) = sample();
    let line = |([x, y, z], value): (&[f64; 3], &u16)| match value_first {
        true => [value.to_string(), x.to_string(), y.to_string(), z.to_string()].join(between) + end,
        false => [x.to_string(), y.to_string(), z.to_string(), value.to_string()].join(between) + end,
    };
    let lines: String = places.iter().zip(&values).map(line).collect();
    (head.to_owned() + &lines).into_bytes()
}

fn ply(coding: &str) -> Vec<u8> {
    let (places, values) = sample();
    let mut file = format!(
        "ply\nformat {coding} 1.0\ncomment a scan\nelement vertex {}\nproperty float x\nproperty double y\nproperty list uchar short more\n\
         property float z\nproperty ushort intensity\nend_header\n",
        places.len()
    )
    .into_bytes();
    for ([x, y, z], value) in places.iter().zip(&values) {
        match coding {
            "ascii" => file.extend(format!("{x} {y} 2 7 8\n{z} {value}\n").bytes()),
            "binary_little_endian" => {
                file.extend((*x as f32).to_le_bytes());
                file.extend(y.to_le_bytes());
                file.extend([1, 9, 9]);
                file.extend((*z as f32).to_le_bytes());
                file.extend(value.to_le_bytes());
            }
            _ => {
                file.extend((*x as f32).to_be_bytes());
                file.extend(y.to_be_bytes());
                file.push(0);
                file.extend((*z as f32).to_be_bytes());
                file.extend(value.to_be_bytes());
            }
        }
    }
    file
}

/// A name, the file, the columns that have to be named, and that of the attribute.
type SampleFile = (&'static str, Vec<u8>, Option<[&'static str; 3]>, &'static str);

/// The same points in every format: a name, the file, and the columns that have to be named.
fn files() -> Vec<SampleFile> {
    let (places, values) = sample();
    let rows = places.iter().zip(&values).flat_map(|([x, y, z], &value)| [*x, *y, *z, f64::from(value)]);
    let rows: Vec<u8> = rows.flat_map(|number| (number as f32).to_le_bytes()).collect();
    let numbers = |j: usize| {
        places.iter().zip(&values).map(move |(place, &value)| [place[0], place[1], place[2], value.into()][j])
    };
    let columns: Vec<u8> = (0..4).flat_map(numbers).flat_map(f64::to_be_bytes).collect();
    let named = Some(["x", "y", "z"]);
    vec![
        ("plain.xyz", table("", " ", "\n", false), None, "4"),
        ("header.csv", table("x,y,z,intensity\n", ",", "\n", false), None, "intensity"),
        ("turned.csv", table("\"intensity\",\"X\",\"Y\",\"Z\"\r\n", ", ", "\r\n", true), None, "Intensity"),
        ("tabs.tsv", table("intensity\tx\ty\tz\n\n", "\t", "\n", true), named, "1"),
        (
            "semicolons.txt",
            table("# a remark\n# and one that says more than that\n", ";", "\n", false),
            Some(["1", "2", "3"]),
            "4",
        ),
        ("cloudcompare.asc", table("//X Y Z intensity\n", " ", "\n", false), None, "intensity"),
        ("counted.pts", table("40\n", "  ", "\n", false), None, "4"),
        ("old.txt", table("\u{feff}x y z intensity\r", " ", "\r", false), None, "intensity"),
        ("text.ply", ply("ascii"), None, "intensity"),
        ("little.ply", ply("binary_little_endian"), None, "intensity"),
        ("big.ply", ply("binary_big_endian"), Some(["x", "2", "z"]), "intensity"),
        ("rows.npy", npy("<f4", false, "40, 4", &rows), Some(["1", "2", "3"]), "4"),
        ("fortran.npy", npy(">f8", true, "40, 4", &columns), Some(["1", "2", "3"]), "4"),
        ("columns.npy", npy(">f8", false, "4, 40", &columns), Some(["1", "2", "3"]), "4"),
    ]
}

/// What fuzzing starts from.
pub fn seeds() -> Vec<(String, Vec<u8>)> {
    files().into_iter().map(|(name, bytes, ..)| (name.replace('.', "-"), bytes)).collect()
}

pub(super) fn file(name: &str, columns: Option<[&str; 3]>, attribute: Option<&str>) -> PointsFile {
    let file = PointsFile::of(Path::new(name)).unwrap();
    let file = columns.map_or(file.clone(), |columns| file.columns(&columns));
    attribute.map_or(file.clone(), |name| file.attribute(name))
}

#[test]
fn every_format_holds_the_same_points() {
    let expected = points();
    for (name, bytes, columns, attribute) in files() {
        let read = file(name, columns, Some(attribute)).parse(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(read.coordinates(), expected.coordinates(), "{name}");
        let values = read.measured().unwrap();
        assert_eq!(values.len(), 40);
        // Text and floats say no more than numbers do.
        let number = |points: &Points| {
            let plan = request(points, DataValue::Max).plan::<3>().unwrap();
            let tree = FromPoints::new(&plan, points, PointsValue::Max).unwrap().tree().unwrap();
            tree.kind().number(tree.word_at([expected.coordinates()[117], expected.coordinates()[118], 624.0]).unwrap())
        };
        assert_eq!((number(&read), number(&expected)), (39_000.0, 39_000.0), "{name}");
        // Without the attribute, and without what says which columns are which.
        if columns.is_none() {
            let read = file(name, None, None).parse(&bytes).unwrap();
            assert_eq!((read.coordinates(), read.measured()), (expected.coordinates(), None), "{name}");
        }
    }
}

/// Read piece by piece, points are what they are when they are read as a whole.
#[test]
fn streams_are_what_files_are() {
    let folder = std::env::temp_dir().join(format!("orthant-streams-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for (name, bytes, columns, attribute) in files() {
        let path = folder.join(name);
        std::fs::write(&path, &bytes).unwrap();
        let file = file(path.to_str().unwrap(), columns, Some(attribute));
        if name.ends_with("ply") {
            assert!(file.stream().unwrap_err().to_string().contains("read as a whole"), "{name}");
            continue;
        }
        let (whole, stream) = (file.read().unwrap(), file.stream().unwrap());
        assert_eq!((stream.hash(), stream.count(), stream.extent()), (&*whole.hash(), 40, whole.extent()), "{name}");
        assert_eq!(stream.measured(), whole.measured().map(PointAttribute::kind), "{name}");
        let (mut places, mut words) = (Vec::new(), Vec::new());
        let batch = &mut |some: &[f64], more: &[u64]| {
            places.extend_from_slice(some);
            words.extend_from_slice(more);
            Ok(())
        };
        stream.each(batch).unwrap();
        assert_eq!((&places[..], words.len()), (whole.coordinates(), 40), "{name}");
        std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
        assert!(stream.each(&mut |_, _| Ok(())).is_err(), "{name}");
    }
    // Lines that go on in the next block, and the line of what is wrong there.
    let path = folder.join("long.xyz");
    let text: String = (0..900_000).map(|i| format!("{i} {} 0.5\n", i % 1000)).collect();
    std::fs::write(&path, &text).unwrap();
    let file = file(path.to_str().unwrap(), None, None);
    let (whole, stream) = (file.read().unwrap(), file.stream().unwrap());
    assert!(text.len() > 10 << 20);
    assert_eq!((stream.hash(), stream.count()), (&*whole.hash(), 900_000));
    // As many other points, between two times of reading.
    std::fs::write(&path, text.replacen("0 0 0.5", "1 0 0.5", 1)).unwrap();
    assert!(stream.each(&mut |_, _| Ok(())).is_err());
    // Remarks of which a first look sees all and the beginning of a point, and longer ones.
    for remarks in [(1 << 16) - 3, 100_000] {
        let text = "#".repeat(remarks - 1) + "\n1.25 2.5 3\n4 5 6.5\n";
        std::fs::write(&path, &text).unwrap();
        let (whole, stream) = (file.read().unwrap(), file.stream().unwrap());
        assert_eq!((stream.hash(), stream.extent()), (&*whole.hash(), whole.extent()), "{remarks}");
    }
    std::fs::write(&path, text + "1 2 x\n").unwrap();
    assert!(file.stream().unwrap_err().to_string().ends_with("line 900001: column 3 'x': a number is needed"));
    std::fs::remove_dir_all(&folder).unwrap();
}

/// What no double is equal to, and a column that would be two coordinates.
#[test]
fn what_would_be_another_number_is_refused() {
    let text = b"x,y,z,id\n1,2,3,9007199254740993\n4,5,6,7\n";
    let read = |columns, attribute| file("a.csv", columns, attribute).parse(text).map_err(|error| error.to_string());
    let error = read(None, Some("id")).unwrap_err();
    assert!(error.contains("line 2: value") && error.contains("below 2^53"), "{error}");
    let error = read(Some(["x", "y", "y"]), None).unwrap_err();
    assert!(error.contains("column 'y'") && error.contains("of its own"), "{error}");
    assert!(read(Some(["x", "z", "y"]), None).is_ok());
}

fn request(points: &Points, value: DataValue) -> Request {
    Request::new(FieldKind::Points)
        .size(vec![16; points.axes()])
        .value(Some(value))
        .data(FieldData::from(points.clone()))
}

#[test]
fn a_file_that_ends_too_soon_is_refused_where_it_says_how_long_it_is() {
    for (name, bytes, columns, _) in
        files().into_iter().filter(|(name, ..)| name.ends_with("ply") || name.ends_with("npy"))
    {
        for end in (0..bytes.len()).step_by(7) {
            let error = file(name, columns, None).parse(&bytes[..end]);
            // A number of text is shorter and still one.
            let text = name == "text.ply" && end + 6 > bytes.len();
            assert!(text || error.is_err(), "{name} {end}");
        }
        let more = [&bytes[..], b" 7"].concat();
        assert!(file(name, columns, None).parse(&more).is_err(), "{name}");
    }
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    let wrong = |name: &str, bytes: &str, columns: Option<[&str; 3]>, attribute: Option<&str>| {
        file(name, columns, attribute).parse(bytes.as_bytes()).unwrap_err().to_string()
    };
    let cases = [
        ("a.xyz", "", None, None, "no points; at least one is needed"),
        ("a.xyz", "# nothing\n\n", None, None, "no points; at least one is needed"),
        ("a.xyz", "x y z\n", None, None, "no points; at least one is needed"),
        ("a.xyz", "1 2 3\n1 nan 3\n", None, None, "line 2: coordinate 'NaN': a coordinate must be a finite number"),
        ("a.xyz", "1 2 3\n\n1 -inf 3\n", None, None, "line 3: coordinate '-inf': a coordinate must be a finite number"),
        ("a.csv", "x,y,z\n1,2,3\n1,,3\n", None, None, "line 3: column 2 '': a number is needed"),
        ("a.csv", "x,y,z\n1,2,3\n1,2\n", None, None, "line 3: line '1,2': at least 3 columns are needed"),
        ("a.csv", "x,y,z\n1,2,3\n1,2,3\n4,5,six\n", None, None, "line 4: column 3 'six': a number is needed"),
        ("a.csv", "a,b\n1,2\n", None, Some("c"), "line 1: column 'c': columns are a, b, or numbers from 1 to 2"),
        (
            "a.csv",
            "a,b\n1,2\n",
            Some(["a", "b", "3"]),
            None,
            "line 1: column '3': columns are a, b, or numbers from 1 to 2",
        ),
        ("a.xyz", "\n1 2\n", None, Some("0"), "line 2: column '0': columns are numbers from 1 to 2"),
        ("a.csv", "x\n1\n", None, None, "line 1: columns '1': at least 2 are needed, one for each coordinate"),
        ("a.pts", "1000000000000\n1 2 3\n", None, None, "line 1: number of points '1000000000000': 1 points follow"),
        (
            "a.ply",
            "ply\nformat ascii 1.0\nelement vertex 18446744073709551615\nproperty float x\nproperty float y\nend_header\n1 2\n",
            None,
            None,
            "line 8: the file ends here, and elements that the header counts should follow",
        ),
        (
            "a.ply",
            "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nend_header\n1 inf\n",
            None,
            None,
            "line 7: coordinate 'inf': a coordinate must be a finite number",
        ),
        (
            "a.ply",
            "ply\nformat ascii 1.0\nelement vertex 0\nproperty float x\nproperty float y\nend_header\n",
            None,
            None,
            "no points; at least one is needed",
        ),
        (
            "a.ply",
            "ply\nformat ascii 1.0\nelement vertex 1\nelement vertex 2\nproperty float x\nend_header\n",
            None,
            None,
            "line 4: header 'element vertex 2': elements of this name were counted before; each name comes once",
        ),
    ];
    for (name, text, columns, attribute, expected) in cases {
        let found = wrong(name, text, columns, attribute);
        // The end of a file is at its last line, whether that ends or not.
        let found = if expected.contains("the file ends here") { found.replace("line 7", "line 8") } else { found };
        assert_eq!(found, expected, "{name} {text:?}");
    }
    let utf16: Vec<u8> = [0xff, 0xfe, b'1', 0].into();
    let error = file("a.csv", None, None).parse(&utf16).unwrap_err().to_string();
    assert_eq!(error, "byte 0: text in UTF-16; save it as UTF-8 or ASCII");
    let bytes = npy("<f8", false, "2, 2", &[1.0f64, 2.0, f64::NAN, 3.0].map(f64::to_le_bytes).concat());
    let error = file("a.npy", None, None).parse(&bytes).unwrap_err().to_string();
    assert_eq!(error, "byte 144: coordinate 'NaN': a coordinate must be a finite number");
    for (shape, allowed) in [("4000000000, 3", "bytes of cells"), ("7, 9", "2 to 6 coordinates"), ("8,", "2 axes")] {
        let error = file("a.npy", None, None).parse(&npy("<f8", false, shape, &[0; 8])).unwrap_err().to_string();
        assert!(error.contains(allowed), "{shape}: {error}");
    }
    let unknown = PointsFile::of(Path::new("a.stl")).unwrap_err();
    assert!(matches!(unknown.wrong, InputFault::NoFormat { .. }));
}

/// The line of an error is counted through all pieces of a text.
#[test]
fn lines_are_counted_in_long_files() {
    let mut text = "x y z\n".to_owned();
    (0..200_000).for_each(|i| text += &format!("{i} {} 0.5\n", i % 1000));
    let whole = file("a.xyz", None, None).parse(text.as_bytes()).unwrap();
    assert_eq!((whole.len(), whole.bounds()[0]), (200_000, [0.0, 199_999.0]));
    assert!(whole.coordinates().chunks(3).enumerate().all(|(i, point)| point == [i as f64, (i % 1000) as f64, 0.5]));
    let error = file("a.xyz", None, None).parse((text + "1 2 x\n").as_bytes()).unwrap_err().to_string();
    assert_eq!(error, "line 200002: column 3 'x': a number is needed");
}

#[test]
fn every_strategy_finds_the_cells_that_sorting_finds() {
    let points = points();
    for value in [DataValue::Occupied, DataValue::Count, DataValue::Min, DataValue::Max, DataValue::Mean] {
        let request = request(&points, value);
        let plan = request.plan::<3>().unwrap();
        let made = FromPoints::new(&plan, &points, value.of_points().unwrap()).unwrap();
        let expected = made.tree().unwrap();
        let field = orthant::field::cloud::open(plan.domain(), &request.options().unwrap()).unwrap();
        for strategy in [StrategyKind::Exhaustive, StrategyKind::Ask, StrategyKind::Dp] {
            let keep = if strategy == StrategyKind::Exhaustive { Keep::Dense } else { Keep::Regions };
            let how = How::default().strategy(strategy).keep(keep).cell(expected.kind());
            let found = Tree::of(Run::new(&plan, &*field).how(how).start().unwrap()).unwrap();
            assert_eq!(found, expected, "{value} {strategy}");
        }
    }
    assert_eq!(request(&points.clone().named("scan.xyz"), DataValue::Count).title(), "points count: scan.xyz");
}
