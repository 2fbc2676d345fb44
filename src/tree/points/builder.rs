//! A tree of points.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::OnceLock;

use crate::backend::{Control, Sink};
use crate::cell::CellType;
use crate::dimension::here;
use crate::plan::Plan;
use crate::points::{PointBatches, Points, PointsError, PointsValue, has_axes};
use crate::result::{MemoryError, Stored};
use crate::rule::RuleKind;
use crate::tree::along::Along;
use crate::tree::error::TreeError;
use crate::tree::piece::Piece;
use crate::tree::points::bins::Bins;
use crate::tree::points::keys::KeyMaker;
use crate::tree::points::record::{KeyedValue, SortedRecord};
use crate::tree::points::sorted::SortedPoints;
use crate::tree::stored::Tree;

/// The most bits of the place of a cell in its region: no brick has more cells.
const PLACES: u32 = 40;

/// Makes a tree of [`Points`]: sorts them along the curve, and puts those of each region into its brick. Regions without points are
/// uniform, and 0. Work and memory grow with the points and with the cells of regions that have points, not with the domain.
///
/// The tree is that of a dense array of the same cells ([`BottomUp`](crate::tree::BottomUp)).
///
/// ```
/// use orthant::points::{Points, PointsValue};
/// use orthant::prelude::*;
/// use orthant::tree::FromPoints;
///
/// let points = Points::new(3, vec![0.0, 0.0, 0.0, 9.0, 5.0, 1.0, 9.0, 5.0, 1.0])?;
/// let size = [1000; 3];
/// let window: [[f64; 2]; 3] = points.window(&size)?.try_into().unwrap();
/// let plan = Plan::builder(size).window(window).scheme(Scheme::uniform(1, 2, 4)).rule(RuleKind::Full).build()?;
/// let tree = FromPoints::new(&plan, &points, PointsValue::Count)?.tree()?;
/// // The last point lies on the upper border of the window, and there are two of it.
/// assert_eq!((tree.word_at([9.0, 5.0, 1.0]), tree.word_at([1.0, 1.0, 1.0])), (Some(2), Some(0)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FromPoints<'a, const K: usize> {
    pub(in crate::tree) along: Along<K>,
    pub(super) points: Origin<'a>,
    pub(super) value: PointsValue,
    pub(in crate::tree) kind: CellType,
    pub(super) control: Option<&'a Control>,
    pub(super) limit: u64,
    /// Points that are sorted at a time, where tests say so.
    pub(super) together: Option<usize>,
    pub(super) sorted: OnceLock<SortedPoints>,
}

/// Where points are.
#[derive(Clone, Copy)]
pub(super) enum Origin<'a> {
    Memory(&'a Points),
    /// Elsewhere, with room for what is sorted.
    Batches(&'a dyn PointBatches, &'a Room<'a>),
}

/// Opens an empty file for reading and writing, for so many bytes.
pub(super) type Room<'r> = dyn Fn(u64) -> io::Result<File> + Sync + 'r;

impl Origin<'_> {
    pub(super) fn batches(&self) -> &dyn PointBatches {
        match self {
            Self::Memory(points) => *points,
            Self::Batches(points, _) => *points,
        }
    }

    /// The type of cells that have a value of these points, in a tree of `k` axes by a rule.
    fn kind_of(&self, value: PointsValue, rule: RuleKind, k: usize) -> Result<CellType, TreeError> {
        if rule != RuleKind::Full {
            return Err(TreeError::Rule(rule));
        }
        let axes = self.batches().extent().axes();
        if axes != k {
            return Err(PointsError::Dimensions { axes, k }.into());
        }
        Ok(value.kind(self.batches())?)
    }
}

impl std::fmt::Debug for Origin<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} points", self.batches().count())
    }
}

impl<'a, const K: usize> FromPoints<'a, K> {
    /// Prepares a tree of `points` in the window of a plan. The tree lies along the plan's curve, or along Morton's if that is canonical.
    ///
    /// # Errors
    /// [`TreeError::Rule`] if the plan's rule is not `full`; [`TreeError::Points`] of points of another number of axes, of a value that
    /// needs an attribute if there is none, and of a plan of more cells than 64 bits name.
    pub fn new(plan: &Plan<K>, points: &'a Points, value: PointsValue) -> Result<Self, TreeError> {
        Self::of(plan, Origin::Memory(points), value)
    }

