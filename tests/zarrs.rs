//! Stores of Zarr as other programs write them: what is read of them, and what is refused.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use orthant::input::{AboutAxis, ArrayFile, InputError, Remark, Wrong};
use orthant::prelude::*;
use orthant::tree::{BottomUp, Source, TreeInfo};
use serde_json::{Value, json};

use crate::samples;

/// Cells per axis, the slowest first, and those of a chunk, which no axis is a whole number of.
const SHAPE: [usize; 3] = [5, 6, 7];
const CHUNK: [usize; 3] = [2, 4, 3];

/// A folder that goes with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("zarrs-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn put(&self, name: &str, bytes: impl AsRef<[u8]>) -> &Self {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        self
    }

    fn json(&self, name: &str, value: &Value) -> &Self {
        self.put(name, serde_json::to_string_pretty(value).unwrap())
    }

    fn open(&self, name: &str, part: Option<&str>) -> Result<ArrayFile, InputError> {
        open(&self.0.join(name), part)
    }

    /// What is wrong with a store, without its path.
    fn wrong(&self, name: &str, part: Option<&str>) -> String {
        self.open(name, part).unwrap_err().to_string().replace(&format!("{}/", self.0.display()), "")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub fn open(path: &Path, part: Option<&str>) -> Result<ArrayFile, InputError> {
    let beside = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("zarrs-{:?}.room", std::thread::current().id()));
    let room = |_| {
        let file = File::options().create(true).truncate(true).read(true).write(true).open(&beside)?;
        fs::remove_file(&beside)?;
        Ok(file)
    };
    ArrayFile::open(path, part, room)
}

/// All cells of an array of K axes, as bytes of this machine.
fn bytes<const K: usize>(file: &ArrayFile) -> Vec<u8> {
    let source = file.source::<K>().unwrap();
    let whole = Region { corner: [0; K], extent: source.size() };
    let mut bytes = vec![0; whole.volume() as usize * source.kind().bytes() as usize];
    source.read(&whole, &mut bytes).unwrap();
    bytes
}

fn cells(file: &ArrayFile) -> Vec<u16> {
    bytes::<3>(file).as_chunks().0.iter().map(|&cell| u16::from_ne_bytes(cell)).collect()
}

/// What each cell is, by its indices; none is beyond the array.
fn cell(at: [usize; 3]) -> u16 {
    (at[0] * 4096 + at[1] * 256 + at[2] * 16 + 7) as u16
}

fn all() -> Vec<u16> {
    indices(SHAPE).map(cell).collect()
}

/// All indices below these, the last fastest.
fn indices(size: [usize; 3]) -> impl Iterator<Item = [usize; 3]> {
    (0..size.iter().product()).map(move |n| [n / (size[1] * size[2]), n / size[2] % size[1], n % size[2]])
}

/// The cells of a box in an order of axes, the slowest first, with other cells beyond the array.
fn chunk(corner: [usize; 3], size: [usize; 3], order: [usize; 3], big: bool) -> Vec<u8> {
    let turned = order.map(|axis| size[axis]);
    let cells = indices(turned).map(|at| {
        let mut own = corner;
        (0..3).for_each(|i| own[order[i]] += at[i]);
        if own.iter().zip(SHAPE).all(|(at, n)| *at < n) { cell(own) } else { 0xdead }
    });
    cells.flat_map(|cell| if big { cell.to_be_bytes() } else { cell.to_le_bytes() }).collect()
}

fn second(more: &Value) -> Value {
    let mut metadata = json!({
        "zarr_format": 2, "shape": SHAPE, "chunks": CHUNK, "dtype": "<u2", "compressor": null, "fill_value": 0,
        "order": "C", "filters": null,
    });
    metadata.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    metadata
}

fn third(more: &Value) -> Value {
    let mut metadata = json!({
        "zarr_format": 3, "node_type": "array", "shape": SHAPE, "data_type": "uint16", "fill_value": 0, "attributes": {},
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": CHUNK}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
    });
    metadata.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    metadata
}

