//! Points and lists of cells as a field: the cells that are listed, in the order of the array. All others have one value, the background.
//!
//! A tree is made of either by sorting it along its curve ([`FromPoints`](crate::tree::FromPoints), [`CellList`](crate::tree::CellList)),
//! which is faster. A field has them for every strategy: listed cells are kept by their index, a cell is a search among them, and a region
//! is proven by those that lie in it. A table of where indices begin makes a search short, which a GPU needs more than a CPU.

use std::sync::Arc;

use crate::abi::{device_struct, padded};
use crate::cell::{CellType, WordsMut};
use crate::field::data::FieldData;
use crate::field::definition::{Evaluate, Field, Payload, Prove};
use crate::field::error::FieldError;
use crate::field::labels::Labels;
use crate::field::options::FieldOptions;
use crate::field::start::Defaults;
use crate::field::twin::DeviceTwin;
use crate::geometry::{Domain, Region};
use crate::list::StoredList;
use crate::memory::{Refused, reserve};
use crate::per_axis;
use crate::points::{PointAttribute, Points, PointsError, PointsValue};
use crate::rule::{RuleKind, Verdict};

/// One line for lists.
pub(crate) const ABOUT: &str = "points in a file, such as a scan: cells that hold some, their number, or an attribute";

/// What a bare run uses.
pub(crate) fn defaults(k: usize) -> Defaults {
    let size = [1024, 256, 64, 32, 16][k.clamp(2, 6) - 2];
    Defaults { size, g: 1, r: 2, b: 4, explore: RuleKind::Full, ..Defaults::unit(k) }
}

/// Opens points, which `options` hold as their data, over a domain. Points outside of it count nowhere.
///
/// ```
/// use orthant::field::{FieldData, FieldOptions, cloud};
/// use orthant::points::Points;
/// use orthant::prelude::*;
///
/// let data = FieldData::from(Points::new(2, vec![0.5, 0.5, 7.25, 3.0])?);
/// let plan = Plan::builder([8; 2]).window([[0.0, 8.0]; 2]).rule(RuleKind::Full).build()?;
/// let field = cloud::open(plan.domain(), &FieldOptions::default().data(data))?;
/// let found = run(&plan, &*field)?;
/// assert_eq!([[0, 0], [7, 3], [6, 3]].map(|cell| found.array().unwrap().label(cell)), [1, 1, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`FieldError`] if there are no points, or of another number of axes, none of them lies in the domain, the value needs an attribute and
/// there is none, or there is no memory.
pub fn open<const K: usize>(domain: &Domain<K>, options: &FieldOptions) -> Result<Box<dyn Field<K>>, FieldError> {
    let Some(FieldData::Points(points)) = &options.data else {
        return Err(FieldError::NoData { field: "points", what: "a file of points: XYZ, CSV, PLY or .npy" });
    };
    let value = match options.value {
        None => PointsValue::Occupied,
        Some(value) => value.of_points().ok_or(FieldError::Value { field: "points", value })?,
    };
    Ok(Box::new(Cloud::new(domain, points, value)?))
}

/// Opens a list of cells over a domain of its size.
///
/// # Errors
/// [`FieldError::Memory`] if there is none.
pub(super) fn of_list<const K: usize>(domain: &Domain<K>, list: &StoredList) -> Result<Box<dyn Field<K>>, FieldError> {
    let cells = (Arc::clone(list.indices()), Arc::clone(list.words()));
    Ok(Box::new(Cloud::of(domain, cells, list.background(), Labels::values(list.kind()))?))
}

/// Listed cells, by their index, axis 0 fastest. The twin has the same arrays.
struct Cloud<const K: usize> {
    size: [u32; K],
    indices: Arc<Vec<u64>>,
    words: Arc<Vec<u64>>,
    /// The word of all other cells.
    background: u64,
    /// How many indices are below each multiple of 2^shift, up to one beyond the last cell.
    starts: Arc<Vec<u64>>,
    shift: u32,
    labels: Labels,
}

device_struct! {
    /// The arrays, how many rows the first two have, what other cells are, and cells per axis.
    struct CloudArgs { indices: u64, words: u64, starts: u64, rows: u64, shift: u64, background: u64, size: [u32; 8] }
}

/// The listed cells per bucket of a search, about: the table takes two bytes for each.
const BUCKET: u64 = 4;

