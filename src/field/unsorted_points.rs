//! Points that are still to be sorted into cells: by the host when it is first asked for a cell, or by a GPU (kernels/strategies/points.cu).

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use crate::cell::CellType;
use crate::field::cell_index::CellIndex;
use crate::field::device_points::{DevicePoints, PointPlace};
use crate::field::error::FieldError;
use crate::geometry::Domain;
use crate::memory::{Refused, reserve};
use crate::points::{PointAttribute, Points, PointsError, PointsValue};

/// Points over a domain, some of which lie in it.
pub(super) struct UnsortedPoints<const K: usize> {
    domain: Domain<K>,
    points: Arc<Points>,
    value: PointsValue,
    /// The type of a cell.
    pub(super) kind: CellType,
    /// Room for the index of each point's cell and the word of its attribute: what is refused is refused before a run begins.
    room: Mutex<Vec<(u64, u64)>>,
}

impl<const K: usize> fmt::Debug for UnsortedPoints<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnsortedPoints")
            .field("points", &self.points.len())
            .field("value", &self.value)
            .finish_non_exhaustive()
    }
}

impl<const K: usize> UnsortedPoints<K> {
    /// # Errors
    /// [`FieldError::Points`] if none lies in the domain, or they have no such value; [`FieldError::Memory`].
    pub(super) fn new(domain: &Domain<K>, points: &Arc<Points>, value: PointsValue) -> Result<Self, FieldError> {
        if points.axes() != K {
            return Err(PointsError::Dimensions { axes: points.axes(), k: K }.into());
        }
        let kind = value.kind(&**points)?;
        if domain.cells() > u64::MAX.into() {
            return Err(PointsError::Bits.into());
        }
        if !points.coordinates().as_chunks::<K>().0.iter().any(|place| domain.cell_at(*place).is_some()) {
            let window = crate::per_axis::window_text(&domain.window());
            return Err(PointsError::Outside { points: points.len() as u64, window }.into());
        }
        let mut room = Vec::new();
        let memory = |refused: Refused| FieldError::Memory { what: "the cells of points", need: refused.bytes };
        reserve(&mut room, points.len()).map_err(memory)?;
        Ok(Self { domain: *domain, points: points.clone(), value, kind, room: room.into() })
    }

    /// The number of points.
    pub(super) fn len(&self) -> u64 {
        self.points.len() as u64
    }

    /// What a device needs to sort them; None where it cannot.
    pub(super) fn on_device(&self) -> Option<DevicePoints> {
        let place = PointPlace::Host(self.points.clone());
        DevicePoints::new(&self.domain, place, self.len(), self.value).ok()
    }

    /// The cells with points.
    pub(super) fn sorted(&self) -> CellIndex {
        let size = self.domain.size();
        let index = |cell: [u32; K]| (0..K).rev().fold(0, |index, j| index * u64::from(size[j]) + u64::from(cell[j]));
        let measured = self.points.measured();
        let word = |point: usize| measured.map_or(0, |measured| measured.words()[point]);
        let mut found = std::mem::take(&mut *self.room.lock().unwrap_or_else(PoisonError::into_inner));
        for (point, place) in self.points.coordinates().as_chunks::<K>().0.iter().enumerate() {
            found.extend(self.domain.cell_at(*place).map(|cell| (index(cell), word(point))));
        }
        let measured = measured.map_or(CellType::U8, PointAttribute::kind);
        let (indices, words) = merged(found, self.value, measured, self.kind);
        let (indices, words, cells) = (Arc::new(indices), Arc::new(words), self.domain.cells() as u64);
        CellIndex::new(indices.clone(), words.clone(), cells).unwrap_or_else(|_| {
            // Without room for a table a search is longer.
            let half = indices.partition_point(|index| index >> 63 == 0) as u64;
            let starts = Arc::new(vec![0, half, indices.len() as u64]);
            CellIndex { starts, indices, words, shift: 63 }
        })
    }
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
