//! Dense Zarr v3: an array of all cells, and one per axis that says where they are.
//!
//! The array `value` has shape [n_{k-1}, .., n_0], in chunks of about a quarter of a million cells, hundreds of which are one file.
//! Chunks and files of zeros alone are left out. `x`, `y`, `z` (up to four axes; `x0`, `x1`, .. of more) are the samples'
//! coordinates, which xarray takes for those of the axes of the same names.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;

use crate::export::boxes::Boxes;
use crate::export::error::ExportError;
use crate::export::slabs;
use orthant::CellType;
use orthant::disk::Folder;
use orthant::geometry::{Domain, Region};
use orthant::here;
use orthant::memory::zeros;
use orthant::parallel;
use orthant::per_axis;
/// ```
/// use std::io::Cursor;
/// use orthant::Tree;
/// use orthant_formats::export::zarr;
/// use orthant::ndarray::Array2;
///
/// # let folder = std::env::temp_dir().join(format!("orthant-doc-pack-{}.zarr", std::process::id()));
/// let tree = Tree::<2>::from_array(Array2::<u8>::ones((40, 60)).view())?;
/// zarr::write(&tree, &folder)?;
/// let zip = zarr::pack(&folder, Cursor::new(Vec::new()))?.into_inner();
/// // The first member is the group's own `zarr.json`.
/// assert!(zip.starts_with(b"PK\x03\x04") && zip[30..].starts_with(b"zarr.json"));
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub use orthant::zarr::pack;
use orthant::zarr::{ArrayMetadata, ShardWriter, encode, group_of, is_fill};

/// A chunk has at most 2^18 cells, on axes that are equally long if there is room.
const CHUNK_BITS: u32 = 18;

/// A file has at most 2^9 chunks.
const FILE_BITS: u32 = 9;

/// Elements of a chunk of coordinates.
const COORDINATES: u64 = 1 << 16;

/// Chunks that are encoded before they are written.
const BATCH: usize = 32;

/// Writes all cells into an empty folder, as a Zarr group. It makes the folder if there is none, and writes the group's
/// `zarr.json` last.
///
/// ```
/// use orthant::Tree;
/// use orthant_formats::export::zarr;
/// use orthant::ndarray::Array2;
///
/// # let folder = std::env::temp_dir().join(format!("orthant-doc-zarr-{}.zarr", std::process::id()));
/// let tree = Tree::<2>::from_array(Array2::<u8>::ones((40, 60)).view())?;
/// zarr::write(&tree, &folder)?;
/// // A group of the cells, `value`, and of the coordinates of each axis.
/// assert!(["zarr.json", "value", "x", "y"].iter().all(|name| folder.join(name).exists()));
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If cells cannot be read, or a file cannot be written; what was written stays then.
pub fn write<const K: usize>(boxes: &dyn Boxes<K>, folder: &Path) -> Result<(), ExportError> {
    write_of(boxes, folder, CHUNK_BITS, FILE_BITS)
}

/// The same in chunks of at most 2^`chunk_bits` cells, and files of at most 2^`file_bits` chunks. It is public for tests: of the sizes that
/// [`write`] has, arrays of several files would be larger than tests can look at cell by cell.
///
/// # Errors
/// As [`write`].
#[doc(hidden)]
pub fn write_of<const K: usize>(
    boxes: &dyn Boxes<K>,
    folder: &Path,
    chunk_bits: u32,
    file_bits: u32,
) -> Result<(), ExportError> {
    let failed = |error| ExportError::File { path: folder.to_owned(), error };
    let opened = Folder::open_or_new(folder).map_err(failed)?;
    write_to(boxes, &opened, &Chunking::of(boxes.size(), chunk_bits, file_bits))
}

/// The same into an empty folder that is open.
///
/// # Errors
/// As [`write`].
#[doc(hidden)]
pub fn write_into<const K: usize>(boxes: &dyn Boxes<K>, folder: &Folder) -> Result<(), ExportError> {
    write_to(boxes, folder, &Chunking::of(boxes.size(), CHUNK_BITS, FILE_BITS))
}

/// The same in chunks and files of these sides.
fn write_to<const K: usize>(boxes: &dyn Boxes<K>, folder: &Folder, grid: &Chunking<K>) -> Result<(), ExportError> {
    here!(fn(&dyn Boxes<K>, &Folder, &Chunking<K>) -> Result<(), ExportError> = write_to_here::<K>)(boxes, folder, grid)
}

