//! Where settled regions go: the dense canvas, the list of terminal regions, the bricks of leaves.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::cell::Words;
use crate::geometry::Region;
use crate::memory::reserve;
use crate::result::{Bricks, Canvas, Cells, Keep, MemoryError, Storage, Stored, Terminal};

/// The results of a run while it lasts.
pub(crate) struct Settled<'a, const K: usize> {
    canvas: Option<Canvas<'a, K>>,
    keep: Keep,
    storage: Storage,
    limit: u64,
    /// Bytes of lists beside the results.
    held: AtomicU64,
    store: Mutex<Store>,
}

/// The compact form under construction.
struct Store {
    terminals: Vec<Terminal>,
    bricks: Bricks,
}

/// The compact results of one batch of regions, committed at once.
pub(crate) struct Compact {
    keep: Keep,
    terminals: Vec<Terminal>,
    bricks: Cells,
    /// Cells of the leaves so far; their labels may come later.
    promised: u64,
}

impl Compact {
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

    /// Makes room for the cells of leaves that were promised.
    ///
    /// # Errors
    /// If there is none.
    pub(crate) fn reserve(&mut self) -> Result<(), MemoryError> {
        let more = self.promised as usize - self.bricks.len();
        self.bricks.reserve(more).map_err(MemoryError::refused(Stored::Terminals))
    }

    /// The next cells of leaves, in their order.
    pub(crate) fn bricks(&mut self, words: Words<'_>) {
        if self.keep == Keep::Regions {
            self.bricks.extend(words);
        }
    }
}

impl<'a, const K: usize> Settled<'a, K> {
    /// `canvas` is there if a dense array is kept; `limit` is for terminals and bricks together.
    pub(crate) fn new(canvas: Option<Canvas<'a, K>>, keep: Keep, storage: Storage, limit: u64) -> Self {
        let store = Mutex::new(Store { terminals: Vec::new(), bricks: Bricks::new(storage.cell) });
        Self { canvas, keep, storage, limit, held: AtomicU64::new(0), store }
    }

    /// Says how many bytes lists take beside the results.
    ///
    /// # Errors
    /// If that is too much.
    pub(crate) fn hold(&self, bytes: u64) -> Result<(), MemoryError> {
        self.held.store(bytes, Ordering::Relaxed);
        self.fits(&self.store.lock().expect("no worker panics holding it"), [0, 0], Stored::Listed)
    }

    /// Checks what there is, lists too, and so many terminal regions and cells of bricks more against the limit.
    fn fits(&self, store: &Store, [terminals, cells]: [usize; 2], what: Stored) -> Result<(), MemoryError> {
        let terminals = (store.terminals.len() + terminals) as u64 * Terminal::BYTES;
        let bricks = (store.bricks.len() + cells as u64) * self.storage.cell.bytes();
        let need = terminals + bricks + self.held.load(Ordering::Relaxed);
        let limit = Some(self.limit);
        if need > self.limit { Err(MemoryError { what, need: need.into(), limit }) } else { Ok(()) }
    }

    /// Bytes that are left beside a dense array.
    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }

    /// How labels become cells.
    pub(crate) fn storage(&self) -> Storage {
        self.storage
    }

    pub(crate) fn batch(&self) -> Compact {
        Compact { keep: self.keep, terminals: Vec::new(), bricks: Cells::empty(self.storage.cell), promised: 0 }
    }

    /// Paints a uniform region, if there is a canvas.
    #[allow(unsafe_code)]
    pub(crate) fn fill(&self, region: &Region<K>, word: u64) {
        if let Some(canvas) = &self.canvas {
            // SAFETY: terminal regions, and slabs of them, do not overlap, and each is settled by one worker.
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
    pub(crate) fn commit(&self, batch: Compact) -> Result<(), MemoryError> {
        if batch.terminals.is_empty() {
            return Ok(());
        }
        let mut store = self.store.lock().expect("no worker panics holding it");
        self.fits(&store, [batch.terminals.len(), batch.bricks.len()], Stored::Terminals)?;
        reserve(&mut store.terminals, batch.terminals.len()).map_err(MemoryError::refused(Stored::Terminals))?;
        let before = store.bricks.len();
        store.terminals.extend(batch.terminals.into_iter().map(|terminal| terminal.shifted(before)));
        store.bricks.append(batch.bricks).map_err(MemoryError::refused(Stored::Terminals))
    }

    /// The terminal regions and the bricks, in the order in which they came.
    pub(crate) fn finish(self) -> (Vec<Terminal>, Bricks) {
        let Store { terminals, bricks } = self.store.into_inner().expect("no worker panics holding it");
        (terminals, bricks)
    }
}
