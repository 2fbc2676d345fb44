//! From chunks to cells in the order of their indices.
//!
//! Cells are gathered in slabs, which are as many whole chunks as may be held at once and as lie in long runs of the array, so that every
//! chunk is unpacked once. What no chunk says and is 0 is not written: files have zeros where nothing was.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};

use crate::input::error::{InputError, InputFault};
use crate::input::members::EachPath;
use crate::input::zarr::codec::{most_packed, unpack};
use crate::input::zarr::header::{ArrayHeader, ShardIndex};
use crate::input::zarr::node::{inside, of_store};
use crate::input::zarr::unpack_error::UnpackError;
use orthant::Endian;
use orthant::memory::zeros;
use orthant::zarr::{CHECKSUMS, Fault, Member, ZarrStore};

/// About how many bytes of cells are held at once, if chunks have no more.
const MOST_AT_ONCE: u128 = 1 << 26;

/// The most files and chunks that are looked for.
const MOST_FILES: u128 = 1 << 22;
const MOST_CHUNKS: u128 = 1 << 26;

/// Of arrays with more bytes, some files must be there: one of so many.
const FEW_BYTES: u128 = 1 << 28;
const FEW_FILES: u64 = 1 << 12;

/// The most chunks whose places are held, and shards that are open meanwhile.
const MOST_INDEX: usize = 1 << 22;
const MOST_OPEN: usize = 256;

/// An array's chunks in a store.
pub(super) struct Chunks {
    store: ZarrStore,
    folder: String,
    header: ArrayHeader,
    width: u64,
    /// Shards that were looked at, and how many chunks' places they hold.
    shards: HashMap<Vec<u64>, Option<OpenShard>>,
    held: usize,
}

/// A shard, and where its chunks begin and how long they are.
struct OpenShard {
    member: Member,
    chunks: Vec<(u64, u64)>,
}

impl Chunks {
    /// The chunks of an array in a folder of the store, of which there may be so many.
    pub(super) fn of(store: ZarrStore, folder: String, header: ArrayHeader) -> Result<Self, InputError> {
        let width = header.kind.bytes();
        let own = Self { store, folder, header, width, shards: HashMap::new(), held: 0 };
        let ArrayHeader { shape, file, chunk, fill, .. } = &own.header;
        let number = |of: &[u64]| product(shape.iter().zip(of).map(|(n, side)| n.div_ceil(*side)));
        let (files, chunks) = (number(file), number(chunk));
        if files > MOST_FILES || chunks > MOST_CHUNKS {
            let what = format!("{files} files of {chunks} chunks; at most {MOST_FILES} of {MOST_CHUNKS} can be");
            return Err(own.wrong(InputFault::Other(what)));
        }
        // Cells that no file has take room if they are not 0.
        let bytes = product(shape.iter().copied().chain([width]));
        if bytes > FEW_BYTES && *fill != 0 {
            let mut there = 0;
            each(&counts(shape, file), |at| {
                there += u64::from(own.file(at)?.is_some());
                Ok(())
            })?;
            if there < (files as u64).div_ceil(FEW_FILES) {
                let what = format!("{there} of {files} files of chunks are there: most cells were never written");
                return Err(own.wrong(InputFault::Other(what)));
            }
        }
        Ok(own)
    }

    /// All files of chunks that there can be, one after the other; None of a zip.
    pub(super) fn files(&self) -> Option<Box<EachPath>> {
        let folder = self.store.is_folder().then(|| self.store.path().join(&self.folder))?;
        let (counts, keys) = (counts(&self.header.shape, &self.header.file), self.header.keys);
        Some(Box::new(move |look| each(&counts, |at| look(&folder.join(keys.name(at))))))
    }

    fn wrong(&self, wrong: InputFault) -> InputError {
        let path = self.store.path().to_owned();
        match self.folder.is_empty() {
            true => InputError { path, wrong },
            false => {
                InputError { path, wrong: InputFault::InMember { name: self.folder.clone(), wrong: Box::new(wrong) } }
            }
        }
    }

