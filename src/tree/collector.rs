//! Trees of what runs leave.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::backend::{Batch, BatchError, BrickVolumes, Error, Sink, brick_volumes};
use crate::cell::CellType;
use crate::choice::ChoiceError;
use crate::dimension::here;
use crate::geometry::{Region, Scheme};
use crate::memory::{Refused, reserve};
use crate::parallel;
use crate::plan::Plan;
use crate::result::{Cells, Content, DenseArray, MaterialiseError, MemoryError, Stored, Subdivision, Terminal, gather};
use crate::rule::RuleKind;
use crate::tree::along::Along;
use crate::tree::bottom_up::BottomUp;
use crate::tree::entries::{Entries, TreeRow};
use crate::tree::error::TreeError;
use crate::tree::piece::Piece;
use crate::tree::provenance::Provenance;
use crate::tree::stored::Tree;

/// A sink that makes a tree of one run, or of several runs over parts of a plan in any order. The runs have to keep
/// [`Keep::Regions`](crate::Keep::Regions).
///
/// ```
/// use orthant::backend::{Part, Roots};
/// use orthant::prelude::*;
/// use orthant::{Control, field};
/// use orthant::field::FieldOptions;
/// use orthant::tree::Collector;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let plan = Plan::builder([64, 64]).window([[-1.5, 0.5], [-1.0, 1.0]]).scheme(Scheme::uniform(4, 2, 4)).build()?;
/// let field = field::mandelbrot::open(plan.domain(), &FieldOptions::default())?;
/// let (cpu, how) = (Target::cpu(), How::default().keep(Keep::Regions));
/// let mut prepared = cpu.of().prepare(&plan, &*field, &how)?;
/// let mut collector = Collector::new(&plan);
/// for range in [8..16, 0..8] {
///     prepared.run(&Part::of(Roots::Codes { level: 0, range }), &Control::default())?;
///     prepared.result(&mut collector)?;
/// }
/// assert_eq!(collector.tree()?.word([48, 32]), Some(512));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Collector<const K: usize> {
    plan: Plan<K>,
    terminals: Vec<Terminal>,
    /// None before anything came, which has a type.
    bricks: Option<Cells>,
    limit: u64,
}

impl<const K: usize> Collector<K> {
    /// For runs of `plan`.
    pub fn new(plan: &Plan<K>) -> Self {
        Self { plan: plan.clone(), terminals: Vec::new(), bricks: None, limit: u64::MAX }
    }

    /// A collector that holds all regions and bricks of a run. The run kept [`Keep::Regions`](crate::Keep::Regions).
    ///
    /// # Errors
    /// [`TreeError::Run`] if it kept none.
    pub fn of(subdivision: Subdivision<K>) -> Result<Self, TreeError> {
        let Subdivision { plan, terminals, bricks, .. } = subdivision;
        if !are_kept(&terminals) {
            return Err(Error::NotKept(MaterialiseError::NotKept).into());
        }
        Ok(Self { plan, terminals, bricks: Some(bricks), limit: u64::MAX })
    }

    /// With at most so many bytes for regions and bricks.
    #[must_use]
    pub fn mem_limit(self, limit: u64) -> Self {
        Self { limit, ..self }
    }

    /// The tree of all that came.
    ///
    /// # Errors
    /// [`TreeError::Tiling`] if regions are missing or came twice; [`TreeError::Run`] if there is no memory.
    pub fn tree(self) -> Result<Tree<K>, TreeError> {
        here!(fn(Collector<K>) -> Result<Tree<K>, TreeError> = Collector::<K>::tree_here)(self)
    }

    fn tree_here(self) -> Result<Tree<K>, TreeError> {
        let (along, Piece { entries, bricks, .. }) = self.in_order()?;
        let whole = along.whole();
        Tree::new(along, whole, entries, bricks)
    }

    /// The partial tree of what lies below some regions of a level, and which is all that came. The codes are those of the curve
    /// that trees of the plan lie along.
    ///
    /// # Errors
    /// As [`tree`](Self::tree); [`TreeError::Level`], [`TreeError::Code`] or [`TreeError::Codes`] if there is no such run of codes.
    pub fn part(self, level: u32, codes: Range<u128>) -> Result<Tree<K>, TreeError> {
        here!(fn(Collector<K>, u32, Range<u128>) -> Result<Tree<K>, TreeError> = Collector::<K>::part_here)(
            self, level, codes,
        )
    }

