//! Bricks of sorted points, and the regions between them.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::backend::Control;
use crate::cell::CellType;
use crate::memory::zeros;
use crate::parallel;
use crate::points::PointsValue;
use crate::result::{Cells, Width, each_width};
use crate::tree::error::TreeError;
use crate::tree::piece::Piece;
use crate::tree::points::record::SortedRecord;
use crate::tree::points::rows::RegionRows;
use crate::tree::predicate::{Criterion, same_bits};

/// Points that a thread puts into bricks at a time.
const TOGETHER: usize = 1 << 14;

/// What is made of points that lie in order.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bins {
    pub(super) value: PointsValue,
    /// The type of a cell.
    pub(super) kind: CellType,
    /// The type of an attribute's value.
    pub(super) measured: CellType,
    /// Bits of the place of a cell, below the code of its region.
    pub(super) places: u32,
}

/// Points of some regions, and the codes of the last level that they stand for: those from the first to the last, both included.
#[derive(Debug, Clone)]
struct Portion {
    points: Range<usize>,
    codes: [u64; 2],
}

/// What cells of a brick come to, of an attribute.
#[derive(Default)]
struct CellTally {
    counts: Vec<u64>,
    /// The bits of doubles.
    sums: Vec<u64>,
    words: Vec<u64>,
    touched: Vec<usize>,
}

impl Bins {
    #[inline]
    fn code<R: SortedRecord>(&self, record: R) -> u64 {
        record.key() >> self.places
    }

    #[inline]
    fn place<R: SortedRecord>(&self, record: R) -> usize {
        (record.key() & ((1 << self.places) - 1)) as usize
    }

    /// The regions of codes of the last level, from the first to the last, of which these are the points in order. `fits` is asked
    /// before there are so many bytes of bricks.
    pub(super) fn piece<R: SortedRecord>(
        &self,
        rows: &dyn RegionRows,
        records: &[R],
        codes: [u64; 2],
        fits: &dyn Fn(u64) -> Result<(), TreeError>,
        control: &Control,
    ) -> Result<Piece, TreeError> {
        let portions = self.portions(records, codes);
        let same = rows.volume_of_all();
        let volume = |code: u64| same.unwrap_or_else(|| rows.volume(code));
        // Bricks of all regions with points: some may turn out to be of one value.
        let needed = parallel::map(portions.len(), &|i| {
            let leaves = self.leaves(&records[portions[i].points.clone()]);
            match same {
                Some(volume) => volume * leaves.count() as u64,
                None => leaves.map(|leaf| volume(self.code(leaf[0]))).sum(),
            }
        });
        let all: u64 = needed.iter().sum();
        fits(all.saturating_mul(self.kind.bytes()))?;
        let mut bricks = Cells::zeroed(self.kind, all as usize)?;
        let made = each_width!(bricks.bits_mut(), cells => {
            let (mut rest, mut places) = (&mut cells[..], Vec::with_capacity(needed.len()));
            for &cells in &needed {
                let (own, others) = std::mem::take(&mut rest).split_at_mut(cells as usize);
                places.push(Mutex::new(own));
                rest = others;
            }
            parallel::try_map(portions.len(), &|i| {
                control.check()?;
                let portion = &portions[i];
                let mut own = places[i].lock().unwrap_or_else(PoisonError::into_inner);
                self.bricks(rows, &records[portion.points.clone()], portion.codes, &volume, &mut own)
            })?
        });
        let mut piece = Piece::new(self.kind, Criterion::Exact);
        let (mut start, mut filled) = (0, 0);
        for ((next, used), &cells) in made.iter().zip(&needed) {
            bricks.move_within(start..start + used, filled);
            rows.append(&mut piece, next, filled as u64)?;
            (start, filled) = (start + cells as usize, filled + used);
        }
        bricks.truncate(filled);
        piece.bricks = bricks;
        Ok(piece)
    }

    /// Cuts points where a region begins.
    fn portions<R: SortedRecord>(&self, records: &[R], [first, last]: [u64; 2]) -> Vec<Portion> {
        let count = records.len().div_ceil(TOGETHER).max(1);
        let mut starts = vec![0];
        for i in 1..count {
            let at = records.len() * i / count;
            let code = self.code(records[at]);
            // The first of its region, which a search finds even where a billion points share it.
            let start = records[..at].partition_point(|&record| self.code(record) < code);
            if start > starts[starts.len() - 1] {
                starts.push(start);
            }
        }
        let code = |place: usize| self.code(records[place]);
        (0..starts.len())
            .map(|i| {
                let begins = if i == 0 { first } else { code(starts[i]) };
                let ends = starts.get(i + 1).map_or(last, |&next| code(next) - 1);
                let end = starts.get(i + 1).copied().unwrap_or(records.len());
                Portion { points: starts[i]..end, codes: [begins, ends] }
            })
            .collect()
    }

