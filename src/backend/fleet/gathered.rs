//! What pieces found, put together in the order of the whole while other pieces are still under way.

use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use crate::backend::error::Error;
use crate::backend::sink::deliver_all;
use crate::cell::CellType;
use crate::memory::Refused;
use crate::parallel::{self, Spare};
use crate::result::{Bricks, Cells, MemoryError, Stored, Subdivision, Terminal};

/// Regions that a thread moves at once.
const TOGETHER: usize = 1 << 12;

/// The regions of a piece, by level and code, and their bricks.
pub(super) type FoundOfPiece = (Vec<Terminal>, Cells);

/// Takes what pieces found, in any order.
pub(super) struct FoundPieces {
    /// What was found of each piece, until it is put behind the pieces before it.
    found: Mutex<Vec<Option<FoundOfPiece>>>,
    all: Mutex<Gathered>,
    /// Memory of bricks that were copied, for bricks of other pieces: memory that is touched for the first time takes longer than a copy.
    spare: Spare<Cells>,
}

/// Regions and bricks of the first pieces.
struct Gathered {
    pieces: usize,
    /// The regions of every level piece by piece, which is their order along a curve that keeps families together.
    levels: Vec<Vec<Terminal>>,
    bricks: GatheredBricks,
}

/// Leaves have bricks on the deepest level only, so that bricks have the order of regions.
enum GatheredBricks {
    /// Along a curve that keeps families together: in their last place.
    InOrder(Cells),
    /// Along another: until regions are sorted.
    InPieces(Bricks),
}

impl FoundPieces {
    /// Of so many pieces and levels.
    pub(super) fn new(pieces: usize, levels: usize, in_order: bool, kind: CellType) -> Self {
        let bricks = match in_order {
            true => GatheredBricks::InOrder(Cells::empty(kind)),
            false => GatheredBricks::InPieces(Bricks::new(kind)),
        };
        let all = Gathered { pieces: 0, levels: vec![Vec::new(); levels], bricks };
        Self { found: Mutex::new((0..pieces).map(|_| None).collect()), all: Mutex::new(all), spare: Spare::new() }
    }

    /// Takes what a piece found. Unless another thread is at it, this one puts together what has all its predecessors.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub(super) fn put(&self, piece: usize, found: FoundOfPiece) -> Result<(), MemoryError> {
        self.found()[piece] = Some(found);
        match self.all.try_lock() {
            Ok(mut all) => self.append(&mut all),
            Err(TryLockError::Poisoned(all)) => self.append(&mut all.into_inner()),
            // Whoever has it takes this piece too, or whoever comes next.
            Err(TryLockError::WouldBlock) => Ok(()),
        }
    }

    /// Memory for the bricks of a piece, if there is some.
    pub(super) fn spare(&self) -> Option<Cells> {
        self.spare.take()
    }

    /// Everything, in the order of a result by level and code.
    ///
    /// # Errors
    /// If there is no memory for it.
    ///
    /// # Panics
    /// If a piece is missing.
    pub(super) fn finish<const K: usize>(self, all: &mut Subdivision<K>) -> Result<(), Error> {
        let (terminals, bricks) = self.gathered()?;
        match bricks {
            GatheredBricks::InOrder(bricks) => (all.terminals, all.bricks) = (terminals, bricks),
            GatheredBricks::InPieces(mut bricks) => deliver_all(terminals, &mut bricks, all)?,
        }
        Ok(())
    }

    /// The regions of all pieces, level by level, and the bricks.
    fn gathered(self) -> Result<(Vec<Terminal>, GatheredBricks), Error> {
        self.append(&mut self.all.lock().unwrap_or_else(PoisonError::into_inner))?;
        let pieces = self.found().len();
        let gathered = self.all.into_inner().unwrap_or_else(PoisonError::into_inner);
        assert_eq!(gathered.pieces, pieces, "every piece was carried out");
        drop(self.spare);
        let mut terminals = Vec::new();
        parallel::append(&mut terminals, &gathered.levels).map_err(MemoryError::refused(Stored::Terminals))?;
        Ok((terminals, gathered.bricks))
    }

    fn found(&self) -> MutexGuard<'_, Vec<Option<FoundOfPiece>>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends pieces until one is missing.
    fn append(&self, all: &mut Gathered) -> Result<(), MemoryError> {
        loop {
            let next = self.found().get_mut(all.pieces).and_then(Option::take);
            let Some((terminals, cells)) = next else { return Ok(()) };
            if let Some(spare) = all.append(terminals, cells).map_err(MemoryError::refused(Stored::Terminals))? {
                self.spare.give(spare);
            }
        }
    }
}

