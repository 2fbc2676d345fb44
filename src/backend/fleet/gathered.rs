//! What pieces found, put together in the order of the whole.

use crate::cell::CellType;
use crate::memory::{Refused, reserve};
use crate::parallel;
use crate::result::{Bricks, Cells, MemoryError, Stored, Terminal};

/// Regions and bricks of all pieces.
pub(super) struct Gathered {
    pub(super) terminals: Vec<Terminal>,
    pub(super) bricks: Bricks,
}

/// The regions of a piece, by level and code, and their bricks.
pub(super) type FoundOfPiece = (Vec<Terminal>, Cells);

impl Gathered {
    /// The regions of every level piece by piece, which is their order along a curve that keeps families together; of another they
    /// still have to be sorted. Bricks are not copied.
    ///
    /// # Errors
    /// If there is no memory for the list.
    pub(super) fn of(found: Vec<FoundOfPiece>, kind: CellType) -> Result<Self, MemoryError> {
        let refused = MemoryError::refused(Stored::Terminals);
        let (mut bricks, mut lists, mut before) = (Bricks::new(kind), Vec::new(), Vec::new());
        for (terminals, cells) in found {
            before.push(bricks.len());
            bricks.append(cells).map_err(&refused)?;
            lists.push(terminals);
        }
        // Behind the bricks of the pieces before.
        parallel::pieces_mut(&mut lists, 1, &|i, list| {
            list[0].iter_mut().for_each(|terminal| *terminal = terminal.shifted(before[i]));
        });
        let terminals = by_level(&lists).map_err(&refused)?;
        Ok(Self { terminals, bricks })
    }
}

/// The regions of all lists, level by level.
fn by_level(lists: &[Vec<Terminal>]) -> Result<Vec<Terminal>, Refused> {
    let mut all = Vec::new();
    reserve(&mut all, lists.iter().map(Vec::len).sum())?;
    let deepest = lists.iter().filter_map(|list| list.last()).map(Terminal::level).max().unwrap_or(0);
    for level in 0..=deepest {
        let of_level = |list: &Vec<Terminal>| {
            let [start, end] =
                [level, level + 1].map(|level| list.partition_point(|terminal| terminal.level() < level));
            start..end
        };
        let runs: Vec<&[Terminal]> = lists.iter().map(|list| &list[of_level(list)]).collect();
        parallel::append(&mut all, &runs)?;
    }
    Ok(all)
}