/// Stores of small arrays to be damaged: packed by Blosc with coordinates beside, in shards, and an image.
pub fn samples(folder: &Path) -> Vec<PathBuf> {
    let all = Folder(folder.to_owned());
    let names = |name: &str| json!({"_ARRAY_DIMENSIONS": [name], "_FillValue": 3});
    all.json("a.zarr/.zgroup", &json!({"zarr_format": 2}));
    all.json("a.zarr/v/.zarray", &second(&json!({"shape": [4096], "chunks": [4096], "compressor": {"id": "blosc"}})));
    all.json("a.zarr/v/.zattrs", &names("x")).put("a.zarr/v/0", include_bytes!("zarr/lz4-2.blosc"));
    all.json("a.zarr/x/.zarray", &second(&json!({"shape": [4096], "chunks": [4096], "dtype": "<u2"})));
    all.json("a.zarr/x/.zattrs", &names("x"))
        .put("a.zarr/x/0", (0..4096u16).flat_map(u16::to_le_bytes).collect::<Vec<_>>());
    let bytes = json!([{"name": "bytes", "configuration": {"endian": "little"}}]);
    let own = json!({"chunk_shape": CHUNK, "codecs": bytes, "index_codecs": bytes});
    let grid = json!({"name": "regular", "configuration": {"chunk_shape": [2, 8, 3]}});
    let codecs = json!([{"name": "sharding_indexed", "configuration": own}]);
    all.json("b.zarr/zarr.json", &third(&json!({"codecs": codecs, "chunk_grid": grid})));
    let chunks = [chunk([0; 3], CHUNK, [0, 1, 2], false), chunk([0, 4, 0], CHUNK, [0, 1, 2], false)].concat();
    let index = [0u64, 48, 48, 48].map(u64::to_le_bytes).concat();
    all.put("b.zarr/c/0/0/0", [chunks, index].concat());
    for (name, bytes) in samples::image() {
        all.put(&format!("c.zarr/{name}"), bytes);
    }
    std::mem::forget(all);
    ["a.zarr", "b.zarr", "c.zarr"].map(|name| folder.join(name)).to_vec()
}

/// How many boxes of a side each axis has.
fn grid(side: [usize; 3]) -> [usize; 3] {
    std::array::from_fn(|axis| SHAPE[axis].div_ceil(side[axis]))
}