    fn part_here(self, level: u32, codes: Range<u128>) -> Result<Tree<K>, TreeError> {
        let (along, Piece { entries, bricks, .. }) = self.in_order()?;
        let part = along.keys(level, codes)?;
        Tree::new(along, part, entries, bricks)
    }

    /// Hands what came to another sink, in the order of the curve that trees of the plan lie along: a shard of a tree, if what
    /// came is what lies below a run of the initial grid's codes.
    ///
    /// # Errors
    /// Those of the sink; [`TreeError::Run`] if there is no memory.
    pub fn deliver(self, sink: &mut dyn Sink<K>) -> Result<(), TreeError> {
        here!(fn(Collector<K>, &mut dyn Sink<K>) -> Result<(), TreeError> = Collector::<K>::deliver_here)(self, sink)
    }

    fn deliver_here(self, sink: &mut dyn Sink<K>) -> Result<(), TreeError> {
        let (along, piece) = self.in_order()?;
        Ok(piece.deliver(&along, sink)?)
    }

    fn add(&mut self, batch: Batch<'_, K>) -> Result<(), Error> {
        of_plan(batch.plan, &self.plan)?;
        batch.check()?;
        let given = batch.bricks.kind();
        let bricks = self.bricks.get_or_insert_with(|| Cells::empty(given));
        if bricks.kind() != given {
            let reason = format!("the cells that came before are {}", bricks.kind());
            return Err(ChoiceError::new("cell", given, reason).into());
        }
        let terminals = (self.terminals.len() + batch.terminals.len()) as u64 * Terminal::BYTES;
        fits(terminals + (bricks.len() + batch.bricks.len()) as u64 * given.bytes(), self.limit)?;
        reserve(&mut self.terminals, batch.terminals.len()).map_err(MemoryError::refused(Stored::Terminals))?;
        bricks.reserve(batch.bricks.len()).map_err(MemoryError::refused(Stored::Terminals))?;
        // Places count within a run.
        let here = bricks.len() as u64;
        for terminal in batch.terminals {
            self.terminals.push(match terminal.content() {
                Content::Leaf { brick: Some(place) } => terminal.with_brick(place - batch.start + here),
                Content::Leaf { brick: None } | Content::Uniform(_) => *terminal,
            });
        }
        bricks.append(batch.bricks);
        Ok(())
    }

    fn in_order(self) -> Result<(Along<K>, Piece), TreeError> {
        let Self { plan, terminals, bricks, limit } = self;
        in_order(&plan, terminals, bricks.unwrap_or_else(|| Cells::empty(CellType::U8)), limit)
    }
}

