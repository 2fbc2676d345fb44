//! What a run left in an order of the taker's, piece by piece: the next piece is read while those before are worked on.

use std::mem::take;

use crate::backend::error::Error;
use crate::backend::leaf_cells::LeafCells;
use crate::backend::sink::{BrickVolumes, brick_volumes, take_bricks};
use crate::parallel::{self, Spare};
use crate::plan::Plan;
use crate::result::{Cells, MemoryError, Stored, Terminal};

/// Pieces that are worked on while the next is read. With one, cores would have nothing to do while its last tasks end.
const AT_ONCE: usize = 2;

/// Takes the terminal regions of a run in an order of its own, in pieces of its own, and with all threads.
///
/// A [`Sink`](crate::backend::Sink) takes batches one after the other, by level and code.
pub trait OrderedSink<const K: usize>: Sync {
    /// The plan that names regions once they are in order: that of the run, or the same along another curve.
    fn plan(&self) -> &Plan<K>;

    /// Puts the regions of a run of `run`, which come in any order, into the order of this sink, and names them by its plan.
    fn order(&self, run: &Plan<K>, terminals: &mut [Terminal]);

    /// Cuts regions that are in order into pieces: the number of regions of each piece, none of them 0.
    fn cut(&self, terminals: &[Terminal]) -> Vec<usize>;

    /// Takes a piece: its regions, and the cells of its leaves, brick after brick in the same order. Threads of rayon's pool call this,
    /// for a few pieces at once. Answers with memory that the next pieces can use; None if no more pieces are wanted.
    fn take(&self, terminals: &[Terminal], bricks: Cells) -> Option<Cells>;
}

/// Delivers terminal regions in any order, and their bricks. In memory are all regions, and the bricks of some pieces.
pub(crate) fn deliver_ordered<const K: usize>(
    plan: &Plan<K>,
    mut terminals: Vec<Terminal>,
    bricks: &mut dyn LeafCells,
    sink: &dyn OrderedSink<K>,
) -> Result<(), Error> {
    sink.order(plan, &mut terminals);
    bricks.announce(&terminals);
    let (pieces, volumes) = (sink.cut(&terminals), |some: &[Terminal]| brick_volumes(sink.plan(), some));
    deliver_pieces(&mut terminals, pieces, bricks, &volumes, &|terminals, cells| sink.take(terminals, cells))
}

/// As [`OrderedSink::take`].
type TakePiece<'t> = dyn Fn(&[Terminal], Cells) -> Option<Cells> + Sync + 't;

/// Delivers regions that are in order, in pieces of so many.
fn deliver_pieces(
    terminals: &mut [Terminal],
    pieces: Vec<usize>,
    bricks: &mut dyn LeafCells,
    volumes: &BrickVolumes<'_>,
    take_piece: &TakePiece<'_>,
) -> Result<(), Error> {
    let (spare, mut pieces, mut rest) = (Spare::new(), pieces.into_iter(), terminals);
    let next = &mut || {
        let Some(regions) = pieces.next() else { return Ok(None) };
        let (terminals, behind) = take(&mut rest).split_at_mut(regions);
        rest = behind;
        let memory = spare.take().unwrap_or_else(|| Cells::empty(bricks.kind()));
        let cells = read(terminals, &volumes(terminals), bricks, memory)?;
        Ok(Some((&*terminals, cells)))
    };
    parallel::pipeline(AT_ONCE, next, &|(terminals, cells)| {
        let memory = take_piece(terminals, cells);
        let more = memory.is_some();
        memory.into_iter().for_each(|memory| spare.give(memory));
        more
    })
}

/// The bricks of some regions, one after the other, which says where each of them is.
fn read(
    terminals: &mut [Terminal],
    volumes: &[u64],
    bricks: &mut dyn LeafCells,
    memory: Cells,
) -> Result<Cells, Error> {
    let cells = parallel::map(volumes.len().div_ceil(TOGETHER), &|i| {
        volumes[parallel::piece(volumes.len(), TOGETHER, i)].iter().sum::<u64>()
    });
    let cells = memory.resized(cells.into_iter().sum::<u64>() as usize);
    let mut cells = cells.map_err(MemoryError::refused(Stored::Terminals))?;
    take_bricks(terminals, volumes, bricks, 0, &mut cells)?;
    Ok(cells)
}

/// Regions that a thread looks at.
const TOGETHER: usize = 1 << 14;
