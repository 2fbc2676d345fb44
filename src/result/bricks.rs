//! The cells of leaves in the order in which they arrive.
//!
//! Workers finish leaves in any order; results come in the order of codes. So bricks are kept in chunks, and taken out of
//! them run by run: a chunk goes when the last of its bricks is taken, and all bricks are never there twice.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::cell::CellType;
use crate::memory::{Refused, give_back};
use crate::parallel;
use crate::result::cells::Cells;
use crate::result::terminal::Terminal;

/// Cells of a chunk, unless a single batch has more.
const CHUNK: usize = 1 << 16;

/// Regions of which a thread counts or copies the bricks, at most.
const TOGETHER: usize = 1 << 12;

/// Bytes of a block that no allocator keeps when it is freed: the most that glibc ever takes from its heap.
const LARGE_BLOCK: u64 = 32 << 20;

/// Bytes of chunks that are given back to the system together, unless a sixteenth of all has more.
const GIVEN_BACK: u64 = 8 << 20;

/// Bricks in the order of their arrival.
#[derive(Debug)]
#[doc(hidden)]
pub struct Bricks {
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
    waiting: AtomicU64,
}

impl Bricks {
    #[doc(hidden)]
    pub fn new(kind: CellType) -> Self {
        Self { kind, chunks: Vec::new(), len: 0, freed: 0 }
    }

    /// The type of a cell.
    #[doc(hidden)]
    pub fn kind(&self) -> CellType {
        self.kind
    }

    /// Cells of all bricks.
    #[doc(hidden)]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Adds bricks at the end.
    ///
    /// # Errors
    /// If there is no memory for them.
    #[doc(hidden)]
    pub fn append(&mut self, cells: Cells) -> Result<(), Refused> {
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
        self.chunks.push(Chunk { start, cells, waiting: AtomicU64::new(0) });
    }

    /// The number of the chunk that holds cell `place`.
    #[inline]
    fn chunk(&self, place: u64) -> usize {
        self.chunks.partition_point(|chunk| chunk.start <= place) - 1
    }

    /// Says that the bricks of these regions will be taken, each once.
    pub(crate) fn announce(&self, terminals: &[Terminal]) {
        self.each_chunk(terminals, &|chunk, bricks| {
            self.chunks[chunk].waiting.fetch_add(bricks, Ordering::Relaxed);
        });
    }

    /// Moves the bricks of some regions to `to`, as [`gather`] does, and frees what nobody waits for any more.
    pub(crate) fn take(&mut self, terminals: &mut [Terminal], volumes: &[u64], start: u64, to: &mut [u8]) {
        let (width, taken) = (self.kind.bytes(), Mutex::new(Vec::new()));
        self.each_chunk(terminals, &|chunk, bricks| {
            if self.chunks[chunk].waiting.fetch_sub(bricks, Ordering::Relaxed) == bricks {
                taken.lock().unwrap_or_else(PoisonError::into_inner).push(chunk);
            }
        });
        gather(terminals, volumes, (start, width), to, &|terminal, brick| {
            let place = terminal.brick().expect("it is one of those that have one");
            let Chunk { start, cells, .. } = &self.chunks[self.chunk(place)];
            let at = ((place - start) * width) as usize;
            brick.copy_from_slice(&cells.as_bytes()[at..at + brick.len()]);
        });
        for chunk in taken.into_inner().unwrap_or_else(PoisonError::into_inner) {
            let bytes = self.chunks[chunk].cells.len() as u64 * width;
            // Large blocks go back to the system by themselves.
            self.freed += if bytes < LARGE_BLOCK { bytes } else { 0 };
            self.chunks[chunk].cells = Cells::empty(self.kind);
        }
        // Else what is taken would be there twice at the end: allocators keep chunks of this size.
        if self.freed >= GIVEN_BACK.max(self.len * width / 16) {
            self.freed = 0;
            give_back();
        }
    }

