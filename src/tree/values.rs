//! What measured values are like: the least, the greatest, the mean, and how they are distributed.
//!
//! Words of at most 16 bits are counted, and what the counts say is summed in the order of words. Of others regions are summed in pieces of
//! a fixed number of rows, and pieces in their order. Either way the number of threads changes no digit.

use crate::cell::CellType;
use crate::dimension::here;
use crate::parallel;
use crate::tree::error::TreeError;
use crate::tree::parts::Parts;
use crate::tree::stored::Tree;

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
#[derive(Clone)]
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
#[derive(Clone)]
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
        let kind = self.kind();
        let counts = self.word_counts()?;
        let mut looked = Looked::NOTHING;
        let add = |found: &mut Looked, word, cells| found.add(kind, nodata, word, cells);
        match &counts {
            Some(counts) => counts.iter().for_each(|&(word, cells)| add(&mut looked, word, cells)),
            // Sums are rounded: they come in the order of the pieces.
            None => self.every_part(&|part| Ok(part.pieces(&Looked::NOTHING, &add)), &mut |pieces| {
                pieces.iter().for_each(|found| looked.merge(found));
                Ok(())
            })?,
        }
        let [low, high] = looked.range;
        let mean = looked.sum / looked.finite / SMALL;
        // No distance from the mean is larger than the range.
        let scale = if high > low { high / 2.0 - low / 2.0 } else { 1.0 };
        let mut spread = Spread { squares: 0.0, histogram: vec![0; intervals] };
        let nothing = spread.clone();
        // Halves, since a range can be larger than the largest double.
        let place = |number: f64| ((number / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0) * intervals as f64) as usize;
        let add = |found: &mut Spread, word: u64, cells: u128| {
            let number = kind.number(word);
            if Some(word) != nodata && number.is_finite() {
                let distance = (number / 2.0 - mean / 2.0) / scale;
                found.squares += distance * distance * cells as f64;
                // Without a range every value lies in the first interval: 0/0 becomes 0.
                if let Some(last) = intervals.checked_sub(1) {
                    found.histogram[place(number).min(last)] += cells;
                }
            }
        };
        match &counts {
            Some(counts) => counts.iter().for_each(|&(word, cells)| add(&mut spread, word, cells)),
            None => self.every_part(&|part| Ok(part.pieces(&nothing, &add)), &mut |pieces| {
                for found in pieces {
                    spread.squares += found.squares;
                    spread.histogram.iter_mut().zip(&found.histogram).for_each(|(cells, more)| *cells += more);
                }
                Ok(())
            })?,
        }
        let Looked { cells, nan, nodata, ranks, range, finite, .. } = looked;
        let end = |which: usize| ranks.map(|ranks| kind.of_rank(ranks[which]));
        Ok(ValueStatistics {
            cells,
            nan,
            nodata,
            least: end(0),
            greatest: end(1),
            mean,
            deviation: (spread.squares / finite).sqrt() * scale * 2.0,
            histogram: spread.histogram,
            range,
        })
    }
}

/// Adds so many cells of a word to what was found.
type AddCells<'a, T> = dyn Fn(&mut T, u64, u128) + Sync + 'a;

impl<const K: usize> Tree<K> {
    /// What is found in each piece of the rows, in their order.
    fn pieces<T: Clone + Send + Sync>(&self, nothing: &T, add: &AddCells<'_, T>) -> Vec<T> {
        parallel::map(self.len().div_ceil(ROWS), &|piece| {
            let mut found = nothing.clone();
            for row in parallel::piece(self.len(), ROWS, piece) {
                self.runs(row).for_each(|(word, cells)| add(&mut found, word, cells));
            }
            found
        })
    }
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;

    use super::*;
    use crate::backend::Control;
    use crate::cell::Cell;
    use crate::geometry::Scheme;
    use crate::plan::Plan;
    use crate::rule::RuleKind;
    use crate::tree::list::CellList;