    /// The same of points that memory does not hold. They are sorted in a file: `room` opens one that is empty, for reading and writing,
    /// for so many bytes, as `tempfile::tempfile` does. It takes 8 bytes for each point, or 16 with a value of an attribute.
    ///
    /// [`mem_limit`](Self::mem_limit) says how many points are sorted and put into bricks at a time.
    ///
    /// ```
    /// use orthant::points::{Points, PointsValue};
    /// use orthant::tree::FromPoints;
    ///
    /// let points = Points::sphere(1.0, 10_000);
    /// let mut chosen = orthant::Computed::default();
    /// chosen.set("size", "64")?;
    /// let plan = chosen.points_plan::<3>(points.extent())?;
    /// # let path = std::env::temp_dir().join(format!("orthant-doc-runs-{}", std::process::id()));
    /// # let open = std::fs::File::options().read(true).write(true).create_new(true).clone();
    /// let room = |_| open.open(&path);
    /// let spilled = FromPoints::batches(&plan, &points, PointsValue::Count, &room)?.mem_limit(1 << 20).tree()?;
    /// assert_eq!(spilled, FromPoints::new(&plan, &points, PointsValue::Count)?.tree()?);
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn batches(
        plan: &Plan<K>,
        points: &'a dyn PointBatches,
        value: PointsValue,
        room: &'a (dyn Fn(u64) -> io::Result<File> + Sync),
    ) -> Result<Self, TreeError> {
        Self::of(plan, Origin::Batches(points, room), value)
    }

    fn of(plan: &Plan<K>, points: Origin<'a>, value: PointsValue) -> Result<Self, TreeError> {
        let kind = points.kind_of(value, plan.rule(), K)?;
        let along = Along::new(plan);
        let places = KeyMaker::new(&along)?.places();
        if places > PLACES {
            let need = along.most_cells(along.deepest()).saturating_mul(kind.bytes().into());
            return Err(MemoryError { what: Stored::Terminals, need, limit: None }.into());
        }
        Ok(Self { along, points, value, kind, control: None, limit: u64::MAX, together: None, sorted: OnceLock::new() })
    }

    /// Lets `control` watch and cancel the making. It counts the cells of all regions that are made from here on.
    #[must_use]
    pub fn control(self, control: &'a Control) -> Self {
        control.begin();
        Self { control: Some(control), ..self }
    }

    /// Allows at most so many bytes for the sorted list, regions and bricks. The points are there already, and do not count.
    #[must_use]
    pub fn mem_limit(self, limit: u64) -> Self {
        Self { limit, ..self }
    }

    /// Sorts so many points at a time. The default follows from the limit of memory.
    #[doc(hidden)]
    #[must_use]
    pub fn points_at_once(self, points: usize) -> Self {
        Self { together: Some(points), ..self }
    }

    /// The type of a cell.
    pub fn kind(&self) -> CellType {
        self.kind
    }

    /// The points in the window, which are sorted to know.
    ///
    /// # Errors
    /// [`TreeError::Points`] if there is none; [`TreeError::Run`] if it was interrupted or there is no memory.
    pub fn inside(&self) -> Result<u64, TreeError> {
        Ok(self.sorted()?.len() as u64)
    }

    /// Makes the tree.
    ///
    /// # Errors
    /// [`TreeError::Points`] if no point lies in the window; [`TreeError::Run`] if it was interrupted or there is no memory.
    pub fn tree(&self) -> Result<Tree<K>, TreeError> {
        self.part(0, 0..self.along.codes(0))
    }

