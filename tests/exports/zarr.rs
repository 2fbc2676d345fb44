//! Chunks and files of Zarr are the cells, and say where they lie.

use std::fs;
use std::path::Path;

use orthant::CellType;
use orthant::per_axis;
use orthant::prelude::*;
use orthant::tree::Source;
use orthant::zarr::{ArrayMetadata, ShardReader, ZarrStore};
use orthant_formats::export::{Boxes, ExportError, zarr};
use proptest::prelude::*;
use serde_json::Value;

use super::{Volume, io, volumes};
use crate::trees;

/// A chunk has at most 2^18 cells, and a file at most 2^9 chunks, if nothing else is asked for.
const BITS: (u32, u32) = (18, 9);

/// Cells per axis of chunks and of files, as the metadata of the cells says.
struct Sides<const K: usize> {
    chunk: [u32; K],
    file: [u32; K],
}

impl<const K: usize> Sides<K> {
    fn of(folder: &Path) -> Self {
        let text = fs::read_to_string(folder.join("value/zarr.json")).unwrap();
        let metadata: Value = serde_json::from_str(&text).unwrap();
        // Axis 0 is the last one there.
        let sides = |shape: &Value| -> [u32; K] {
            let mut sides: Vec<u32> = serde_json::from_value(shape.clone()).unwrap();
            sides.reverse();
            sides.try_into().unwrap()
        };
        Self {
            chunk: sides(&metadata["codecs"][0]["configuration"]["chunk_shape"]),
            file: sides(&metadata["chunk_grid"]["configuration"]["chunk_shape"]),
        }
    }

    /// Chunks of a file per axis, of which it has whole ones.
    fn chunks(&self) -> [u32; K] {
        assert!((0..K).all(|j| self.file[j].is_multiple_of(self.chunk[j])), "{:?} {:?}", self.file, self.chunk);
        std::array::from_fn(|j| self.file[j] / self.chunk[j])
    }
}

fn product<const K: usize>(sides: [u32; K]) -> u128 {
    sides.iter().map(|&side| u128::from(side)).product()
}

fn reversed<const K: usize>(of: [u32; K]) -> Vec<u64> {
    of.iter().rev().map(|&n| n.into()).collect()
}

/// What is in the folder, put together chunk by chunk.
fn read<const K: usize>(folder: &Path, sides: &Sides<K>, volume: &Volume<K>) -> Vec<u8> {
    let (size, width) = (volume.size(), volume.kind().bytes() as usize);
    let (side, chunks) = (sides.file, sides.chunks());
    let value = ArrayMetadata::sharded(
        volume.kind(),
        &reversed(size),
        &reversed(side),
        &reversed(sides.chunk),
        &per_axis::names(K).iter().rev().map(String::as_str).collect::<Vec<_>>(),
    );
    let store = ZarrStore::open(folder).unwrap();
    store.expect("value/zarr.json", &value.text()).unwrap();
    let mut cells = vec![0; volume.bytes.len()];
    let whole = Region { corner: [0; K], extent: size };
    let files = Region { corner: [0; K], extent: std::array::from_fn(|j| size[j].div_ceil(side[j])) };
    for at in files.cells() {
        let key: Vec<u64> = at.iter().rev().map(|&p| p.into()).collect();
        let name = format!("value/{}", ArrayMetadata::key(&key));
        let Some(member) = store.member(&name).unwrap() else { continue };
        let shard = ShardReader::open(member, &value).unwrap();
        let mut empty = true;
        for (number, chunk) in (0..).zip(Region { corner: [0; K], extent: chunks }.cells()) {
            let mut bytes = Vec::new();
            shard.chunk(number, &mut bytes).unwrap();
            empty &= bytes.iter().all(|&byte| byte == 0);
            let corner = std::array::from_fn(|j| at[j] * side[j] + chunk[j] * sides.chunk[j]);
            let there = Region { corner, extent: sides.chunk };
            for (cell, bytes) in there.cells().zip(bytes.chunks_exact(width)) {
                if whole.contains_cell(cell) {
                    let start = whole.place(cell) * width;
                    cells[start..start + width].copy_from_slice(bytes);
                } else {
                    assert!(bytes.iter().all(|&byte| byte == 0), "{cell:?} lies beyond the domain");
                }
            }
        }
        assert!(!empty, "{name} could have been left out");
    }
    cells
}