    /// All cells, in the order of their indices.
    pub(super) fn all(mut self) -> Result<Vec<u8>, InputError> {
        let shape = self.header.shape.clone();
        let mut cells = self.zeros(product(shape.iter().copied().chain([self.width])))?;
        self.slab(&vec![0; shape.len()], &shape, &mut cells)?;
        Ok(cells)
    }

    /// Writes all cells into a file of zeros.
    pub(super) fn write(mut self, out: &mut File) -> Result<(), InputError> {
        let (shape, chunk, width) = (self.header.shape.clone(), self.header.chunk.clone(), self.width);
        // As many chunks as may be, along the fastest axis first: what is written at a time is as long as that.
        let mut side: Vec<u64> = chunk.iter().zip(&shape).map(|(chunk, n)| *chunk.min(n)).collect();
        for axis in (0..shape.len()).rev() {
            let bytes = product(side.iter().copied().chain([width]));
            let chunks = u64::try_from(MOST_AT_ONCE / bytes.max(1)).unwrap_or(u64::MAX).max(1);
            side[axis] = side[axis].saturating_mul(chunks).min(shape[axis]);
        }
        let mut cells = self.zeros(product(side.iter().copied().chain([width])))?;
        // From here on a slab is one run.
        let runs = (0..shape.len()).rev().find(|&axis| side[axis] < shape[axis]).unwrap_or(0);
        let strides = strides(&shape);
        each(&counts(&shape, &side), |at| {
            let corner: Vec<u64> = at.iter().zip(&side).map(|(at, side)| at * side).collect();
            let extent: Vec<u64> = (0..shape.len()).map(|axis| side[axis].min(shape[axis] - corner[axis])).collect();
            let cells = &mut cells[..(extent.iter().product::<u64>() * width) as usize];
            if !self.slab(&corner, &extent, cells)? {
                return Ok(());
            }
            let run = (extent[runs..].iter().product::<u64>() * width) as usize;
            let mut rows = cells.chunks_exact(run);
            each(&extent[..runs], |row| {
                let cell = |axis: usize| corner[axis] + row.get(axis).copied().unwrap_or(0);
                let start: u64 = (0..shape.len()).map(|axis| cell(axis) * strides[axis]).sum();
                let write = |out: &mut File, row: &[u8]| {
                    out.seek(SeekFrom::Start(start * width))?;
                    out.write_all(row)
                };
                write(out, rows.next().expect("a run per row")).map_err(|error| self.wrong(error.into()))
            })
        })
    }

    fn zeros(&self, bytes: u128) -> Result<Vec<u8>, InputError> {
        let length = usize::try_from(bytes).unwrap_or(usize::MAX);
        zeros(length).map_err(|refused| self.wrong(InputFault::Archive(refused.into())))
    }

