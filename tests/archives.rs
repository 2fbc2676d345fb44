//! Arrays in `.npz` files: stored and deflated, by name, and archives that are damaged.

use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;

use flate2::Compression;
use flate2::write::DeflateEncoder;
use orthant::prelude::*;
use orthant::tree::Source;
use orthant_formats::input::{ArrayFile, InputError, InputFault};
use proptest::prelude::*;

/// How sizes and places are written: in 32 bits, or as NumPy does it, in 64.
#[derive(Clone, Copy, PartialEq)]
pub enum Wide {
    No,
    Sizes,
    All,
}

fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// An archive of members, each deflated or not.
pub fn archive(members: &[(&str, Vec<u8>, bool)], wide: Wide) -> Vec<u8> {
    let (mut file, mut directory) = (Vec::new(), Vec::new());
    for (name, bytes, deflated) in members {
        let packed = if *deflated { deflate(bytes) } else { bytes.clone() };
        let (length, stored, at) = (bytes.len() as u64, packed.len() as u64, file.len() as u64);
        let crc = crc32fast::hash(bytes).to_le_bytes();
        let method = if *deflated { 8u16 } else { 0 }.to_le_bytes();
        // Version, flags, method, time, date, checksum, sizes, and the lengths of the name and of what is extra.
        let header = |sizes: [u32; 2], extra: u16| {
            let sizes = sizes.map(u32::to_le_bytes).concat();
            let lengths = [name.len() as u16, extra].map(u16::to_le_bytes).concat();
            [&[20, 0, 0, 0][..], &method, &[0; 4], &crc, &sizes, &lengths].concat()
        };
        let (sizes, mut extra) = match wide {
            Wide::No => ([stored as u32, length as u32], Vec::new()),
            _ => ([u32::MAX; 2], [&[1, 0, 16, 0][..], &length.to_le_bytes(), &stored.to_le_bytes()].concat()),
        };
        file.extend(b"PK\x03\x04");
        file.extend(header(sizes, extra.len() as u16));
        file.extend(name.as_bytes());
        file.extend(&extra);
        file.extend(&packed);
        if wide == Wide::All {
            extra[2] = 24;
            extra.extend(at.to_le_bytes());
        }
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(header(sizes, extra.len() as u16));
        directory.extend([0; 10]);
        directory.extend(if wide == Wide::All { u32::MAX } else { at as u32 }.to_le_bytes());
        directory.extend(name.as_bytes());
        directory.extend(&extra);
    }
    let (start, length, entries) = (file.len() as u64, directory.len() as u64, members.len() as u64);
    file.extend(&directory);
    let numbers = [entries, entries, length, start].map(u64::to_le_bytes).concat();
    if wide == Wide::All {
        let end = file.len() as u64;
        file.extend([&b"PK\x06\x06"[..], &44u64.to_le_bytes(), &[45, 0, 45, 0], &[0; 8], &numbers].concat());
        file.extend([&b"PK\x06\x07"[..], &[0; 4], &end.to_le_bytes(), &1u32.to_le_bytes()].concat());
        file.extend([&b"PK\x05\x06"[..], &[0; 4], &[255; 12], &[0; 2]].concat());
    } else {
        let entries = [entries as u16; 2].map(u16::to_le_bytes).concat();
        let place = [length as u32, start as u32].map(u32::to_le_bytes).concat();
        file.extend([&b"PK\x05\x06"[..], &[0; 4], &entries, &place, &[0; 2]].concat());
    }
    file
}

fn npy(shape: &str, cells: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': {shape}, }}\n");
    [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), cells].concat()
}

/// A file of its own, which goes with the test.
struct Written(PathBuf);

