//! Arrays in files: every type, order of indices and order of bytes, and headers that lie.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use orthant::prelude::*;
use orthant::tree::{BottomUp, Source};
use orthant::{Cell, CellType};
use orthant_formats::input::{ArrayFile, Endian, IndexOrder, InputError, InputFault, Layout};
use proptest::prelude::*;

use crate::patterns::awkward;

/// A file of its own, which goes with the test.
struct Written(PathBuf);

impl Written {
    fn new(name: &str, bytes: &[u8]) -> Self {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("inputs");
        fs::create_dir_all(&folder).unwrap();
        // Tests and cases of tests that share a name share no file.
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = folder.join(format!("{name}-{}-{number}.npy", std::process::id()));
        fs::write(&path, bytes).unwrap();
        Self(path)
    }

    fn npy(&self) -> Result<ArrayFile, InputError> {
        ArrayFile::npy(&self.0)
    }

    fn wrong(&self) -> String {
        self.npy().unwrap_err().wrong.to_string()
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// A file of version 1.0 as NumPy writes it.
fn npy(dictionary: &str, cells: &[u8]) -> Vec<u8> {
    let mut header = dictionary.to_owned();
    header.push_str(&" ".repeat(64 - (10 + header.len() + 1) % 64));
    header.push('\n');
    let length = u16::try_from(header.len()).unwrap().to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), cells].concat()
}

/// A cell's value, which differs from its neighbours'.
fn value<T: Cell>(values: &[T], [x, y, z]: [u32; 3]) -> T {
    values[(x + 2 * y + 3 * z) as usize % values.len()]
}

/// Cells in the order of memory, so that the first index given is the slowest.
fn cells<T: Cell>(order: IndexOrder, endian: Endian) -> Vec<u8> {
    let [nx, ny, nz] = SIZE;
    let values = awkward::<T>();
    let mut bytes = Vec::new();
    let mut put = |cell| {
        let bits = value(&values, cell).word().to_le_bytes();
        let mut bits = bits[..size_of::<T>()].to_vec();
        if endian == Endian::Big {
            bits.reverse();
        }
        bytes.extend(bits);
    };
    match order {
        IndexOrder::C => (0..nz).for_each(|z| (0..ny).for_each(|y| (0..nx).for_each(|x| put([x, y, z])))),
        _ => (0..nx).for_each(|x| (0..ny).for_each(|y| (0..nz).for_each(|z| put([x, y, z])))),
    }
    bytes
}

const SIZE: [u32; 3] = [13, 7, 9];

fn check<T: Cell>(letter: char) {
    let values = awkward::<T>();
    let domain = Domain::new(SIZE, [[0.0, 1.0]; 3], Sample::Corner).unwrap();
    let plan = Plan::new(domain, Scheme::uniform(2, 2, 1), CurveKind::Morton, RuleKind::Full).unwrap();
    for (order, fortran) in [(IndexOrder::C, "False"), (IndexOrder::Fortran, "True")] {
        for (endian, sign) in [(Endian::Little, '<'), (Endian::Big, '>')] {
            let descr = format!("{sign}{letter}{}", size_of::<T>());
            let header = format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': (9, 7, 13), }}");
            let bytes = cells::<T>(order, endian);
            let written = Written::new(&format!("{}-{order}-{endian}", T::TYPE), &npy(&header, &bytes));
            let file = written.npy().unwrap();
            let layout = file.layout().clone();
            assert_eq!((layout.kind, &layout.size[..], layout.order), (T::TYPE, &SIZE[..], order));
            let source = file.source::<3>().unwrap();
            let tree = BottomUp::new(&plan, &source).unwrap().tree().unwrap();
            let dense = tree.array(&domain.region(), None).unwrap();
            let dense = dense.view::<T>().unwrap();
            for cell @ [x, y, z] in domain.region().cells() {
                let (found, expected) = (dense[[z as usize, y as usize, x as usize]], value(&values, cell));
                assert_eq!(found.word(), expected.word(), "{descr} {order} {cell:?}");
            }
            // A box, and the same file as one of cells alone.
            let raw = ArrayFile::raw(&written.0, layout).unwrap();
            let window = Region { corner: [3, 2, 5], extent: [8, 5, 2] };
            let mut read = [vec![0; 80 * size_of::<T>()], vec![0; 80 * size_of::<T>()]];
            source.read(&window, &mut read[0]).unwrap();
            raw.source::<3>().unwrap().read(&window, &mut read[1]).unwrap();
            let expected: Vec<u8> =
                window.cells().flat_map(|cell| bytemuck::bytes_of(&value(&values, cell)).to_vec()).collect();
            assert_eq!(read, [expected.clone(), expected]);
        }
    }
}