    /// Makes a partial tree: what lies below the regions of a level with these codes.
    ///
    /// # Errors
    /// As [`tree`](Self::tree); [`TreeError::Level`], [`TreeError::Code`] or [`TreeError::Codes`] if there is no such run of codes.
    pub fn part(&self, level: u32, codes: Range<u128>) -> Result<Tree<K>, TreeError> {
        here!(fn(&FromPoints<'_, K>, u32, Range<u128>) -> Result<Tree<K>, TreeError> =
            |this, level, codes| this.part_here(level, codes))(self, level, codes)
    }

    fn part_here(&self, level: u32, codes: Range<u128>) -> Result<Tree<K>, TreeError> {
        let keys = self.along.keys(level, codes.clone())?;
        let Piece { entries, bricks, .. } = self.piece(level, codes)?;
        Tree::new(self.along.clone(), keys, entries, bricks)
    }

    /// Makes what lies below some regions of a level, as [`part`](Self::part), and hands it to a sink in the order of the curve.
    ///
    /// # Errors
    /// As [`part`](Self::part), and those of the sink.
    pub fn shard(&self, level: u32, codes: Range<u128>, sink: &mut dyn Sink<K>) -> Result<(), TreeError> {
        here!(fn(&FromPoints<'_, K>, u32, Range<u128>, &mut dyn Sink<K>) -> Result<(), TreeError> =
            |this, level, codes, sink| this.shard_here(level, codes, sink))(self, level, codes, sink)
    }

    fn shard_here(&self, level: u32, codes: Range<u128>, sink: &mut dyn Sink<K>) -> Result<(), TreeError> {
        Ok(self.piece(level, codes)?.deliver(&self.along, sink)?)
    }

    /// What lies below a run of a level's codes.
    pub(in crate::tree) fn piece(&self, above: u32, codes: Range<u128>) -> Result<Piece, TreeError> {
        here!(fn(&FromPoints<'_, K>, u32, Range<u128>) -> Result<Piece, TreeError> = |this, above, codes| this.piece_here(above, codes))(
            self, above, codes,
        )
    }

    fn piece_here(&self, above: u32, codes: Range<u128>) -> Result<Piece, TreeError> {
        // What is never run is not compiled.
        if const { !has_axes(K) } {
            unreachable!("no points have {K} axes");
        }
        let keys = self.along.keys(above, codes)?;
        let keys = [keys.start as u64, (keys.end - 1) as u64];
        let sorted = self.sorted()?;
        match sorted {
            SortedPoints::Keys(records) => self.piece_of(records, keys, sorted.bytes()),
            SortedPoints::Values(records) => self.piece_of(records, keys, sorted.bytes()),
            SortedPoints::Runs(runs) => match self.value.needs_attribute() {
                true => self.piece_of_runs::<KeyedValue>(runs, keys),
                false => self.piece_of_runs::<u64>(runs, keys),
            },
        }
    }

    /// The same of points in order, beside which so many bytes are held.
    pub(super) fn piece_of<R: SortedRecord>(
        &self,
        records: &[R],
        keys: [u64; 2],
        held: u64,
    ) -> Result<Piece, TreeError> {
        let bins = self.bins()?;
        let [first, last] = keys;
        let fits = |bytes: u64| self.fits(held.saturating_add(bytes));
        let unheard = Control::default();
        let control = self.control.unwrap_or(&unheard);
        let piece = bins.piece(&self.along, records_of(records, bins.places, keys), keys, &fits, control)?;
        control.advance(u64::try_from(self.along.cells(first.into()..u128::from(last) + 1)).unwrap_or(u64::MAX));
        Ok(piece)
    }

    pub(super) fn bins(&self) -> Result<Bins, TreeError> {
        let measured = self.points.batches().measured().unwrap_or(CellType::U8);
        Ok(Bins { value: self.value, kind: self.kind, measured, places: KeyMaker::new(&self.along)?.places() })
    }

    /// Checks so many bytes against the limit.
    pub(in crate::tree) fn fits(&self, bytes: u64) -> Result<(), TreeError> {
        if bytes > self.limit {
            return Err(MemoryError { what: Stored::Points, need: bytes.into(), limit: Some(self.limit) }.into());
        }
        Ok(())
    }
}

/// Of records in order those whose codes lie between two, both included.
fn records_of<R: SortedRecord>(records: &[R], places: u32, [first, last]: [u64; 2]) -> &[R] {
    let start = records.partition_point(|record| record.key() >> places < first);
    let end = records.partition_point(|record| record.key() >> places <= last);
    &records[start..end]
}