fn write_to_here<const K: usize>(boxes: &dyn Boxes<K>, folder: &Folder, grid: &Chunking<K>) -> Result<(), ExportError> {
    let domain = boxes.domain();
    let failed = |error| wrong(folder, "", error);
    // What was left out here would be what was there.
    if !folder.names().map_err(failed)?.is_empty() {
        return Err(failed(io::ErrorKind::DirectoryNotEmpty.into()));
    }
    let names = per_axis::names(K);
    let named: Vec<&str> = names.iter().rev().map(String::as_str).collect();
    let value = ArrayMetadata::sharded(
        boxes.kind(),
        &reversed(domain.size()),
        &reversed(grid.side()),
        &reversed(grid.chunk),
        &named,
    );
    write_values(boxes, grid, &value, folder)?;
    let mut arrays = BTreeMap::from([("value".to_owned(), value)]);
    for axis in 0..K {
        let coordinates = write_coordinates(&Coordinates::of(&domain, axis), &names[axis], folder)?;
        arrays.insert(names[axis].clone(), coordinates);
    }
    let about = DomainAttributes {
        size: domain.size().to_vec(),
        window: domain.window().to_vec(),
        sample: domain.sample().name(),
    };
    put(folder, "zarr.json", group_of(&BTreeMap::from([("orthant", about)]), &arrays).as_bytes())?;
    folder.sync_all().map_err(|error| wrong(folder, "", error))
}

/// What the group says of the domain, axis 0 first.
#[derive(Serialize)]
struct DomainAttributes {
    size: Vec<u32>,
    window: Vec<[f64; 2]>,
    sample: &'static str,
}

/// Axis 0 last, as Zarr has its fastest.
fn reversed<const K: usize>(of: [u32; K]) -> Vec<u64> {
    of.iter().rev().map(|&n| n.into()).collect()
}

/// Cells per axis of a chunk, and chunks of a file.
struct Chunking<const K: usize> {
    chunk: [u32; K],
    chunks: [u32; K],
}

impl<const K: usize> Chunking<K> {
    fn of(size: [u32; K], chunk_bits: u32, file_bits: u32) -> Self {
        let chunk = share(size, chunk_bits);
        Self { chunk, chunks: share(per_axis::each(|j| size[j].div_ceil(chunk[j])), file_bits) }
    }

    /// Cells per axis of a file.
    fn side(&self) -> [u32; K] {
        per_axis::each(|j| self.chunk[j] * self.chunks[j])
    }
}

/// A box with at most 2^bits of what there is `size` of per axis: powers of two but for axes that it spans.
fn share<const K: usize>(size: [u32; K], bits: u32) -> [u32; K] {
    let mut sides = [0u32; K];
    for _ in 0..bits {
        // The shortest side that does not span its axis yet.
        let open = (0..K).filter(|&j| sides[j] < 31 && 1 << sides[j] < size[j]);
        let Some(axis) = open.min_by_key(|&j| sides[j]) else { break };
        sides[axis] += 1;
    }
    per_axis::each(|j| (1u32 << sides[j]).min(size[j]))
}

fn write_values<const K: usize>(
    boxes: &dyn Boxes<K>,
    grid: &Chunking<K>,
    metadata: &ArrayMetadata,
    folder: &Folder,
) -> Result<(), ExportError> {
    put(folder, "value/zarr.json", metadata.text().as_bytes())?;
    let size = boxes.size();
    let whole = Region { corner: [0; K], extent: size };
    let side = grid.side();
    // Boxes of a lattice, cut off where the domain ends; None of those beyond.
    let cut = |corner: [u64; K], side: [u32; K]| {
        let inside = (0..K).all(|j| corner[j] < size[j].into());
        let corner = per_axis::each(|j| corner[j] as u32);
        inside.then(|| whole.intersection(&Region { corner, extent: side })).flatten()
    };
    let files = Region { corner: [0; K], extent: per_axis::each(|j| size[j].div_ceil(side[j])) };
    for at in files.cells() {
        let corner: [u64; K] = per_axis::each(|j| u64::from(at[j]) * u64::from(side[j]));
        let file = cut(corner, side).expect("files begin in the domain");
        if boxes.known(&file).map_err(ExportError::Read)? == Some(metadata.fill) {
            continue;
        }
        let chunk = |at: [u32; K]| {
            let corner = per_axis::each(|j| corner[j] + u64::from(at[j]) * u64::from(grid.chunk[j]));
            cut(corner, grid.chunk).map_or(Ok(None), |part| encoded(boxes, &part, grid.chunk, metadata))
        };
        let lattice = Region { corner: [0; K], extent: grid.chunks };
        let numbers: Vec<[u32; K]> = lattice.cells().collect();
        let key: Vec<u64> = at.iter().rev().map(|&number| number.into()).collect();
        let name = format!("value/{}", ArrayMetadata::key(&key));
        write_shard(folder, &name, metadata, numbers.len(), &|i| chunk(numbers[i]))?;
    }
    Ok(())
}

