//! What is written is read, and what was changed is noticed.

use std::fs;
use std::io::Cursor;
use std::path::Path;

use proptest::prelude::*;

use crate::cell::CellType;
use crate::zarr::chunk::{Broken, decode};
use crate::zarr::zip::pack_narrow;
use crate::zarr::{ArrayMetadata, Fault, ShardReader, ShardWriter, ZarrError, ZarrStore, encode, group, is_fill, pack};

/// The chunks of an array's files, or nothing where a file is left out.
type Files = Vec<(String, Option<Vec<Vec<u8>>>)>;

fn write(folder: &Path, metadata: &ArrayMetadata, files: &Files) {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("zarr.json"), metadata.text()).unwrap();
    for (key, chunks) in files {
        let Some(chunks) = chunks else { continue };
        let path = folder.join(key);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let bytes = match metadata.sharded {
            false => encode(&chunks[0]).unwrap(),
            true => {
                let mut shard = ShardWriter::new(Vec::new(), metadata);
                for chunk in chunks {
                    let encoded = encode(chunk).unwrap();
                    shard.put((!is_fill(chunk, &metadata.fill_bytes())).then_some(&encoded)).unwrap();
                }
                shard.finish().unwrap()
            }
        };
        fs::write(path, bytes).unwrap();
    }
}

/// What a store has where files of this array may be.
fn read(store: &ZarrStore, name: &str, metadata: &ArrayMetadata, files: &Files) -> Result<Files, ZarrError> {
    store.expect(&format!("{name}zarr.json"), &metadata.text())?;
    let one = |(key, _): &(String, _)| {
        let Some(member) = store.member(&format!("{name}{key}"))? else { return Ok((key.clone(), None)) };
        if !metadata.sharded {
            let mut chunk = vec![0; metadata.chunk_bytes()];
            let broken = |broken| match broken {
                Broken::Checksum => member.wrong(Fault::Missing("right checksum".into())),
                Broken::Frame(reason) => member.wrong(Fault::Missing(reason)),
            };
            decode(&member.all()?, &mut chunk).map_err(broken)?;
            return Ok((key.clone(), Some(vec![chunk])));
        }
        let shard = ShardReader::open(member, metadata)?;
        let chunk = |number| {
            let mut chunk = Vec::new();
            shard.chunk(number, &mut chunk).map(|()| chunk)
        };
        Ok((key.clone(), Some((0..metadata.chunks()).map(chunk).collect::<Result<_, _>>()?)))
    };
    files.iter().map(one).collect()
}

