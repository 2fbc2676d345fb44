//! A tree of data that are there already: made in memory where an output shows its cells, else written shard by shard.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use orthant::result::{RegionsChecksum, RunCounts};
use orthant::tree::{BottomUp, Census, FromPoints, Predicate, TreeError, TreeWriter};
use orthant::{Built, CellType, Computation, Control, Keep, Plan, PointsRead, ReadFrom, Report, Tree};
use rayon::ThreadPool;

use super::outputs::Outputs;
use crate::error::Error;
use crate::output::tree::{self, TreeOutput};
use crate::progress::Progress;
use crate::threads::pool;
use crate::voice::Voice;

/// What a tree is made of.
pub(super) enum TreeMaker<'a, const K: usize> {
    Cells(&'a BottomUp<'a, K>),
    Points(&'a FromPoints<'a, K>),
}

impl<const K: usize> TreeMaker<'_, K> {
    /// Sorts points.
    fn sort(&self) -> Result<(), TreeError> {
        match self {
            Self::Cells(_) => Ok(()),
            Self::Points(points) => points.inside().map(drop),
        }
    }

    fn tree(&self) -> Result<Tree<K>, TreeError> {
        match self {
            Self::Cells(cells) => cells.tree(),
            Self::Points(points) => points.tree(),
        }
    }

    /// Writes the tree as it comes, shard by shard.
    fn write(&self, writer: &mut TreeWriter<K>) -> Result<(), TreeError> {
        match self {
            Self::Cells(cells) => cells.write(writer),
            Self::Points(points) => points.write(writer),
        }
    }

    /// Counts regions and keeps none; with their checksum if `hashes` is on.
    fn counts(&self, hashes: bool) -> Result<(RunCounts<K>, Option<RegionsChecksum>), TreeError> {
        match self {
            Self::Cells(cells) => cells.counts(hashes),
            Self::Points(points) => points.counts(hashes),
        }
    }
}

/// How a tree is made.
pub(super) struct TreeBuild<'a, const K: usize> {
    plan: &'a Plan<K>,
    keep: Keep,
    /// True if an output shows cells.
    shows_cells: bool,
    /// True if a report says the checksum of the regions.
    hashes: bool,
    /// The threads; those of rayon if none were asked for.
    pool: Option<ThreadPool>,
    control: &'a Arc<Control>,
    voice: Voice,
}

/// What was made.
pub(super) struct BuiltTree<const K: usize> {
    /// The tree, if it is kept in memory.
    pub(super) tree: Option<Tree<K>>,
    pub(super) counts: RunCounts<K>,
    /// The checksum of the regions, if it was asked for or a tree was written.
    pub(super) checksum: Option<RegionsChecksum>,
    /// The seconds that points took to be sorted.
    pub(super) sorting_seconds: f64,
}

/// The data of a tree, as its report says them.
pub(super) struct BuiltFrom {
    pub(super) input: ReadFrom,
    /// Of points, how many were read.
    pub(super) points: Option<PointsRead>,
    /// The type of a cell, once it is what the predicate makes of it.
    pub(super) cell: CellType,
    pub(super) predicate: Predicate,
}

impl<'a, const K: usize> TreeBuild<'a, K> {
    /// How the tree of a plan is made for `outputs`, by so many threads.
    ///
    /// # Errors
    /// If the threads that were asked for cannot be had.
    pub(super) fn new(
        outputs: &Outputs,
        plan: &'a Plan<K>,
        keep: Keep,
        threads: Option<usize>,
        control: &'a Arc<Control>,
        voice: Voice,
    ) -> Result<Self, Error> {
        let pool = threads.map(pool).transpose()?;
        let (shows_cells, hashes) = (outputs.show_cells(), outputs.report.is_some());
        Ok(Self { plan, keep, shows_cells, hashes, pool, control, voice })
    }

    /// Makes the tree and writes `trees`, none of which has its name yet. Says what is left of one that was interrupted.
    ///
    /// # Errors
    /// If data cannot be read, a tree cannot be written, or there is no memory.
    pub(super) fn make(
        &self,
        maker: &TreeMaker<'_, K>,
        trees: &mut [(TreeOutput<K>, PathBuf)],
    ) -> Result<BuiltTree<K>, Error> {
        let progress = Progress::start(self.control, self.plan.domain().cells(), 1, self.voice);
        let made = match &self.pool {
            Some(pool) => pool.install(|| self.make_here(maker, trees)),
            None => self.make_here(maker, trees),
        };
        drop(progress);
        if let (Err(error), [(writer, target)]) = (&made, &trees[..]) {
            tree::left(writer, target, error, self.voice);
        }
        made
    }

    /// The report of what was made.
    pub(super) fn report(
        &self,
        computation: Computation,
        built: &BuiltTree<K>,
        from: BuiltFrom,
        device: &str,
    ) -> Report {
        let BuiltFrom { input, points, cell, predicate } = from;
        let (counts, checksum) = (&built.counts, built.checksum);
        let (input, keep, threads) = (Some(input), self.keep, self.threads());
        Report::bottom_up(
            computation,
            Built { input, points, counts, cell, predicate, keep, threads, device, checksum },
        )
    }

    /// How many threads make it.
    fn threads(&self) -> usize {
        self.pool.as_ref().map_or_else(rayon::current_num_threads, ThreadPool::current_num_threads)
    }

    fn make_here(
        &self,
        maker: &TreeMaker<'_, K>,
        trees: &mut [(TreeOutput<K>, PathBuf)],
    ) -> Result<BuiltTree<K>, Error> {
        let start = Instant::now();
        maker.sort()?;
        let (sorting_seconds, mut made) = (start.elapsed().as_secs_f64(), None);
        let (tree, (mut counts, checksum)) = match (self.keep, trees) {
            // A single output that is a tree is written as it comes.
            (Keep::Regions, [(writer, _)]) if !self.shows_cells => {
                maker.write(writer)?;
                let (counts, checksum) = writer.counts();
                (None, (counts, Some(checksum)))
            }
            (Keep::Regions, trees) => {
                let tree = maker.tree()?;
                made = Some(start.elapsed());
                trees.iter_mut().try_for_each(|(writer, _)| writer.write(&tree))?;
                let mut census = Census::new(self.plan, 0, self.hashes);
                census.add(&tree);
                (Some(tree), census.counts())
            }
            _ => (None, maker.counts(self.hashes)?),
        };
        // Counting hashes all cells, which is no part of making a tree that is kept.
        counts.times.wall = made.unwrap_or_else(|| start.elapsed());
        Ok(BuiltTree { tree, counts, checksum, sorting_seconds })
    }
}