fn corner(at: [usize; 3], side: [usize; 3]) -> [usize; 3] {
    std::array::from_fn(|axis| at[axis] * side[axis])
}

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
    let packings: [(Value, &dyn Fn(&[u8]) -> Vec<u8>); 6] = [
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

/// What c-blosc packed: cells of two bytes, sorted by bytes or bits or not at all.
#[test]
fn what_blosc_packed_is_unpacked() {
    let folder = Folder::new("blosc");
    let packed: [(&str, &[u8]); 6] = [
        ("blosclz-1", include_bytes!("zarr/blosclz-1.blosc")),
        ("blosclz-2", include_bytes!("zarr/blosclz-2.blosc")),
        ("lz4-1", include_bytes!("zarr/lz4-1.blosc")),
        ("lz4-2", include_bytes!("zarr/lz4-2.blosc")),
        ("zlib-0", include_bytes!("zarr/zlib-0.blosc")),
        ("zstd-1", include_bytes!("zarr/zstd-1.blosc")),
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
        for at in (0..packed.len()).step_by(3) {
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

fn axis(name: &str, unit: Option<&str>, place: Option<(f64, f64)>) -> AboutAxis {
    let (spacing, origin) = place.unzip();
    AboutAxis { name: Some(name.into()), unit: unit.map(str::to_owned), spacing, origin }
}

/// Images of OME in several sizes, of both versions, alone and in a group.
#[test]
fn images_in_several_sizes_are_their_largest() {
    let folder = Folder::new("sizes");
    let image = json!([{
        "axes": [
            {"name": "c", "type": "channel"}, {"name": "y", "type": "space", "unit": "micrometer"},
            {"name": "x", "type": "space", "unit": "micrometer"},
        ],
        "datasets": [
            {"path": "0", "coordinateTransformations": [
                {"type": "scale", "scale": [1, 0.5, 0.25]}, {"type": "translation", "translation": [0, 10, 20]}]},
            {"path": "1", "coordinateTransformations": [{"type": "scale", "scale": [1, 1, 0.5]}]},
        ],
        "coordinateTransformations": [{"type": "scale", "scale": [1, 2, 2]}],
    }]);
    let colours = json!({"colors": [{"label-value": 3, "rgba": [255, 0, 0, 128]}, {"label-value": 4}]});
    let put = |place: &str, attributes: Value| {
        folder.json(
            &format!("{place}zarr.json"),
            &json!({"zarr_format": 3, "node_type": "group", "attributes": attributes}),
        );
        folder.json(&format!("{place}0/zarr.json"), &third(&json!({})));
        folder.json(&format!("{place}1/zarr.json"), &third(&json!({"shape": [5, 3, 3]})));
    };
    put("a.zarr/", json!({"multiscales": image}));
    put("b.zarr/deep/", json!({"ome": {"version": "0.5", "multiscales": image, "image-label": colours}}));
    folder.json("b.zarr/.zgroup", &json!({"zarr_format": 2}));
    for (name, own) in [("a.zarr", "0"), ("b.zarr", "deep/0")] {
        let file = folder.open(name, None).unwrap();
        let um = |name, spacing, origin| axis(name, Some("micrometer"), Some((spacing, origin)));
        let axes = [um("x", 0.5, 39.75), um("y", 1.0, 19.5), axis("c", None, None)];
        assert_eq!((&file.layout().size[..], &file.about().axes[..]), (&[7, 6, 5][..], &axes[..]), "{name}");
        assert_eq!(file.about().remarks, [Remark::Sizes { name: own.into(), sizes: 2 }]);
        let labels: Vec<_> = file.about().labels.iter().map(|label| (label.word, label.colour)).collect();
        assert_eq!(labels, if name == "b.zarr" { vec![(3, Some([255, 0, 0, 128]))] } else { vec![] });
    }
    // Another size is where it says, by whichever name.
    for (name, part) in [("a.zarr", Some("/1/")), ("a.zarr/1", None)] {
        let file = folder.open(name, part).unwrap();
        let x = axis("x", Some("micrometer"), Some((1.0, -0.5)));
        assert_eq!(
            (&file.layout().size[..], &file.about().axes[0], file.about().remarks.len()),
            (&[3, 3, 5][..], &x, 0)
        );
    }
    // Two are not chosen from, and one that leads nowhere, or out, is told.
    folder.json("b.zarr/beside/.zarray", &second(&json!({})));
    let several = folder.open("b.zarr", None).unwrap_err().wrong;
    assert!(matches!(&several, Wrong::Member { wanted: None, members: 2, names } if names[..] == ["/beside", "/deep"]));
    let missing = folder.open("b.zarr", Some("lost")).unwrap_err().wrong;
    assert!(matches!(missing, Wrong::Member { wanted: Some(name), members: 2, .. } if name == "/lost"));
    for (from, to, says) in [
        ("\"0\"", "\"../b\"", "a.zarr/zarr.json: line 48: path '../b': the name of an array is needed"),
        ("\"0\"", "\"2\"", "path '2': no array is there"),
        ("\"translation\"", "\"affine\"", "identity, or scale or translation with 3 numbers, can be read"),
    ] {
        put("a.zarr/", json!({"multiscales": image}));
        let text = fs::read_to_string(folder.0.join("a.zarr/zarr.json")).unwrap();
        let found = folder.put("a.zarr/zarr.json", text.replace(from, to)).wrong("a.zarr", None);
        let (_, said) = says.split_once("line 48: ").unwrap_or(("", says));
        assert!(found.starts_with("a.zarr/zarr.json: line ") && found.contains(said), "{found}");
    }
}

/// As xarray has axes: coordinates beside the array, and names in an attribute or, since version 3, in the metadata.
#[test]
fn coordinates_are_spacing_and_origin() {
    let folder = Folder::new("axes");
    let places = |from: f64, step: f64, count: usize| -> Vec<u8> {
        (0..count).flat_map(|i| (from + step * i as f64).to_le_bytes()).collect()
    };
    folder.json("a.zarr/zarr.json", &json!({"zarr_format": 3, "node_type": "group"}));
    folder.json("a.zarr/heat/zarr.json", &third(&json!({"dimension_names": ["time", "lat", null]})));
    let list = |name: &str, count: usize, unit: &str| {
        let grid = json!({"name": "regular", "configuration": {"chunk_shape": [count]}});
        let attributes = json!({"units": unit});
        third(
            &json!({"data_type": "float64", "shape": [count], "chunk_grid": grid, "dimension_names": [name], "attributes": attributes}),
        )
    };
    folder
        .json("a.zarr/time/zarr.json", &list("time", 5, "days since 2000-01-01"))
        .put("a.zarr/time/c/0", places(0.0, 2.0, 5));
    folder.json("a.zarr/lat/zarr.json", &list("lat", 6, "degrees_north")).put("a.zarr/lat/c/0", places(50.0, -1.0, 6));
    // A number alone, which is no array, and the only one that is none of the others' axes is taken.
    folder.json("a.zarr/crs/zarr.json", &third(&json!({"shape": []})));
    let file = folder.open("a.zarr", None).unwrap();
    let time = axis("time", Some("days since 2000-01-01"), Some((2.0, -1.0)));
    let lat = axis("lat", Some("degrees_north"), Some((-1.0, 50.5)));
    assert_eq!(file.about().axes, [AboutAxis::default(), lat.clone(), time]);
    folder.put("a.zarr/time/c/0", [places(0.0, 2.0, 4), places(9.0, 0.0, 1)].concat());
    let about = folder.open("a.zarr/heat", None).unwrap().about().clone();
    assert_eq!((about.axes[2].spacing, &about.remarks[..]), (None, &[Remark::Uneven("time".into())][..]));
    // In version 2.
    folder.json("b.zarr/.zgroup", &json!({"zarr_format": 2})).json("b.zarr/heat/.zarray", &second(&json!({})));
    folder.json("b.zarr/heat/.zattrs", &json!({"_ARRAY_DIMENSIONS": ["z", "lat", "x"]}));
    folder.json("b.zarr/lat/.zarray", &second(&json!({"shape": [6], "chunks": [6], "dtype": "<f8"})));
    folder.json("b.zarr/lat/.zattrs", &json!({"_ARRAY_DIMENSIONS": ["lat"], "units": "degrees_north"}));
    folder.put("b.zarr/lat/0", places(50.0, -1.0, 6));
    assert_eq!(folder.open("b.zarr", None).unwrap().about().axes, [axis("x", None, None), lat, axis("z", None, None)]);
}

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
    orthant::export::zarr::write(&tree, &store).unwrap();
    orthant::export::zarr::pack(&store, File::create(&zip).unwrap()).unwrap();
    for (name, part) in [("a.zarr", None), ("a.zarr.zip", None), ("a.zarr.zip", Some("value")), ("a.zarr/value", None)]
    {
        let file = folder.open(name, part).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(cells(&file), array.iter().copied().collect::<Vec<_>>(), "{name}");
        if name != "a.zarr/value" {
            assert_eq!(file.about().window([9, 10, 11]), Some(domain.window()), "{name}");
        }
    }
    tree.save(&folder.0.join("a.tree.zarr"), &TreeInfo::of(&plan)).unwrap();
    assert!(matches!(folder.open("a.tree.zarr", None).unwrap_err().wrong, Wrong::Tree));
}