/// Arrays of all types, of some axes, with chunks and files that are not there.
fn arrays() -> impl Strategy<Value = (ArrayMetadata, Files)> {
    let kind = prop::sample::select(CellType::ALL);
    let axis = (1u64..12, 1u64..4, 1u64..4);
    let fill = prop_oneof![Just(0), Just(0x7fc0_0001_7fc0_0001u64), any::<u64>()];
    (kind, prop::collection::vec(axis, 1..=4), any::<bool>(), fill, any::<u64>()).prop_map(
        |(kind, axes, sharded, fill, seed)| {
            let part = |part: fn(&(u64, u64, u64)) -> u64| axes.iter().map(part).collect::<Vec<_>>();
            let (shape, chunk) = (part(|axis| axis.0), part(|axis| axis.1));
            let shard = if sharded { part(|axis| axis.1 * axis.2) } else { chunk.clone() };
            let names = ["t", "z", "y", "x"];
            let mut metadata = ArrayMetadata::sharded(kind, &shape, &shard, &chunk, &names[4 - axes.len()..]);
            (metadata.sharded, metadata.fill) = (sharded, fill >> (64 - 8 * kind.bytes()));
            let mut state = seed;
            let mut random = move |below: u64| {
                state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                (state >> 33) % below
            };
            let grid: Vec<u64> = metadata.shape.iter().zip(&metadata.file).map(|(n, file)| n.div_ceil(*file)).collect();
            let files = (0..grid.iter().product::<u64>()).map(|mut number| {
                let at: Vec<u64> = grid.iter().map(|n| (number % n, number /= n).0).collect();
                let there = random(4) > 0;
                let chunks = (0..metadata.chunks()).map(|_| match random(3) {
                    0 => metadata.fill_bytes().repeat(metadata.chunk_bytes() / kind.bytes() as usize),
                    1 => vec![7; metadata.chunk_bytes()],
                    _ => (0..metadata.chunk_bytes()).map(|_| random(256) as u8).collect(),
                });
                let chunks: Vec<_> = chunks.collect();
                (ArrayMetadata::key(&at), there.then_some(chunks))
            });
            let files = files.collect();
            (metadata, files)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn what_is_written_is_read((metadata, files) in arrays()) {
        let folder = tempfile::tempdir().unwrap();
        write(&folder.path().join("a"), &metadata, &files);
        fs::write(folder.path().join("zarr.json"), group(&serde_json::json!({"some": 1.1e-7}))).unwrap();
        let zip = tempfile::tempdir().unwrap();
        // Offsets of 64 bits from the first byte on, from the 200th, and where they must be.
        for limit in [0, 200, u32::MAX] {
            let path = zip.path().join(format!("{limit}.zip"));
            fs::write(&path, pack_narrow(folder.path(), Cursor::new(Vec::new()), limit).unwrap().into_inner()).unwrap();
            let store = ZarrStore::open(&path).unwrap();
            prop_assert_eq!(read(&store, "a/", &metadata, &files).unwrap(), files.clone());
        }
        let store = ZarrStore::open(folder.path()).unwrap();
        prop_assert_eq!(read(&store, "a/", &metadata, &files).unwrap(), files);
        prop_assert_eq!(store.group::<serde_json::Value>("zarr.json").unwrap(), serde_json::json!({"some": 1.1e-7}));
    }

    /// Elements that come in pieces make the shard that whole chunks make, and any run of them can be read.
    #[test]
    fn shards_are_runs_of_elements(
        length in 0u64..70, pieces in prop::collection::vec(1usize..40, 70), run in (0u64..72, 0u64..72), skip in 0u64..3,
    ) {
        let metadata = ArrayMetadata::sharded(CellType::U16, &[72], &[72], &[8], &["row"]);
        let elements: Vec<u16> = (0..length).map(|i| (i * i / 100) as u16).collect();
        let bytes: Vec<u8> = elements.iter().flat_map(|element| element.to_le_bytes()).collect();
        let mut shard = ShardWriter::new(Vec::new(), &metadata);
        let mut rest = &bytes[..];
        for piece in pieces {
            let some = rest.split_off(..piece.min(rest.len())).unwrap();
            shard.push(some).unwrap();
        }
        let after = length.div_ceil(8) + skip;
        let mut expected = elements.clone();
        if after < 9 {
            shard.advance(after).unwrap();
            shard.push(&5u16.to_le_bytes()).unwrap();
            expected.resize(8 * after as usize, 0);
            expected.push(5);
        }
        expected.resize(72, 0);
        let shard = shard.finish().unwrap();
        let mut whole = ShardWriter::new(Vec::new(), &metadata);
        for chunk in expected.chunks(8) {
            let chunk: Vec<u8> = chunk.iter().flat_map(|element| element.to_le_bytes()).collect();
            whole.push(&chunk).unwrap();
        }
        prop_assert_eq!(&shard, &whole.finish().unwrap());

        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("shard"), &shard).unwrap();
        let member = ZarrStore::open(folder.path()).unwrap().need("shard").unwrap();
        let reader = ShardReader::open(member, &metadata).unwrap();
        let run = run.0.min(run.1)..run.0.max(run.1);
        let mut read = Vec::new();
        reader.elements(run.clone(), &mut read).unwrap();
        let expected = &expected[run.start as usize..run.end as usize];
        prop_assert_eq!(read, expected.iter().flat_map(|element| element.to_le_bytes()).collect::<Vec<_>>());
    }
}

/// Two arrays and a group, small enough that each of their bytes can be changed.
fn sample(folder: &Path) -> Vec<(&'static str, ArrayMetadata, Files)> {
    let sharded = ArrayMetadata::sharded(CellType::I16, &[2, 12], &[1, 12], &[1, 4], &["shard", "row"]);
    let plain = ArrayMetadata::plain(CellType::F32, &[5], &[4], &["x"]);
    let shards = vec![
        ("c/0/0".to_owned(), Some(vec![vec![1; 8], vec![0; 8], (10..18).collect()])),
        ("c/1/0".to_owned(), Some(vec![vec![0; 8], vec![0; 8], vec![0; 8]])),
    ];
    let chunks = vec![("c/0".to_owned(), Some(vec![(0..16).collect()])), ("c/1".to_owned(), None)];
    write(&folder.join("level"), &sharded, &shards);
    write(&folder.join("x"), &plain, &chunks);
    fs::write(folder.join("zarr.json"), group(&serde_json::json!({"n": [1, 2]}))).unwrap();
    vec![("level/", sharded, shards), ("x/", plain, chunks)]
}

/// What comes of a store: the same as was written, an error, or something else.
fn judge(path: &Path, arrays: &[(&str, ArrayMetadata, Files)]) -> Result<bool, ZarrError> {
    let store = ZarrStore::open(path)?;
    let mut same = store.group::<serde_json::Value>("zarr.json")? == serde_json::json!({"n": [1, 2]});
    for (name, metadata, files) in arrays {
        same &= read(&store, name, metadata, files)? == *files;
    }
    Ok(same)
}

/// Changes every byte of a file, cuts it at every length and adds to it; afterwards it is as it was.
fn spoil(file: &Path, mut judge: impl FnMut(String)) {
    let bytes = fs::read(file).unwrap();
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1 << (at % 8);
        fs::write(file, changed).unwrap();
        judge(format!("{}: byte {at}", file.display()));
        fs::write(file, &bytes[..at]).unwrap();
        judge(format!("{}: cut at {at}", file.display()));
    }
    fs::write(file, [&bytes[..], &[0]].concat()).unwrap();
    judge(format!("{}: a byte more", file.display()));
    fs::write(file, bytes).unwrap();
}

