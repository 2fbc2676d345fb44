//! What measured values are like: the least, the greatest, the mean, and how they are distributed.
//!
//! Words of at most 16 bits are counted, and what the counts say is summed in the order of words. Of others regions are summed in pieces of
//! a fixed number of rows, and pieces in their order. Either way the number of threads changes no digit.

use crate::cell::CellType;
use crate::dimension::here;
use crate::parallel;
use crate::tree::error::TreeError;
use crate::tree::parts::Parts;
use crate::tree::tree_rows::TreeRows;

/// A power of two by which values are made small before they are summed, so that sums stay finite. It changes no digit.
const SMALL: f64 = 1.0 / (1u128 << 100) as f64;

/// Rows of a piece.
const ROWS: usize = 1 << 10;

/// What the values of a tree's cells are like. NaNs and cells without data are counted and left out of everything else; infinite
/// values have a place among the least and the greatest only.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ValueStatistics {
    /// Cells with a value.
    pub cells: u128,
    /// Cells that hold a NaN.
    pub nan: u128,
    /// Cells that hold no data.
    pub nodata: u128,
    /// The word of the least value; None without any.
    pub least: Option<u64>,
    /// The word of the greatest value; None without any.
    pub greatest: Option<u64>,
    /// The mean of the finite values.
    pub mean: f64,
    /// Their standard deviation, the root of the mean of (value - mean)².
    pub deviation: f64,
    /// Cells in intervals of equal width from the least finite value to the greatest. The last interval holds its upper end, too.
    pub histogram: Vec<u128>,
    /// The ends of the histogram: the least and the greatest finite value.
    pub range: [f64; 2],
}

/// What a first look at the values finds.
struct Looked {
    cells: u128,
    nan: u128,
    nodata: u128,
    /// Ranks of words.
    ranks: Option<[u64; 2]>,
    range: [f64; 2],
    finite: f64,
    /// Of small parts of the values: sums of the largest doubles would be none.
    sum: f64,
}

/// What a second look finds, once the mean and the ends are known.
struct Spread {
    squares: f64,
    histogram: Vec<u128>,
}

impl Looked {
    const NOTHING: Self = Self {
        cells: 0,
        nan: 0,
        nodata: 0,
        ranks: None,
        range: [f64::INFINITY, f64::NEG_INFINITY],
        finite: 0.0,
        sum: 0.0,
    };

    fn add(&mut self, kind: CellType, nodata: Option<u64>, word: u64, cells: u128) {
        let number = kind.number(word);
        if Some(word) == nodata {
            self.nodata += cells;
        } else if number.is_nan() {
            self.nan += cells;
        } else {
            self.cells += cells;
            let rank = kind.rank(word);
            let [least, greatest] = self.ranks.get_or_insert([rank; 2]);
            (*least, *greatest) = ((*least).min(rank), (*greatest).max(rank));
            if number.is_finite() {
                self.range = [self.range[0].min(number), self.range[1].max(number)];
                self.finite += cells as f64;
                self.sum += number * SMALL * cells as f64;
            }
        }
    }

    fn merge(&mut self, other: &Self) {
        self.cells += other.cells;
        self.nan += other.nan;
        self.nodata += other.nodata;
        if let Some([least, greatest]) = other.ranks {
            let ranks = self.ranks.get_or_insert([least, greatest]);
            *ranks = [ranks[0].min(least), ranks[1].max(greatest)];
        }
        self.range = [self.range[0].min(other.range[0]), self.range[1].max(other.range[1])];
        self.finite += other.finite;
        self.sum += other.sum;
    }
}

