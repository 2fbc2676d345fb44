//! Shards: chunks one after the other in a file, and at its end where each begins.
//!
//! Chunks lie in the order of their numbers, last axis fastest, without gaps, and the index says so of every one: so each
//! byte of a shard is under a checksum, and there is one shard for what it holds.

use std::io::{self, Write};
use std::ops::Range;

use crate::memory::reserve;
use crate::zarr::chunk::{Broken, CRC, ENTRY, decode, encode, most_encoded, seal, sealed};
use crate::zarr::error::{Fault, ZarrError};
use crate::zarr::member::Member;
use crate::zarr::metadata::ArrayMetadata;

/// Both of a chunk that is not there.
const ABSENT: u64 = u64::MAX;

/// Writes a shard from its first chunk to its last. Chunks in which every element is the array's fill value are left out.
#[derive(Debug)]
pub struct ShardWriter<W> {
    out: W,
    chunks: u64,
    chunk_bytes: usize,
    fill: Vec<u8>,
    /// The beginning of a chunk.
    pending: Vec<u8>,
    index: Vec<u8>,
    /// Bytes written.
    at: u64,
}

impl<W: Write> ShardWriter<W> {
    /// Nothing yet of a shard of such an array.
    pub fn new(out: W, metadata: &ArrayMetadata) -> Self {
        let (fill, chunk_bytes) = (metadata.fill_bytes(), metadata.chunk_bytes());
        Self { out, chunks: metadata.chunks(), chunk_bytes, fill, pending: Vec::new(), index: Vec::new(), at: 0 }
    }

    /// The number of the chunk that comes next, or that something of is there.
    fn next(&self) -> u64 {
        (self.index.len() / ENTRY) as u64
    }

    /// The next elements, little-endian; of as many chunks as they reach.
    ///
    /// # Errors
    /// If the writer fails.
    ///
    /// # Panics
    /// If there are more than the shard has.
    pub(crate) fn push(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            if self.pending.is_empty() && bytes.len() >= self.chunk_bytes {
                let (chunk, others) = bytes.split_at(self.chunk_bytes);
                self.chunk(chunk)?;
                bytes = others;
                continue;
            }
            let (some, others) = bytes.split_at(bytes.len().min(self.chunk_bytes - self.pending.len()));
            self.pending.extend(some);
            bytes = others;
            if self.pending.len() == self.chunk_bytes {
                let chunk = std::mem::take(&mut self.pending);
                self.chunk(&chunk)?;
                self.pending = chunk;
                self.pending.clear();
            }
        }
        Ok(())
    }

    /// Goes on at chunk `number`: fills up the one that was begun, and leaves out those between.
    ///
    /// # Errors
    /// If the writer fails.
    ///
    /// # Panics
    /// If it lies behind, or beyond the shard.
    pub(crate) fn advance(&mut self, number: u64) -> io::Result<()> {
        if !self.pending.is_empty() {
            let rest = self.chunk_bytes - self.pending.len();
            let fill = self.fill.repeat(rest / self.fill.len());
            self.push(&fill)?;
        }
        assert!((self.next()..=self.chunks).contains(&number), "chunk {number} comes at or after {}", self.next());
        (self.next()..number).try_for_each(|_| self.put(None))
    }

    /// The next chunk, whole.
    fn chunk(&mut self, bytes: &[u8]) -> io::Result<()> {
        let absent = is_fill(bytes, &self.fill);
        let encoded = if absent { None } else { Some(encode(bytes)?) };
        self.put(encoded.as_deref())
    }

    /// The next chunk as [`encode`] made it, or that it is left out.
    ///
    /// # Errors
    /// If the writer fails.
    ///
    /// # Panics
    /// If there is no next one, or elements were pushed that are no whole chunk.
    pub fn put(&mut self, encoded: Option<&[u8]>) -> io::Result<()> {
        assert!(
            self.next() < self.chunks && self.pending.len().is_multiple_of(self.chunk_bytes),
            "chunk {} is next",
            self.next()
        );
        let (start, length) = match encoded {
            Some(encoded) => (self.at, encoded.len() as u64),
            None => (ABSENT, ABSENT),
        };
        if let Some(encoded) = encoded {
            self.out.write_all(encoded)?;
            self.at += length;
        }
        self.index.extend(start.to_le_bytes());
        self.index.extend(length.to_le_bytes());
        Ok(())
    }

    /// Ends the shard; chunks that did not come are left out.
    ///
    /// # Errors
    /// If the writer fails.
    pub fn finish(mut self) -> io::Result<W> {
        self.advance(self.chunks)?;
        seal(&mut self.index, 0);
        self.out.write_all(&self.index)?;
        Ok(self.out)
    }
}

