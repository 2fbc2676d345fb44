//! Points and lists of cells as a field: the cells that are listed, in the order of the array. All others have one value, the background.
//!
//! A tree is made of either by sorting it along its curve ([`FromPoints`](crate::tree::FromPoints), [`CellList`](crate::tree::CellList)),
//! which is faster. A field has them for every strategy: listed cells are kept by their index, a cell is a search among them, and a region
//! is proven by those that lie in it.

use std::sync::OnceLock;

use crate::abi::{device_struct, padded};
use crate::cell::WordsMut;
use crate::field::cell_index::CellIndex;
use crate::field::data::FieldData;
use crate::field::definition::{Evaluate, Field, Payload, Prove};
use crate::field::device_points::DevicePoints;
use crate::field::error::FieldError;
use crate::field::labels::Labels;
use crate::field::options::FieldOptions;
use crate::field::start::Defaults;
use crate::field::twin::DeviceTwin;
use crate::field::unsorted_points::UnsortedPoints;
use crate::geometry::{Domain, Region};
use crate::list::StoredList;
use crate::memory::Refused;
use crate::per_axis;
use crate::points::PointsValue;
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
    let points = UnsortedPoints::new(domain, points, value)?;
    let labels = if value == PointsValue::Occupied { Labels::counts(1) } else { Labels::values(points.kind) };
    Ok(Box::new(Cloud { size: domain.size(), listed: OnceLock::new(), points: Some(points), background: 0, labels }))
}

/// Opens a list of cells over a domain of its size.
///
/// # Errors
/// [`FieldError::Memory`] if there is none.
pub(super) fn of_list<const K: usize>(domain: &Domain<K>, list: &StoredList) -> Result<Box<dyn Field<K>>, FieldError> {
    let memory = |refused: Refused| FieldError::Memory { what: "the table of listed cells", need: refused.bytes };
    let listed = CellIndex::new(list.indices().clone(), list.words().clone(), domain.cells() as u64);
    let (listed, size) = (listed.map_err(memory)?.into(), domain.size());
    Ok(Box::new(Cloud {
        size,
        listed,
        points: None,
        background: list.background(),
        labels: Labels::values(list.kind()),
    }))
}

/// The cells of points or of a list. Points are sorted by a GPU, or by the host when it is first asked for a cell; the twin of a list has the
/// host's own arrays.
struct Cloud<const K: usize> {
    size: [u32; K],
    listed: OnceLock<CellIndex>,
    /// What is still to be sorted, of points.
    points: Option<UnsortedPoints<K>>,
    /// The word of all other cells.
    background: u64,
    labels: Labels,
}

device_struct! {
    /// The arrays, how many rows the first two have, what other cells are, and cells per axis.
    struct CloudArgs { indices: u64, words: u64, starts: u64, rows: u64, shift: u64, background: u64, size: [u32; 8] }
}

impl<const K: usize> Cloud<K> {
    /// The listed cells. The first call sorts points.
    #[inline]
    fn listed(&self) -> &CellIndex {
        self.listed.get_or_init(|| self.points.as_ref().expect("cells are listed, or made of points").sorted())
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

fn twin(args: &CloudArgs, occupied: bool) -> DeviceTwin {
    DeviceTwin::built_in("fields/cloud.cuh", args).proves().proofs_add_up().define("POINTS_OCCUPY", occupied)
}

/// The twin of points that a device sorts, which then tells it where the cells are.
pub(super) fn twin_of_points<const K: usize>(size: [u32; K], points: DevicePoints) -> DeviceTwin {
    let occupied = !points.counts;
    DeviceTwin { points: Some(points), ..twin(&CloudArgs { size: padded(size), ..CloudArgs::default() }, occupied) }
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
        // A region that has no listed cell is background. No more cells have points than there are points.
        let points = || self.points.as_ref().map(UnsortedPoints::len);
        self.listed.get().map(|listed| listed.indices.len() as u64).or_else(points)
    }

    fn twin(&self) -> Option<DeviceTwin> {
        // What the host has sorted a GPU need not sort again.
        let unsorted = self.points.as_ref().filter(|_| self.listed.get().is_none());
        if let Some(points) = unsorted.and_then(UnsortedPoints::on_device) {
            return Some(twin_of_points(self.size, points));
        }
        let listed = self.listed();
        let (rows, shift) = (listed.indices.len() as u64, listed.shift.into());
        let (background, size) = (self.background, padded(self.size));
        // Where cells are 1 there is no array of that.
        let occupied = self.labels == Labels::counts(1);
        let twin = twin(&CloudArgs { rows, shift, background, size, ..CloudArgs::default() }, occupied);
        let twin = twin.with("indices", listed.indices.clone()).with("starts", listed.starts.clone());
        Some(if occupied { twin } else { twin.with("words", listed.words.clone()) })
    }
}

impl<const K: usize> Evaluate<K> for Cloud<K> {
    fn ready(&self) {
        self.listed();
    }

    fn evaluate(&self, cells: &[[u32; K]], labels: WordsMut<'_>) {
        let listed = self.listed();
        let word = |&cell: &[u32; K]| listed.word(self.index(cell)).unwrap_or(self.background);
        match labels {
            WordsMut::Narrow(words) => words.iter_mut().zip(cells).for_each(|(to, cell)| *to = word(cell) as u32),
            WordsMut::Wide(words) => words.iter_mut().zip(cells).for_each(|(to, cell)| *to = word(cell)),
        }
    }
}

/// Complete: the answer is never that nothing is known.
impl<const K: usize> Prove<K> for Cloud<K> {
    fn prove(&self, region: &Region<K>, _: Payload) -> Verdict {
        let (listed, volume) = (self.listed(), region.cells_wide());
        let (mut row, mut seen, mut label) = (listed.first_at(self.index(region.corner)), 0u128, None);
        while let Some(&index) = listed.indices.get(row) {
            let cell = self.cell(index);
            if (0..K).all(|j| cell[j].wrapping_sub(region.corner[j]) < region.extent[j]) {
                let word = listed.words[row];
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
                row = listed.first_at(self.index(next));
            }
        }
        match label {
            None => Verdict::Uniform(self.background),
            Some(word) if word == self.background || seen == volume => Verdict::Uniform(word),
            Some(_) => Verdict::Mixed,
        }
    }
}