#[test]
fn a_changed_byte_is_an_error_or_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let arrays = sample(folder.path());
    assert!(judge(folder.path(), &arrays).unwrap());
    for (name, must_fail) in [("level/c/0/0", true), ("level/c/1/0", true), ("level/zarr.json", true), ("x/c/0", true)]
    {
        let file = folder.path().join(name);
        spoil(&file, |how| match judge(folder.path(), &arrays) {
            Ok(same) => assert!(same && !must_fail, "{how}"),
            Err(error) => assert!(error.to_string().starts_with(&*file.to_string_lossy()), "{how}: {error}"),
        });
    }
    for limit in [u32::MAX, 0] {
        let place = tempfile::tempdir().unwrap();
        let zip = place.path().join("a.zip");
        fs::write(&zip, pack_narrow(folder.path(), Cursor::new(Vec::new()), limit).unwrap().into_inner()).unwrap();
        assert!(judge(&zip, &arrays).unwrap());
        let mut kept = 0;
        spoil(&zip, |how| match judge(&zip, &arrays) {
            Ok(same) => {
                assert!(same, "{how}");
                kept += 1;
            }
            Err(error) => assert!(error.to_string().starts_with(&*zip.to_string_lossy()), "{how}: {error}"),
        });
        // Times, permissions, versions; of what else there is every byte counts.
        assert!(kept > 0 && kept < 6 * 80, "{kept}");
    }
}

#[test]
fn zips_are_the_same_whenever_they_are_made() {
    let [first, second] = [(); 2].map(|()| {
        let folder = tempfile::tempdir().unwrap();
        sample(folder.path());
        pack(folder.path(), Cursor::new(Vec::new())).unwrap().into_inner()
    });
    assert_eq!(first, second);
    let names = ["zarr.json", "level/zarr.json", "x/zarr.json", "level/c/0/0", "level/c/1/0", "x/c/0"];
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("a.zip"), first).unwrap();
    let store = ZarrStore::open(&place.path().join("a.zip")).unwrap();
    assert!(names.map(|name| store.need(name).unwrap().offset(0)).is_sorted());
}