    /// Tells all threads how many bricks of some regions a chunk has. A thread speaks of a chunk once for many regions: where there are
    /// few chunks all would wait for the same counter.
    fn each_chunk(&self, terminals: &[Terminal], of: &(dyn Fn(usize, u64) + Sync)) {
        parallel::each(terminals.len().div_ceil(TOGETHER), &|i| {
            let terminals = &terminals[parallel::piece(terminals.len(), TOGETHER, i)];
            let mut chunks: Vec<usize> =
                terminals.iter().filter_map(Terminal::brick).map(|place| self.chunk(place)).collect();
            chunks.sort_unstable();
            chunks.chunk_by(|a, b| a == b).for_each(|same| of(same[0], same.len() as u64));
        });
    }
}

/// Copies the bricks of some regions to `to`, one after the other, and says of each region where its brick is now: the first is at
/// `start`. `volumes` has the cells of each region's brick, 0 where it has none. `copy` writes the bytes
/// of a region's brick.
pub(crate) fn gather(
    terminals: &mut [Terminal],
    volumes: &[u64],
    (start, width): (u64, u64),
    to: &mut [u8],
    copy: &(dyn Fn(&Terminal, &mut [u8]) + Sync),
) {
    let each = (terminals.len() / (8 * rayon::current_num_threads())).clamp(1, TOGETHER);
    let (mut rest, mut next, mut pieces) = (to, start, Vec::new());
    for (terminals, volumes) in terminals.chunks_mut(each).zip(volumes.chunks(each)) {
        let cells: u64 = volumes.iter().sum();
        let (mine, behind) = rest.split_at_mut((cells * width) as usize);
        pieces.push(Mutex::new((terminals, volumes, mine, next)));
        (rest, next) = (behind, next + cells);
    }
    parallel::each(pieces.len(), &|i| {
        let (terminals, volumes, to, next) = &mut *pieces[i].lock().unwrap_or_else(PoisonError::into_inner);
        let (mut at, mut next) = (0, *next);
        for (terminal, &volume) in terminals.iter_mut().zip(*volumes) {
            if terminal.brick().is_some() {
                let bytes = (volume * width) as usize;
                copy(terminal, &mut to[at..at + bytes]);
                *terminal = terminal.with_brick(next);
                (at, next) = (at + bytes, next + volume);
            }
        }
    });
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
        // 401 is prime, and there are 402: every number but the last comes once, then that.
        let order: Vec<usize> = (0..401).map(|i| i * 100 % 401).chain([401]).collect();
        let leaf = |&number: &usize| Terminal::leaf(0, number as u64, Some(places[number]));
        let mut terminals: Vec<Terminal> = order.iter().map(leaf).collect();
        terminals.insert(7, Terminal::uniform(0, 999, 3));
        let volume = |terminal: &Terminal| terminal.brick().map_or(0, |_| sizes[terminal.code as usize] as u64);
        let volumes: Vec<u64> = terminals.iter().map(volume).collect();
        bricks.announce(&terminals);
        let mut start = 0;
        for (terminals, volumes) in terminals.chunks_mut(50).zip(volumes.chunks(50)) {
            let mut cells = Cells::zeroed(CellType::U32, volumes.iter().sum::<u64>() as usize).unwrap();
            bricks.take(terminals, volumes, start, cells.bytes_mut());
            let mut at = 0;
            for (terminal, &volume) in terminals.iter().zip(volumes).filter(|(terminal, _)| terminal.brick().is_some())
            {
                assert_eq!(terminal.brick(), Some(start + at));
                let cells = &cells.as_slice::<u32>().unwrap()[at as usize..(at + volume) as usize];
                assert_eq!(cells, vec![terminal.code as u32; volume as usize]);
                at += volume;
            }
            start += at;
        }
        assert_eq!(start, bricks.len());
        assert!(bricks.chunks.iter().all(|chunk| chunk.cells.is_empty()));
    }
}
