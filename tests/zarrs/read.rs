//! Cells are what was written, whatever was done to them.

use orthant::geometry::Region;
use orthant::tree::{BottomUp, Source, TreeInfo};
use orthant_formats::input::InputFault;

use super::*;

#[test]
fn version_2_is_read_in_every_order_and_packing() {
    let folder = Folder::new("second");
    let zstd = |bytes: &[u8]| zstd::bulk::compress(bytes, 1).unwrap();
    // A header of Blosc, and bytes as they were; LZ4 of nothing but literals.
    let blosc = |bytes: &[u8]| {
        let numbers = [bytes.len(), bytes.len(), bytes.len() + 16].map(|n| (n as u32).to_le_bytes()).concat();
        [&[2, 1, 2, 2][..], &numbers, bytes].concat()
    };
    let lz4 = |bytes: &[u8]| [&(bytes.len() as u32).to_le_bytes()[..], &[0xf0, bytes.len() as u8 - 15], bytes].concat();
    type Pack<'p> = &'p dyn Fn(&[u8]) -> Vec<u8>;
    let packings: [(Value, Pack<'_>); 6] = [
        (Value::Null, &|bytes| bytes.to_vec()),
        (json!({"id": "gzip", "level": 1}), &samples::gzip),
        (json!({"id": "zlib", "level": 1}), &samples::zlib),
        (json!({"id": "zstd", "level": 1}), &zstd),
        (json!({"id": "blosc", "cname": "lz4", "clevel": 0, "shuffle": 1, "blocksize": 0}), &blosc),
        (json!({"id": "lz4", "acceleration": 1}), &lz4),
    ];
    for (number, (compressor, pack)) in packings.iter().cycle().take(24).enumerate() {
        let (turned, big, separator) = (number % 2 == 1, number / 2 % 2 == 1, ["/", "."][number / 6 % 2]);
        let name = format!("{number}.zarr");
        let mut metadata = second(&json!({
            "compressor": compressor, "order": if turned { "F" } else { "C" }, "dtype": if big { ">u2" } else { "<u2" },
            "dimension_separator": separator,
        }));
        if separator == "." && number % 2 == 0 {
            metadata.as_object_mut().unwrap().remove("dimension_separator");
        }
        folder.json(&format!("{name}/.zarray"), &metadata);
        for at in indices(grid(CHUNK)) {
            let order = if turned { [2, 1, 0] } else { [0, 1, 2] };
            let packed = pack(&chunk(corner(at, CHUNK), CHUNK, order, big));
            folder.put(&format!("{name}/{}", at.map(|n| n.to_string()).join(separator)), packed);
        }
        let file = folder.open(&name, None).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((file.layout().size.clone(), cells(&file)), (vec![7, 6, 5], all()), "{number} {compressor}");
    }
}

/// Blosc may be told of cells that are longer than a block of what it packs: these bytes are not sorted.
#[test]
fn blocks_that_are_shorter_than_a_cell_are_as_they_were() {
    let folder = Folder::new("short");
    // Sorted by bytes, in one part by LZ4, cells of 16 bytes; a part that is as long packed as unpacked is not packed.
    let numbers = [8u32, 8, 32, 20, 8].map(u32::to_le_bytes).concat();
    let packed = [&[2, 1, 0b0011_0001, 16][..], &numbers, &[3, 1, 4, 1, 5, 9, 2, 6]].concat();
    let metadata = json!({"shape": [8], "chunks": [8], "dtype": "|u1", "compressor": {"id": "blosc"}});
    folder.json("a.zarr/.zarray", &second(&metadata)).put("a.zarr/0", packed);
    let file = folder.open("a.zarr", None).unwrap_or_else(|error| panic!("{error}"));
    let source = file.source::<1>().unwrap();
    let mut cells = [0; 8];
    source.read(&Region { corner: [0], extent: [8] }, &mut cells).unwrap();
    assert_eq!(cells, [3, 1, 4, 1, 5, 9, 2, 6]);
}

/// What c-blosc packed: cells of two bytes, sorted by bytes or bits or not at all.
#[test]
fn what_blosc_packed_is_unpacked() {
    let folder = Folder::new("blosc");
    let packed: [(&str, &[u8]); 6] = [
        ("blosclz-1", include_bytes!("../zarr/blosclz-1.blosc")),
        ("blosclz-2", include_bytes!("../zarr/blosclz-2.blosc")),
        ("lz4-1", include_bytes!("../zarr/lz4-1.blosc")),
        ("lz4-2", include_bytes!("../zarr/lz4-2.blosc")),
        ("zlib-0", include_bytes!("../zarr/zlib-0.blosc")),
        ("zstd-1", include_bytes!("../zarr/zstd-1.blosc")),
    ];
    let metadata = second(&json!({"shape": [4096], "chunks": [4096], "compressor": {"id": "blosc"}}));
    let expected: Vec<u8> = (0..4096u64)
        .flat_map(|i| (((i / 37) * (i / 37) % 251 + u64::from(i.is_multiple_of(5)) * 256) as u16).to_ne_bytes())
        .collect();
    folder.json("a.zarr/.zarray", &metadata);
    for (name, packed) in packed {
        let file =
            folder.put("a.zarr/0", packed).open("a.zarr", None).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(bytes::<1>(&file), expected, "{name}");
        // Cut anywhere, and with any one byte another: an answer, and no memory on its word.
        for at in (0..packed.len()).step_by(19) {
            let mut changed = packed.to_vec();
            changed[at] ^= 0x81;
            let _ = folder.put("a.zarr/0", &changed).open("a.zarr", None);
            assert!(folder.put("a.zarr/0", &packed[..at]).open("a.zarr", None).is_err(), "{name} {at}");
        }
    }
}

#[test]
fn version_3_is_read_turned_and_in_shards() {
    let folder = Folder::new("third");
    let turn = |order: [usize; 3]| json!({"name": "transpose", "configuration": {"order": order}});
    let endian = |big: bool| json!({"name": "bytes", "configuration": {"endian": if big { "big" } else { "little" }}});
    for (number, order) in [[0, 1, 2], [2, 1, 0], [1, 2, 0], [2, 0, 1]].into_iter().cycle().take(8).enumerate() {
        let (big, name) = (number >= 4, format!("{number}.zarr"));
        let codecs = json!([turn(order), endian(big), "zstd", {"name": "crc32c"}]);
        folder.json(&format!("{name}/zarr.json"), &third(&json!({"codecs": codecs})));
        for at in indices(grid(CHUNK)) {
            let packed = zstd::bulk::compress(&chunk(corner(at, CHUNK), CHUNK, order, big), 1).unwrap();
            let crc = crc32c::crc32c(&packed).to_le_bytes();
            folder.put(&format!("{name}/c/{}", at.map(|n| n.to_string()).join("/")), [&packed[..], &crc].concat());
        }
        assert_eq!(cells(&folder.open(&name, None).unwrap()), all(), "{order:?} {big}");
    }
    // A shard is turned, its chunks once more; the index is in front or behind, in either order of bytes, with a checksum or not.
    let shard = [4, 8, 6];
    for number in 0..8 {
        let (first, big, checked, name) =
            (number % 2 == 0, number / 2 % 2 == 0, number / 4 == 0, format!("s{number}.zarr"));
        let (outer, own) = ([1, 2, 0], [2, 0, 1]);
        let mut index = vec![endian(big)];
        index.extend(checked.then(|| json!("crc32c")));
        let configuration = json!({
            "chunk_shape": outer.map(|axis: usize| CHUNK[axis]), "codecs": [turn(own), endian(big)],
            "index_codecs": index, "index_location": if first { "start" } else { "end" },
        });
        let codecs = json!([turn(outer), {"name": "sharding_indexed", "configuration": configuration}]);
        let grid_of = json!({"name": "regular", "configuration": {"chunk_shape": shard}});
        let keys = json!({"name": "v2"});
        folder.json(
            &format!("{name}/zarr.json"),
            &third(&json!({"codecs": codecs, "chunk_grid": grid_of, "chunk_key_encoding": keys})),
        );
        for at in indices(grid(shard)) {
            let per: [usize; 3] = std::array::from_fn(|axis| shard[axis] / CHUNK[axis]);
            let turned = outer.map(|axis| per[axis]);
            let (mut chunks, mut index) = (Vec::new(), Vec::new());
            let start = if first { 16 * turned.iter().product::<usize>() + 4 * usize::from(checked) } else { 0 };
            let put = |index: &mut Vec<u8>, number: u64| {
                index.extend(if big { number.to_be_bytes() } else { number.to_le_bytes() });
            };
            for inner in indices(turned) {
                let mut own_corner = corner(at, shard);
                (0..3).for_each(|i| own_corner[outer[i]] += inner[i] * CHUNK[outer[i]]);
                if own_corner.iter().zip(SHAPE).any(|(at, n)| *at >= n) {
                    [u64::MAX; 2].iter().for_each(|&number| put(&mut index, number));
                    continue;
                }
                let cells = chunk(own_corner, CHUNK, own.map(|i: usize| outer[i]), big);
                put(&mut index, (start + chunks.len()) as u64);
                put(&mut index, cells.len() as u64);
                chunks.extend(cells);
            }
            if checked {
                index.extend(crc32c::crc32c(&index).to_le_bytes());
            }
            let file = if first { [index, chunks].concat() } else { [chunks, index].concat() };
            folder.put(&format!("{name}/{}", at.map(|n| n.to_string()).join(".")), file);
        }
        assert_eq!(cells(&folder.open(&name, None).unwrap()), all(), "shards {number}");
        // The corner of an index that is damaged, and a shard without room for one.
        let path = format!("{name}/0.0.0");
        let mut shard = fs::read(folder.0.join(&path)).unwrap();
        let at = if first { 3 } else { shard.len() - 7 };
        shard[at] ^= 0x40;
        assert!(folder.put(&path, shard).open(&name, None).is_err(), "{number}");
        let short = folder.put(&path, [0; 20]).wrong(&name, None);
        assert!(short.contains("byte 0: 20 bytes from here on, where "), "{short}");
    }
}

/// What is in no chunk has the fill value, and what attributes call no data is none.
#[test]
fn chunks_that_are_not_there_are_filled() {
    let folder = Folder::new("fill");
    for (kind, fill, word) in [
        ("<f4", json!("NaN"), 0x7fc0_0000),
        ("<f4", json!(-0.5), 0xbf00_0000),
        ("<i4", json!(-2), 0xffff_fffeu32),
        ("<u4", json!(7), 7),
        ("<u4", Value::Null, 0),
    ] {
        folder.json("f.zarr/.zarray", &second(&json!({"dtype": kind, "fill_value": fill})));
        folder.put("f.zarr/1.0.1", [9; 2 * 4 * 3 * 4]);
        let file = folder.open("f.zarr", None).unwrap();
        let found: Vec<u32> = bytes::<3>(&file).as_chunks().0.iter().map(|&cell| u32::from_ne_bytes(cell)).collect();
        let there = |at: [usize; 3]| at[0] / 2 == 1 && at[1] / 4 == 0 && at[2] / 3 == 1;
        let expected: Vec<u32> = indices(SHAPE).map(|at| if there(at) { 0x0909_0909 } else { word }).collect();
        assert_eq!(found, expected, "{kind} {fill}");
        assert_eq!(file.about().nodata, None);
    }
    // Python writes numbers that JSON has not.
    folder.put("f.zarr/.zattrs", "{\"_FillValue\": 7, \"other\": NaN, \"scale_factor\": 0.5}");
    let about = folder.open("f.zarr", None).unwrap().about().clone();
    assert_eq!((about.nodata, about.scale.map(|scale| scale.slope)), (Some(7), Some(0.5)));
    // A terabyte of zeros takes no room; of others it is refused.
    let huge = |fill: u64| {
        second(&json!({"shape": [1 << 13, 1 << 13, 1 << 13], "chunks": [256, 256, 256], "fill_value": fill}))
    };
    let file = folder.json("h.zarr/.zarray", &huge(0)).open("h.zarr", None).unwrap();
    assert_eq!(file.layout().size, [1 << 13; 3]);
    let says = folder.json("h.zarr/.zarray", &huge(1)).wrong("h.zarr", None);
    assert_eq!(says, "h.zarr: 0 of 32768 files of chunks are there: most cells were never written");
}

/// What is exported is read, in a folder and in a zip; a tree is no array.
#[test]
fn what_is_exported_is_read() {
    let folder = Folder::new("own");
    let array =
        ndarray::ArrayD::from_shape_fn(vec![11, 10, 9], |at| (at[0] / 4 * 100 + at[1] / 5 * 10 + at[2] / 3) as u16);
    let field = ArrayField::new(array.view()).unwrap();
    let domain = Domain::new([9, 10, 11], [[0.0, 4.5], [10.0, 20.0], [-11.0, 0.0]], Sample::Centre).unwrap();
    let plan = Plan::new(domain, Scheme::uniform(2, 2, 2), CurveKind::Morton, RuleKind::Full).unwrap();
    let tree = BottomUp::new(&plan, &field).unwrap().tree().unwrap();
    let (store, zip) = (folder.0.join("a.zarr"), folder.0.join("a.zarr.zip"));
    orthant_formats::export::zarr::write(&tree, &store).unwrap();
    orthant_formats::export::zarr::pack(&store, File::create(&zip).unwrap()).unwrap();
    for (name, part) in [("a.zarr", None), ("a.zarr.zip", None), ("a.zarr.zip", Some("value")), ("a.zarr/value", None)]
    {
        let file = folder.open(name, part).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(cells(&file), array.iter().copied().collect::<Vec<_>>(), "{name}");
        if name != "a.zarr/value" {
            assert_eq!(file.about().window([9, 10, 11]), Some(domain.window()), "{name}");
        }
    }
    tree.save(folder.0.join("a.tree.zarr"), &TreeInfo::of(&plan)).unwrap();
    assert!(matches!(folder.open("a.tree.zarr", None).unwrap_err().wrong, InputFault::Tree));
}