    /// Writes the cells of a box, which begins with a chunk on every axis; false if all of them are 0 since there is no chunk.
    fn slab(&mut self, corner: &[u64], extent: &[u64], cells: &mut [u8]) -> Result<bool, InputError> {
        let ArrayHeader { chunk, order, fill, .. } = &self.header;
        let (chunk, order, fill, width) = (chunk.clone(), order.clone(), *fill, self.width as usize);
        // The fastest axis of a chunk comes last in its order.
        let mut from = vec![0; chunk.len()];
        let turned: Vec<u64> = order.iter().map(|&axis| chunk[axis]).collect();
        order.iter().zip(strides(&turned)).for_each(|(&axis, stride)| from[axis] = stride);
        let to = strides(extent);
        // Not before there is something: memory is there when it is written to.
        let blank = |cells: &mut [u8]| {
            if fill == 0 {
                return cells.fill(0);
            }
            let bytes = fill.to_le_bytes();
            cells.chunks_exact_mut(width).for_each(|cell| cell.copy_from_slice(&bytes[..width]));
            if Endian::HERE == Endian::Big {
                cells.chunks_exact_mut(width).for_each(<[u8]>::reverse);
            }
        };
        let mut any = fill != 0;
        if any {
            blank(cells);
        }
        each(&counts(extent, &chunk), |at| {
            let number: Vec<u64> = (0..chunk.len()).map(|axis| corner[axis] / chunk[axis] + at[axis]).collect();
            let Some(bytes) = self.chunk(&number)? else { return Ok(()) };
            if !any {
                blank(cells);
                any = true;
            }
            let first = at.iter().zip(&chunk).zip(&to).map(|((at, side), stride)| at * side * stride).sum::<u64>();
            let size: Vec<u64> =
                (0..chunk.len()).map(|axis| chunk[axis].min(extent[axis] - at[axis] * chunk[axis])).collect();
            let out = &mut cells[first as usize * width..];
            let copied = Copied { size: &size, from: &from, to: &to };
            match width {
                1 => copied.cells::<1>(&bytes, out),
                2 => copied.cells::<2>(&bytes, out),
                4 => copied.cells::<4>(&bytes, out),
                _ => copied.cells::<8>(&bytes, out),
            }
            Ok(())
        })?;
        Ok(any)
    }

    /// The file at these coordinates of the grid of files.
    fn file(&self, at: &[u64]) -> Result<Option<Member>, InputError> {
        self.store.member(&inside(&self.folder, &self.header.keys.name(at))).map_err(of_store)
    }

    /// A chunk by its coordinates in the grid of chunks, in bytes of this machine and its own order of axes; None if it is not there.
    fn chunk(&mut self, at: &[u64]) -> Result<Option<Vec<u8>>, InputError> {
        let ArrayHeader { codecs, endian, chunk, .. } = &self.header;
        let need = product(chunk.iter().copied().chain([self.width])) as usize;
        let (codecs, endian) = (codecs.clone(), *endian);
        let Some((member, start, packed)) = self.place(at)? else { return Ok(None) };
        let wrong = |error| {
            of_store(member.wrong(match error {
                UnpackError::Memory(refused) => refused.into(),
                UnpackError::Damaged(reason) => {
                    Fault::Frame { offset: member.offset(start), need: need as u64, reason }
                }
            }))
        };
        if packed > most_packed(need as u64) {
            return Err(wrong(format!("{packed} bytes are more than it can have").into()));
        }
        let whole = (start, packed) == (0, member.len());
        let bytes = if whole { member.all() } else { member.read(start, packed) }.map_err(of_store)?;
        let mut bytes = unpack(&codecs, bytes, need).map_err(wrong)?;
        if endian != Endian::HERE {
            bytes.chunks_exact_mut(self.width as usize).for_each(<[u8]>::reverse);
        }
        Ok(Some(bytes))
    }

    /// Where a chunk lies: a file, or a range of a shard.
    fn place(&mut self, at: &[u64]) -> Result<Option<(Member, u64, u64)>, InputError> {
        let Some(shard) = &self.header.shard else {
            return Ok(self.file(at)?.map(|member| {
                let length = member.len();
                (member, 0, length)
            }));
        };
        let ArrayHeader { file, chunk, .. } = &self.header;
        let per: Vec<u64> = file.iter().zip(chunk).map(|(file, chunk)| file / chunk).collect();
        let own: Vec<u64> = at.iter().zip(&per).map(|(at, per)| at / per).collect();
        if !self.shards.contains_key(&own) {
            let opened = match self.file(&own)? {
                Some(member) => Some(opened(shard, product(per.iter().copied()), member)?),
                None => None,
            };
            if self.held > MOST_INDEX || self.shards.len() >= MOST_OPEN {
                self.shards.clear();
                self.held = 0;
            }
            self.held += opened.as_ref().map_or(1, |opened| opened.chunks.len() + 1);
            self.shards.insert(own.clone(), opened);
        }
        let Some(Some(OpenShard { member, chunks })) = self.shards.get(&own) else { return Ok(None) };
        // The file has an entry of each, so that their number is one.
        let number = shard.order.iter().fold(0, |number, &axis| number * per[axis] + at[axis] % per[axis]);
        let (start, length) = chunks[number as usize];
        // As the format has it for chunks that are not there.
        Ok((start & length != u64::MAX).then(|| (member.clone(), start, length)))
    }
}

