//! The order of regions along a curve: codes, keys and runs of them. It does not depend on the number of axes.

use std::ops::Range;

use crate::result::Terminal;
use crate::tree::error::TreeError;

/// The regions of a plan along its curve, however many axes they have.
pub(super) trait CurveRegions: Sync {
    /// How their codes lie along it.
    fn order(&self) -> &CurveOrder;
    /// Regions of a level, per axis.
    fn grid(&self, level: u32) -> &[u32];
    /// The code on a level of the region at these coordinates.
    fn code_at(&self, level: u32, coords: &[u32]) -> u64;
    /// The cells of the region that a level's code names.
    fn cells_of(&self, level: u32, code: u64) -> u128;
    /// The order of the same plan over a domain whose axes are halved so often, and its size; None if there is no such plan.
    fn halved(&self, halvings: u32) -> Option<(CurveOrder, Vec<u32>)>;
}

/// How the codes of all levels lie along a hierarchical curve.
#[derive(Debug, Clone)]
pub(super) struct CurveOrder {
    /// Descendants on the deepest level that a region has, by its level; 0 where they are 2^64.
    descendants: Vec<u64>,
    /// R; the largest number where that is more.
    pub(super) children: u64,
    /// The number of codes, by level.
    codes: Vec<u128>,
    /// The most cells of a region, by its level.
    most_cells: Vec<u128>,
    /// The cells of the domain.
    pub(super) domain_cells: u128,
}

impl CurveOrder {
    /// The order over a domain of so many cells. `split` is r of each axis, and `children` is R. Each level has its number of codes, and
    /// the most cells of one of its regions.
    pub(super) fn new(
        domain_cells: u128,
        split: &[u32],
        children: u64,
        codes: Vec<u128>,
        most_cells: Vec<u128>,
    ) -> Self {
        let deepest = codes.len() as u32 - 1;
        // Not of `children`, which is less than 2^64 where R is just that.
        let family = split.iter().fold(1, |family: u64, &r| family.wrapping_mul(r.into()));
        let descendants = (0..=deepest).map(|level| family.wrapping_pow(deepest - level)).collect();
        Self { descendants, children, codes, most_cells, domain_cells }
    }

    /// The deepest level.
    #[inline]
    pub(super) fn deepest(&self) -> u32 {
        self.descendants.len() as u32 - 1
    }

    /// The key of the region that `code` names on `level`.
    #[inline]
    pub(super) fn key(&self, level: u32, code: u64) -> u64 {
        // 2^64 descendants has the only region of its level.
        code.wrapping_mul(self.descendants[level as usize])
    }

    /// Sorts regions by their keys.
    pub(super) fn sort(&self, terminals: &mut [Terminal]) {
        let last = self.codes(self.deepest()) - 1;
        let key = |region: &Terminal| self.key(region.level(), region.code);
        Terminal::sort_by(terminals, u128::BITS - last.leading_zeros(), &key);
    }

    /// The code on `level` of the region that holds what has this key.
    #[inline]
    pub(super) fn code(&self, level: u32, key: u64) -> u64 {
        key.checked_div(self.descendants[level as usize]).unwrap_or(0)
    }

    /// The key of the last descendant of a region of `level` whose own key is `key`.
    #[inline]
    pub(super) fn last(&self, level: u32, key: u64) -> u64 {
        key.wrapping_add(self.descendants[level as usize].wrapping_sub(1))
    }

    /// The number of codes on `level`. Of 128 bits, as all ends of runs are: the code after the last can be 2^64.
    pub(super) fn codes(&self, level: u32) -> u128 {
        self.codes[level as usize]
    }

    /// All keys.
    pub(super) fn whole(&self) -> Range<u128> {
        0..self.codes(self.deepest())
    }

    /// The most cells of a region of `level`.
    pub(super) fn most_cells(&self, level: u32) -> u128 {
        self.most_cells[level as usize]
    }

    /// The first level from `above` on whose regions have at most so many cells, or the deepest.
    pub(super) fn level_of(&self, above: u32, cells: u128) -> u32 {
        (above..self.deepest()).find(|&level| self.most_cells(level) <= cells).unwrap_or(self.deepest())
    }

    /// The codes on `level` of what lies below the regions `codes` of a level above it, or of the same.
    pub(super) fn below(&self, above: u32, codes: Range<u128>, level: u32) -> Range<u128> {
        let each = self.codes(level) / self.codes(above);
        codes.start * each..codes.end * each
    }

    /// The keys of what lies below a run of a level's codes.
    ///
    /// # Errors
    /// [`TreeError::Level`], [`TreeError::Code`] or [`TreeError::Codes`] if there is no such run.
    pub(super) fn keys(&self, level: u32, codes: Range<u128>) -> Result<Range<u128>, TreeError> {
        let deepest = self.deepest();
        if level > deepest {
            return Err(TreeError::Level { level, deepest });
        }
        if codes.is_empty() {
            return Err(TreeError::Codes { start: codes.start, end: codes.end });
        }
        let last = (self.codes(level) - 1) as u64;
        if codes.end - 1 > last.into() {
            return Err(TreeError::Code { level, code: codes.end - 1, last });
        }
        Ok(self.below(level, codes, deepest))
    }

    /// The keys of what a region has below it.
    pub(super) fn run(&self, level: u32, key: u64) -> Range<u128> {
        key.into()..u128::from(self.last(level, key)) + 1
    }

    /// The cells of what lies below a run of keys, of regions with so many cells each.
    pub(super) fn sum(&self, keys: Range<u128>, cells_of: &dyn Fn(u32, u64) -> u128) -> u128 {
        let (mut next, mut cells) = (keys.start, 0u128);
        while next < keys.end {
            // The largest region that begins there and does not reach beyond.
            let fits = |&level: &u32| {
                let code = self.code(level, next as u64);
                let run = self.run(level, self.key(level, code));
                run.start == next && run.end <= keys.end
            };
            let level = (0..self.deepest()).find(fits).unwrap_or(self.deepest());
            cells = cells.saturating_add(cells_of(level, self.code(level, next as u64)));
            next = self.run(level, next as u64).end;
        }
        cells
    }
}