/// Where the indices of `cells` cells begin, by buckets of 2^shift cells.
fn starts(indices: &[u64], cells: u64) -> Result<(Vec<u64>, u32), Refused> {
    let most = (indices.len() as u64 / BUCKET).max(1);
    let shift = (0..63).find(|&shift| (cells - 1) >> shift < most).unwrap_or(63);
    let buckets = ((cells - 1) >> shift) as usize + 1;
    let mut starts = Vec::new();
    reserve(&mut starts, buckets + 1)?;
    for (row, index) in indices.iter().enumerate() {
        starts.resize(starts.len().max((index >> shift) as usize + 1), row as u64);
    }
    starts.resize(buckets + 1, indices.len() as u64);
    Ok((starts, shift))
}

/// What the cells of points are worth: their indices in order, and their words. `found` are the index of each point's cell and the word of
/// its attribute, which is of type `measured`.
fn merged(mut found: Vec<(u64, u64)>, value: PointsValue, measured: CellType, kind: CellType) -> (Vec<u64>, Vec<u64>) {
    // Points of a cell stay in their order, which a mean is summed in. A sum begins with 0, not with -0 as that of an iterator does.
    found.sort_by_key(|(index, _)| *index);
    let number = |word: u64| measured.number(word);
    let (mut indices, mut words) = (Vec::new(), Vec::new());
    for cell in found.chunk_by(|a, b| a.0 == b.0) {
        let values = || cell.iter().map(|&(_, word)| word);
        let mean = || values().map(number).fold(0.0, |sum, value| sum + value) / cell.len() as f64;
        indices.push(cell[0].0);
        words.push(match value {
            PointsValue::Occupied => 1,
            PointsValue::Count => cell.len() as u64,
            PointsValue::Min => values().min_by_key(|&word| measured.rank(word)).unwrap_or(0),
            PointsValue::Max => values().max_by_key(|&word| measured.rank(word)).unwrap_or(0),
            PointsValue::Mean => kind.word_of(mean()),
        });
    }
    (indices, words)
}

impl<const K: usize> Cloud<K> {
    fn new(domain: &Domain<K>, points: &Points, value: PointsValue) -> Result<Self, FieldError> {
        if points.axes() != K {
            return Err(PointsError::Dimensions { axes: points.axes(), k: K }.into());
        }
        let kind = value.kind(points)?;
        if domain.cells() > u64::MAX.into() {
            return Err(PointsError::Bits.into());
        }
        let size = domain.size();
        let index = |cell: [u32; K]| (0..K).rev().fold(0, |index, j| index * u64::from(size[j]) + u64::from(cell[j]));
        let measured = points.measured();
        let word = |point: usize| measured.map_or(0, |measured| measured.words()[point]);
        let memory = |refused: Refused| FieldError::Memory { what: "the cells of points", need: refused.bytes };
        let mut found: Vec<(u64, u64)> = Vec::new();
        reserve(&mut found, points.len()).map_err(memory)?;
        for (point, place) in points.coordinates().as_chunks::<K>().0.iter().enumerate() {
            found.extend(domain.cell_at(*place).map(|cell| (index(cell), word(point))));
        }
        if found.is_empty() {
            let window = crate::per_axis::window_text(&domain.window());
            return Err(PointsError::Outside { points: points.len() as u64, window }.into());
        }
        let (indices, words) = merged(found, value, measured.map_or(CellType::U8, PointAttribute::kind), kind);
        let labels = if value == PointsValue::Occupied { Labels::counts(1) } else { Labels::values(kind) };
        Self::of(domain, (indices.into(), words.into()), 0, labels)
    }

    /// Of cells in the order of their index, with their words.
    fn of(
        domain: &Domain<K>,
        (indices, words): (Arc<Vec<u64>>, Arc<Vec<u64>>),
        background: u64,
        labels: Labels,
    ) -> Result<Self, FieldError> {
        let memory = |refused: Refused| FieldError::Memory { what: "the table of listed cells", need: refused.bytes };
        let (starts, shift) = starts(&indices, domain.cells() as u64).map_err(memory)?;
        Ok(Self { size: domain.size(), indices, words, background, starts: starts.into(), shift, labels })
    }

    /// The first row whose cell has this index or a later one.
    #[inline]
    fn first_at(&self, index: u64) -> usize {
        let bucket = (index >> self.shift) as usize;
        let [start, end] = [self.starts[bucket], self.starts[bucket + 1]].map(|row| row as usize);
        start + self.indices[start..end].partition_point(|&other| other < index)
    }

