//! Where settled regions go: the dense canvas, the list of terminal regions, the bricks of leaves.

use std::sync::Mutex;

use crate::cell::Words;
use crate::geometry::Region;
use crate::memory::reserve;
use crate::result::{Canvas, Cells, Keep, MemoryError, Storage, Stored, Terminal};

/// The results of a run while it lasts.
pub(crate) struct Sink<'a, const K: usize> {
    canvas: Option<Canvas<'a, K>>,
    keep: Keep,
    storage: Storage,
    limit: u64,
    store: Mutex<Store>,
}

/// The compact form under construction.
struct Store {
    terminals: Vec<Terminal>,
    bricks: Cells,
}

/// The compact results of one batch of regions, committed at once.
pub(crate) struct Batch {
    keep: Keep,
    terminals: Vec<Terminal>,
    bricks: Cells,
    /// Cells of the leaves so far; their labels may come later.
    promised: u64,
}

impl Batch {
    #[inline]
    pub(crate) fn uniform(&mut self, level: u32, code: u64, word: u64) {
        if self.keep != Keep::Counts {
            self.terminals.push(Terminal::uniform(level, code, word));
        }
    }

    /// A leaf of `volume` cells; its labels are the next to come in [`bricks`](Self::bricks).
    #[inline]
    pub(crate) fn leaf(&mut self, level: u32, code: u64, volume: u64) {
        match self.keep {
            Keep::Counts => {}
            Keep::Dense => self.terminals.push(Terminal::leaf(level, code, None)),
            Keep::Regions => {
                self.terminals.push(Terminal::leaf(level, code, Some(self.promised)));
                self.promised += volume;
            }
        }
    }

    /// The next cells of leaves, in their order.
    ///
    /// # Errors
    /// If there is no memory for them.
    pub(crate) fn bricks(&mut self, words: Words<'_>) -> Result<(), MemoryError> {
        if self.keep == Keep::Regions {
            self.bricks.reserve(words.len()).map_err(MemoryError::refused(Stored::Terminals))?;
            self.bricks.extend(words);
        }
        Ok(())
    }
}

impl<'a, const K: usize> Sink<'a, K> {
    /// `canvas` is there if a dense array is kept; `limit` is for terminals and bricks together.
    pub(crate) fn new(canvas: Option<Canvas<'a, K>>, keep: Keep, storage: Storage, limit: u64) -> Self {
        let store = Mutex::new(Store { terminals: Vec::new(), bricks: Cells::empty(storage.cell) });
        Self { canvas, keep, storage, limit, store }
    }

    /// Bytes that are left beside a dense array.
    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }

    /// How labels become cells.
    pub(crate) fn storage(&self) -> Storage {
        self.storage
    }

    pub(crate) fn batch(&self) -> Batch {
        Batch { keep: self.keep, terminals: Vec::new(), bricks: Cells::empty(self.storage.cell), promised: 0 }
    }

    /// Paints a uniform region, if there is a canvas.
    #[allow(unsafe_code)]
    pub(crate) fn fill(&self, region: &Region<K>, word: u64) {
        if let Some(canvas) = &self.canvas {
            // SAFETY: regions of a plan lie in its domain; terminal regions, and slabs of them, tile it, and each is
            // settled by one worker.
            unsafe { canvas.fill(region, word) }
        }
    }

    /// Paints an evaluated region, if there is a canvas.
    #[allow(unsafe_code)]
    pub(crate) fn write(&self, region: &Region<K>, words: Words<'_>) {
        if let Some(canvas) = &self.canvas {
            // SAFETY: as in `fill`.
            unsafe { canvas.write(region, words) }
        }
    }

    /// Appends a batch.
    pub(crate) fn commit(&self, batch: Batch) -> Result<(), MemoryError> {
        if batch.terminals.is_empty() {
            return Ok(());
        }
        let mut store = self.store.lock().expect("no worker panics holding it");
        let bricks = store.bricks.len() + batch.bricks.len();
        let need = (store.terminals.len() + batch.terminals.len()) as u64 * Terminal::BYTES
            + bricks as u64 * self.storage.cell.bytes();
        if need > self.limit {
            return Err(MemoryError { what: Stored::Terminals, need: u128::from(need), limit: Some(self.limit) });
        }
        let refused = MemoryError::refused(Stored::Terminals);
        reserve(&mut store.terminals, batch.terminals.len()).map_err(&refused)?;
        store.bricks.reserve(batch.bricks.len()).map_err(&refused)?;
        let before = store.bricks.len() as u64;
        store.terminals.extend(batch.terminals.into_iter().map(|terminal| terminal.shifted(before)));
        store.bricks.append(&batch.bricks);
        Ok(())
    }

    /// The terminal regions by level and code, and the bricks.
    pub(crate) fn finish(self) -> (Vec<Terminal>, Cells) {
        let Store { mut terminals, bricks } = self.store.into_inner().expect("no worker panics holding it");
        Terminal::sort(&mut terminals);
        (terminals, bricks)
    }
}
