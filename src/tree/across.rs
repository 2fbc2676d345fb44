//! Questions to a tree part by part: as those to a tree in memory, and no more parts in memory than a question needs.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::dimension::here;
use crate::geometry::Region;
use crate::list::ListError;
use crate::per_axis;
use crate::result::{Cells, DenseArray, RegionsChecksum, Stored, dense_fits};
use crate::tree::entries::Entries;
use crate::tree::error::TreeError;
use crate::tree::label_look::LabelLook;
use crate::tree::labels::{LabelStatistics, LabelTally};
use crate::tree::parts::Parts;
use crate::tree::provenance::Provenance;
use crate::tree::representative::{Pick, Representative};
use crate::tree::stored::Tree;
use crate::tree::tree_source::TreeSource;

/// Cells of leaves that are looked at to tell labels from values.
const LOOKED: usize = 1 << 20;

/// What a tree says of one cell.
///
/// ```
/// use orthant::Tree;
/// use orthant::ndarray::Array2;
/// use orthant::tree::Parts;
///
/// let halves = Array2::from_shape_fn((256, 256), |(_, x)| u8::from(x >= 128));
/// let tree = Tree::<2>::from_array(halves.view())?;
/// // Many cells in one go: no part of a file is read twice.
/// let found = (&tree as &dyn Parts<2>).look_up(&[[3, 3], [200, 3], [999, 0]])?;
/// let words: Vec<_> = found.iter().map(|found| found.as_ref().map(|found| (found.word, found.level))).collect();
/// assert_eq!(words, [Some((0, 1)), Some((1, 1)), None]);
/// # Ok::<(), orthant::tree::TreeError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Found<const K: usize> {
    /// The word of the cell.
    pub word: u64,
    /// The level of the terminal region that holds it.
    pub level: u32,
    /// That region's cells.
    pub region: Region<K>,
    /// How its cells are known.
    pub provenance: Provenance,
}

