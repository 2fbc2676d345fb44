//! How much of a domain each label has, and where.
//!
//! Sums are whole numbers, so that neither the order of regions nor the number of threads changes a digit.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::cell::CellType;
use crate::dimension::here;
use crate::geometry::Region;
use crate::parallel;
use crate::per_axis;
use crate::result::{Content, Width, each_width};
use crate::rule::exact;
use crate::tree::error::TreeError;
use crate::tree::list::bounds_without;
use crate::tree::stored::Tree;

/// Rows that a thread takes at least.
const ROWS: usize = 1 << 8;

/// What the cells of one label amount to.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct LabelStatistics<const K: usize> {
    /// The word of its cells. All NaNs share one word.
    pub word: u64,
    /// Its cells.
    pub cells: u128,
    /// Its share of all cells.
    pub share: f64,
    /// Regions that are filled with it.
    pub regions: u64,
    /// Leaves that it occurs in.
    pub leaves: u64,
    /// The smallest box that holds its cells.
    pub bounds: Region<K>,
    /// The mean place of its cells. Cell c covers the interval from c to c + 1 of its axis, and its place is c + 0.5.
    pub centroid: [f64; K],
}

impl<const K: usize> Tree<K> {
    /// Counts the cells and regions of each label, in ascending order of values. Uniform regions count as a whole, so only leaves
    /// are read. All threads count. Shares are of the whole domain, so the shares of parts add up.
    ///
    /// ```
    /// use orthant::Tree;
    /// use orthant::ndarray::Array2;
    ///
    /// let image = Array2::from_shape_fn((100, 200), |(y, x)| u8::from((10..30).contains(&x) && (40..50).contains(&y)));
    /// let labels = Tree::<2>::from_array(image.view())?.labels(16)?;
    /// assert_eq!((labels[1].word, labels[1].cells), (1, 20 * 10));
    /// assert_eq!(labels[1].centroid, [20.0, 45.0]);
    /// assert_eq!((labels[1].bounds.corner, labels[1].bounds.extent), ([10, 40], [20, 10]));
    /// # Ok::<(), orthant::tree::TreeError>(())
    /// ```
    ///
    /// # Errors
    /// [`TreeError::Labels`] if there are more than `most`, as there are of measured values: they would fill the memory.
    pub fn labels(&self, most: usize) -> Result<Vec<LabelStatistics<K>>, TreeError> {
        let mut sums = LabelTally::new(self.kind());
        self.add_labels(&mut sums, most)?;
        Ok(sums.statistics(self.plan().domain().cells()))
    }

    /// Adds what each label has to a table of at most so many.
    pub(super) fn add_labels(&self, table: &mut LabelTally<K>, most: usize) -> Result<(), TreeError> {
        here!(fn(&Tree<K>, &mut LabelTally<K>, usize) -> Result<(), TreeError> = Tree::<K>::add_labels_here)(
            self, table, most,
        )
    }

    fn add_labels_here(&self, table: &mut LabelTally<K>, most: usize) -> Result<(), TreeError> {
        let each = self.len().div_ceil(4 * rayon::current_num_threads()).max(ROWS);
        let all = Mutex::new(table);
        parallel::try_each(self.len().div_ceil(each), &|piece| {
            let mut table = LabelTally::new(self.kind());
            for row in parallel::piece(self.len(), each, piece) {
                self.add_row(row, &mut table);
                table.check(most)?;
            }
            let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
            all.merge(&table);
            all.check(most)
        })
    }

