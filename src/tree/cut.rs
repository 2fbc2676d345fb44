//! Levels of detail.

use std::ops::Range;

use crate::dimension::here;
use crate::geometry::Region;
use crate::list::ListError;
use crate::memory::{Refused, reserve, zeros};
use crate::parallel;
use crate::per_axis;
use crate::result::{Cells, DenseArray, Stored, dense_fits, each_width};
use crate::rule::exact;
use crate::tree::entries::Entries;
use crate::tree::error::TreeError;
use crate::tree::list::ListedRuns;
use crate::tree::provenance::Provenance;
use crate::tree::representative::{Pick, Representative};
use crate::tree::stored::Tree;

/// Runs of rows of which a thread says what shows.
const TOGETHER: usize = 64;

impl<const K: usize> Tree<K> {
    /// A level of detail: the tree without what lies below `level`. A mixed region of that level becomes uniform, with
    /// one of the values of its cells, which `by` picks. On the deepest level the mixed regions are the leaves, so a
    /// cut tree has no bricks.
    ///
    /// The result answers every question. The [provenance](crate::tree::Provenance::Cut) of a region says that it was
    /// cut.
    ///
    /// # Errors
    /// [`TreeError::Level`] if there is no such level; [`TreeError::Beyond`] if the tree is partial and a region to be cut at
    /// reaches beyond its part.
    pub fn cut(&self, level: u32, by: Representative) -> Result<Self, TreeError> {
        here!(fn(&Tree<K>, u32, Representative) -> Result<Tree<K>, TreeError> = Tree::<K>::cut_here)(self, level, by)
    }

    fn cut_here(&self, level: u32, by: Representative) -> Result<Self, TreeError> {
        if self.list.is_some() {
            return Err(ListError::LEVELS.into());
        }
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
        let entries = cut_at(level, &self.entries, &starts, &|rows| self.representative(rows, by))?;
        Self::new(self.along.clone(), self.part.clone(), entries, Cells::empty(self.kind()))
    }

    /// The regions of a level as an array, one element per region, of at most `limit` bytes. [Cut](Self::cut) the tree
    /// at that level first.
    ///
    /// ```
    /// use orthant::Tree;
    /// use orthant::ndarray::Array2;
    /// use orthant::tree::Representative;
    ///
    /// // A thumbnail of 2 x 2 of an image of 256 x 256.
    /// let quarters = Array2::from_shape_fn((256, 256), |(y, x)| (x / 128 + 2 * (y / 128)) as u8);
    /// let tree = Tree::<2>::from_array(quarters.view())?;
    /// let thumbnail = tree.cut(1, Representative::Mode)?.lattice(1, None)?;
    /// assert_eq!(thumbnail.cells().as_slice::<u8>(), Some(&[0, 1, 2, 3][..]));
    /// # Ok::<(), orthant::tree::TreeError>(())
    /// ```
    ///
    /// # Errors
    /// [`TreeError::Level`] if there is no such level; [`TreeError::Below`] if a region is of a deeper one, or a leaf;
    /// [`TreeError::Run`] if the array would exceed the limit or there is no memory for it.
    pub fn lattice(&self, level: u32, limit: Option<u64>) -> Result<DenseArray<K>, TreeError> {
        here!(fn(&Tree<K>, u32, Option<u64>) -> Result<DenseArray<K>, TreeError> = Tree::<K>::lattice_here)(
            self, level, limit,
        )
    }

    fn lattice_here(&self, level: u32, limit: Option<u64>) -> Result<DenseArray<K>, TreeError> {
        let plan = self.plan();
        let deepest = self.along.deepest();
        let Some(grid) = plan.levels().get(level as usize).map(|level| level.grid) else {
            return Err(TreeError::Level { level, deepest });
        };
        let window = Region { corner: [0; K], extent: grid };
        dense_fits(Stored::Materialised, window.cells_wide(), self.kind(), limit)?;
        let mut array = DenseArray::zeroed(Stored::Materialised, window, self.kind())?;
        for region in self.regions() {
            let own = region.level();
            let word = region.uniform().filter(|_| own <= level).ok_or(TreeError::Below { level })?;
            let coords = plan.encoding().decode(own, region.code());
            let split: [u32; K] = per_axis::each(|j| plan.scheme().r[j].pow(level - own));
            array.fill(&Region { corner: per_axis::each(|j| coords[j] * split[j]), extent: split }, word);
        }
        Ok(array)
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
    fn representative(&self, rows: Range<usize>, by: Representative) -> u64 {
        let mut pick = Pick::new(self.kind(), by);
        self.count(rows, &mut pick);
        pick.word().expect("regions have cells")
    }

    /// Shows a pick the cells of some rows.
    pub(super) fn count(&self, rows: Range<usize>, pick: &mut Pick) {
        for row in rows {
            for (word, cells) in self.runs(row) {
                pick.add(word, cells);
                if !pick.is_open() {
                    return;
                }
            }
        }
    }

    /// The values of a row's cells in their order, each with how often it comes in a row.
    pub(super) fn runs(&self, row: usize) -> CellRuns<'_> {
        let region = self.region(row);
        let uniform = region.uniform().map(|word| (word, region.cells().cells_wide()));
        let listed = self.listed_leaf(row).map(|leaf| leaf.runs(region.cells().cells_wide()));
        CellRuns { cells: &self.bricks, places: region.brick().unwrap_or(0..0), uniform, listed }
    }
}

/// Keeps the rows above a level. Each run of the other rows becomes one row, and begins at one of `starts`.
fn cut_at(
    level: u32,
    rows: &Entries,
    starts: &[usize],
    representative: &(dyn Fn(Range<usize>) -> u64 + Sync),
) -> Result<Entries, Refused> {
    let mut words = zeros::<u64>(starts.len())?;
    let some = |i: usize, words: &mut [u64]| {
        for (run, word) in (i * TOGETHER..).zip(words) {
            let end = starts.get(run + 1).copied().unwrap_or(rows.len());
            *word = representative(starts[run]..end);
        }
    };
    parallel::pieces_mut(&mut words, TOGETHER, &some);
    let mut entries = Entries::default();
    entries.reserve(starts.len())?;
    for (&row, word) in starts.iter().zip(words) {
        let (key, own) = (rows.keys[row], rows.level(row));
        match own <= level && !rows.is_leaf(row) {
            true => entries.uniform(own, key, word, rows.provenance(row)),
            false => entries.uniform(own.min(level), key, word, Provenance::Cut),
        }
    }
    Ok(entries)
}

/// The values of cells in a row, each with how often it comes.
pub(super) struct CellRuns<'a> {
    cells: &'a Cells,
    places: Range<usize>,
    /// What comes before those of the cells.
    uniform: Option<(u64, u128)>,
    /// Those of a sparse leaf.
    listed: Option<ListedRuns<'a>>,
}

impl Iterator for CellRuns<'_> {
    type Item = (u64, u128);

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(uniform) = self.uniform.take() {
            return Some(uniform);
        }
        if let Some(listed) = &mut self.listed {
            return listed.next();
        }
        let start = self.places.next()?;
        // Cells of other bits are other words, or NaNs of other bits, which come again.
        let more = each_width!(self.cells.bits(), cells => {
            cells[self.places.clone()].iter().take_while(|&&cell| cell == cells[start]).count()
        });
        self.places.start += more;
        Some((exact::key(self.cells.kind(), self.cells.word(start)), 1 + more as u128))
    }
}