/// A shard of so many chunks, whose index is in the file.
fn opened(shard: &ShardIndex, chunks: u128, member: Member) -> Result<OpenShard, InputError> {
    let crc = if shard.checked { 4 } else { 0 };
    let need = chunks.saturating_mul(16).saturating_add(crc);
    let need = u64::try_from(need).unwrap_or(u64::MAX);
    let Some(rest) = member.len().checked_sub(need) else {
        return Err(of_store(member.wrong(Fault::Short { offset: member.offset(0), have: member.len(), need })));
    };
    let start = if shard.first { 0 } else { rest };
    let index = member.read(start, need).map_err(of_store)?;
    let (index, sum) = index.split_at(index.len() - crc as usize);
    if shard.checked && CHECKSUMS && crc32c::crc32c(index).to_le_bytes() != *sum {
        return Err(of_store(member.wrong(Fault::Checksum { offset: member.offset(start), length: need })));
    }
    let number = |bytes: &[u8]| {
        let bytes = bytes.try_into().expect("eight bytes");
        if shard.endian == Endian::Big { u64::from_be_bytes(bytes) } else { u64::from_le_bytes(bytes) }
    };
    let chunks = index.chunks_exact(16).map(|entry| (number(&entry[..8]), number(&entry[8..]))).collect();
    Ok(OpenShard { member, chunks })
}

/// A box of cells that is copied, and how far apart cells are on each axis.
struct Copied<'s> {
    size: &'s [u64],
    from: &'s [u64],
    to: &'s [u64],
}

impl Copied<'_> {
    fn cells<const W: usize>(&self, from: &[u8], to: &mut [u8]) {
        let (from, to) = (from.as_chunks::<W>().0, to.as_chunks_mut::<W>().0);
        let last = self.size.len() - 1;
        let (count, stride) = (self.size[last] as usize, self.from[last] as usize);
        let rows = each(&self.size[..last], |row| {
            let place = |strides: &[u64]| row.iter().zip(strides).map(|(at, stride)| at * stride).sum::<u64>() as usize;
            let (start, out) = (place(self.from), place(self.to));
            let out = &mut to[out..out + count];
            match stride {
                1 => out.copy_from_slice(&from[start..start + count]),
                _ => out.iter_mut().zip(from[start..].iter().step_by(stride)).for_each(|(out, cell)| *out = *cell),
            }
            Ok::<(), std::convert::Infallible>(())
        });
        let Ok(()) = rows;
    }
}

/// Boxes of these sides on every axis.
fn counts(size: &[u64], side: &[u64]) -> Vec<u64> {
    size.iter().zip(side).map(|(n, side)| n.div_ceil(*side)).collect()
}

/// How far apart cells of a box are, the slowest axis first.
fn strides(size: &[u64]) -> Vec<u64> {
    let mut strides = vec![1; size.len()];
    for axis in (1..size.len()).rev() {
        strides[axis - 1] = strides[axis] * size[axis];
    }
    strides
}

fn product(of: impl IntoIterator<Item = u64>) -> u128 {
    of.into_iter().fold(1, |all, n| all.saturating_mul(n.into()))
}

/// All coordinates below these, the last axis fastest; of no axes there is one.
fn each<E>(counts: &[u64], mut job: impl FnMut(&[u64]) -> Result<(), E>) -> Result<(), E> {
    let mut at = vec![0; counts.len()];
    loop {
        job(&at)?;
        let Some(axis) = (0..at.len()).rev().find(|&axis| at[axis] + 1 < counts[axis]) else { return Ok(()) };
        at[axis] += 1;
        at[axis + 1..].fill(0);
    }
}