#[test]
fn every_type_in_every_order() {
    check::<u8>('u');
    check::<i8>('i');
    check::<u16>('u');
    check::<i16>('i');
    check::<u32>('u');
    check::<i32>('i');
    check::<u64>('u');
    check::<i64>('i');
    check::<f32>('f');
    check::<f64>('f');
}

/// What NumPy, old and new, and others write, and what means the same.
#[test]
fn headers_are_read_as_they_are_written() {
    let headers = [
        "{'descr': '|b1', 'fortran_order': False, 'shape': (2, 3), }",
        "{'shape': (2L, 3L), 'fortran_order': False, 'descr': '|u1'}",
        "{\"descr\":\"=u1\",\"fortran_order\":False,\"shape\":(2,3,)}   ",
        "  { 'descr' : '<u1' , 'shape' : ( 2 , 3 ) , 'fortran_order' : False , } \n\n",
    ];
    for (number, header) in headers.into_iter().enumerate() {
        let written = Written::new(&format!("header-{number}"), &npy(header, &[1, 2, 3, 4, 5, 6]));
        assert_eq!(written.npy().unwrap().layout().size, [3, 2], "{header}");
    }
    let line = Written::new("line", &npy("{'descr': '<f8', 'fortran_order': True, 'shape': (5,), }", &[0; 40]));
    assert_eq!(line.npy().unwrap().layout().size, [5]);
    let asked = line.npy().unwrap().source::<2>().unwrap_err();
    assert!(asked.to_string().ends_with(": an array of 1 axes, where 2 dimensions are asked for"), "{asked}");
    for version in [2, 3] {
        let header = b"{'descr': '|i1', 'fortran_order': False, 'shape': (1, 1, 1, 1, 1, 1, 1, 2), }";
        let length = (header.len() as u32).to_le_bytes();
        let bytes = [b"\x93NUMPY", &[version, 0][..], &length, header, &[7, 8]].concat();
        let written = Written::new(&format!("version-{version}"), &bytes);
        assert_eq!(written.npy().unwrap().layout().size, [2, 1, 1, 1, 1, 1, 1, 1]);
    }
}

