//! How points come into order: in memory, or in a file where memory does not hold them.

use std::io;

use crate::backend::{Control, Error};
use crate::dimension::here;
use crate::parallel::{self, Spare};
use crate::per_axis::window_text;
use crate::points::{PointAttribute, PointBatches, Points, PointsError, has_axes};
use crate::radix::{self, Ends, KeyBits, SpreadRecords};
use crate::result::{MemoryError, Stored};
use crate::tree::error::TreeError;
use crate::tree::piece::Piece;
use crate::tree::points::builder::{FromPoints, Origin, Room};
use crate::tree::points::keys::KeyMaker;
use crate::tree::points::record::{KeyedValue, SortedRecord};
use crate::tree::points::runs::SortedRuns;
use crate::tree::points::sorted::SortedPoints;

/// Points that are sorted at a time, however little memory is allowed.
const LEAST: usize = 1 << 16;

impl<const K: usize> FromPoints<'_, K> {
    /// The same of points in a file: as many regions at a time as memory holds the points of.
    pub(super) fn piece_of_runs<R: SortedRecord>(&self, runs: &SortedRuns, keys: [u64; 2]) -> Result<Piece, TreeError> {
        let (places, [first, last]) = (self.bins()?.places, keys);
        if first < last && runs.at_most(keys, places) > self.together::<R>().max(runs.least()) {
            let middle = first + (last - first) / 2;
            let mut piece = self.piece_of_runs::<R>(runs, [first, middle])?;
            let next = self.piece_of_runs::<R>(runs, [middle + 1, last])?;
            self.fits(piece.bytes() + next.bytes())?;
            piece.append(&self.along, &next)?;
            return Ok(piece);
        }
        self.fits(runs.bytes().saturating_add(sorting::<R>(runs.at_most(keys, places))))?;
        let mut records: Vec<R> = runs.read(keys, places)?;
        let unheard = Control::default();
        let bits = KeyBits { low: places, high: KeyMaker::new(&self.along)?.bits() };
        sort_records(&mut records, bits, self.control.unwrap_or(&unheard))?;
        let held = runs.bytes().saturating_add((records.capacity() * size_of::<R>()) as u64);
        self.piece_of(&records, keys, held)
    }

    /// Points that are sorted at a time: an eighth of the memory, with up to twice as much while they are.
    fn together<R: SortedRecord>(&self) -> usize {
        let fit = usize::try_from(self.limit / (8 * R::BYTES as u64)).unwrap_or(usize::MAX).max(LEAST);
        self.together.unwrap_or(fit)
    }

    /// The points in order.
    pub(super) fn sorted(&self) -> Result<&SortedPoints, TreeError> {
        if self.sorted.get().is_none() {
            let sort = here!(fn(&FromPoints<'_, K>) -> Result<SortedPoints, TreeError> = |this| this.sort_here());
            let _ = self.sorted.set(sort(self)?);
        }
        Ok(self.sorted.get().expect("it was just put there"))
    }

    fn sort_here(&self) -> Result<SortedPoints, TreeError> {
        // What is never run is not compiled.
        if const { !has_axes(K) } {
            unreachable!("no points have {K} axes");
        }
        let sorted = match (self.points, self.value.needs_attribute()) {
            (Origin::Memory(points), true) => SortedPoints::Values(self.sort(points)?),
            (Origin::Memory(points), false) => SortedPoints::Keys(self.sort(points)?),
            (Origin::Batches(points, room), true) => SortedPoints::Runs(self.spill::<KeyedValue>(points, room)?),
            (Origin::Batches(points, room), false) => SortedPoints::Runs(self.spill::<u64>(points, room)?),
        };
        if sorted.len() == 0 {
            let window = window_text(&self.along.plan().domain().window());
            return Err(PointsError::Outside { points: self.points.batches().count(), window }.into());
        }
        Ok(sorted)
    }

    /// Sorts points that come, as many at a time as memory holds, into a file.
    fn spill<R: SortedRecord>(&self, points: &dyn PointBatches, room: &Room<'_>) -> Result<SortedRuns, TreeError> {
        let keys = KeyMaker::new(&self.along)?;
        let bits = KeyBits { low: keys.places(), high: keys.bits() };
        let unheard = Control::default();
        let control = self.control.unwrap_or(&unheard);
        let mut runs = SortedRuns::new(room(points.count().saturating_mul(R::BYTES as u64))?);
        let most = self.together::<R>().min(usize::try_from(points.count()).unwrap_or(usize::MAX));
        self.fits(sorting::<R>(most))?;
        let append: &AppendRecords<'_, R> = &|coordinates, words, records| keys.append(coordinates, words, records);
        let records = RecordsOf { axes: K, words: self.value.needs_attribute(), append, bits, control };
        records.spill(points, most, &mut runs)?;
        Ok(runs)
    }

    fn sort<R: SortedRecord>(&self, points: &Points) -> Result<Vec<R>, TreeError> {
        let keys = KeyMaker::new(&self.along)?;
        self.fits(sorting::<R>(points.len()))?;
        let unheard = Control::default();
        let control = self.control.unwrap_or(&unheard);
        let bits = KeyBits { low: keys.places(), high: keys.bits() };
        let append: &AppendRecords<'_, R> = &|coordinates, words, records| keys.append(coordinates, words, records);
        RecordsOf { axes: K, words: self.value.needs_attribute(), append, bits, control }.sort(points)
    }
}

// What follows knows no number of axes: a sort is much code, and is compiled once for each kind of record.

/// Appends the records of points, whose words are there if records have them.
type AppendRecords<'a, R> = dyn Fn(&[f64], Option<&[u64]>, &mut Vec<R>) + Sync + 'a;

/// How points become records in order.
struct RecordsOf<'a, R> {
    /// Coordinates of a point.
    axes: usize,
    /// True if records have the words of an attribute.
    words: bool,
    append: &'a AppendRecords<'a, R>,
    bits: KeyBits,
    control: &'a Control,
}

