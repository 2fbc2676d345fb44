//! What the regions of a tree come to: the counts per level of the run that would have found them.

use std::ops::Range;

use crate::dimension::here;
use crate::plan::Plan;
use crate::result::{
    Content, Launches, LevelCounts, LevelKernels, LevelStats, RegionsChecksum, RunCounts, Terminal, Times,
};
use crate::tree::along::Along;
use crate::tree::bottom_up::BottomUp;
use crate::tree::entries::Entries;
use crate::tree::error::TreeError;
use crate::tree::piece::Piece;
use crate::tree::points::FromPoints;
use crate::tree::predicate::{Criterion, Uniform};
use crate::tree::stored::Tree;
use crate::tree::survey::Survey;

/// Cells that are looked at before the next.
const SHARD: u128 = 1 << 25;

/// The most parts that points are counted in.
const SHARDS: u128 = 256;

/// What is counted, and the checksum if there is one.
type Counted<const K: usize> = (RunCounts<K>, Option<RegionsChecksum>);

/// Counts the regions of a tree part by part, along the curve, and keeps none of them.
///
/// If parts share a region of one value, each of them has a piece of it. The census puts the pieces together before it
/// counts.
///
/// ```
/// use orthant::Tree;
/// use orthant::ndarray::Array2;
/// use orthant::tree::Census;
///
/// let halves = Array2::from_shape_fn((256, 256), |(_, x)| u8::from(x >= 128));
/// let tree = Tree::<2>::from_array(halves.view())?;
/// let mut census = Census::new(tree.plan(), 0, true);
/// census.add(&tree);
/// let (counts, checksum) = census.counts();
/// assert_eq!((counts.totals().filled, counts.totals().leaves), (4, 0));
/// assert_eq!(checksum, Some(tree.checksum()));
/// # Ok::<(), orthant::tree::TreeError>(())
/// ```
#[derive(Debug)]
pub struct Census<const K: usize> {
    plan: Plan<K>,
    /// The level that parts are cut on.
    cut: u32,
    /// Whether regions are hashed.
    hashes: bool,
    /// Filled regions and leaves per level, and their cells.
    levels: Vec<LevelCounts>,
    /// Uniform regions of the level that parts are cut on, and what they became.
    waiting: Vec<Terminal>,
    checksum: RegionsChecksum,
}

impl<const K: usize> Census<K> {
    /// A census of parts that are cut on `level`; a whole tree is a part cut on level 0. With `hashes` there is a
    /// checksum, for which all cells of leaves are read.
    pub fn new(plan: &Plan<K>, level: u32, hashes: bool) -> Self {
        let levels = vec![LevelCounts::default(); plan.levels().len()];
        let plan = Along::new(plan).plan().clone();
        Self { plan, cut: level, hashes, levels, waiting: Vec::new(), checksum: RegionsChecksum::default() }
    }

    /// The counts of a run that found these regions from the cells up. Such a run looks at each cell once: all cells
    /// count as explored on the last level that has regions. Levels below that are left out.
    pub fn counts(self) -> (RunCounts<K>, Option<RegionsChecksum>) {
        here!(fn(Census<K>) -> Counted<K> = Census::<K>::counts_here)(self)
    }

    fn counts_here(mut self) -> Counted<K> {
        let waiting = std::mem::take(&mut self.waiting);
        self.checksum += self.hash(&waiting);
        waiting.iter().for_each(|terminal| self.count(terminal));
        (run_counts(&self.plan, self.levels), self.hashes.then_some(self.checksum))
    }

    /// Counts the next part.
    pub fn add(&mut self, part: &Tree<K>) {
        here!(fn(&mut Census<K>, &Tree<K>) -> () = Census::<K>::add_here)(self, part)
    }

    fn add_here(&mut self, part: &Tree<K>) {
        let waiting = self.rows(&part.along, &part.entries);
        if self.hashes {
            self.checksum += part.checksum();
            self.checksum.0 = self.checksum.0.wrapping_sub(self.hash(&waiting).0);
        }
        waiting.into_iter().for_each(|terminal| self.wait(terminal));
    }

