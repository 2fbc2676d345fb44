//! Trees of runs into files: shards are encoded while the regions of the next are read.

use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;

use crate::backend::{Error, OrderedSink, Prepared};
use crate::dimension::here;
use crate::plan::Plan;
use crate::result::{Cells, MaterialiseError, Terminal};
use crate::tree::along::Along;
use crate::tree::collector::{are_kept, entries_of, put_in_order};
use crate::tree::curve_order::CurveOrder;
use crate::tree::error::TreeError;
use crate::tree::file::shards::Shards;
use crate::tree::file::staged::FinishedShard;
use crate::tree::file::writer::TreeWriter;
use crate::tree::stored::Tree;

/// About how many rows a piece has, and how many bytes of bricks: enough for many threads, and little beside all of them.
const ROWS: usize = 1 << 19;
const BYTES: u128 = 64 << 20;

/// What is done to a part of a tree before it is written.
type OfPart<'e, const K: usize> = dyn Fn(Tree<K>) -> Result<Tree<K>, TreeError> + Sync + 'e;

/// Writes the tree of a prepared plan's last run into files, in all of which it is the same. The run was one of the whole plan, and kept
/// [`Keep::Regions`](crate::Keep::Regions).
///
/// Threads encode the shards of a piece while the bricks of the next piece are read. So all bricks are never in memory at once. `each` is
/// applied to every piece before it is written, as [`Tree::proved_by`]. Returns when the first bricks were there: until then the regions
/// were read and sorted. Files are those of [`Tree::of`] and [`TreeWriter::write`], to the byte.
///
/// ```
/// use orthant::backend::Part;
/// use orthant::prelude::*;
/// use orthant::tree::{TreeInfo, TreeTarget, write_run};
/// use orthant::{CellType, Control};
///
/// # let path = std::env::temp_dir().join(format!("orthant-doc-run-{}.tree.zarr.zip", std::process::id()));
/// let plan = Plan::builder([64, 64]).scheme(Scheme::uniform(2, 2, 4)).build()?;
/// let disc = CellField::new(1, |[x, y]| u32::from(x * x + y * y < 900));
/// let (cpu, how) = (Target::cpu(), How::default().keep(Keep::Regions).cell(CellType::U8));
/// let mut writer = TreeTarget::new(&path).open(&plan, CellType::U8, &TreeInfo::of(&plan))?;
/// let mut prepared = cpu.of().prepare(&plan, &disc, &how)?;
/// prepared.run(&Part::default(), &Control::default())?;
/// write_run(&mut *prepared, &mut [&mut writer], &Ok)?;
/// writer.finish()?;
/// assert_eq!(Tree::<2>::open(&path)?.get([20, 20]), Some(1u8));
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Those of `each`; [`TreeError::File`] if a writer was opened for another plan or another type of cells, or the system says no;
/// [`TreeError::Run`] if regions were not kept, there is no memory, the backend fails or a writer's control was cancelled;
/// [`TreeError::Tiling`] if regions are missing within a shard. Shards that a part of the plan left out are missing in the writer.
///
/// # Panics
/// If nothing was run to its end.
pub fn write_run<const K: usize>(
    prepared: &mut dyn Prepared<K>,
    writers: &mut [&mut TreeWriter<K>],
    each: &OfPart<'_, K>,
) -> Result<Instant, TreeError> {
    here!(fn(&mut dyn Prepared<K>, &mut [&mut TreeWriter<K>], &OfPart<'_, K>) -> Result<Instant, TreeError> = write_run_here::<K>)(
        prepared, writers, each,
    )
}

fn write_run_here<const K: usize>(
    prepared: &mut dyn Prepared<K>,
    writers: &mut [&mut TreeWriter<K>],
    each: &OfPart<'_, K>,
) -> Result<Instant, TreeError> {
    let Some(writer) = writers.first() else { return Ok(Instant::now()) };
    let brick = writer.along.most_cells(writer.along.deepest()) * u128::from(writer.written.kind.bytes());
    let rows = writer.rows_at_once.unwrap_or((BYTES / brick).clamp(1, ROWS as u128) as usize);
    let sink = RunShards { each, rows, writers: &*writers, progress: RunProgress::default() };
    let delivered = prepared.ordered(&sink);
    let progress = sink.progress;
    for writer in writers.iter() {
        // What failed since it was cancelled is no failure of a file.
        writer.written.check()?;
    }
    let (first, finished) = progress.ended()?;
    delivered?;
    for (writer, shards) in finished {
        writers[writer].written.take_note(&shards)?;
    }
    Ok(first)
}

/// Takes the regions of a run along the curve, in pieces of whole shards.
struct RunShards<'w, const K: usize> {
    writers: &'w [&'w mut TreeWriter<K>],
    each: &'w OfPart<'w, K>,
    /// Rows of a piece, at least.
    rows: usize,
    progress: RunProgress,
}

