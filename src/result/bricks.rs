//! The cells of leaves in the order in which they arrive.
//!
//! Workers finish leaves in any order; results come in the order of codes. So bricks are kept in chunks, and taken out of
//! them one by one: a chunk goes when the last of its bricks is taken, and all bricks are never there twice.

use crate::cell::CellType;
use crate::memory::{Refused, give_back};
use crate::result::cells::Cells;
#[cfg(feature = "cuda")]
use crate::result::limit::{MemoryError, Stored};

/// Cells of a chunk, unless a single batch has more.
const CHUNK: usize = 1 << 16;

/// Bytes of chunks that are given back to the system together, unless a sixteenth of all has more.
const GIVEN_BACK: u64 = 8 << 20;

/// Bricks in the order of their arrival.
#[derive(Debug)]
pub(crate) struct Bricks {
    kind: CellType,
    chunks: Vec<Chunk>,
    len: u64,
    /// Bytes of chunks that were freed since the system had some back.
    freed: u64,
}

#[derive(Debug)]
struct Chunk {
    /// The place of its first cell among all.
    start: u64,
    cells: Cells,
    /// Bricks that are still to be taken.
    waiting: u64,
}

impl Bricks {
    pub(crate) fn new(kind: CellType) -> Self {
        Self { kind, chunks: Vec::new(), len: 0, freed: 0 }
    }

    /// Room for bricks of `each` cells, all zeros.
    ///
    /// # Errors
    /// If there is no memory for them.
    #[cfg(feature = "cuda")]
    pub(crate) fn zeroed(kind: CellType, bricks: u64, each: u64) -> Result<Self, MemoryError> {
        let mut all = Self::new(kind);
        // Chunks of whole bricks, large enough to be written in parallel.
        let most = ((1 << 24) / each).max(1);
        let mut left = bricks;
        while left > 0 {
            let now = left.min(most);
            let refused = MemoryError::refused(Stored::Terminals);
            all.push(Cells::zeroed(kind, (now * each) as usize).map_err(refused)?);
            left -= now;
        }
        Ok(all)
    }

    /// Overwrites cells from `start` on with little-endian bytes.
    #[cfg(feature = "cuda")]
    pub(crate) fn store(&mut self, mut start: u64, mut bytes: &[u8]) {
        let width = self.kind.bytes();
        while !bytes.is_empty() {
            let chunk = self.chunk(start);
            let Chunk { start: first, cells, .. } = &mut self.chunks[chunk];
            let at = start - *first;
            let now = (cells.len() as u64 - at).min(bytes.len() as u64 / width);
            let (mine, rest) = bytes.split_at((now * width) as usize);
            cells.store(at as usize, mine);
            (start, bytes) = (start + now, rest);
        }
    }

    /// The type of a cell.
    pub(crate) fn kind(&self) -> CellType {
        self.kind
    }

    /// Cells of all bricks.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Adds bricks at the end.
    ///
    /// # Errors
    /// If there is no memory for them.
    pub(crate) fn append(&mut self, cells: Cells) -> Result<(), Refused> {
        match self.chunks.last_mut() {
            _ if cells.is_empty() => {}
            Some(last) if last.cells.len() + cells.len() <= CHUNK => {
                last.cells.reserve(cells.len())?;
                self.len += cells.len() as u64;
                last.cells.append(&cells);
            }
            _ => self.push(cells),
        }
        Ok(())
    }

    fn push(&mut self, cells: Cells) {
        let start = self.len;
        self.len += cells.len() as u64;
        self.chunks.push(Chunk { start, cells, waiting: 0 });
    }

    /// The number of the chunk that holds cell `place`.
    fn chunk(&self, place: u64) -> usize {
        self.chunks.partition_point(|chunk| chunk.start <= place) - 1
    }

    /// Says which bricks will be taken, each once, by the places of their first cells.
    pub(crate) fn announce(&mut self, places: impl Iterator<Item = u64>) {
        for place in places {
            let chunk = self.chunk(place);
            self.chunks[chunk].waiting += 1;
        }
    }

    /// Moves the brick at `place`, of `len` cells, to the end of `cells`.
    pub(crate) fn take(&mut self, place: u64, len: u64, cells: &mut Cells) {
        let index = self.chunk(place);
        let chunk = &mut self.chunks[index];
        let at = (place - chunk.start) as usize;
        cells.extend_from(&chunk.cells, at..at + len as usize);
        chunk.waiting -= 1;
        if chunk.waiting == 0 {
            self.freed += chunk.cells.len() as u64 * self.kind.bytes();
            chunk.cells = Cells::empty(self.kind);
            // Else what is taken would be there twice at the end: allocators keep chunks of this size.
            if self.freed >= GIVEN_BACK.max(self.len * self.kind.bytes() / 16) {
                self.freed = 0;
                give_back();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::Words;

    /// Bricks of many sizes come back whole, in any order, and their chunks go.
    #[test]
    fn bricks_are_taken_in_any_order() {
        // Miri runs some thousand times as long: the same numbers of bricks, with less in them.
        let (most, large) = if cfg!(miri) { (3, CHUNK + 1) } else { (1000, 3 * CHUNK) };
        let sizes: Vec<usize> = (0..400).map(|i| 1 + i * 7919 % most).chain([large, 5]).collect();
        let mut bricks = Bricks::new(CellType::U32);
        let mut places = Vec::new();
        for (number, &size) in sizes.iter().enumerate() {
            let mut cells = Cells::empty(CellType::U32);
            cells.extend(Words::Narrow(&vec![number as u32; size]));
            places.push(bricks.len());
            bricks.append(cells).unwrap();
        }
        assert!(bricks.chunks.len() > 3 || cfg!(miri));
        assert_eq!(bricks.len(), sizes.iter().sum::<usize>() as u64);
        bricks.announce(places.iter().copied());
        // 401 is prime, and there are 402: every number but the last comes once, then that.
        for number in (0..401).map(|i| i * 100 % 401).chain([401]) {
            let mut cells = Cells::empty(CellType::U32);
            bricks.take(places[number], sizes[number] as u64, &mut cells);
            assert_eq!(cells.as_slice(), Some(&vec![number as u32; sizes[number]][..]), "{number}");
        }
        assert!(bricks.chunks.iter().all(|chunk| chunk.cells.is_empty()));
    }
}