impl<const K: usize> dyn Parts<K> + '_ {
    /// What the values are like, with a histogram of so many intervals. Cells with the word `nodata` hold no data. The tree is read
    /// once if cells have at most 16 bits, else twice.
    ///
    /// ```
    /// use orthant::Tree;
    /// use orthant::ndarray::Array2;
    /// use orthant::tree::Parts;
    ///
    /// let ramp = Array2::from_shape_fn((100, 100), |(_, x)| x as f32);
    /// let tree = Tree::<2>::from_array(ramp.view())?;
    /// let values = (&tree as &dyn Parts<2>).values(4, None)?;
    /// assert_eq!((values.range, values.mean), ([0.0, 99.0], 49.5));
    /// assert_eq!(values.histogram, [2500; 4]);
    /// # Ok::<(), orthant::tree::TreeError>(())
    /// ```
    ///
    /// # Errors
    /// Whatever keeps a part from being read.
    pub fn values(&self, intervals: usize, nodata: Option<u64>) -> Result<ValueStatistics, TreeError> {
        here!(fn(&(dyn Parts<K> + '_), usize, Option<u64>) -> Result<ValueStatistics, TreeError> = |this, intervals, nodata| this.values_here(intervals, nodata))(
            self, intervals, nodata,
        )
    }

    fn values_here(&self, intervals: usize, nodata: Option<u64>) -> Result<ValueStatistics, TreeError> {
        let counts = self.word_counts()?;
        let first = FirstLook { kind: self.kind(), nodata };
        let looked = self.look(&first, counts.as_deref())?;
        let second = SecondLook::after(first, &looked, intervals);
        let spread = self.look(&second, counts.as_deref())?;
        Ok(second.statistics(looked, spread))
    }

    /// What a look at all values finds: at the words that occur, if they are counted.
    fn look<L: Look>(&self, look: &L, counts: Option<&[(u64, u128)]>) -> Result<L::Found, TreeError> {
        let mut all = look.nothing();
        match counts {
            Some(counts) => look.add_all(&mut all, counts),
            // Sums are rounded: they come in the order of the pieces.
            None => self.every_part(&|part| Ok(look.pieces(part)), &mut |pieces| {
                look.merge(&mut all, pieces);
                Ok(())
            })?,
        }
        Ok(all)
    }
}

/// A look at values.
trait Look: Sync {
    /// What it finds.
    type Found: Send;

    /// What it finds of no value.
    fn nothing(&self) -> Self::Found;

    /// Looks at so many cells of a word.
    fn add(&self, found: &mut Self::Found, word: u64, cells: u128);

    /// Takes what was found of pieces that follow.
    fn merge(&self, found: &mut Self::Found, pieces: Vec<Self::Found>);

    /// Looks at words that are counted.
    fn add_all(&self, found: &mut Self::Found, counts: &[(u64, u128)]) {
        counts.iter().for_each(|&(word, cells)| self.add(found, word, cells));
    }

    /// What is found in each piece of a tree's rows, in their order.
    fn pieces(&self, tree: &dyn TreeRows) -> Vec<Self::Found> {
        let rows = tree.entries().len();
        parallel::map(rows.div_ceil(ROWS), &|piece| {
            let mut found = self.nothing();
            let add = &mut |word, cells| self.add(&mut found, word, cells);
            tree.words(parallel::piece(rows, ROWS, piece), add);
            found
        })
    }
}

/// The look that finds the ends and the mean.
struct FirstLook {
    kind: CellType,
    /// The word of cells without data.
    nodata: Option<u64>,
}

impl Look for FirstLook {
    type Found = Looked;

    fn nothing(&self) -> Looked {
        Looked::NOTHING
    }

    fn add(&self, found: &mut Looked, word: u64, cells: u128) {
        found.add(self.kind, self.nodata, word, cells);
    }

    fn merge(&self, found: &mut Looked, pieces: Vec<Looked>) {
        pieces.iter().for_each(|more| found.merge(more));
    }
}

/// The look that finds how values are distributed between the ends and about the mean.
struct SecondLook {
    first: FirstLook,
    range: [f64; 2],
    mean: f64,
    /// No distance from the mean is larger than twice that.
    scale: f64,
    /// Of the histogram.
    intervals: usize,
}

impl SecondLook {
    fn after(first: FirstLook, looked: &Looked, intervals: usize) -> Self {
        let [low, high] = looked.range;
        let mean = looked.sum / looked.finite / SMALL;
        let scale = if high > low { high / 2.0 - low / 2.0 } else { 1.0 };
        Self { first, range: looked.range, mean, scale, intervals }
    }

    /// What both looks found.
    fn statistics(&self, looked: Looked, spread: Spread) -> ValueStatistics {
        let Looked { cells, nan, nodata, ranks, range, finite, .. } = looked;
        let end = |which: usize| ranks.map(|ranks| self.first.kind.of_rank(ranks[which]));
        ValueStatistics {
            cells,
            nan,
            nodata,
            least: end(0),
            greatest: end(1),
            mean: self.mean,
            deviation: (spread.squares / finite).sqrt() * self.scale * 2.0,
            histogram: spread.histogram,
            range,
        }
    }
}

impl Look for SecondLook {
    type Found = Spread;

    fn nothing(&self) -> Spread {
        Spread { squares: 0.0, histogram: vec![0; self.intervals] }
    }

    fn add(&self, found: &mut Spread, word: u64, cells: u128) {
        let ([low, high], number) = (self.range, self.first.kind.number(word));
        if Some(word) == self.first.nodata || !number.is_finite() {
            return;
        }
        let distance = (number / 2.0 - self.mean / 2.0) / self.scale;
        found.squares += distance * distance * cells as f64;
        // Without a range every value lies in the first interval: 0/0 becomes 0.
        if let Some(last) = self.intervals.checked_sub(1) {
            // Halves, since a range can be larger than the largest double.
            let place = (number / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0) * self.intervals as f64;
            found.histogram[(place as usize).min(last)] += cells;
        }
    }

    fn merge(&self, found: &mut Spread, pieces: Vec<Spread>) {
        for more in pieces {
            found.squares += more.squares;
            found.histogram.iter_mut().zip(&more.histogram).for_each(|(cells, more)| *cells += more);
        }
    }
}
