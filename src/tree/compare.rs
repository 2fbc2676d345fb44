//! Where a tree and an array, or another tree, differ.

use std::sync::{Mutex, PoisonError};

use crate::backend::{Control, Error};
use crate::cell::CellType;
use crate::dimension::here;
use crate::geometry::{Region, Slabs};
use crate::memory::reserve;
use crate::parallel;
use crate::result::Cells;
use crate::rule::exact;
use crate::tree::error::TreeError;
use crate::tree::list::{Scattered, between};
use crate::tree::parts::Parts;
use crate::tree::predicate::{Criterion, Predicate};
use crate::tree::region::TreeRegion;
use crate::tree::source::Source;
use crate::tree::stored::Tree;

/// Cells that are compared at a time.
const PIECE: u64 = 1 << 16;

/// The cells of one terminal region that differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference<const K: usize> {
    /// The smallest box around them.
    pub bounds: Region<K>,
    /// How many they are.
    pub cells: u128,
    /// The first of them in storage order, with the words that it has in the tree and in the other.
    pub first: ([u32; K], [u64; 2]),
}

/// Where a tree and another array of its size differ.
///
/// All NaNs count as one value, and -0 is not 0. With a [predicate](Predicate) a cell of a uniform region differs if it
/// breaks what the predicate guarantees.
///
/// ```
/// use orthant::ndarray::Array2;
/// use orthant::tree::Parts;
/// use orthant::{Control, Tree};
///
/// let mut image = Array2::<u8>::zeros((256, 256));
/// let before = Tree::<2>::from_array(image.view())?;
/// image[[9, 7]] = 5; // y = 9, x = 7
/// let after = Tree::<2>::from_array(image.view())?;
/// let differences = (&before as &dyn Parts<2>).compare(&after, 10, &Control::default())?;
/// assert_eq!((differences.cells, differences.count), (1, 1));
/// assert_eq!(differences.regions[0].first, ([7, 9], [0, 5]));
/// # Ok::<(), orthant::tree::TreeError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Differences<const K: usize> {
    /// Cells that differ.
    pub cells: u128,
    /// Cells that have another value, but one that the predicate allows.
    pub within: u128,
    /// The greatest distance between the two values of such a cell.
    pub greatest: f64,
    /// The first terminal regions with such cells, along the curve.
    pub regions: Vec<Difference<K>>,
    /// The number of all regions with such cells.
    pub count: u64,
}

/// Rows that a thread compares.
const TOGETHER: usize = 16;

impl<'p, const K: usize> dyn Parts<K> + 'p {
    /// Compares the cells with those of another array, which may be a tree ([`TreeSource`](crate::tree::TreeSource)).
    /// Where both know a region to have one value, its cells are not read. The result lists the first `most` regions
    /// that differ.
    ///
    /// # Errors
    /// [`TreeError::Sizes`] or [`TreeError::CellType`] if the two cannot be compared; [`TreeError::Source`] and whatever keeps a
    /// part from being read; [`TreeError::Run`] if it was interrupted or there is no memory.
    pub fn compare(&self, other: &dyn Source<K>, most: usize, control: &Control) -> Result<Differences<K>, TreeError> {
        self.compare_by(Criterion::Exact, other, most, control)
    }

    /// The same of a tree that was made by a predicate: a cell of a uniform region differs if it is further from the region's value
    /// than the tolerance, or on the other side of the threshold; others as always. `nodata` is the word of those that are no data.
    ///
    /// # Errors
    /// As `compare`, and if the predicate is not one of the tree's cells.
    pub fn compare_within(
        &self,
        predicate: &Predicate,
        nodata: Option<u64>,
        other: &dyn Source<K>,
        most: usize,
        control: &Control,
    ) -> Result<Differences<K>, TreeError> {
        let criterion = predicate.criterion(self.kind(), nodata).map_err(Error::from)?;
        self.compare_by(criterion, other, most, control)
    }

