//! Files that change between two openings, or while they are read.
#![cfg(unix)]

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use orthant::CellType;
use orthant::prelude::*;
use orthant::tree::BottomUp;
use orthant_formats::input::{Access, ArrayFile, Identity, InputError, InputFault};

/// A folder that goes with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("changes-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn put(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    /// Writes other bytes of the same length into a file, and sets the time of the last write back.
    fn rewrite(&self, name: &str) {
        // The file system's clock ticks every few milliseconds.
        std::thread::sleep(Duration::from_millis(20));
        let path = self.0.join(name);
        let before = path.metadata().unwrap();
        let mut bytes = fs::read(&path).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        fs::write(&path, bytes).unwrap();
        File::options().write(true).open(&path).unwrap().set_modified(before.modified().unwrap()).unwrap();
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Opens an array; `meanwhile` is called before its cells are unpacked.
fn open(path: &Path, meanwhile: impl FnOnce()) -> Result<ArrayFile, InputError> {
    ArrayFile::open(path, None, |_| {
        meanwhile();
        tempfile::tempfile()
    })
}

fn identity(path: &Path) -> Identity {
    open(path, || ()).unwrap_or_else(|error| panic!("{error}")).identity()
}

/// An array of four chunks, one of which is not there.
fn zarr(folder: &Folder, second: bool) {
    let metadata = if second {
        folder.put(
            "a.zarr/.zarray",
            r#"{"zarr_format": 2, "shape": [4, 4], "chunks": [2, 2], "dtype": "|u1", "compressor": null, "fill_value": 0,
                "order": "C", "filters": null}"#,
        );
        folder.put("a.zarr/.zattrs", "{}");
        return ["0.0", "0.1", "1.0"].iter().for_each(|name| drop(folder.put(&format!("a.zarr/{name}"), [3; 4])));
    } else {
        r#"{"zarr_format": 3, "node_type": "array", "shape": [4, 4], "data_type": "uint8", "fill_value": 0,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2, 2]}},
            "chunk_key_encoding": {"name": "default"}, "codecs": [{"name": "bytes"}]}"#
    };
    folder.put("a.zarr/zarr.json", metadata);
    ["c/0/0", "c/0/1", "c/1/0"].iter().for_each(|name| drop(folder.put(&format!("a.zarr/{name}"), [3; 4])));
}

/// Formats, the file that is opened, and the files that are read.
fn cases(test: &str) -> Vec<(&'static str, Folder, &'static str, Vec<&'static str>)> {
    let nrrd = |text: &str| format!("NRRD0004\ntype: uchar\ndimension: 2\nsizes: 4 4\nencoding: raw\n{text}\n");
    let zarr3 = Folder::new(&format!("zarr3-{test}"));
    zarr(&zarr3, false);
    let zarr2 = Folder::new(&format!("zarr2-{test}"));
    zarr(&zarr2, true);
    let list = Folder::new(&format!("list-{test}"));
    list.put("a.nhdr", nrrd("data file: LIST\ns0\ns1"));
    list.put("s0", [1; 8]);
    list.put("s1", [2; 8]);
    let pattern = Folder::new(&format!("pattern-{test}"));
    let meta = "NDims = 2\nDimSize = 4 4\nElementType = MET_UCHAR\nElementDataFile = s%d 0 1 1\n";
    pattern.put("a.mhd", meta);
    pattern.put("s0", [1; 8]);
    pattern.put("s1", [2; 8]);
    let beside = Folder::new(&format!("beside-{test}"));
    beside.put("a.nhdr", nrrd("data file: s0"));
    beside.put("s0", [1; 16]);
    let slices = Folder::new(&format!("slices-{test}"));
    for name in ["slices/s1.tif", "slices/s2.tif"] {
        let mut page =
            crate::samples::tiff(false, orthant_formats::input::Endian::Little, crate::samples::Packed::Not, false);
        let directory = u32::from_le_bytes(page[4..8].try_into().unwrap()) as usize;
        page[directory + 2 + 10 * 12..][..4].fill(0);
        slices.put(name, page);
    }
    let alone = Folder::new(&format!("alone-{test}"));
    alone.put("a.nrrd", [nrrd("").as_bytes(), b"\n", &[5; 16]].concat());
    vec![
        ("Zarr 3", zarr3, "a.zarr", vec!["a.zarr/zarr.json", "a.zarr/c/0/0", "a.zarr/c/1/0"]),
        ("Zarr 2", zarr2, "a.zarr", vec!["a.zarr/.zarray", "a.zarr/.zattrs", "a.zarr/0.1", "a.zarr/1.0"]),
        ("NRRD, a list", list, "a.nhdr", vec!["a.nhdr", "s0", "s1"]),
        ("MetaImage, a pattern", pattern, "a.mhd", vec!["s0", "s1"]),
        ("NRRD, one file", beside, "a.nhdr", vec!["a.nhdr", "s0"]),
        ("slices", slices, "slices", vec!["slices/s1.tif", "slices/s2.tif"]),
        ("NRRD", alone, "a.nrrd", vec!["a.nrrd"]),
    ]
}