    fn add_row(&self, row: usize, table: &mut LabelTally<K>) {
        let cells = self.region(row).cells();
        let start = match self.entries.content(row) {
            Content::Uniform(word) => {
                let sums = table.of(word);
                sums.regions += 1;
                return sums.add(&cells);
            }
            Content::Leaf { .. } if self.list.is_some() => return self.add_listed(row, &cells, table),
            Content::Leaf { brick } => brick.expect("leaves of a tree have bricks") as usize,
        };
        each_width!(self.bricks.bits(), bricks => {
            let mut rest = &bricks[start..];
            for corner in cells.rows() {
                let (line, others) = rest.split_at(cells.extent[0] as usize);
                let mut run = Region { corner, extent: [1; K] };
                // Cells of other bits are other words, or NaNs of other bits, whose sums are the same.
                for same in line.chunk_by(|a, b| a == b) {
                    run.extent[0] = same.len() as u32;
                    let sums = table.of(exact::key(self.kind(), same[0].word()));
                    sums.leaves += u64::from(std::mem::replace(&mut sums.last, row) != row);
                    sums.add(&run);
                    run.corner[0] += run.extent[0];
                }
                rest = others;
            }
        });
    }

    /// A sparse leaf: its entries, and what is left of it.
    fn add_listed(&self, row: usize, own: &Region<K>, table: &mut LabelTally<K>) {
        let region = self.region(row);
        let entries = || region.entries().into_iter().flatten();
        let mut rest = LabelSums::new(0);
        rest.add(own);
        for (cell, word) in entries() {
            let one = Region { corner: cell, extent: [1; K] };
            let sums = table.of(exact::key(self.kind(), word));
            sums.leaves += u64::from(std::mem::replace(&mut sums.last, row) != row);
            sums.add(&one);
            rest.take(cell);
        }
        let (leaf, each) =
            (region.listed_leaf(), |visit: &mut dyn FnMut(&[u32])| entries().for_each(|(cell, _)| visit(&cell)));
        if let Some(bounds) = bounds_without(own, &each, leaf.places.len()) {
            rest.first = bounds.corner;
            rest.end = per_axis::each(|j| bounds.corner[j] + bounds.extent[j]);
            let sums = table.of(leaf.background);
            sums.leaves += u64::from(std::mem::replace(&mut sums.last, row) != row);
            sums.merge(&rest);
        }
    }
}

/// Sums over the cells of a label.
#[derive(Debug, Clone)]
struct LabelSums<const K: usize> {
    word: u64,
    cells: u128,
    regions: u64,
    leaves: u64,
    /// The last leaf that it was seen in.
    last: usize,
    /// The bounds: first cells, and the cells after the last.
    first: [u32; K],
    end: [u32; K],
    /// Sums of 2c + 1, which is twice a cell's place.
    doubled: [u128; K],
    /// What is still to be added to cells and sums: short runs, in words that a register holds.
    recent: (u64, [u64; K]),
}

/// Cells that are added to recent ones, and recent ones that are added to all. Twice a place has 33 bits.
const RECENT: u64 = 1 << 29;

impl<const K: usize> LabelSums<K> {
    fn new(word: u64) -> Self {
        let (first, end) = ([u32::MAX; K], [0; K]);
        Self {
            word,
            cells: 0,
            regions: 0,
            leaves: 0,
            last: usize::MAX,
            first,
            end,
            doubled: [0; K],
            recent: (0, [0; K]),
        }
    }

    #[inline]
    fn add(&mut self, cells: &Region<K>) {
        // The sum of 2c + 1 over c = corner .. corner + extent is extent·(2·corner + extent).
        let twice = |j: usize| 2 * u64::from(cells.corner[j]) + u64::from(cells.extent[j]);
        for j in 0..K {
            self.first[j] = self.first[j].min(cells.corner[j]);
            self.end[j] = self.end[j].max(cells.corner[j] + cells.extent[j]);
        }
        let volume = cells.cells_wide();
        if volume < RECENT.into() {
            let (recent, sums) = &mut self.recent;
            *recent += volume as u64;
            sums.iter_mut().enumerate().for_each(|(j, sum)| *sum += volume as u64 * twice(j));
            if *recent >= RECENT {
                self.settle();
            }
            return;
        }
        self.cells = self.cells.saturating_add(volume);
        for j in 0..K {
            self.doubled[j] = self.doubled[j].saturating_add(volume.saturating_mul(twice(j).into()));
        }
    }