impl<const K: usize> Sink<K> for Collector<K> {
    fn terminals(&mut self, batch: Batch<'_, K>) -> Result<(), Error> {
        here!(fn(&mut Collector<K>, Batch<'_, K>) -> Result<(), Error> = Collector::<K>::add)(self, batch)
    }

    /// An array is no part of a tree.
    fn cells(&mut self, _: &Region<K>, _: u64, _: &[u8]) -> Result<(), Error> {
        Err(Error::NotKept(MaterialiseError::NoBricks))
    }
}

impl<const K: usize> Tree<K> {
    /// The tree of a run over a whole plan. The run kept regions, or the dense array.
    ///
    /// An exhaustive run leaves no regions. Its tree is made of the array from the bottom up, and the rule of that
    /// tree's plan is `full`.
    ///
    /// ```
    /// use orthant::prelude::*;
    ///
    /// let plan = Plan::builder([64, 64]).scheme(Scheme::uniform(2, 2, 4)).build()?;
    /// let left = CellField::new(1, |[x, _]| u32::from(x < 32));
    /// let tree = Tree::of(run(&plan, &left)?)?;
    /// // Counts are u16 unless `How::cell` says otherwise.
    /// assert_eq!((tree.len(), tree.get([31, 63])), (4, Some(1u16)));
    /// // A run that kept counts has no regions.
    /// let counts = Run::new(&plan, &left).how(How::default().keep(Keep::Counts)).start()?;
    /// assert!(Tree::of(counts).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`TreeError::Run`] if cells were not kept or there is no memory; [`TreeError::Tiling`] or [`TreeError::Size`] of a part.
    pub fn of(subdivision: Subdivision<K>) -> Result<Self, TreeError> {
        here!(fn(Subdivision<K>) -> Result<Tree<K>, TreeError> = Tree::<K>::of_here)(subdivision)
    }

    fn of_here(mut subdivision: Subdivision<K>) -> Result<Self, TreeError> {
        let Some(array) = subdivision.array.take() else { return Collector::of(subdivision)?.tree() };
        let Subdivision { plan, mut terminals, cells: covered, .. } = subdivision;
        let total = plan.domain().cells();
        if terminals.is_empty() {
            // A part that starts from no regions leaves none, and an array that nobody wrote to.
            if covered != total && array.window() == plan.domain().region() {
                return Err(TreeError::Tiling { found: 0, cells: covered, total });
            }
            let plan = Plan::new(*plan.domain(), *plan.scheme(), plan.curve(), RuleKind::Full);
            return BottomUp::new(&plan.expect("the rule refuses no plan"), &array)?.tree();
        }
        let bricks = bricks_of(&plan, &mut terminals, &array)?;
        drop(array);
        Collector { plan, terminals, bricks: Some(bricks), limit: u64::MAX }.tree()
    }
}

/// Checks that a batch is of a collector's plan: of the same cells and the same regions under the same codes.
fn of_plan<const K: usize>(given: &Plan<K>, own: &Plan<K>) -> Result<(), BatchError> {
    let facts = |plan: &Plan<K>| {
        let Scheme { g, r, b } = *plan.scheme();
        let axes = [("size", plan.domain().size()), ("g", g), ("r", r), ("B", b)]
            .map(|(what, axes)| (what, format!("{axes:?}")));
        axes.into_iter().chain([("curve", plan.curve().to_string()), ("rule", plan.rule().to_string())])
    };
    match facts(given).zip(facts(own)).find(|(given, own)| given != own) {
        Some(((what, given), (_, own))) => Err(BatchError::Plan { what, given, own }),
        None => Ok(()),
    }
}

/// Checks so many bytes of regions and bricks against a limit.
fn fits(bytes: u64, limit: u64) -> Result<(), MemoryError> {
    let error = MemoryError { what: Stored::Terminals, need: bytes.into(), limit: Some(limit) };
    if bytes > limit { Err(error) } else { Ok(()) }
}

/// Bricks of leaves whose cells are in an array.
fn bricks_of<const K: usize>(
    plan: &Plan<K>,
    terminals: &mut [Terminal],
    array: &DenseArray<K>,
) -> Result<Cells, TreeError> {
    let all_here = AtomicBool::new(true);
    parallel::pieces_mut(terminals, TOGETHER, &|_, some| {
        for terminal in some {
            if !matches!(terminal.content(), Content::Leaf { .. }) {
                continue;
            }
            *terminal = Terminal::leaf(terminal.level(), terminal.code, Some(0));
            if !array.window().contains(&plan.region(terminal.level(), terminal.code)) {
                all_here.store(false, Ordering::Relaxed);
                return;
            }
        }
    });
    if !all_here.into_inner() {
        return Err(Error::NotKept(MaterialiseError::NoBricks).into());
    }
    let (kind, width) = (array.cells().kind(), array.cells().kind().bytes());
    gathered(terminals, &|some| brick_volumes(plan, some), kind, &|terminal, brick| {
        let region = plan.region(terminal.level(), terminal.code);
        let bytes = (u64::from(region.extent[0]) * width) as usize;
        for (to, cell) in brick.chunks_mut(bytes).zip(region.rows()) {
            let at = array.window().place(cell) * width as usize;
            to.copy_from_slice(&array.cells().as_bytes()[at..at + to.len()]);
        }
    })
}

/// Regions that a thread renames.
const TOGETHER: usize = 4096;

/// Regions that a thread looks at.
const LOOKED_AT: usize = 1 << 14;

/// Regions whose bricks all threads move together.
const WINDOW: usize = 1 << 18;

/// Puts regions, which come in any order, and their bricks into the order of the curve.
fn in_order<const K: usize>(
    plan: &Plan<K>,
    mut terminals: Vec<Terminal>,
    bricks: Cells,
    limit: u64,
) -> Result<(Along<K>, Piece), TreeError> {
    let along = Along::new(plan);
    // Sorting takes room for as many regions.
    fits(terminals.len() as u64 * 2 * Terminal::BYTES + bricks.len() as u64 * bricks.kind().bytes(), limit)?;
    put_in_order(plan, &along, &mut terminals);
    let bricks = bricks_in_order(&mut terminals, &|some| brick_volumes(along.plan(), some), bricks, limit)?;
    let entries = entries_of(&along, &terminals)?;
    Ok((along, Piece::settled(entries, bricks)))
}

/// Puts bricks into the order of their regions.
fn bricks_in_order(
    terminals: &mut [Terminal],
    volumes: &BrickVolumes<'_>,
    bricks: Cells,
    limit: u64,
) -> Result<Cells, TreeError> {
    let sorted = follow_each_other(terminals);
    let moving = if sorted { 0 } else { bricks.len() };
    fits(
        terminals.len() as u64 * (Terminal::BYTES + Entries::BYTES)
            + (bricks.len() + moving) as u64 * bricks.kind().bytes(),
        limit,
    )?;
    match sorted {
        true => Ok(bricks),
        false => gathered(terminals, volumes, bricks.kind(), &|terminal, brick| {
            let place = terminal.brick().expect("it is one of those that have one");
            let at = (place * bricks.kind().bytes()) as usize;
            brick.copy_from_slice(&bricks.as_bytes()[at..at + brick.len()]);
        }),
    }
}

/// Puts the regions of a run of `plan` into the order of the curve, and names them by that.
pub(super) fn put_in_order<const K: usize>(plan: &Plan<K>, along: &Along<K>, terminals: &mut [Terminal]) {
    if along.plan().curve() != plan.curve() {
        let turn = |_, some: &mut [Terminal]| {
            for terminal in some {
                let coords = plan.encoding().decode(terminal.level(), terminal.code);
                terminal.code = along.plan().encoding().encode(terminal.level(), coords);
            }
        };
        parallel::pieces_mut(terminals, TOGETHER, &turn);
    }
    along.sort(terminals);
}

/// True if there are regions, and the cells of all leaves are with them.
pub(super) fn are_kept(terminals: &[Terminal]) -> bool {
    let bare = |terminal: &Terminal| terminal.content() == Content::Leaf { brick: None };
    let some = |i| terminals[parallel::piece(terminals.len(), LOOKED_AT, i)].iter().any(bare);
    !terminals.is_empty() && !parallel::map(terminals.len().div_ceil(LOOKED_AT), &some).contains(&true)
}

/// True if bricks come in the order of their regions.
fn follow_each_other(terminals: &[Terminal]) -> bool {
    let some = |i| {
        let mut places = terminals[parallel::piece(terminals.len(), LOOKED_AT, i)].iter().filter_map(Terminal::brick);
        let (first, mut last, mut sorted) = (places.next(), None, true);
        for place in places {
            sorted &= last.or(first) <= Some(place);
            last = Some(place);
        }
        (first, last.or(first), sorted)
    };
    let (mut before, mut all) = (None, true);
    for (first, last, sorted) in parallel::map(terminals.len().div_ceil(LOOKED_AT), &some) {
        all &= sorted && (first.is_none() || before <= first);
        before = last.or(before);
    }
    all
}

/// Regions, which are in the order of the curve, as rows.
pub(super) fn entries_of<const K: usize>(along: &Along<K>, terminals: &[Terminal]) -> Result<Entries, Refused> {
    Entries::of(terminals.len(), &|row| {
        let terminal = &terminals[row];
        let level = terminal.level();
        let key = along.key(level, terminal.code);
        match terminal.content() {
            Content::Uniform(word) => {
                let provenance = Provenance::of(along.plan(), || along.plan().region(level, terminal.code));
                TreeRow::uniform(level, key, word, provenance)
            }
            Content::Leaf { brick } => TreeRow::leaf(level, key, brick.expect("a leaf without a brick was refused")),
        }
    })
}

/// The bricks of regions in the order of these; `copy` writes one.
fn gathered(
    terminals: &mut [Terminal],
    volumes: &BrickVolumes<'_>,
    kind: CellType,
    copy: &(dyn Fn(&Terminal, &mut [u8]) + Sync),
) -> Result<Cells, TreeError> {
    let cells: u64 = terminals.chunks(WINDOW).flat_map(volumes).sum();
    let mut bricks = Cells::zeroed(kind, cells as usize)?;
    let (width, mut start) = (kind.bytes(), 0);
    for window in terminals.chunks_mut(WINDOW) {
        let volumes = volumes(window);
        let end = start + volumes.iter().sum::<u64>();
        let to = &mut bricks.bytes_mut()[(start * width) as usize..(end * width) as usize];
        gather(window, &volumes, (start, width), to, copy);
        start = end;
    }
    Ok(bricks)
}