/// Every file that is read is part of what tells the data from other data: its content may have changed although its length and the
/// time of its last write did not.
#[test]
fn every_file_that_is_read_counts() {
    for (format, folder, name, files) in cases("counts") {
        let path = folder.0.join(name);
        let first = identity(&path);
        assert_eq!(identity(&path), first, "{format}");
        for file in files {
            let before = identity(&path);
            // Other bytes in metadata would be no metadata.
            if fs::read(folder.0.join(file)).unwrap().starts_with(b"{") || file.ends_with("hdr") {
                std::thread::sleep(Duration::from_millis(20));
                let text = fs::read(folder.0.join(file)).unwrap();
                fs::write(folder.0.join(file), text).unwrap();
            } else {
                folder.rewrite(file);
            }
            assert_ne!(identity(&path), before, "{format}: {file}");
        }
    }
    // A chunk that comes.
    for (second, chunk) in [(true, "a.zarr/1.1"), (false, "a.zarr/c/1/1")] {
        let folder = Folder::new("comes");
        zarr(&folder, second);
        let before = identity(&folder.0.join("a.zarr"));
        folder.put(chunk, [9; 4]);
        assert_ne!(identity(&folder.0.join("a.zarr")), before);
    }
}

/// What is unpacked is compared when all of it was read.
#[test]
fn a_file_that_changes_while_it_is_unpacked_is_named() {
    for (format, folder, name, files) in cases("meanwhile") {
        for file in files {
            let path = folder.0.join(name);
            let mut unpacked = false;
            let opened = open(&path, || {
                unpacked = true;
                folder.rewrite(file);
            });
            match opened {
                Err(error) => {
                    assert!(
                        error.path.ends_with(file) && matches!(error.wrong, InputFault::Changed),
                        "{format}: {error}"
                    );
                    assert!(error.is_of_reading(), "{error}");
                }
                // Read where it lies.
                Ok(_) => assert!(!unpacked, "{format}: {file}"),
            }
            // Whatever was written to metadata is undone by the next case, whose folder is another.
            if unpacked {
                folder.rewrite(file);
            }
        }
    }
}

fn tree(file: &ArrayFile, side: u32) -> Result<(), String> {
    let source = file.source::<2>().unwrap();
    let domain = Domain::new([1024; 2], [[0.0, 1.0]; 2], Sample::Corner).unwrap();
    let plan = Plan::new(domain, Scheme::uniform(2, 2, side), CurveKind::Morton, RuleKind::Full).unwrap();
    BottomUp::new(&plan, &source).unwrap().tree().map(drop).map_err(|error| error.to_string())
}

/// Of leaves of 8 cells a side boxes are read; of 64 the whole is looked at first. Without a handler the process ends with SIGBUS.
#[test]
fn a_file_that_is_cut_is_an_error_that_names_the_byte() {
    let folder = Folder::new("cut");
    for side in [8, 64] {
        let path = folder.put("a.npy", {
            let header = format!("{:<117}\n", "{'descr': '|u1', 'fortran_order': False, 'shape': (1024, 1024), }");
            [b"\x93NUMPY\x01\x00\x76\x00".as_slice(), header.as_bytes(), &vec![4; 1 << 20]].concat()
        });
        let file = ArrayFile::npy(&path).unwrap();
        tree(&file, side).unwrap();
        file.unchanged().unwrap();
        File::options().write(true).open(&path).unwrap().set_len(1 << 19).unwrap();
        let error = tree(&file, side).unwrap_err();
        let name = path.display().to_string();
        let cut = error.strip_prefix(&format!("the source: {name}: byte "));
        let cut =
            cut.and_then(|cut| cut.strip_suffix(": the file ends at byte 524288, since it was cut while it was read"));
        let byte: u64 = cut.unwrap_or_else(|| panic!("{error}")).parse().unwrap();
        assert!((1 << 19..1 << 20).contains(&byte), "{error}");
        let error = file.unchanged().unwrap_err();
        assert!(error.is_of_reading() && matches!(error.wrong, InputFault::Cut { .. }), "{error}");
    }
}

