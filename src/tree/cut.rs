//! Levels of detail.

use std::collections::HashMap;
use std::ops::Range;

use rayon::prelude::*;

use crate::cell::CellType;
use crate::memory::{reserve, zeros};
use crate::registry::registry;
use crate::rule::exact;
use crate::tree::error::TreeError;
use crate::tree::piece::Piece;
use crate::tree::provenance::Provenance;
use crate::tree::stored::Tree;

registry! {
    /// What a region shows that was divided and is cut off: one of the values of its cells.
    pub enum Shown("value shown") {
        /// The value that most of its cells have; of several the one that comes first along the curve. For labels.
        Mode = "mode",
        /// The value that comes first along the curve, which no look at the other cells is needed for.
        First = "first",
        /// The least value; -0 is less than 0, and what is not a number is more than any. For thin dark things.
        Min = "min",
        /// The greatest value. For thin bright things.
        Max = "max",
    }
}

impl<const K: usize> Tree<K> {
    /// The tree down to `level`: its terminal regions on that level and above, and instead of those below the regions of the level
    /// that hold them, each with one value. At the deepest level leaves are regions of one value, too, so that a cut tree has no
    /// bricks. The result is a tree, which answers as any other; what was cut says so in its
    /// [provenance](crate::tree::Provenance::Cut).
    ///
    /// # Errors
    /// [`TreeError::Level`] if there is no such level; [`TreeError::Beyond`] if the tree is partial and a region to be cut at
    /// reaches beyond its part.
    pub fn cut(&self, level: u32, shown: Shown) -> Result<Self, TreeError> {
        let deepest = self.along.deepest();
        if level > deepest {
            return Err(TreeError::Level { level, deepest });
        }
        // Rows that stay, or with which a run of rows begins that becomes one: of one region of the level, and below it.
        let (mut starts, mut holder) = (Vec::new(), None);
        for row in 0..self.len() {
            let below = self.entries.level(row) > level;
            let here = below.then(|| self.along.code(level, self.entries.keys[row]));
            if let Some(code) = here.filter(|_| here != holder) {
                self.holds(level, code)?;
            }
            if here.is_none() || here != holder {
                reserve(&mut starts, 1)?;
                starts.push(row);
            }
            holder = here;
        }
        let mut words = zeros::<u64>(starts.len())?;
        words.par_iter_mut().enumerate().for_each(|(run, word)| {
            let end = starts.get(run + 1).copied().unwrap_or(self.len());
            *word = self.shown(starts[run]..end, shown);
        });
        let Piece { mut entries, bricks } = Piece::new(self.kind());
        entries.reserve(starts.len())?;
        for (&row, word) in starts.iter().zip(words) {
            let (key, own) = (self.entries.keys[row], self.entries.level(row));
            match own <= level && !self.entries.is_leaf(row) {
                true => entries.uniform(own, key, word, self.entries.provenance(row)),
                false => entries.uniform(own.min(level), key, word, Provenance::Cut),
            }
        }
        Self::new(self.along.clone(), self.part.clone(), entries, bricks)
    }

    /// Checks that the region of `level` which `code` names lies in the part.
    fn holds(&self, level: u32, code: u64) -> Result<(), TreeError> {
        let run = self.along.run(level, self.along.key(level, code));
        if self.part.start <= run.start && run.end <= self.part.end {
            return Ok(());
        }
        Err(TreeError::Beyond { level, code })
    }

    /// The value that stands for the rows of a run.
    fn shown(&self, rows: Range<usize>, shown: Shown) -> u64 {
        let kind = self.kind();
        let first = self.runs(rows.start).next().expect("regions have cells").0;
        let runs = || rows.clone().flat_map(|row| self.runs(row));
        let rank = |word: &u64| kind.rank(*word);
        match shown {
            Shown::First => first,
            Shown::Min => runs().map(|(word, _)| word).min_by_key(rank).unwrap_or(first),
            Shown::Max => {
                runs().map(|(word, _)| word).filter(|&word| !is_nan(kind, word)).max_by_key(rank).unwrap_or(first)
            }
            Shown::Mode => {
                let mut counts: HashMap<u64, (u128, usize)> = HashMap::new();
                for (place, (word, cells)) in runs().enumerate() {
                    let count = &mut counts.entry(word).or_insert((0, place)).0;
                    *count = count.saturating_add(cells);
                }
                let most = counts.iter().max_by_key(|(_, (cells, place))| (*cells, std::cmp::Reverse(*place)));
                *most.expect("regions have cells").0
            }
        }
    }

    /// The values of a row's cells in their order, each with how often it comes in a row.
    pub(super) fn runs(&self, row: usize) -> impl Iterator<Item = (u64, u128)> {
        let region = self.region(row);
        let uniform = region.uniform().map(|word| (word, region.cells().cells_wide()));
        let kind = self.kind();
        let mut words =
            region.brick().into_iter().flatten().map(move |place| exact::key(kind, self.bricks.word(place)));
        let mut next = words.next();
        let of_leaf = std::iter::from_fn(move || {
            let word = next?;
            let mut cells = 1;
            next = words.find(|&other| {
                let other = other != word;
                cells += u128::from(!other);
                other
            });
            Some((word, cells))
        });
        uniform.into_iter().chain(of_leaf)
    }
}

fn is_nan(kind: CellType, word: u64) -> bool {
    kind.nan() == Some(word)
}