/// True if bytes are a fill value over and over.
pub fn is_fill(bytes: &[u8], fill: &[u8]) -> bool {
    bytes.chunks(fill.len()).all(|element| element == fill)
}

/// A shard to be read, whose index was found right.
#[derive(Debug)]
pub struct ShardReader {
    member: Member,
    /// Where chunks lie, in the order of their numbers.
    chunks: Vec<Option<Range<u64>>>,
    chunk_bytes: usize,
    fill: Vec<u8>,
}

impl ShardReader {
    /// Bytes of a chunk in the index while that is read: as it lies in the file, and what is kept of it.
    pub(crate) const INDEX_BYTES: u64 = (ENTRY + size_of::<Option<Range<u64>>>()) as u64;

    /// A shard of such an array.
    ///
    /// # Errors
    /// If its index is not that of such a shard, or it does not say of every byte whose it is.
    pub fn open(member: Member, metadata: &ArrayMetadata) -> Result<Self, ZarrError> {
        // Whoever opens a shard so reads nearly all of it. No server makes this take more memory than such a shard can have.
        let member = match member.len() {
            length if length <= metadata.most_bytes() => member.at_hand(0..length)?,
            _ => member,
        };
        Self::sparse(member, metadata)
    }

    /// The same of a shard of which some chunks will be read.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub(crate) fn sparse(member: Member, metadata: &ArrayMetadata) -> Result<Self, ZarrError> {
        let wrong = |fault| member.wrong(fault);
        let need = u128::from(metadata.chunks()) * ENTRY as u128 + CRC as u128;
        let have = member.len();
        if u128::from(have) < need {
            let need = u64::try_from(need).unwrap_or(u64::MAX);
            return Err(wrong(Fault::Short { offset: member.offset(0), have, need }));
        }
        let need = need as u64;
        let begins = have - need;
        let bytes = member.read(begins, need)?;
        let Some(index) = sealed(&bytes) else {
            return Err(wrong(Fault::Checksum { offset: member.offset(begins), length: need }));
        };
        let mut chunks = Vec::new();
        reserve(&mut chunks, index.len() / ENTRY).map_err(|refused| wrong(refused.into()))?;
        let mut next = 0u64;
        for (chunk, entry) in (0..).zip(index.chunks_exact(ENTRY)) {
            let [start, length] =
                [&entry[..8], &entry[8..]].map(|part| u64::from_le_bytes(part.try_into().expect("eight bytes")));
            if (start, length) == (ABSENT, ABSENT) {
                chunks.push(None);
                continue;
            }
            match start.checked_add(length) {
                Some(end) if start == next && end <= begins => {
                    chunks.push(Some(start..end));
                    next = end;
                }
                _ => {
                    let offset = member.offset(begins + chunk * ENTRY as u64);
                    return Err(wrong(Fault::Index { offset, chunk, start, length, next }));
                }
            }
        }
        if next != begins {
            let offset = member.offset(begins);
            return Err(wrong(Fault::Index { offset, chunk: metadata.chunks(), start: begins, length: 0, next }));
        }
        Ok(Self { member, chunks, chunk_bytes: metadata.chunk_bytes(), fill: metadata.fill_bytes() })
    }

    /// Elements of a chunk.
    pub(crate) fn chunk_elements(&self) -> u64 {
        (self.chunk_bytes / self.fill.len()) as u64
    }

    /// The same with a run of chunks at hand, where reading each would take long.
    ///
    /// # Errors
    /// As [`chunk`](Self::chunk).
    ///
    /// # Panics
    /// If the shard has not as many.
    pub(crate) fn at_hand(&self, run: Range<u64>) -> Result<Self, ZarrError> {
        let chunks = &self.chunks[run.start as usize..run.end as usize];
        let mut there = chunks.iter().flatten();
        let member = match there.next() {
            None => self.member.clone(),
            Some(first) => {
                let end = there.next_back().unwrap_or(first).end;
                let most = (most_encoded(self.chunk_bytes) as u64).saturating_mul(chunks.len() as u64);
                match end - first.start {
                    length if length <= most => self.member.clone().at_hand(first.start..end)?,
                    _ => self.member.clone(),
                }
            }
        };
        let (chunks, chunk_bytes, fill) = (self.chunks.clone(), self.chunk_bytes, self.fill.clone());
        Ok(Self { member, chunks, chunk_bytes, fill })
    }

    /// Appends a chunk to `bytes`, little-endian.
    ///
    /// # Errors
    /// If what the file has is no such chunk.
    ///
    /// # Panics
    /// If the shard has no such chunk.
    pub fn chunk(&self, number: u64, bytes: &mut Vec<u8>) -> Result<(), ZarrError> {
        let start = bytes.len();
        let room =
            |bytes: &mut Vec<u8>| reserve(bytes, self.chunk_bytes).map_err(|refused| self.member.wrong(refused.into()));
        let Some(range) = self.chunks[number as usize].clone() else {
            room(bytes)?;
            (0..self.chunk_bytes / self.fill.len()).for_each(|_| bytes.extend(&self.fill));
            return Ok(());
        };
        let offset = self.member.offset(range.start);
        if range.end - range.start > most_encoded(self.chunk_bytes) as u64 {
            let reason = format!("the index says that it takes {} bytes, more than it can", range.end - range.start);
            return Err(self.member.wrong(Fault::Frame { offset, need: self.chunk_bytes as u64, reason }));
        }
        let encoded = self.member.read(range.start, range.end - range.start)?;
        room(bytes)?;
        bytes.resize(start + self.chunk_bytes, 0);
        decode(&encoded, &mut bytes[start..]).map_err(|broken| {
            bytes.truncate(start);
            self.member.wrong(match broken {
                Broken::Checksum => Fault::Checksum { offset, length: range.end - range.start },
                Broken::Frame(reason) => Fault::Frame { offset, need: self.chunk_bytes as u64, reason },
            })
        })
    }

    /// Appends a run of elements to `bytes`, little-endian, by their numbers in a shard whose chunks are runs of the last axis:
    /// so the elements of the second row follow those of the first. Chunks that hold none of them are not read.
    ///
    /// # Errors
    /// As [`chunk`](Self::chunk).
    ///
    /// # Panics
    /// If the shard has not as many.
    pub(crate) fn elements(&self, run: Range<u64>, bytes: &mut Vec<u8>) -> Result<(), ZarrError> {
        let width = self.fill.len() as u64;
        let (each, mut at) = (self.chunk_bytes as u64, run.start * width);
        let end = run.end * width;
        // At once: a list that grows takes up to twice as much.
        reserve(bytes, (end - at) as usize).map_err(|refused| self.member.wrong(refused.into()))?;
        let mut chunk = Vec::new();
        while at < end {
            let (number, from) = (at / each, at % each);
            let to = each.min(from + end - at);
            if (from, to) == (0, each) {
                self.chunk(number, bytes)?;
            } else {
                chunk.clear();
                self.chunk(number, &mut chunk)?;
                let some = &chunk[from as usize..to as usize];
                reserve(bytes, some.len()).map_err(|refused| self.member.wrong(refused.into()))?;
                bytes.extend(some);
            }
            at += to - from;
        }
        Ok(())
    }
}