    /// Adds what is recent to the whole.
    fn settle(&mut self) {
        let (recent, sums) = std::mem::replace(&mut self.recent, (0, [0; K]));
        self.cells = self.cells.saturating_add(recent.into());
        for (doubled, sum) in self.doubled.iter_mut().zip(sums) {
            *doubled = doubled.saturating_add(sum.into());
        }
    }

    /// Takes a cell away, of those that were added. Bounds stay.
    fn take(&mut self, cell: [u32; K]) {
        self.settle();
        self.cells -= 1;
        for (sum, c) in self.doubled.iter_mut().zip(cell) {
            *sum -= 2 * u128::from(c) + 1;
        }
    }

    fn merge(&mut self, other: &Self) {
        let mut other = other.clone();
        other.settle();
        self.cells = self.cells.saturating_add(other.cells);
        self.regions += other.regions;
        self.leaves += other.leaves;
        for j in 0..K {
            self.first[j] = self.first[j].min(other.first[j]);
            self.end[j] = self.end[j].max(other.end[j]);
            self.doubled[j] = self.doubled[j].saturating_add(other.doubled[j]);
        }
    }

    fn statistics(&self, total: u128) -> LabelStatistics<K> {
        let mut all = self.clone();
        all.settle();
        let Self { word, cells, regions, leaves, first, end, doubled, .. } = all;
        let extent = per_axis::each(|j| end[j] - first[j]);
        LabelStatistics {
            word,
            cells,
            share: cells as f64 / total as f64,
            regions,
            leaves,
            bounds: Region { corner: first, extent },
            centroid: per_axis::each(|j| doubled[j] as f64 / (2.0 * cells as f64)),
        }
    }
}

/// The labels so far.
pub(super) struct LabelTally<const K: usize> {
    kind: CellType,
    sums: Vec<LabelSums<K>>,
    places: LabelPlaces,
    /// The place that was asked for last: neighbours have the same.
    last: usize,
}

/// Where in a table a word lies.
enum LabelPlaces {
    /// Of words with few bits, at the word itself; `u32::MAX` where there is none.
    Direct(Vec<u32>),
    Hashed(HashMap<u64, u32>),
}

impl<const K: usize> LabelTally<K> {
    pub(super) fn new(kind: CellType) -> Self {
        let places = match kind.bytes() {
            bytes @ 1..=2 => LabelPlaces::Direct(vec![u32::MAX; 1 << (8 * bytes)]),
            _ => LabelPlaces::Hashed(HashMap::new()),
        };
        Self { kind, sums: Vec::new(), places, last: 0 }
    }

    /// The sums of a word.
    #[inline]
    fn of(&mut self, word: u64) -> &mut LabelSums<K> {
        if self.sums.get(self.last).is_none_or(|sums| sums.word != word) {
            let next = self.sums.len() as u32;
            let place = match &mut self.places {
                LabelPlaces::Direct(places) => &mut places[word as usize],
                LabelPlaces::Hashed(places) => places.entry(word).or_insert(u32::MAX),
            };
            if *place == u32::MAX {
                *place = next;
                self.sums.push(LabelSums::new(word));
            }
            self.last = *place as usize;
        }
        &mut self.sums[self.last]
    }

    pub(super) fn merge(&mut self, other: &Self) {
        other.sums.iter().for_each(|sums| self.of(sums.word).merge(sums));
    }

    /// Fails if there are more than `most`.
    pub(super) fn check(&self, most: usize) -> Result<(), TreeError> {
        if self.sums.len() > most { Err(TreeError::Labels { most }) } else { Ok(()) }
    }

    /// All of them by value, with their shares of so many cells.
    pub(super) fn statistics(&self, total: u128) -> Vec<LabelStatistics<K>> {
        let (mut words, mut statistics) = (Vec::new(), Vec::with_capacity(self.sums.len()));
        for sums in &self.sums {
            words.push(sums.word);
        }
        for place in ascending(self.kind, &words) {
            statistics.push(self.sums[place].statistics(total));
        }
        statistics
    }
}

/// The places of words, by their values.
fn ascending(kind: CellType, words: &[u64]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..words.len()).collect();
    places.sort_unstable_by_key(|&place| kind.rank(words[place]));
    places
}