#[test]
fn lies_are_refused_where_they_stand() {
    let good = "{'descr': '<u2', 'fortran_order': False, 'shape': (2, 3), }";
    let says = |name: &str, bytes: &[u8]| Written::new(name, bytes).wrong();
    let header = |name: &str, header: &str| says(name, &npy(header, &[0; 12]));
    assert_eq!(says("empty", b""), "byte 0: not a .npy file, which begins with \\x93NUMPY");
    assert_eq!(says("png", b"\x89PNG\r\n\x1a\n and so on"), "byte 0: not a .npy file, which begins with \\x93NUMPY");
    assert!(says("new", b"\x93NUMPY\x04\x00....").starts_with("byte 6: version 4.0 of .npy"));
    assert_eq!(says("short", b"\x93NUMPY\x02\x00\xff\xff"), "byte 8: the header has no length here");
    assert_eq!(
        says("long", b"\x93NUMPY\x02\x00\xff\xff\xff\xff{'descr"),
        "byte 8: a header of 4294967295 bytes; at most 7 can be, from the next on"
    );
    let lines = [
        ("no dictionary", "['descr']", "byte 10: the header has no '{' here"),
        ("number", "{3: 4}", "byte 11: the header has no string here"),
        ("escape", "{'de\\x73cr': '<u2'}", "byte 11: the header has no plain string here"),
        ("open", "{'descr", "byte 11: the header has no plain string here"),
        ("key", "{'descr': '<u2', 'more': 1}", "byte 27: the header says 'more', which is not"),
        ("twice", "{'descr': '<u2', 'descr': '<u2'}", "byte 27: the header says 'descr', which is not"),
        ("missing", "{'descr': '<u2', 'shape': (2, 3)}", "the header has no fortran_order here"),
        ("after", &format!("{good} x"), "byte 70: the header has no end here"),
        ("half", "{'descr': '<f2', 'fortran_order': False, 'shape': (2, 3)}", "byte 20: cells of type '<f2'; b1, i1"),
        ("complex", "{'descr': '<c8'}", "byte 20: cells of type '<c8'; "),
        ("native", "{'descr': '|u2'}", "byte 20: cells of type '|u2'; "),
        ("fields", "{'descr': [('a', '<u2')]}", "byte 20: cells of type '[..]'; "),
        ("object", "{'descr': '|O'}", "byte 20: cells of type '|O'; "),
        ("order", "{'fortran_order': 1}", "byte 28: the header has no True or False here"),
        ("number", "{'shape': 6}", "byte 20: the header has no '(' here"),
        ("brackets", "{'shape': (6)}", "byte 22: the header has no ',' here"),
        ("negative", "{'shape': (-6, 1)}", "byte 21: the header has no whole number here"),
        ("scalar", "{'shape': ()}", "byte 20: 0 axes; between 1 and 8 can be"),
        ("axes", "{'shape': (1,1,1,1,1,1,1,1,1,1)}", "byte 20: 9 axes; between 1 and 8 can be"),
        ("none", "{'shape': (2, 0)}", "byte 24: 0 cells on an axis; between 1 and 4294967295 can be"),
        ("many", "{'shape': (4294967296, 1)}", "byte 21: 4294967296 cells on an axis; "),
        ("huge", "{'shape': (99999999999999999999999, 1)}", "byte 21: 18446744073709551615 cells on an axis; "),
    ];
    for (name, text, expected) in lines {
        let found = header(&name.replace(' ', "-"), text);
        assert!(found.contains(expected), "{text}: {found}");
    }
    // Shapes whose product overflows, and files that are too short or go on.
    let shape =
        "{'descr': '<f8', 'fortran_order': False, 'shape': (4294967295, 4294967295, 4294967295, 4294967295, 9), }";
    assert!(header("overflow", shape).ends_with(&format!("12 bytes of cells, and the shape needs {}", u128::MAX)));
    for length in [0, 11, 13, 24] {
        let found = says("length", &npy(good, &vec![0; length]));
        assert_eq!(found, format!("byte 128: {length} bytes of cells, and the shape needs 12"));
    }
}

#[test]
fn what_is_no_file_is_refused() {
    let folder = ArrayFile::npy(env!("CARGO_TARGET_TMPDIR").as_ref()).unwrap_err();
    assert!(matches!(folder.wrong, InputFault::NoFile), "{folder}");
    let nowhere = ArrayFile::npy("no/such/file.npy".as_ref()).unwrap_err();
    assert!(matches!(nowhere.wrong, InputFault::Io(_)) && nowhere.to_string().starts_with("no/such/file.npy: "));
    // Said once.
    assert!(std::error::Error::source(&nowhere).is_none());
    let written = Written::new("raw", &[0; 12]);
    let layout = |size: &[u32], offset| Layout {
        kind: CellType::U16,
        size: size.to_vec(),
        order: IndexOrder::C,
        endian: Endian::Little,
        offset,
    };
    let raw = |size: &[u32], offset| ArrayFile::raw(&written.0, layout(size, offset)).map_err(|error| error.wrong);
    assert!(raw(&[3, 2], 0).is_ok() && raw(&[5], 2).is_ok());
    assert!(matches!(raw(&[3, 2], 1), Err(InputFault::Length { offset: 1, have: 11, need: 12 })));
    assert!(matches!(raw(&[3, 2], u64::MAX), Err(InputFault::Length { have: 0, .. })));
    assert!(matches!(raw(&[], 0), Err(InputFault::Axes { axes: 0, .. })));
    assert!(matches!(raw(&[3, 0], 0), Err(InputFault::Extent { cells: 0, .. })));
}

/// Another length, or another time, between opening and reading.
#[test]
fn a_file_that_changes_is_an_error() {
    let written =
        Written::new("changes", &npy("{'descr': '|u1', 'fortran_order': False, 'shape': (8, 8), }", &[3; 64]));
    let file = written.npy().unwrap();
    let source = file.source::<2>().unwrap();
    let domain = Domain::new([8; 2], [[0.0, 1.0]; 2], Sample::Corner).unwrap();
    let plan = Plan::new(domain, Scheme::uniform(2, 2, 1), CurveKind::Morton, RuleKind::Full).unwrap();
    assert_eq!(BottomUp::new(&plan, &source).unwrap().tree().unwrap().word([1, 1]), Some(3));
    fs::OpenOptions::new().append(true).open(&written.0).unwrap().set_len(1000).unwrap();
    let changed = BottomUp::new(&plan, &source).unwrap().tree().unwrap_err().to_string();
    let file = written.0.display();
    let says = format!("the source: {file}: the file changed while it was read; run again when nobody writes to it");
    assert_eq!(changed, says);
}