/// What the texts of arrays say, to the byte: other programs read them, and so does this one.
#[test]
fn metadata_is_this_text() {
    let mut metadata = ArrayMetadata::sharded(CellType::I64, &[2, 8192], &[1, 8192], &[1, 4096], &["shard", "row"]);
    metadata.fill = u64::MAX;
    let expected = r#"{
  "zarr_format": 3,
  "node_type": "array",
  "shape": [2, 8192],
  "data_type": "int64",
  "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [1, 8192]}},
  "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
  "fill_value": -1,
  "codecs": [{"name": "sharding_indexed", "configuration": {"chunk_shape": [1, 4096], "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "zstd", "configuration": {"level": 3, "checksum": false}}, {"name": "crc32c"}], "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}], "index_location": "end"}}],
  "attributes": {},
  "dimension_names": ["shard", "row"]
}
"#;
    assert_eq!(metadata.text(), expected);
    let attributes = serde_json::json!({"tree": {"axes": [{"name": "x"}], "n": {}, "size": [1, 2]}});
    let lines = ["{", "  \"zarr_format\": 3,", "  \"node_type\": \"group\",", "  \"attributes\": {", "    \"tree\": {"];
    let members =
        ["      \"axes\": [{\"name\": \"x\"}],", "      \"n\": {},", "      \"size\": [1, 2]", "    }", "  }", "}", ""];
    assert_eq!(group(&attributes), [&lines[..], &members[..]].concat().join("\n"));
    let fill = |kind: CellType, word| {
        let mut metadata = ArrayMetadata::plain(kind, &[1], &[1], &["x"]);
        metadata.fill = word;
        let text = metadata.text();
        let line = text.lines().find(|line| line.contains("fill_value")).unwrap();
        line.trim().trim_start_matches("\"fill_value\": ").trim_end_matches(',').to_owned()
    };
    assert_eq!(fill(CellType::I8, 0x80), "-128");
    assert_eq!(fill(CellType::U64, u64::MAX), "18446744073709551615");
    assert_eq!(fill(CellType::F32, 0.1f32.to_bits().into()), "0.10000000149011612");
    assert_eq!(fill(CellType::F64, (-0.0f64).to_bits()), "-0.0");
    assert_eq!(fill(CellType::F32, 0x7fc0_0000), "\"NaN\"");
    assert_eq!(fill(CellType::F64, 1), "5e-324");
    assert_eq!(fill(CellType::F32, 0xffc0_0001), "\"0xffc00001\"");
    assert_eq!(fill(CellType::F64, f64::NEG_INFINITY.to_bits()), "\"-Infinity\"");
}

/// A file may say that it has much to tell: nothing is believed that it has no room for.
#[test]
fn no_memory_is_taken_on_a_files_word() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("shard"), [0; 100]).unwrap();
    let store = ZarrStore::open(folder.path()).unwrap();
    let member = || store.need("shard").unwrap();
    let huge = ArrayMetadata::sharded(CellType::U8, &[1 << 60], &[1 << 60], &[1], &["row"]);
    let error = ShardReader::open(member(), &huge).unwrap_err();
    assert!(matches!(error.fault, Fault::Short { have: 100, need: u64::MAX, .. }), "{error}");
    assert!(matches!(member().read(1, 100).unwrap_err().fault, Fault::Short { offset: 1, have: 99, need: 100 }));
    assert!(matches!(member().read(u64::MAX, 1).unwrap_err().fault, Fault::Short { have: 0, .. }));
    let file = fs::File::create(folder.path().join("zarr.json")).unwrap();
    file.set_len(1 << 40).unwrap();
    let error = store.group::<serde_json::Value>("zarr.json").unwrap_err();
    assert!(error.to_string().ends_with("zarr.json: 1.0 TiB of metadata; at most 64.0 MiB can be"), "{error}");
    let error = store.expect("zarr.json", "{}").unwrap_err();
    assert!(matches!(error.fault, Fault::Metadata { offset: 0, .. }), "{error}");
}

#[test]
fn errors_name_file_and_byte() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    let said = |text: &[u8]| {
        fs::write(&path, text).unwrap();
        let store = ZarrStore::open(folder.path()).unwrap();
        let error = store.group::<Vec<u32>>("a").unwrap_err().to_string();
        error.strip_prefix(&*path.to_string_lossy()).unwrap().to_owned()
    };
    assert_eq!(said(b"{\n \"zarr_format\": x}"), ": byte 18: expected value");
    let array = br#"{"zarr_format": 2, "node_type": "array", "attributes": []}"#;
    assert_eq!(said(array), ": byte 0: a array of Zarr 2, where a group of Zarr 3 must be");
    assert!(
        said(br#"{"zarr_format": 3, "node_type": "group", "attributes": [1, -2]}"#)
            .starts_with(": byte 60: invalid value")
    );
    assert_eq!(
        ZarrStore::open(&path).unwrap_err().fault.to_string(),
        "neither a folder nor a zip, which ends in PK and 20 bytes"
    );
    let store = ZarrStore::open(folder.path()).unwrap();
    assert_eq!(store.need("b/c").unwrap_err().to_string(), format!("{}: there is no b/c", folder.path().display()));
}