impl<R: SortedRecord> RecordsOf<'_, R> {
    /// Sorts the points that memory holds.
    fn sort(&self, points: &Points) -> Result<Vec<R>, TreeError> {
        let len = points.len();
        let words = points.measured().map(PointAttribute::words).filter(|_| self.words);
        let each = len.div_ceil(8 * rayon::current_num_threads()).max(1 << 15);
        let spare = Spare::<Vec<R>>::new();
        let refused = MemoryError::refused(Stored::Points);
        let parts = parallel::try_map(len.div_ceil(each), &|i| -> Result<SpreadRecords<R>, TreeError> {
            self.control.check()?;
            let range = parallel::piece(len, each, i);
            let mut records = spare.take().unwrap_or_default();
            records.clear();
            crate::memory::reserve(&mut records, range.len()).map_err(&refused)?;
            let coordinates = &points.coordinates()[range.start * self.axes..range.end * self.axes];
            (self.append)(coordinates, words.map(|words| &words[range]), &mut records);
            let spread = spread_records(&records, self.bits)?;
            spare.give(records);
            Ok(spread)
        })?;
        drop(spare);
        Ok(gather_records(parts, self.bits, self.control)?)
    }

    /// Sorts points that come, `most` at a time, into a file.
    fn spill(&self, points: &dyn PointBatches, most: usize, runs: &mut SortedRuns) -> Result<(), TreeError> {
        let &Self { axes, bits, control, .. } = self;
        let mut records: Vec<R> = Vec::new();
        crate::memory::reserve(&mut records, most).map_err(MemoryError::refused(Stored::Points))?;
        let mut failed = None;
        let gone = points.each(&mut |coordinates, words| {
            let words = Some(words).filter(|_| self.words);
            let mut from = 0;
            let all = coordinates.len() / axes;
            while from < all {
                let some = from..all.min(from + (most - records.len()).max(1));
                (self.append)(
                    &coordinates[some.start * axes..some.end * axes],
                    words.map(|words| &words[some.clone()]),
                    &mut records,
                );
                from = some.end;
                if records.len() >= most {
                    if let Err(error) = control.check().and_then(|()| sort_records(&mut records, bits, control)) {
                        failed = Some(error);
                        return Err(io::ErrorKind::Interrupted.into());
                    }
                    runs.push(&records)?;
                    records.clear();
                }
            }
            Ok(())
        });
        if let Some(error) = failed {
            return Err(error.into());
        }
        gone?;
        sort_records(&mut records, bits, control)?;
        Ok(runs.push(&records)?)
    }
}

/// Spreads records by the highest bits of their keys.
fn spread_records<R: SortedRecord>(records: &[R], bits: KeyBits) -> Result<SpreadRecords<R>, MemoryError> {
    radix::spread(records, bits, &|record: &R| record.key()).map_err(MemoryError::refused(Stored::Points))
}

/// Puts records that were spread into the order of their keys.
fn gather_records<R: SortedRecord>(
    parts: Vec<SpreadRecords<R>>,
    bits: KeyBits,
    control: &Control,
) -> Result<Vec<R>, Error> {
    let refused = MemoryError::refused(Stored::Points);
    let inside = parts.iter().map(SpreadRecords::len).sum();
    let mut sorted = Vec::new();
    crate::memory::reserve(&mut sorted, inside).map_err(&refused)?;
    sorted.resize(inside, R::default());
    let ends = Ends { check: &|| control.check(), refused: &|none| Error::from(refused(none)) };
    radix::gather(parts, bits, &mut sorted, &|record: &R| record.key(), &ends)?;
    Ok(sorted)
}

/// Bytes of so many records while they are sorted.
fn sorting<R>(records: usize) -> u64 {
    radix::room::<R>(records).saturating_add((records as u64).saturating_mul(size_of::<R>() as u64))
}

/// Sorts records by their keys.
fn sort_records<R: SortedRecord>(records: &mut [R], bits: KeyBits, control: &Control) -> Result<(), Error> {
    let refused = MemoryError::refused(Stored::Points);
    let ends = Ends { check: &|| control.check(), refused: &|none| Error::from(refused(none)) };
    radix::sort(records, bits, &|record: &R| record.key(), &ends)
}
