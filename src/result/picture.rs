//! What a picture needs of many cells. The loops are here, since the program is compiled without optimisation.

use std::collections::BTreeSet;

use crate::cell::CellType;
use crate::result::cells::{Cells, Width, each_width};

impl Cells {
    /// The values of all cells, the least word first. Memory is that of the values: there may be hundreds of millions of cells.
    #[doc(hidden)]
    pub fn distinct(&self) -> BTreeSet<u64> {
        fn of<W: Width>(cells: &[W]) -> BTreeSet<u64> {
            let mut values = BTreeSet::new();
            // Neighbours are mostly equal. Collecting would keep a word of every run until all are sorted.
            cells.chunk_by(|a, b| a == b).for_each(|equal| _ = values.insert(equal[0].word()));
            values
        }
        each_width!(self.bits(), cells => of(cells))
    }

    /// The words of the least finite number and of the greatest, of all cells but those of the word `nodata`; None if there is none.
    #[doc(hidden)]
    pub fn ends(&self, nodata: Option<u64>) -> Option<[u64; 2]> {
        fn of<W: Width>(cells: &[W], kind: CellType, nodata: Option<u64>) -> Option<[u64; 2]> {
            let mut ends = None;
            for equal in cells.chunk_by(|a, b| a == b) {
                let word = equal[0].word();
                if Some(word) == nodata || !kind.number(word).is_finite() {
                    continue;
                }
                let [least, greatest] = ends.get_or_insert([word; 2]);
                if kind.rank(word) < kind.rank(*least) {
                    *least = word;
                }
                if kind.rank(word) > kind.rank(*greatest) {
                    *greatest = word;
                }
            }
            ends
        }
        each_width!(self.bits(), cells => of(cells, self.kind(), nodata))
    }
}

/// Appends a pixel for every `step`-th word of a row, in red, green and blue. Of words that follow each other and are equal, `colour`
/// is asked once.
///
/// ```
/// let mut pixels = Vec::new();
/// orthant::result::paint_row(&[7, 0, 7, 1, 9], 2, &|word| [word as u8; 3], &mut pixels);
/// assert_eq!(pixels, [7, 7, 7, 7, 7, 7, 9, 9, 9]);
/// ```
#[doc(hidden)]
pub fn paint_row(words: &[u64], step: usize, colour: &dyn Fn(u64) -> [u8; 3], pixels: &mut Vec<u8>) {
    let mut last = None;
    for &word in words.iter().step_by(step) {
        let pixel = match last {
            Some((same, pixel)) if same == word => pixel,
            _ => colour(word),
        };
        last = Some((word, pixel));
        pixels.extend_from_slice(&pixel);
    }
}

#[cfg(test)]
mod tests {
    use crate::cell::Cell;
    use crate::result::Cells;

    #[test]
    fn values_and_their_ends() {
        let numbers = [3.0, f32::NAN, 3.0, -2.0, -2.0, f32::INFINITY, 99.0];
        let words = numbers.map(Cell::word);
        let mut cells = Cells::empty(crate::CellType::F32);
        cells.extend(crate::cell::Words::Wide(&words));
        assert_eq!(cells.ends(Some(99f32.word())), Some([(-2f32).word(), 3f32.word()]));
        assert_eq!(cells.ends(None), Some([(-2f32).word(), 99f32.word()]));
        let mut expected = words.to_vec();
        expected.sort_unstable();
        expected.dedup();
        assert!(cells.distinct().into_iter().eq(expected));
        assert_eq!(Cells::empty(crate::CellType::U8).ends(None), None);
    }
}
