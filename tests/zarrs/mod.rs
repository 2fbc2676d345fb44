//! Stores of Zarr as other programs write them: what is read of them, and what is refused.

mod about;
mod read;
mod refused;
mod words;

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use orthant::prelude::*;
use orthant::tree::Source;
use orthant_formats::input::{ArrayFile, InputError};
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
    all.json("a.zarr/v/.zattrs", &names("x")).put("a.zarr/v/0", include_bytes!("../zarr/lz4-2.blosc"));
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