impl Gathered {
    /// Appends a piece. The memory of its bricks, if they were copied.
    fn append(&mut self, mut terminals: Vec<Terminal>, cells: Cells) -> Result<Option<Cells>, Refused> {
        let before = match &self.bricks {
            GatheredBricks::InOrder(bricks) => bricks.len() as u64,
            GatheredBricks::InPieces(bricks) => bricks.len(),
        };
        parallel::pieces_mut(&mut terminals, TOGETHER, &|_, terminals| {
            terminals.iter_mut().for_each(|terminal| *terminal = terminal.shifted(before));
        });
        let mut rest = &terminals[..];
        for (level, list) in self.levels.iter_mut().enumerate() {
            let (here, deeper) = rest.split_at(rest.partition_point(|terminal| terminal.level() as usize <= level));
            // By all threads, which share the first touch of fresh memory.
            parallel::append(list, &here.chunks(TOGETHER).collect::<Vec<_>>())?;
            rest = deeper;
        }
        self.pieces += 1;
        match &mut self.bricks {
            GatheredBricks::InOrder(bricks) => {
                bricks.append_many(&cells)?;
                Ok(Some(cells))
            }
            GatheredBricks::InPieces(bricks) => {
                bricks.append(cells)?;
                Ok(None)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::Words;
    use crate::curve::CurveKind;
    use crate::geometry::Scheme;
    use crate::plan::Plan;
    use crate::result::{Launches, RunCounts, Times};

    /// A piece with regions on two levels; a leaf's cells hold its code.
    fn piece(codes: std::ops::Range<u64>) -> FoundOfPiece {
        let mut cells = Cells::empty(CellType::U16);
        let mut terminals: Vec<Terminal> = codes.clone().step_by(2).map(|code| Terminal::uniform(0, code, 7)).collect();
        for code in codes.filter(|code| code % 2 == 1) {
            terminals.push(Terminal::leaf(1, code, Some(cells.len() as u64)));
            cells.extend(Words::Narrow(&[code as u32; 4]));
        }
        (terminals, cells)
    }

    #[test]
    fn pieces_come_in_any_order_and_leave_in_theirs() {
        for curve in [CurveKind::Morton, CurveKind::Canonical] {
            let plan = Plan::builder([64, 64]).scheme(Scheme::uniform(16, 2, 1)).curve(curve).build().unwrap();
            let gathering = FoundPieces::new(20, 2, curve.is_hierarchical(), CellType::U16);
            std::thread::scope(|scope| {
                for worker in 0..4 {
                    let gathering = &gathering;
                    scope.spawn(move || {
                        for i in (worker..20).step_by(4).rev() {
                            gathering.put(i, piece(10 * i as u64..10 * (i as u64 + 1))).unwrap();
                        }
                    });
                }
            });
            assert_eq!(gathering.spare().is_some(), curve.is_hierarchical());
            let times = Times::default();
            let counts = RunCounts { levels: Vec::new(), launches: Launches::default(), times };
            let mut all = Subdivision::new(plan.clone(), plan.domain().region(), 0, counts, CellType::U16);
            gathering.finish(&mut all).unwrap();
            let (terminals, cells) = piece(0..200);
            assert_eq!((all.terminals, all.bricks.as_bytes()), (terminals, cells.as_bytes()), "{curve}");
        }
    }
}