/// Writes a file of so many chunks, unless all of them are empty.
fn write_shard(
    folder: &Folder,
    name: &str,
    metadata: &ArrayMetadata,
    chunks: usize,
    chunk: &(dyn Fn(usize) -> Result<Option<Vec<u8>>, ExportError> + Sync),
) -> Result<(), ExportError> {
    // What keeps cells from being read is no failure of the file.
    let mut unread = None;
    let made = folder.make(name, |file| {
        let mut shard = ShardWriter::new(file, metadata);
        let mut empty = true;
        for first in (0..chunks).step_by(BATCH) {
            let batch = parallel::try_map(BATCH.min(chunks - first), &|i| chunk(first + i));
            for chunk in batch.map_err(|error| io::Error::other(unread.insert(error).to_string()))? {
                empty &= chunk.is_none();
                shard.put(chunk.as_deref())?;
            }
        }
        shard.finish().map(|_| empty)
    });
    if let Some(error) = unread {
        return Err(error);
    }
    if made.map_err(|error| wrong(folder, name, error))? {
        folder.remove_named(name).map_err(|error| wrong(folder, name, error))?;
    }
    Ok(())
}

/// A chunk, of which the domain has a part; None if all of that is the fill value.
fn encoded<const K: usize>(
    boxes: &dyn Boxes<K>,
    part: &Region<K>,
    side: [u32; K],
    metadata: &ArrayMetadata,
) -> Result<Option<Vec<u8>>, ExportError> {
    let (fill, width) = (metadata.fill_bytes(), boxes.kind().bytes() as usize);
    let mut bytes = zeros::<u8>(part.volume() as usize * width)?;
    slabs::read(boxes, part, &mut bytes)?;
    if is_fill(&bytes, &fill) {
        return Ok(None);
    }
    let whole = Region { corner: part.corner, extent: side };
    let chunk = match part.extent == side {
        true => bytes,
        false => {
            let mut chunk = fill.repeat(metadata.chunk_bytes() / width);
            let row = part.extent[0] as usize * width;
            for (cell, bytes) in part.rows().zip(bytes.chunks_exact(row)) {
                let start = whole.place(cell) * width;
                chunk[start..start + row].copy_from_slice(bytes);
            }
            chunk
        }
    };
    encode(&chunk).map(Some).map_err(ExportError::Write)
}

/// Where samples lie on an axis.
struct Coordinates {
    n: u64,
    lo: f64,
    pitch: f64,
    offset: f64,
}

impl Coordinates {
    fn of<const K: usize>(domain: &Domain<K>, axis: usize) -> Self {
        let (n, offset) = (domain.size()[axis].into(), domain.sample().offset());
        Self { n, lo: domain.window()[axis][0], pitch: domain.pitch()[axis], offset }
    }
}

fn write_coordinates(
    &Coordinates { n, lo, pitch, offset }: &Coordinates,
    name: &str,
    folder: &Folder,
) -> Result<ArrayMetadata, ExportError> {
    let each = n.min(COORDINATES);
    let metadata = ArrayMetadata::plain(CellType::F64, &[n], &[each], &[name]);
    put(folder, &format!("{name}/zarr.json"), metadata.text().as_bytes())?;
    for number in 0..n.div_ceil(each) {
        let cells = number * each..(number + 1) * each;
        let at = |c: u64| if c < n { (c as f64 + offset).mul_add(pitch, lo) } else { 0.0 };
        let bytes: Vec<u8> = cells.flat_map(|c| at(c).to_le_bytes()).collect();
        let bytes = encode(&bytes).map_err(ExportError::Write)?;
        put(folder, &format!("{name}/{}", ArrayMetadata::key(&[number])), &bytes)?;
    }
    Ok(metadata)
}

fn put(folder: &Folder, name: &str, bytes: &[u8]) -> Result<(), ExportError> {
    folder.make(name, |file| file.write_all(bytes)).map_err(|error| wrong(folder, name, error))
}

/// What the system says of a file.
fn wrong(folder: &Folder, name: &str, error: io::Error) -> ExportError {
    let path = if name.is_empty() { folder.path().to_owned() } else { folder.path().join(name) };
    ExportError::File { path, error }
}