/// Where length and time of the last write say nothing.
#[test]
fn a_file_that_is_rewritten_or_replaced_is_an_error() {
    let folder = Folder::new("rewritten");
    for replaced in [false, true] {
        let path = folder.put("a.raw", vec![4; 1 << 20]);
        let layout = orthant_formats::input::Layout {
            kind: CellType::U8,
            size: vec![1024, 1024],
            order: orthant_formats::input::IndexOrder::C,
            endian: orthant_formats::input::Endian::Little,
            offset: 0,
        };
        let file = ArrayFile::raw(&path, layout.clone()).unwrap();
        let before = file.identity();
        // However the name is written.
        let again = path.with_file_name(".").join("a.raw");
        for path in [&path, &again] {
            assert_eq!(ArrayFile::raw(path, layout.clone()).unwrap().identity(), before);
        }
        if replaced {
            let other = folder.put("b.raw", vec![5; 1 << 20]);
            fs::rename(other, &path).unwrap();
        } else {
            folder.rewrite("a.raw");
        }
        let error = file.unchanged().unwrap_err();
        let says =
            format!("{}: the file changed while it was read; run again when nobody writes to it", path.display());
        assert_eq!(error.to_string(), says);
        assert_eq!(tree(&file, 8).unwrap_err(), format!("the source: {says}"));
        assert_ne!(ArrayFile::raw(&path, layout).unwrap().identity(), before);
    }
}

/// A header from somebody else does not choose which files are read.
#[test]
fn files_outside_of_the_headers_folder_are_followed_if_that_is_asked_for() {
    let folder = Folder::new("follow");
    let secret = folder.put("secret", [7; 16]);
    folder.put("in/own", [7; 16]);
    folder.put("in/below/own", [7; 16]);
    std::os::unix::fs::symlink("../secret", folder.0.join("in/link")).unwrap();
    std::os::unix::fs::symlink("..", folder.0.join("in/up")).unwrap();
    std::os::unix::fs::symlink("own", folder.0.join("in/twin")).unwrap();
    let secret = secret.canonicalize().unwrap();
    let absolute = secret.display().to_string();
    let room = |_| -> io::Result<File> { panic!("nothing is unpacked") };
    for inside in ["own", "./own", "below/own", "twin", "below/../own"] {
        let path = folder.put("in/a.mhd", meta(inside));
        ArrayFile::open(&path, None, room).unwrap_or_else(|error| panic!("{error}"));
    }
    for outside in ["../secret", &absolute, "link", "up/secret", "below/../../secret"] {
        for (name, header, field) in
            [("in/a.nhdr", nhdr(outside), "line 6: data file"), ("in/a.mhd", meta(outside), "line 4: ElementDataFile")]
        {
            let path = folder.put(name, header);
            let refused = ArrayFile::open(&path, None, room).unwrap_err().to_string();
            let expected =
                format!("{}: {field} '{outside}': {absolute} lies outside of the header's folder", path.display());
            assert_eq!(refused, expected);
            let file = ArrayFile::open_with(&path, None, Access::follow(true), room).unwrap();
            assert_eq!(file.others()[0].canonicalize().unwrap(), secret);
        }
    }
    // Of what is not there nothing more is told.
    let path = folder.put("in/a.mhd", meta("../nothing"));
    let refused = ArrayFile::open(&path, None, room).unwrap_err();
    assert!(matches!(refused.wrong, InputFault::Outside { .. }), "{refused}");
}

fn meta(data: &str) -> String {
    format!("NDims = 2\nDimSize = 4 4\nElementType = MET_UCHAR\nElementDataFile = {data}\n")
}

fn nhdr(data: &str) -> String {
    format!("NRRD0004\ntype: uchar\ndimension: 2\nsizes: 4 4\nencoding: raw\ndata file: {data}\n")
}