    /// Points region by region.
    fn leaves<'r, R: SortedRecord>(&self, records: &'r [R]) -> impl Iterator<Item = &'r [R]> + use<'r, R> {
        let bins = *self;
        records.chunk_by(move |&a, &b| bins.code(a) == bins.code(b))
    }

    /// The regions of codes, and their bricks one after the other: how many cells they have.
    fn bricks<R: SortedRecord, W: Width>(
        &self,
        rows: &dyn RegionRows,
        records: &[R],
        [first, last]: [u64; 2],
        volume: &dyn Fn(u64) -> u64,
        bricks: &mut [W],
    ) -> Result<(Piece, usize), TreeError> {
        let mut piece = Piece::new(self.kind, Criterion::Exact);
        // Codes before this one are covered; None after the last of all.
        let (mut next, mut used, mut tally) = (Some(first), 0, CellTally::default());
        for leaf in self.leaves(records) {
            let code = self.code(leaf[0]);
            if let Some(next) = next
                && next < code
            {
                rows.gap(&mut piece, next, code - 1);
            }
            let cells = volume(code) as usize;
            let brick = &mut bricks[used..used + cells];
            self.bin(leaf, brick, &mut tally)?;
            // With fewer points than cells some cell is 0, and those with points are not, unless an attribute is.
            let mixed = !self.value.needs_attribute() && leaf.len() < cells;
            match mixed || !same_bits(brick, brick[0]) {
                true => {
                    rows.leaf(&mut piece, code, used as u64);
                    used += cells;
                }
                false => {
                    rows.uniform(&mut piece, code, brick[0].word());
                    brick.fill(W::cut(0));
                }
            }
            next = code.checked_add(1);
        }
        if let Some(next) = next
            && next <= last
        {
            rows.gap(&mut piece, next, last);
        }
        Ok((piece, used))
    }

    /// Writes what the cells of a region are worth into its brick, all cells of which are 0.
    fn bin<R: SortedRecord, W: Width>(
        &self,
        leaf: &[R],
        brick: &mut [W],
        tally: &mut CellTally,
    ) -> Result<(), TreeError> {
        match self.value {
            PointsValue::Occupied => leaf.iter().for_each(|&record| brick[self.place(record)] = W::cut(1)),
            // The type holds the number of all points.
            PointsValue::Count => leaf.iter().for_each(|&record| {
                let cell = &mut brick[self.place(record)];
                *cell = W::cut(cell.word() + 1);
            }),
            PointsValue::Min | PointsValue::Max | PointsValue::Mean => self.bin_values(leaf, brick, tally)?,
        }
        Ok(())
    }

    fn bin_values<R: SortedRecord, W: Width>(
        &self,
        leaf: &[R],
        brick: &mut [W],
        tally: &mut CellTally,
    ) -> Result<(), TreeError> {
        let CellTally { counts, sums, words, touched } = tally;
        if counts.len() < brick.len() {
            *counts = zeros(brick.len())?;
            *words = zeros(brick.len())?;
            *sums = zeros(brick.len())?;
        }
        touched.clear();
        let kind = self.measured;
        for &record in leaf {
            let (place, word) = (self.place(record), record.word());
            if counts[place] == 0 {
                touched.push(place);
                words[place] = word;
                sums[place] = 0;
            }
            counts[place] += 1;
            let found = words[place];
            let takes = match self.value {
                PointsValue::Min => kind.rank(word) < kind.rank(found),
                PointsValue::Max => kind.rank(word) > kind.rank(found),
                _ => {
                    sums[place] = (f64::from_bits(sums[place]) + kind.number(word)).to_bits();
                    false
                }
            };
            words[place] = if takes { word } else { found };
        }
        for &place in &*touched {
            let mean = f64::from_bits(sums[place]) / std::mem::take(&mut counts[place]) as f64;
            let word = match (self.value, self.kind) {
                (PointsValue::Mean, CellType::F32) => u64::from((mean as f32).to_bits()),
                (PointsValue::Mean, _) => mean.to_bits(),
                _ => words[place],
            };
            brick[place] = W::cut(word);
        }
        Ok(())
    }
}