    /// Counts rows but for those that may be shared with other parts, which it answers with.
    fn rows(&mut self, along: &Along<K>, entries: &Entries) -> Vec<Terminal> {
        let mut waiting = Vec::new();
        for row in 0..entries.len() {
            let terminal = entries.terminal(along, row);
            // Families of level 0 are whole in every part.
            let shared = self.cut > 0 && terminal.level() <= self.cut;
            match terminal.content() {
                Content::Uniform(_) if shared => waiting.push(terminal),
                _ => self.count(&terminal),
            }
        }
        waiting
    }

    /// The checksum of uniform regions.
    fn hash(&self, uniform: &[Terminal]) -> RegionsChecksum {
        RegionsChecksum::of(&self.plan, uniform, &|_, _, _| unreachable!("a uniform region has no brick"))
    }

    fn count(&mut self, terminal: &Terminal) {
        let cells = self.plan.region(terminal.level(), terminal.code).volume();
        let counts = &mut self.levels[terminal.level() as usize];
        match terminal.content() {
            Content::Uniform(_) => {
                counts.filled += 1;
                counts.filled_cells += cells;
            }
            Content::Leaf { .. } => {
                counts.leaves += 1;
                counts.leaf_cells += cells;
            }
        }
    }

    /// A uniform region of the level that parts are cut on, or above it: the last of a family of one value takes the others with
    /// it.
    fn wait(&mut self, terminal: Terminal) {
        let children = self.plan.scheme().children();
        let mut next = terminal;
        loop {
            self.waiting.push(next);
            let Some((start, parent)) = family_of_last(&self.waiting, children) else { return };
            self.waiting.truncate(start);
            next = parent;
        }
    }
}

/// Where the family of the last of some uniform regions begins, and its parent, if all are there and have one value.
fn family_of_last(waiting: &[Terminal], children: u64) -> Option<(usize, Terminal)> {
    let last = waiting.last()?;
    let (level, code) = (last.level(), last.code);
    let start = waiting.len().checked_sub(usize::try_from(children).ok()?)?;
    if level == 0 || code % children != children - 1 {
        return None;
    }
    let sibling = |(terminal, code): (&Terminal, u64)| {
        terminal.level() == level && terminal.code == code && terminal.content() == last.content()
    };
    let all = waiting[start..].iter().zip(code - (children - 1)..).all(sibling);
    let Content::Uniform(word) = last.content() else { unreachable!("only uniform regions wait") };
    all.then(|| (start, Terminal::uniform(level - 1, code / children, word)))
}