    fn index(&self, cell: [u32; K]) -> u64 {
        (0..K).rev().fold(0, |index, j| index * u64::from(self.size[j]) + u64::from(cell[j]))
    }

    fn cell(&self, index: u64) -> [u32; K] {
        let mut rest = index;
        per_axis::each(|j| {
            let cell = rest % u64::from(self.size[j]);
            rest /= u64::from(self.size[j]);
            cell as u32
        })
    }

    /// The first cell of a region that has no index below that of `from`, which lies beside the region.
    fn next_in(region: &Region<K>, from: [u32; K]) -> Option<[u32; K]> {
        let (first, last) = (region.corner, |j: usize| region.corner[j] + (region.extent[j] - 1));
        let mut cell = from;
        // The slowest axis on which it lies beside the region decides.
        for j in (0..K).rev() {
            if from[j] < first[j] {
                cell[..=j].copy_from_slice(&first[..=j]);
                return Some(cell);
            }
            if from[j] > last(j) {
                // The next slower axis on which there is a cell more.
                let slower = (j + 1..K).find(|&slower| cell[slower] < last(slower))?;
                cell[..slower].copy_from_slice(&first[..slower]);
                cell[slower] += 1;
                return Some(cell);
            }
        }
        Some(cell)
    }
}

impl<const K: usize> Field<K> for Cloud<K> {
    fn labels(&self) -> Labels {
        self.labels
    }

    fn host(&self) -> Option<&dyn Evaluate<K>> {
        Some(self)
    }

    fn prover(&self) -> Option<&dyn Prove<K>> {
        Some(self)
    }

    fn most_mixed(&self) -> Option<u64> {
        // A region that has no listed cell is background.
        Some(self.indices.len() as u64)
    }

    fn twin(&self) -> Option<DeviceTwin> {
        let (rows, shift) = (self.indices.len() as u64, self.shift.into());
        let (background, size) = (self.background, padded(self.size));
        let args = CloudArgs { rows, shift, background, size, ..CloudArgs::default() };
        // Where cells are 1 there is no array of that.
        let occupied = self.labels == Labels::counts(1);
        let twin =
            DeviceTwin::built_in("fields/cloud.cuh", &args).proves().proofs_add_up().define("POINTS_OCCUPY", occupied);
        let twin = twin.with("indices", self.indices.clone()).with("starts", self.starts.clone());
        Some(if occupied { twin } else { twin.with("words", self.words.clone()) })
    }
}

impl<const K: usize> Evaluate<K> for Cloud<K> {
    fn evaluate(&self, cells: &[[u32; K]], labels: WordsMut<'_>) {
        let word = |&cell: &[u32; K]| {
            let (index, row) = (self.index(cell), self.first_at(self.index(cell)));
            if self.indices.get(row) == Some(&index) { self.words[row] } else { self.background }
        };
        match labels {
            WordsMut::Narrow(words) => words.iter_mut().zip(cells).for_each(|(to, cell)| *to = word(cell) as u32),
            WordsMut::Wide(words) => words.iter_mut().zip(cells).for_each(|(to, cell)| *to = word(cell)),
        }
    }
}

/// Complete: the answer is never that nothing is known.
impl<const K: usize> Prove<K> for Cloud<K> {
    fn prove(&self, region: &Region<K>, _: Payload) -> Verdict {
        let volume = region.cells_wide();
        let (mut row, mut seen, mut label) = (self.first_at(self.index(region.corner)), 0u128, None);
        while let Some(&index) = self.indices.get(row) {
            let cell = self.cell(index);
            if (0..K).all(|j| cell[j].wrapping_sub(region.corner[j]) < region.extent[j]) {
                let word = self.words[row];
                // Cells that were passed are not listed.
                let place = (0..K).rev().fold(0u128, |place, j| {
                    place * u128::from(region.extent[j]) + u128::from(cell[j] - region.corner[j])
                });
                if word != self.background && place != seen {
                    return Verdict::Mixed;
                }
                seen += 1;
                if *label.get_or_insert(word) != word {
                    return Verdict::Mixed;
                }
                row += 1;
            } else {
                let Some(next) = Self::next_in(region, cell) else { break };
                row = self.first_at(self.index(next));
            }
        }
        match label {
            None => Verdict::Uniform(self.background),
            Some(word) if word == self.background || seen == volume => Verdict::Uniform(word),
            Some(_) => Verdict::Mixed,
        }
    }
}