/// The number of a writer, and what it has finished.
type FinishedBy = (usize, Vec<FinishedShard>);

/// What became of the pieces.
#[derive(Default)]
struct RunProgress {
    /// When the first piece was there.
    first: OnceLock<Instant>,
    finished: Mutex<Vec<FinishedBy>>,
    failure: Mutex<Option<TreeError>>,
}

impl RunProgress {
    fn begins(&self) {
        self.first.get_or_init(Instant::now);
    }

    fn finishes(&self, writer: usize, shards: Vec<FinishedShard>) {
        self.finished.lock().unwrap_or_else(PoisonError::into_inner).push((writer, shards));
    }

    fn fails(&self, error: TreeError) {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    fn has_failed(&self) -> bool {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// When the first piece was there, and all that is finished.
    fn ended(self) -> Result<(Instant, Vec<FinishedBy>), TreeError> {
        self.failure.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)?;
        let finished = self.finished.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok((self.first.into_inner().unwrap_or_else(Instant::now), finished))
    }
}

impl<const K: usize> RunShards<'_, K> {
    /// Trees of one run lie along the same curve.
    fn along(&self) -> &Along<K> {
        &self.writers[0].along
    }

    /// Writes a piece into all files, and gives the memory of its bricks back.
    fn write(&self, terminals: &[Terminal], bricks: Cells) -> Result<Cells, TreeError> {
        let along = self.along();
        let [Some(first), Some(last)] = [terminals.first(), terminals.last()] else { return Ok(bricks) };
        let start = along.key(first.level(), first.code);
        let end = along.run(last.level(), along.key(last.level(), last.code)).end;
        let tree = Tree::new(along.clone(), start.into()..end, entries_of(along, terminals)?, bricks)?;
        let tree = (self.each)(tree)?;
        for (number, writer) in self.writers.iter().enumerate() {
            self.progress.finishes(number, writer.make(&tree)?);
        }
        Ok(tree.into_bricks())
    }
}

/// How many regions along the curve each piece has, which begins where all files have a shard.
fn lengths(terminals: &[Terminal], order: &CurveOrder, files: &[&Shards], rows: usize) -> Vec<usize> {
    let key = |terminal: &Terminal| u128::from(order.key(terminal.level(), terminal.code));
    let (mut pieces, mut start) = (Vec::new(), 0);
    for shard in 1..files[0].count {
        let begins = files[0].keys(shard).start;
        if rows > terminals.len() - start {
            break;
        }
        // A region that goes on beyond the end of a shard belongs to it.
        if key(&terminals[start + rows - 1]) >= begins || files.iter().any(|other| !other.begins(begins)) {
            continue;
        }
        let end = start + terminals[start..].partition_point(|terminal| key(terminal) < begins);
        if terminals.get(end).is_some_and(|terminal| key(terminal) == begins) {
            pieces.push(end - start);
            start = end;
        }
    }
    pieces.push(terminals.len() - start);
    pieces
}

impl<const K: usize> OrderedSink<K> for RunShards<'_, K> {
    fn plan(&self) -> &Plan<K> {
        self.along().plan()
    }

    fn order(&self, run: &Plan<K>, terminals: &mut [Terminal]) {
        for writer in self.writers {
            if let Err(error) = writer.is_of(Along::new(run).plan()) {
                return self.progress.fails(error.into());
            }
        }
        put_in_order(run, self.along(), terminals);
    }

    fn cut(&self, terminals: &[Terminal]) -> Vec<usize> {
        if !are_kept(terminals) {
            self.progress.fails(Error::NotKept(MaterialiseError::NotKept).into());
        }
        if self.progress.has_failed() {
            return Vec::new();
        }
        let mut shards = Vec::new();
        for writer in self.writers {
            shards.push(&writer.written.shards);
        }
        lengths(terminals, self.along(), &shards, self.rows)
    }

    fn take(&self, terminals: &[Terminal], bricks: Cells) -> Option<Cells> {
        self.progress.begins();
        self.write(terminals, bricks).map_err(|error| self.progress.fails(error)).ok()
    }
}