impl<const K: usize> BottomUp<'_, K> {
    /// Counts the regions and keeps none: in memory is what lies below some regions, of as many cells as a shard of a file has. With
    /// `hashes` there is a checksum.
    ///
    /// # Errors
    /// As [`tree`](Self::tree).
    pub fn counts(&self, hashes: bool) -> Result<(RunCounts<K>, Option<RegionsChecksum>), TreeError> {
        here!(fn(&BottomUp<'_, K>, bool) -> Result<Counted<K>, TreeError> = |this, hashes| this.counts_here(hashes))(
            self, hashes,
        )
    }

    fn counts_here(&self, hashes: bool) -> Result<Counted<K>, TreeError> {
        let survey = self.survey()?.filter(|_| !hashes);
        let level = self.along.level_of(0, SHARD);
        let each = (SHARD / self.along.most_cells(level)).max(1);
        let (mut census, codes) = (Census::new(self.along.plan(), level, hashes), self.along.codes(level));
        if let Criterion::Spans(_) = self.criterion {
            return self.counts_of_pieces(level, each, hashes);
        }
        let mut start = 0;
        while start < codes {
            let end = codes.min(start + each);
            match survey {
                // Bricks are not looked at.
                Some(survey) => {
                    let rows = self.bare(survey, self.along.below(level, start..end, self.along.deepest()));
                    census.rows(&self.along, &rows).into_iter().for_each(|terminal| census.wait(terminal));
                }
                None => census.add(&self.part(level, start..end)?),
            }
            start = end;
        }
        Ok(census.counts())
    }

    /// The same where values alone do not say what regions are together: pieces are put together before they count.
    fn counts_of_pieces(&self, level: u32, each: u128, hashes: bool) -> Result<Counted<K>, TreeError> {
        let (mut census, codes) = (Census::new(self.along.plan(), 0, hashes), self.along.codes(level));
        let (mut open, mut first, mut start) = (Piece::new(self.source.kind(), self.criterion), 0, 0);
        while start < codes {
            let end = codes.min(start + each);
            open.append(&self.along, &self.piece(level, start..end)?)?;
            self.fits(open.bytes())?;
            let next = self.along.keys(level, start..end)?.end;
            if let Some((decided, until)) = open.decided(&self.along, first, next) {
                let Piece { entries, bricks, .. } = decided;
                census.add(&Tree::new(self.along.clone(), first..until, entries, bricks)?);
                first = until;
            }
            start = end;
        }
        Ok(census.counts())
    }

    /// What lies below regions of the deepest level, without bricks.
    fn bare(&self, survey: &Survey<K>, codes: Range<u128>) -> Entries {
        let (encoding, deepest) = (self.along.plan().encoding(), self.along.deepest());
        let mut piece = Piece::new(self.source.kind(), self.criterion);
        for code in codes.map(|code| code as u64) {
            match survey.word(encoding.decode(deepest, code)) {
                Some(word) => piece.uniform(&self.along, deepest, code, Uniform::exact(word)),
                None => piece.leaf(&self.along, deepest, code, 0),
            }
        }
        piece.entries
    }
}

impl<const K: usize> FromPoints<'_, K> {
    /// Counts the regions and keeps none: in memory are the sorted list, and what lies below some regions. With `hashes` there is a
    /// checksum.
    ///
    /// # Errors
    /// As [`tree`](Self::tree).
    pub fn counts(&self, hashes: bool) -> Result<(RunCounts<K>, Option<RegionsChecksum>), TreeError> {
        here!(fn(&FromPoints<'_, K>, bool) -> Result<Counted<K>, TreeError> = |this, hashes| this.counts_here(hashes))(
            self, hashes,
        )
    }

    fn counts_here(&self, hashes: bool) -> Result<Counted<K>, TreeError> {
        let level = self.along.level_of(0, SHARD);
        let each = (SHARD / self.along.most_cells(level)).max(1);
        // Of regions that mostly have no points, many at a time.
        let (codes, each) = (self.along.codes(level), each.max(self.along.codes(level) / SHARDS));
        let (mut census, mut start) = (Census::new(self.along.plan(), level, hashes), 0);
        while start < codes {
            let end = codes.min(start + each);
            census.add(&self.part(level, start..end)?);
            start = end;
        }
        Ok(census.counts())
    }
}

/// What a run from the cells up counts whose filled regions and leaves are `found`, level by level.
pub(super) fn run_counts<const K: usize>(plan: &Plan<K>, found: Vec<LevelCounts>) -> RunCounts<K> {
    let children = plan.scheme().children();
    let mut regions = plan.levels()[0].regions() as u64;
    let mut levels = Vec::new();
    for (&level, mut counts) in plan.levels().iter().zip(found) {
        if regions == 0 {
            break;
        }
        counts.regions = regions;
        counts.subdivided = regions - counts.filled - counts.leaves;
        regions = counts.subdivided.wrapping_mul(children);
        counts.explored_cells = if regions == 0 { plan.domain().cells() as u64 } else { 0 };
        levels.push(LevelStats::without_tables(level, counts, LevelKernels::default()));
    }
    RunCounts { levels, launches: Launches::default(), times: Times::default() }
}