impl<'p, const K: usize> dyn Parts<K> + 'p {
    /// A box as an array of the tree's type, of at most `limit` bytes. Parts that do not meet it are not asked for.
    ///
    /// # Errors
    /// [`TreeError::Window`] if the box is empty or reaches beyond the domain; [`TreeError::Run`] if the array would exceed the
    /// limit or there is no memory for it; whatever keeps a part from being read.
    pub fn array(&self, window: &Region<K>, limit: Option<u64>) -> Result<DenseArray<K>, TreeError> {
        here!(fn(&(dyn Parts<K> + '_), &Region<K>, Option<u64>) -> Result<DenseArray<K>, TreeError> = |this, window, limit| this.array_here(window, limit))(
            self, window, limit,
        )
    }

    fn array_here(&self, window: &Region<K>, limit: Option<u64>) -> Result<DenseArray<K>, TreeError> {
        window.within(self.plan().domain().size())?;
        dense_fits(Stored::Materialised, window.cells_wide(), self.kind(), limit)?;
        TreeSource(self).array(window)
    }

    /// The word that all cells of a box count as; None if there are several.
    ///
    /// # Errors
    /// [`TreeError::Window`] if the box is empty or reaches beyond the domain; whatever keeps a part from being read.
    pub fn uniform(&self, window: &Region<K>) -> Result<Option<u64>, TreeError> {
        here!(fn(&(dyn Parts<K> + '_), &Region<K>) -> Result<Option<u64>, TreeError> = |this, window| this.uniform_here(window))(
            self, window,
        )
    }

    fn uniform_here(&self, window: &Region<K>) -> Result<Option<u64>, TreeError> {
        TreeSource(self).uniform(window)
    }

    /// What the tree says of some cells, in their order. None for a cell outside the domain. No part is read twice.
    ///
    /// # Errors
    /// Whatever keeps a part from being read.
    pub fn look_up(&self, cells: &[[u32; K]]) -> Result<Vec<Option<Found<K>>>, TreeError> {
        here!(fn(&(dyn Parts<K> + '_), &[[u32; K]]) -> Result<Vec<Option<Found<K>>>, TreeError> = |this, cells| this.look_up_here(cells))(
            self, cells,
        )
    }

    fn look_up_here(&self, cells: &[[u32; K]]) -> Result<Vec<Option<Found<K>>>, TreeError> {
        let domain = self.plan().domain().region();
        // Places of cells, by the parts that are asked for them.
        let mut asked: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (place, &cell) in cells.iter().enumerate() {
            if domain.contains_cell(cell) {
                for part in self.meeting(&Region { corner: cell, extent: [1; K] })? {
                    asked.entry(part).or_default().push(place);
                }
            }
        }
        let mut found = vec![None; cells.len()];
        for (part, places) in asked {
            let part = self.part_within(part, &around(cells, &places))?;
            for place in places {
                let Some(region) = part.region_at(cells[place]) else { continue };
                let (level, provenance) = (region.level(), region.provenance());
                let word = region.word(cells[place]);
                found[place] = Some(Found { word, level, region: region.cells(), provenance });
            }
        }
        Ok(found)
    }

    /// What each label has, by value in ascending order.
    ///
    /// # Errors
    /// [`TreeError::Labels`] if there are more than `most`; whatever keeps a part from being read.
    pub fn labels(&self, most: usize) -> Result<Vec<LabelStatistics<K>>, TreeError> {
        here!(fn(&(dyn Parts<K> + '_), usize) -> Result<Vec<LabelStatistics<K>>, TreeError> =
            |this, most| this.labels_here(most))(self, most)
    }

    fn labels_here(&self, most: usize) -> Result<Vec<LabelStatistics<K>>, TreeError> {
        let all = Mutex::new(LabelTally::new(self.kind()));
        let of_part = |part: &Tree<K>| {
            let mut table = LabelTally::new(self.kind());
            part.add_labels(&mut table, most)?;
            let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
            all.merge(&table);
            all.check(most)
        };
        self.every_part(&of_part, &mut |()| Ok(()))?;
        let all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(all.statistics(self.plan().domain().cells()))
    }

    /// True if cells of the first leaves [look like labels](LabelLook), or if there are no leaves.
    ///
    /// # Errors
    /// Whatever keeps a part from being read.
    pub fn look_like_labels(&self) -> Result<bool, TreeError> {
        here!(fn(&(dyn Parts<K> + '_)) -> Result<bool, TreeError> = |this| this.look_like_labels_here())(self)
    }

    fn look_like_labels_here(&self) -> Result<bool, TreeError> {
        let mut look = LabelLook::new(self.kind());
        let (mut cells, mut words) = (0, Vec::new());
        for index in 0..self.parts() {
            let part: &Tree<K> = &*self.part(index)?;
            if part.list.is_some() {
                cells += look_at_list(part, &mut look);
            }
            for region in part.regions() {
                let Some(brick) = region.brick().filter(|_| cells < LOOKED) else { continue };
                let row = region.cells().extent[0] as usize;
                cells += brick.len();
                for start in brick.clone().step_by(row) {
                    words.resize(row, 0);
                    part.bricks().words(start, 1, &mut words);
                    look.row(&words);
                }
            }
            if cells >= LOOKED {
                break;
            }
        }
        Ok(cells == 0 || look.are_labels())
    }

    /// The checksum of the regions.
    ///
    /// # Errors
    /// Whatever keeps a part from being read.
    pub fn checksum(&self) -> Result<RegionsChecksum, TreeError> {
        here!(fn(&(dyn Parts<K> + '_)) -> Result<RegionsChecksum, TreeError> = |this| this.checksum_here())(self)
    }

    fn checksum_here(&self) -> Result<RegionsChecksum, TreeError> {
        let mut sum = RegionsChecksum::default();
        self.every_part(&|part| Ok(part.checksum()), &mut |found| {
            sum += found;
            Ok(())
        })?;
        Ok(sum)
    }

    /// The tree down to `level`, as [`Tree::cut`] makes it: what is cut off need never be in memory as a whole.
    ///
    /// # Errors
    /// [`TreeError::Level`] if there is no such level; whatever keeps a part from being read.
    pub fn cut(&self, level: u32, by: Representative) -> Result<Tree<K>, TreeError> {
        here!(fn(&(dyn Parts<K> + '_), u32, Representative) -> Result<Tree<K>, TreeError> = |this, level, by| this.cut_here(level, by))(
            self, level, by,
        )
    }

    fn cut_here(&self, level: u32, by: Representative) -> Result<Tree<K>, TreeError> {
        if self.list_layout().is_some() {
            return Err(ListError::LEVELS.into());
        }
        let (mut entries, bricks) = (Entries::default(), Cells::empty(self.kind()));
        // Of a region that some parts lie in.
        let mut pick = Pick::new(self.kind(), by);
        let mut along = None;
        for index in 0..self.parts() {
            let part = self.part(index)?;
            let deepest = part.along.deepest();
            if level > deepest {
                return Err(TreeError::Level { level, deepest });
            }
            let along = along.get_or_insert_with(|| part.along.clone());
            let holder = along.code(level, part.codes().start as u64);
            let (own, key) = (along.run(level, along.key(level, holder)), along.key(level, holder));
            let (within, all) = (part.codes(), part.codes() == own);
            if all || within.start < own.start || within.end > own.end {
                append(&mut entries, &part.cut(level, by)?.entries)?;
                continue;
            }
            part.count(0..part.len(), &mut pick);
            if within.end == own.end {
                entries.reserve(1)?;
                let word = pick.word().expect("parts have cells");
                entries.uniform(level, key, word, Provenance::Cut);
                pick = Pick::new(self.kind(), by);
            }
        }
        let along = along.expect("a tree has parts");
        Tree::new(along.clone(), along.whole(), entries, bricks)
    }
}

/// Looks at the entries of leaves, one after the other: how many.
fn look_at_list<const K: usize>(part: &Tree<K>, look: &mut LabelLook) -> usize {
    let entries = part.regions().filter_map(|region| region.entries()).flatten().take(LOOKED);
    let words: Vec<u64> = entries.map(|(_, word)| word).collect();
    look.row(&words);
    words.len()
}

/// Adds the rows of a cut tree, which has no bricks.
fn append(entries: &mut Entries, more: &Entries) -> Result<(), TreeError> {
    entries.reserve(more.len())?;
    (0..more.len()).for_each(|row| entries.copy(more, row, 0));
    Ok(())
}

/// The least box that holds the cells at some places.
fn around<const K: usize>(cells: &[[u32; K]], places: &[usize]) -> Region<K> {
    let (mut least, mut greatest) = (cells[places[0]], cells[places[0]]);
    for &place in places {
        for j in 0..K {
            let at = cells[place][j];
            (least[j], greatest[j]) = (least[j].min(at), greatest[j].max(at));
        }
    }
    Region { corner: least, extent: per_axis::each(|j| greatest[j] - least[j] + 1) }
}