    fn compare_by(
        &self,
        criterion: Criterion,
        other: &dyn Source<K>,
        most: usize,
        control: &Control,
    ) -> Result<Differences<K>, TreeError> {
        here!(fn(&(dyn Parts<K> + '_), Criterion, &dyn Source<K>, usize, &Control) -> Result<Differences<K>, TreeError> = |this, criterion, other, most, control| this.compare_by_here(criterion, other, most, control))(
            self, criterion, other, most, control,
        )
    }

    fn compare_by_here(
        &self,
        criterion: Criterion,
        other: &dyn Source<K>,
        most: usize,
        control: &Control,
    ) -> Result<Differences<K>, TreeError> {
        let (own, size) = (self.plan().domain().size(), other.size());
        if own != size {
            return Err(TreeError::Sizes { own: own.to_vec(), other: size.to_vec() });
        }
        if other.kind() != self.kind() {
            return Err(TreeError::CellType { given: other.kind(), kind: self.kind() });
        }
        let mut found = Differences { cells: 0, within: 0, greatest: 0.0, regions: Vec::new(), count: 0 };
        for index in 0..self.parts() {
            let part = self.part(index)?;
            let part: &Tree<K> = &part;
            let pieces = part.len().div_ceil(TOGETHER);
            // Nobody waits for a lock: a place has one task.
            let mut places: Vec<Mutex<Vec<Difference<K>>>> = Vec::new();
            places.resize_with(pieces, Mutex::default);
            let compared = |i: usize| -> Result<Allowed, TreeError> {
                let (mut buffer, mut allowed) = (Cells::empty(other.kind()), Allowed::default());
                let mut differences = Vec::new();
                for row in parallel::piece(part.len(), TOGETHER, i) {
                    control.check()?;
                    let region = part.region(row);
                    if let Some(difference) = difference(criterion, region, other, &mut buffer, &mut allowed)? {
                        differences.push(difference);
                    }
                    control.advance(u64::try_from(region.cells().cells_wide()).unwrap_or(u64::MAX));
                }
                *places[i].lock().unwrap_or_else(PoisonError::into_inner) = differences;
                Ok(allowed)
            };
            let allowed = Allowed::all(parallel::try_map(pieces, &compared)?);
            found.within = found.within.saturating_add(allowed.cells);
            found.greatest = found.greatest.max(allowed.greatest);
            for place in &mut places {
                for &difference in &*place.get_mut().unwrap_or_else(PoisonError::into_inner) {
                    found.count += 1;
                    found.cells = found.cells.saturating_add(difference.cells);
                    if found.regions.len() < most {
                        reserve(&mut found.regions, 1)?;
                        found.regions.push(difference);
                    }
                }
            }
        }
        Ok(found)
    }
}

/// Cells with another value that the predicate allows, and by how much it is another at most.
#[derive(Default)]
struct Allowed {
    cells: u128,
    greatest: f64,
}

impl Allowed {
    fn all(some: Vec<Self>) -> Self {
        let mut all = Self::default();
        for Self { cells, greatest } in some {
            all.cells = all.cells.saturating_add(cells);
            all.greatest = all.greatest.max(greatest);
        }
        all
    }

    /// Takes cells of two words that stand for each other.
    fn add(&mut self, kind: CellType, [own, other]: [u64; 2], cells: u128) {
        if exact::key(kind, own) != exact::key(kind, other) {
            self.cells = self.cells.saturating_add(cells);
            // Ranks of whole numbers are as far apart as the numbers, which a double may not hold.
            let distance = match kind.is_float() {
                true => (kind.number(own) - kind.number(other)).abs(),
                false => kind.rank(own).abs_diff(kind.rank(other)) as f64,
            };
            self.greatest = self.greatest.max(distance);
        }
    }
}

/// Where the cells of a region differ; None if they do not.
fn difference<const K: usize>(
    criterion: Criterion,
    region: TreeRegion<'_, K>,
    other: &dyn Source<K>,
    buffer: &mut Cells,
    allowed: &mut Allowed,
) -> Result<Option<Difference<K>>, TreeError> {
    let (cells, kind) = (region.cells(), other.kind());
    if let (Some(own), Some(known)) = (region.uniform(), other.known(&cells)?) {
        let first = (cells.corner, [own, known]);
        let all = Difference { bounds: cells, cells: cells.cells_wide(), first };
        if criterion.stands(kind, own, known) {
            allowed.add(kind, [own, known], cells.cells_wide());
            return Ok(None);
        }
        return Ok(Some(all));
    }
    let criterion = if region.uniform().is_some() { criterion } else { Criterion::Exact };
    if let Some(own) = scattered(region)?
        && let Some(listed) = other.scattered(&cells)?
    {
        let mut differ = |words: [u64; 2], cells: u128| {
            let stands = words[0] == words[1] || criterion.stands(kind, words[0], words[1]);
            if stands {
                allowed.add(kind, words, cells);
            }
            !stands
        };
        let found = between(&cells, [&own, &listed], &mut differ);
        return Ok(found.map(|found| Difference { bounds: found.bounds, cells: found.cells, first: found.first }));
    }
    let mut found: Option<Difference<K>> = None;
    let slabs = Slabs::new(cells, PIECE);
    for slab in (0..slabs.len()).map(|index| slabs.get(index)) {
        let room = std::mem::replace(buffer, Cells::empty(kind)).resized(slab.volume() as usize);
        *buffer = room?;
        other.read(&slab, buffer.bytes_mut())?;
        for (place, cell) in slab.cells().enumerate() {
            let words = [region.word(cell), buffer.word(place)];
            if words[0] == words[1] {
                continue;
            }
            if criterion.stands(kind, words[0], words[1]) {
                allowed.add(kind, words, 1);
                continue;
            }
            let one = Region { corner: cell, extent: [1; K] };
            let here = found.get_or_insert(Difference { bounds: one, cells: 0, first: (cell, words) });
            here.cells += 1;
            here.bounds = here.bounds.hull(&one);
        }
    }
    Ok(found)
}

/// A region as a list: one of a single value has no entries. None of bricks.
fn scattered<const K: usize>(region: TreeRegion<'_, K>) -> Result<Option<Scattered<K>>, TreeError> {
    if let Some(word) = region.uniform() {
        return Ok(Some(Scattered::new(word)));
    }
    let Some(entries) = region.entries() else { return Ok(None) };
    let mut found = Scattered::new(region.listed_leaf().background);
    reserve(&mut found.cells, region.listed_leaf().places.len())?;
    found.cells.extend(entries);
    Ok(Some(found))
}