/// Boxes without cells, beyond the array, where the row below begins too, and buffers of another length: by every source.
#[test]
fn boxes_that_are_none_of_the_array_are_refused() {
    fn refused(source: &dyn Source<2>) {
        for (corner, extent, length, says) in [
            ([0, 0], [0, 2], 0, "a box of [0, 2] cells from [0, 0] on, of an array of [4, 3] cells"),
            ([0, 0], [2, 0], 0, "a box of [2, 0] cells from [0, 0] on, of an array of [4, 3] cells"),
            ([3, 0], [2, 1], 4, "a box of [2, 1] cells from [3, 0] on, of an array of [4, 3] cells"),
            ([0, 2], [1, 2], 4, "a box of [1, 2] cells from [0, 2] on, of an array of [4, 3] cells"),
            ([u32::MAX, 0], [2, 1], 4, "a box of [2, 1] cells from [4294967295, 0] on"),
            (
                [1, 1],
                [2, 2],
                6,
                "6 bytes for a box of [2, 2] cells from [1, 1] on, of an array of [4, 3] cells; it needs 8",
            ),
            ([1, 1], [2, 2], 10, "10 bytes for a box"),
        ] {
            let error = source.read(&Region { corner, extent }, &mut vec![0; length]).unwrap_err();
            assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
            assert!(error.to_string().starts_with(says), "{error}");
        }
        let mut cells = [0; 8];
        source.read(&Region { corner: [2, 1], extent: [2, 2] }, &mut cells).unwrap();
        assert_eq!(cells, [7u16, 8, 11, 12].map(u16::to_ne_bytes).concat()[..]);
    }
    let bytes: Vec<u8> = (1..=12u16).flat_map(u16::to_le_bytes).collect();
    let written = Written::new("boxes", &npy("{'descr': '<u2', 'fortran_order': False, 'shape': (3, 4), }", &bytes));
    refused(&written.npy().unwrap().source::<2>().unwrap());
    let turned: Vec<u8> = [1u16, 5, 9, 2, 6, 10, 3, 7, 11, 4, 8, 12].into_iter().flat_map(u16::to_le_bytes).collect();
    let written = Written::new("boxes", &npy("{'descr': '<u2', 'fortran_order': True, 'shape': (3, 4), }", &turned));
    refused(&written.npy().unwrap().source::<2>().unwrap());
    let array = ndarray::Array2::from_shape_fn((3, 4), |(y, x)| (4 * y + x + 1) as u16).into_dyn();
    let field = ArrayField::<2, u16>::new(array.view()).unwrap();
    refused(&field);
    let other = ndarray::Array2::from_shape_fn((4, 3), |(x, y)| (4 * y + x + 1) as u16).into_dyn();
    refused(&ArrayField::<2, u16>::new(other.t()).unwrap());
    let domain = Domain::new([4, 3], [[0.0, 1.0]; 2], Sample::Corner).unwrap();
    let plan = Plan::new(domain, Scheme::uniform(1, 2, 1), CurveKind::Morton, RuleKind::Full).unwrap();
    let tree = BottomUp::new(&plan, &field).unwrap().tree().unwrap();
    refused(&tree.array(&domain.region(), None).unwrap());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    /// Whatever a file says, the answer is an array that it holds or an error.
    #[test]
    fn no_header_brings_it_down(changes in prop::collection::vec((0usize..140, any::<u8>()), 1..4), cut in 0usize..160) {
        let mut bytes = npy("{'descr': '<u2', 'fortran_order': False, 'shape': (2, 3), }", &[0; 12]);
        for (at, byte) in changes {
            // Where the dictionary is more often than in its padding.
            let at = if at < bytes.len() { at * (1 + at % 2) / 2 } else { at % bytes.len() };
            bytes[at] = byte;
        }
        if cut < bytes.len() {
            bytes.truncate(cut);
        }
        let written = Written::new("mutated", &bytes);
        if let Ok(file) = written.npy() {
            let layout = file.layout();
            let cells: u64 = layout.size.iter().map(|&n| u64::from(n)).product();
            prop_assert_eq!(layout.offset + cells * layout.kind.bytes(), bytes.len() as u64);
        }
    }
}