fn check<const K: usize>(volume: &Volume<K>) {
    let folder = trees::folder();
    let tree = volume.tree();
    // Files of several chunks, and of one that spans axes of few cells.
    for (number, bits) in [(4, 3), BITS].into_iter().enumerate() {
        let folder = folder.path().join(number.to_string());
        let write = || match bits {
            BITS => zarr::write(&tree, &folder),
            (chunk, file) => zarr::write_of(&tree, &folder, chunk, file),
        };
        write().unwrap();
        let again = write().unwrap_err();
        assert!(matches!(&again, ExportError::File { path, .. } if *path == folder), "{again}");
        let sides = Sides::<K>::of(&folder);
        assert!(product(sides.chunk) <= 1 << bits.0 && product(sides.chunks()) <= 1 << bits.1);
        assert!(read(&folder, &sides, volume) == volume.bytes, "{:?} {:?}", volume.size(), volume.kind());
    }
}

/// Cells that are not there: zeros, or an error.
#[derive(Debug)]
struct Nothing<const K: usize> {
    domain: Domain<K>,
    zeros: bool,
}

impl<const K: usize> Source<K> for Nothing<K> {
    fn kind(&self) -> CellType {
        CellType::U8
    }

    fn size(&self) -> [u32; K] {
        self.domain.size()
    }

    fn read(&self, _: &Region<K>, _: &mut [u8]) -> io::Result<()> {
        unreachable!("no cell has to be read")
    }

    fn known(&self, _: &Region<K>) -> io::Result<Option<u64>> {
        if self.zeros { Ok(Some(0)) } else { Err(io::Error::other("no cells")) }
    }
}

impl<const K: usize> Boxes<K> for Nothing<K> {
    fn domain(&self) -> Domain<K> {
        self.domain
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn chunks_are_the_cells(one in volumes::<1>(300), two in volumes::<2>(40), three in volumes::<3>(13), five in volumes::<5>(4)) {
        check(&one);
        check(&two);
        check(&three);
        check(&five);
    }

    /// Of any domain: metadata are written before the first cell is asked for.
    #[test]
    fn chunks_and_files_are_small(size in prop::array::uniform4(1u32..=u32::MAX)) {
        let folder = trees::folder();
        let domain = Domain::new(size, [[0.0, 1.0]; 4], Sample::Centre).unwrap();
        let unread = zarr::write(&Nothing { domain, zeros: false }, folder.path());
        prop_assert!(matches!(unread, Err(ExportError::Read(_))));
        let sides = Sides::<4>::of(folder.path());
        prop_assert!(product(sides.chunk) <= 1 << BITS.0 && product(sides.chunks()) <= 1 << BITS.1);
        // As large as they may be, if there is so much.
        prop_assert!(product(sides.chunk) >= product(size).min(1 << BITS.0) / 16);
    }
}

#[test]
fn coordinates_are_those_of_samples() {
    let folder = trees::folder();
    let domain = Domain::new([70_000, 3], [[-1.5, 0.5], [2.0, 5.0]], Sample::Centre).unwrap();
    zarr::write(&Nothing { domain, zeros: true }, folder.path()).unwrap();
    let decoded = |name: &str| {
        let encoded = fs::read(folder.path().join(name)).unwrap();
        let bytes = zstd::bulk::decompress(&encoded[..encoded.len() - 4], 1 << 20).unwrap();
        bytes.chunks_exact(8).map(|x| f64::from_le_bytes(x.try_into().unwrap())).collect::<Vec<_>>()
    };
    assert_eq!(decoded("y/c/0"), [2.5, 3.5, 4.5]);
    let (first, second) = (decoded("x/c/0"), decoded("x/c/1"));
    assert_eq!((first.len(), second.len()), (1 << 16, 1 << 16));
    assert_eq!(first[0], 0.5f64.mul_add(2.0 / 70_000.0, -1.5));
    assert_eq!(second[70_000 - (1 << 16) - 1], 69_999.5f64.mul_add(2.0 / 70_000.0, -1.5));
}