impl Written {
    fn new(name: &str, bytes: &[u8]) -> Self {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}.npz", std::process::id()));
        fs::write(&path, bytes).unwrap();
        Self(path)
    }

    /// A member's cells, and how many bytes were unpacked for them.
    fn cells(&self, member: Option<&str>) -> Result<(Vec<u8>, u64), InputError> {
        let mut unpacked = 0;
        let room = |bytes| {
            unpacked = bytes;
            let path = self.0.with_extension("room");
            let file = File::options().create(true).truncate(true).read(true).write(true).open(&path)?;
            fs::remove_file(path)?;
            Ok(file)
        };
        let file = ArrayFile::npz(&self.0, member, room)?;
        let size: [u32; 2] = file.layout().size[..].try_into().unwrap();
        let window = Region { corner: [0; 2], extent: size };
        let mut cells = vec![0; window.volume() as usize];
        file.source::<2>()?.read(&window, &mut cells).unwrap();
        Ok((cells, unpacked))
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

#[test]
fn members_are_read_where_they_lie_or_unpacked() {
    let cells: Vec<u8> = (0..=255).collect();
    for (number, wide) in [Wide::No, Wide::Sizes, Wide::All].into_iter().enumerate() {
        let (some, all) = (npy("(16, 16)", &cells), npy("(2, 16)", &cells[7..39]));
        let members =
            [("some.npy", some.clone(), false), ("all.npy", all, true), ("note", b"no array".to_vec(), false)];
        let written = Written::new(&format!("members-{number}"), &archive(&members, wide));
        assert_eq!(written.cells(Some("some")).unwrap(), (cells.clone(), 0));
        assert_eq!(written.cells(Some("all")).unwrap(), (cells[7..39].to_vec(), members[1].1.len() as u64));
        let says = |member| written.cells(member).unwrap_err().wrong.to_string();
        assert_eq!(says(None), "3 members; name one of them: all, note, some");
        assert_eq!(says(Some("none")), "no member 'none'; there are all, note, some");
        assert_eq!(says(Some("note")), "member note: byte 0: not a .npy file, which begins with \\x93NUMPY");
        let single = Written::new(&format!("single-{number}"), &archive(&members[..1], wide));
        assert_eq!(single.cells(None).unwrap().0, cells);
        let empty = Written::new(&format!("empty-{number}"), &archive(&[], wide));
        assert_eq!(empty.cells(None).unwrap_err().wrong.to_string(), "an archive without members");
    }
}

#[test]
fn archives_that_lie_are_refused() {
    let cells = vec![3; 40_000];
    let says = |name: &str, bytes: &[u8]| Written::new(name, bytes).cells(None).unwrap_err().wrong.to_string();
    let begins = "not a .npz file, which is a zip archive";
    assert!(says("empty-file", b"").starts_with(begins) && says("text", &[b'x'; 70_000]).starts_with(begins));
    // A shape that the member does not hold is told before anything is unpacked.
    let short = archive(&[("a.npy", npy("(300, 400)", &cells), true)], Wide::No);
    assert!(says("shape", &short).contains("bytes of cells, and the shape needs 120000"));
    let packed = archive(&[("a.npy", npy("(200, 200)", &cells), true)], Wide::Sizes);
    let mut method = packed.clone();
    let entry = packed.windows(4).position(|four| four == b"PK\x01\x02").unwrap();
    method[entry + 10] = 12;
    assert!(says("method", &method).contains("packed in another way than by deflate"));
    let mut secret = packed.clone();
    secret[entry + 8] = 1;
    assert!(says("secret", &secret).contains("encrypted, or packed in another way than by deflate"));
    let full = Written::new("full", &packed);
    let room = |_| Err(std::io::ErrorKind::StorageFull.into());
    let refused = ArrayFile::npz(&full.0, None, room).unwrap_err();
    assert!(
        matches!(&refused.wrong, InputFault::Io(error) if error.kind() == std::io::ErrorKind::StorageFull),
        "{refused}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// A byte that flips in what is deflated is an error or changes no cell, and nothing panics.
    #[test]
    fn damage_is_told(at in any::<prop::sample::Index>(), by in 1u8.., wide in 0usize..3, cut in any::<bool>()) {
        let cells: Vec<u8> = (0..40_000).map(|i: u32| ((i * i) >> 13) as u8).collect();
        let wide = [Wide::No, Wide::Sizes, Wide::All][wide];
        let mut bytes = archive(&[("a.npy", npy("(200, 200)", &cells), true)], wide);
        let at = at.index(bytes.len());
        if cut { bytes.truncate(at) } else { bytes[at] ^= by }
        if let Ok((found, _)) = Written::new("damage", &bytes).cells(None) {
            prop_assert!(found == cells && !cut);
        }
    }
}