    #[test]
    fn values_are_as_a_loop_over_all_cells_has_them() {
        let value = |y: usize, x: usize| match (x, y) {
            (0..5, _) => f32::NAN,
            (_, 0) => -1.0,
            (9, 9) => f32::INFINITY,
            _ => ((x * 31 + y * 17) % 1000) as f32 / 8.0,
        };
        let array = Array2::from_shape_fn((300, 200), |(y, x)| value(y, x));
        let tree = Tree::<2>::from_array(array.view()).unwrap();
        let found = (&tree as &dyn Parts<2>).values(5, Some((-1.0f32).to_bits().into())).unwrap();
        let finite: Vec<f64> = array.iter().filter(|&&v| v.is_finite() && v != -1.0).map(|&v| f64::from(v)).collect();
        let nan = array.iter().filter(|v| v.is_nan()).count();
        assert_eq!((found.nan, found.nodata), (nan as u128, 195));
        assert_eq!(found.cells, finite.len() as u128 + 1);
        assert_eq!(found.greatest, Some(f32::INFINITY.to_bits().into()));
        assert_eq!((found.least, found.range), (Some(0), [0.0, 999.0 / 8.0]));
        let mean = finite.iter().sum::<f64>() / finite.len() as f64;
        let deviation = (finite.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / finite.len() as f64).sqrt();
        assert!((found.mean - mean).abs() < 1e-9 && (found.deviation - deviation).abs() < 1e-9);
        let within = |interval: usize| {
            let width = found.range[1] / 5.0;
            let place = |v: &&f64| ((**v / width) as usize).min(4) == interval;
            finite.iter().filter(place).count() as u128
        };
        assert_eq!(found.histogram, (0..5).map(within).collect::<Vec<_>>());
    }

    /// Words that are counted by table say what sums over pieces say, of dense trees and of lists.
    #[test]
    fn counted_words_are_summed_values() {
        fn found<T: Cell>(of: impl Fn(i32) -> T) -> (ValueStatistics, ValueStatistics) {
            let value = |y: usize, x: usize| {
                if (x / 64 + y / 64).is_multiple_of(3) { -7 } else { (x * 31 + y * 17) as i32 % 90 - 20 }
            };
            let array = Array2::from_shape_fn((300, 200), |(y, x)| of(value(y, x)));
            let tree = Tree::<2>::from_array(array.view()).unwrap();
            let plan =
                Plan::builder([1 << 20; 2]).scheme(Scheme::uniform(1, 2, 2)).rule(RuleKind::Full).build().unwrap();
            let mut list = CellList::new(&plan, T::TYPE).unwrap();
            (0..500u32).for_each(|i| list.push([i * 977, i * 31], of(i as i32 % 50 - 9).word()).unwrap());
            let list = list.sorted(&Control::default()).unwrap().tree().unwrap();
            let values = |tree: &dyn Parts<2>| tree.values(7, Some(of(3).word())).unwrap();
            (values(&tree), values(&list))
        }
        let close = |a: &ValueStatistics, b: &ValueStatistics| {
            assert_eq!((a.cells, a.nodata, a.range, &a.histogram), (b.cells, b.nodata, b.range, &b.histogram));
            assert!((a.mean - b.mean).abs() < 1e-9 && (a.deviation - b.deviation).abs() < 1e-9, "{a:?} {b:?}");
        };
        let ((a, b), (c, d), (e, f)) = (found(|v| v as i8), found(|v| v as i16), found(|v| v));
        [(&a, &e), (&c, &e), (&b, &f), (&d, &f)].into_iter().for_each(|(one, other)| close(one, other));
        assert!(e.nodata > 0 && f.nodata > 0);
    }

    /// One value, and none.
    #[test]
    fn ends_that_are_one() {
        let found = |value: f64| {
            let tree = Tree::<2>::from_array(Array2::from_elem((9, 9), value).view()).unwrap();
            (&tree as &dyn Parts<2>).values(3, None).unwrap()
        };
        let one = found(2.5);
        assert_eq!((one.mean, one.deviation, &one.histogram[..]), (2.5, 0.0, &[81, 0, 0][..]));
        let none = found(f64::NAN);
        assert_eq!((none.cells, none.nan, none.least, &none.histogram[..]), (0, 81, None, &[0; 3][..]));
        assert!(none.mean.is_nan());
    }
}
