//! What tells labels from measured values, where nobody says which they are.

use std::collections::HashMap;

use crate::cell::CellType;

/// Values of which fewer neighbours have to be equal: thin labels have few.
const FEW: usize = 32;

/// The most labels that are expected of one array.
const MANY: usize = 4096;

/// Looks at rows of cells, and says whether they look like labels: whole numbers of two values, or of more values of which many
/// neighbours are equal.
///
/// The most frequent value does not count, since measured values have a background, too. Neither do values that change by small
/// steps alone, as those of a ramp.
///
/// ```
/// use orthant::CellType;
/// use orthant::tree::LabelLook;
///
/// let mut labels = LabelLook::new(CellType::U16);
/// labels.row(&Vec::from_iter((0..1000).map(|x| x / 10 * 37 % 101)));
/// let mut noise = LabelLook::new(CellType::U16);
/// noise.row(&Vec::from_iter((0..1000).map(|x| x * 7919 % 1009)));
/// assert!(labels.are_labels() && !noise.are_labels());
/// ```
#[derive(Debug)]
pub struct LabelLook {
    kind: CellType,
    /// Cells of each value, and pairs of neighbours that both have it.
    values: HashMap<u64, [u64; 2]>,
    pairs: u64,
    /// Distances of neighbours that are not equal.
    steps: Vec<f64>,
    /// False once a value is no whole number, or there are too many.
    possible: bool,
    /// The last cell of the row before, if rows have one cell.
    last: Option<u64>,
}

impl LabelLook {
    /// Nothing seen yet of cells of a type.
    pub fn new(kind: CellType) -> Self {
        let values = HashMap::new();
        Self { kind, values, pairs: 0, steps: Vec::new(), possible: true, last: None }
    }

    /// Looks at the words of a row. Rows of one cell are taken for a column.
    pub fn row(&mut self, words: &[u64]) {
        let mut last = self.last.take();
        for equal in words.chunk_by(|a, b| a == b) {
            if !self.possible {
                break;
            }
            let (word, run) = (equal[0], equal.len() as u64);
            let value = self.values.entry(word).or_default();
            value[0] += run;
            value[1] += run - 1;
            self.pairs += run - 1;
            if let Some(last) = last {
                self.pairs += 1;
                if last == word {
                    value[1] += 1;
                } else if self.steps.len() < 1 << 16 {
                    self.steps.push((self.kind.number(last) - self.kind.number(word)).abs());
                }
            }
            let number = self.kind.number(word);
            self.possible = self.values.len() <= MANY && (number.fract() == 0.0 || number.is_nan());
            last = Some(word);
        }
        self.last = last.filter(|_| words.len() == 1);
    }

    /// True if what was seen looks like labels.
    pub fn are_labels(&self) -> bool {
        if !self.possible || self.values.is_empty() {
            return false;
        }
        // A mask, however thin.
        if self.values.len() <= 2 {
            return true;
        }
        let common = self.values.values().max_by_key(|value| value[0]).map_or(0, |value| value[1]);
        let equal: u64 = self.values.values().map(|value| value[1]).sum();
        let (pairs, equal) = (self.pairs - common, equal - common);
        let numbers = self.values.keys().map(|&word| self.kind.number(word)).filter(|number| number.is_finite());
        let [low, high] = numbers.fold([f64::MAX, f64::MIN], |[low, high], number| [low.min(number), high.max(number)]);
        if self.values.len() <= FEW {
            return equal * 3 >= pairs;
        }
        let small = self.steps.iter().filter(|&&step| step <= ((high - low) / 64.0).max(1.0)).count();
        pairs > 0 && equal * 3 >= pairs * 2 && small * 10 < self.steps.len() * 9
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(kind: CellType, rows: usize, cell: impl Fn(usize, usize) -> f64) -> bool {
        let mut look = LabelLook::new(kind);
        for y in 0..rows {
            let word = |x| match kind {
                CellType::F32 => u64::from((cell(x, y) as f32).to_bits()),
                _ => cell(x, y) as u64,
            };
            look.row(&Vec::from_iter((0..256).map(word)));
        }
        look.are_labels()
    }

    #[test]
    fn labels_and_measured_values() {
        let scattered = |at: usize| (at as u64 ^ 0x5bd1).wrapping_mul(0xff51_afd7_ed55_8ccd) >> 33;
        let noise = |x: usize, y: usize| (scattered(scattered(x + 256 * y) as usize) % 500) as usize;
        let blocks = |x: usize, y: usize| ((x / 5 * 13 + 7 * (y / 5)) % 50) as f64;
        let inside = |x: usize, y: usize| x.abs_diff(128).pow(2) + y.abs_diff(32).pow(2) < 400;
        assert!(look(CellType::U8, 64, blocks));
        // Atlases are stored as floats, too.
        assert!(look(CellType::F32, 64, blocks));
        assert!(look(CellType::U8, 64, |x, y| f64::from(inside(x, y))));
        assert!(!look(CellType::U16, 64, |x, y| noise(x, y) as f64));
        // A dark background is no label.
        assert!(!look(CellType::U16, 64, |x, y| if inside(x, y) { noise(x, y) as f64 } else { 0.0 }));
        assert!(!look(CellType::U8, 64, |x, _| (x / 4) as f64));
        assert!(!look(CellType::U8, 64, |x, y| (noise(x, y) % 20) as f64));
        assert!(look(CellType::U8, 64, |x, y| f64::from(noise(x, y) % 2 == 0)));
        assert!(!look(CellType::F32, 64, |x, y| blocks(x, y) + 0.5));
        // Rows of one cell are a column.
        let mut column = LabelLook::new(CellType::U16);
        (0..1000).for_each(|y| column.row(&[noise(3, y) as u64]));
        assert!(!column.are_labels());
    }
}
