//! How much of a domain each label has.

use std::collections::HashMap;

use crate::cell::CellType;
use crate::dimension::here;
use crate::tree::error::TreeError;
use crate::tree::stored::Tree;

/// What one label has of a domain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LabelStatistics {
    /// The word of its cells; one word stands for all that are not a number.
    pub word: u64,
    /// Its cells.
    pub cells: u128,
    /// Its share of all cells.
    pub share: f64,
    /// Regions that are filled with it.
    pub regions: u64,
    /// Leaves that it occurs in.
    pub leaves: u64,
}

impl<const K: usize> Tree<K> {
    /// What each label has, by value in ascending order. Uniform regions are not looked into. Shares are of the whole domain, so that
    /// those of parts add up.
    ///
    /// # Errors
    /// [`TreeError::Labels`] if there are more than `most`, as there are of measured values: they would fill the memory.
    pub fn labels(&self, most: usize) -> Result<Vec<LabelStatistics>, TreeError> {
        here!(fn(&Tree<K>, usize) -> Result<Vec<LabelStatistics>, TreeError> = |this, most| this.labels_here(most))(
            self, most,
        )
    }

    fn labels_here(&self, most: usize) -> Result<Vec<LabelStatistics>, TreeError> {
        let mut found = LabelCounts::default();
        for row in 0..self.len() {
            let leaf = self.entries.is_leaf(row);
            for (word, cells) in self.runs(row) {
                found.add(row, leaf, word, cells);
                if found.0.len() > most {
                    return Err(TreeError::Labels { most });
                }
            }
        }
        Ok(found.shares(self.plan().domain().cells() as f64, self.kind()))
    }
}

/// The labels so far, each with the last row that it was in.
#[derive(Default)]
struct LabelCounts(HashMap<u64, (LabelStatistics, usize)>);

impl LabelCounts {
    /// Some cells of a row.
    fn add(&mut self, row: usize, leaf: bool, word: u64, cells: u128) {
        let none = LabelStatistics { word, cells: 0, share: 0.0, regions: 0, leaves: 0 };
        let (label, seen) = self.0.entry(word).or_insert((none, usize::MAX));
        label.cells = label.cells.saturating_add(cells);
        if std::mem::replace(seen, row) != row {
            label.regions += u64::from(!leaf);
            label.leaves += u64::from(leaf);
        }
    }

    /// All of them by value, with their shares of so many cells.
    fn shares(self, total: f64, kind: CellType) -> Vec<LabelStatistics> {
        let share = |label: LabelStatistics| LabelStatistics { share: label.cells as f64 / total, ..label };
        let mut labels: Vec<_> = self.0.into_values().map(|(label, _)| share(label)).collect();
        labels.sort_unstable_by_key(|label| kind.rank(label.word));
        labels
    }
}
