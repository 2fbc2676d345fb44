//! What is refused, and how that is said.

use super::*;

#[test]
fn what_cannot_be_read_is_told_by_its_key() {
    let folder = Folder::new("refused");
    for (more, says) in [
        (json!({"dtype": "<f2"}), "a.zarr/.zarray: line 8: dtype '<f2': integers of 8 to 64 bits"),
        (json!({"dtype": "|O"}), "dtype '|O': "),
        (json!({"dtype": [["a", "<u2"]]}), "dtype '[["),
        (json!({"dtype": "|u2"}), "dtype '|u2': "),
        (json!({"compressor": {"id": "bz2"}}), "compressor 'bz2': none, gzip, zlib, zstd, blosc, lz4 and crc32c"),
        (json!({"filters": [{"id": "delta"}]}), "cells that no filter changed"),
        (json!({"order": "A"}), "order 'A': C or F is needed"),
        (json!({"shape": []}), "shape '[]': between 1 and 8 axes"),
        (json!({"shape": [1, 1, 1, 1, 1, 1, 1, 1, 1]}), "shape '[1,1,1,1,1,1,1,1,1]': between 1 and 8 axes"),
        (json!({"shape": [5, 0, 7]}), "between 1 and 4294967295 cells on each axis"),
        (json!({"shape": [5, 4_294_967_296u64, 7]}), "between 1 and 4294967295 cells on each axis"),
        (json!({"shape": [5, -1, 7]}), "a list of whole numbers is needed"),
        (json!({"chunks": [2, 4]}), "chunks '[2,4]': 3 whole numbers are needed"),
        (json!({"chunks": [2, 0, 4]}), "a chunk has a cell or more"),
        (json!({"chunks": [1 << 20, 1 << 20, 1 << 20]}), "a chunk of 2305843009213693952 bytes; at most"),
        (json!({"fill_value": 65536}), "fill_value '65536': a cell of u16 is needed"),
        (json!({"zarr_format": 3}), "zarr_format '3': 2 is needed"),
        (json!({"dimension_separator": "-"}), "dimension_separator '-': . or / is needed"),
    ] {
        let found = folder.json("a.zarr/.zarray", &second(&more)).wrong("a.zarr", None);
        assert!(found.starts_with("a.zarr/.zarray: line ") && found.contains(says), "{more}: {found}");
    }
    let shards = |more: Value| {
        let bytes = json!([{"name": "bytes", "configuration": {"endian": "little"}}]);
        let mut own = json!({"chunk_shape": [1, 4, 1], "codecs": bytes, "index_codecs": bytes});
        own.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"codecs": [{"name": "sharding_indexed", "configuration": own}]})
    };
    let within = json!([{"name": "sharding_indexed", "configuration": {}}]);
    for (more, says) in [
        (json!({"data_type": "float16"}), "data_type 'float16': integers of 8 to 64 bits"),
        (json!({"data_type": {"name": "numpy.datetime64", "configuration": {}}}), "data_type 'numpy.datetime64': "),
        (json!({"chunk_grid": {"name": "rectilinear", "configuration": {}}}), "a regular grid can be read"),
        (json!({"codecs": []}), "codecs '[]': bytes or sharding_indexed is needed"),
        (json!({"codecs": ["vlen-utf8"]}), "codecs 'vlen-utf8': transpose, bytes and sharding_indexed"),
        (
            json!({"codecs": [{"name": "bytes", "configuration": {"endian": "big"}}, "pcodec"]}),
            "codecs 'pcodec': none, gzip",
        ),
        (json!({"codecs": ["bytes"]}), "endian 'nothing': little or big is needed"),
        (
            json!({"codecs": [{"name": "transpose", "configuration": {"order": [0, 0, 1]}}, "bytes"]}),
            "every axis comes once",
        ),
        (json!({"dimension_names": ["x"]}), "3 names are needed"),
        (json!({"node_type": "link"}), "node_type 'link': an array or a group"),
        (json!({"news": {}}), "news '{}': an extension that must be understood"),
        (json!({"storage_transformers": ["x"]}), "none can be read"),
        (shards(json!({"chunk_shape": [2, 3, 3]})), "chunks of a shard are whole parts of it"),
        (shards(json!({"codecs": within})), "shards within shards"),
        (shards(json!({"index_codecs": ["bytes", "zstd"]})), "bytes, and crc32c, can be read"),
        (shards(json!({"index_location": "middle"})), "start or end is needed"),
    ] {
        let found = folder.json("b.zarr/zarr.json", &third(&more)).wrong("b.zarr", None);
        assert!(found.starts_with("b.zarr/zarr.json: line ") && found.contains(says), "{more}: {found}");
    }
    // What may be left out without being understood.
    folder.json("b.zarr/zarr.json", &third(&json!({"news": {"must_understand": false}})));
    assert!(folder.open("b.zarr", None).is_ok());
    let text = folder.put("c.zarr/zarr.json", "{\"zarr_format\": 3,\n\n").wrong("c.zarr", None);
    assert!(text.starts_with("c.zarr/zarr.json: line 3: no JSON object of metadata: EOF"), "{text}");
    fs::create_dir_all(folder.0.join("d.zarr/sub")).unwrap();
    assert_eq!(folder.wrong("d.zarr", None), "d.zarr: no Zarr: neither zarr.json nor .zarray nor .zgroup is in it");
    assert_eq!(folder.wrong("a.zarr", Some("../x")), "a.zarr: ../x: no name of an array in a store");
}

/// Chunks that say or have other lengths than they should: what comes out is bounded before it is there.
#[test]
fn chunks_that_are_none_are_told() {
    let folder = Folder::new("damaged");
    let bomb = vec![0u8; 1 << 23];
    let gzip = (json!({"id": "gzip"}), samples::gzip(&bomb));
    let zstd = (json!({"id": "zstd"}), zstd::bulk::compress(&bomb, 1).unwrap());
    let zlib = (json!({"id": "zlib"}), samples::zlib(&[7; 20]));
    let header =
        |bytes: u32| [&[2, 1, 2, 2][..], &[bytes, bytes, 64].map(u32::to_le_bytes).concat(), &[0; 48]].concat();
    for (compressor, chunk, says) in [
        (gzip.0, gzip.1, "more than 48 bytes came out"),
        (zstd.0, zstd.1, "more than 48 bytes came out"),
        (zlib.0, zlib.1, "20 bytes came out"),
        (Value::Null, vec![0; 47], "47 bytes came out"),
        (Value::Null, vec![0; 1 << 20], "1048576 bytes are more than it can have"),
        (json!({"id": "lz4"}), vec![0xff; 9], "LZ4 says that it holds 4294967295 bytes"),
        (json!({"id": "blosc"}), header(u32::MAX), "Blosc says that it holds 4294967295 bytes"),
        (json!({"id": "blosc"}), vec![2; 12], "it ends within the header of Blosc"),
        (json!({"id": "blosc"}), [&[2, 1, 0x45, 2][..], &[0; 60]].concat(), "packed by Blosc 2"),
        (json!({"id": "blosc"}), [&[2, 1, 0x40, 2][..], &header(48)[4..]].concat(), "packed by Snappy in Blosc"),
    ] {
        folder.json("a.zarr/.zarray", &second(&json!({"compressor": compressor})));
        let found = folder.put("a.zarr/1.0.1", chunk).wrong("a.zarr", None);
        assert!(found.starts_with("a.zarr/1.0.1: byte 0: a chunk of 48 bytes does not decompress: "), "{found}");
        assert!(found.contains(says), "{found}");
    }
    fs::remove_file(folder.0.join("a.zarr/1.0.1")).unwrap();
    fs::create_dir(folder.0.join("a.zarr/1.0.1")).unwrap();
    assert_eq!(folder.wrong("a.zarr", None), "a.zarr/1.0.1: not a regular file");
}
