//! An array that a request holds: data of the user's own as a field with a name.

use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use crate::cell::{CellType, WordsMut};
use crate::field::array::ArrayArgs;
use crate::field::data::FieldData;
use crate::field::definition::{Evaluate, Field};
use crate::field::error::FieldError;
use crate::field::labels::Labels;
use crate::field::options::FieldOptions;
use crate::field::start::Defaults;
use crate::field::twin::DeviceTwin;
use crate::geometry::Domain;
use crate::rule::RuleKind;

/// One line for lists.
pub(crate) const ABOUT: &str = "an array of yours, from a file";

/// What a bare run uses, but for what the array says itself: its size, its window and its scheme.
pub(crate) fn defaults(k: usize) -> Defaults {
    Defaults { explore: RuleKind::Full, by_index: true, ..Defaults::unit(k) }
}

/// Opens the array that `options` hold. The domain must have its size.
///
/// # Errors
/// [`FieldError::NoArray`] if there is none, [`FieldError::ArraySize`] if it has another size.
pub fn open<const K: usize>(domain: &Domain<K>, options: &FieldOptions) -> Result<Box<dyn Field<K>>, FieldError> {
    let Some(FieldData::Array(array)) = &options.data else {
        return Err(FieldError::NoArray);
    };
    let size = domain.size();
    if array.size != size {
        return Err(FieldError::ArraySize { found: array.size.clone(), domain: size.to_vec() });
    }
    Ok(Box::new(StoredArrayField { array: Arc::clone(array), size }))
}

/// The cells of an array of any type, axis 0 fastest, and where they lie in space.
///
/// ```
/// use orthant::field::{FieldData, StoredArray};
/// use orthant::prelude::*;
/// use orthant::CellType;
///
/// // Two rows of three cells of two bytes.
/// let bytes = [7u16, 7, 7, 7, 7, 9].iter().flat_map(|cell| cell.to_ne_bytes()).collect();
/// let array = StoredArray::new("pixels.npy", CellType::U16, vec![3, 2], bytes)?;
/// let request = Request::new(FieldKind::Array).data(FieldData::Array(array.into()));
/// let plan = request.plan::<2>()?;
/// assert_eq!(plan.domain().size(), [3, 2]);
/// # Ok::<(), orthant::Error>(())
/// ```
#[derive(Debug)]
pub struct StoredArray {
    pub(crate) name: String,
    kind: CellType,
    pub(crate) size: Vec<u32>,
    pub(crate) window: Option<Vec<[f64; 2]>>,
    /// Which axes are steps of a series.
    pub(crate) series: Vec<bool>,
    bytes: Arc<Vec<u8>>,
    hash: u64,
}

impl StoredArray {
    /// The array called `name` of `size` cells per axis, axis 0 first. `bytes` are its cells, axis 0 fastest, in this machine's
    /// byte order. It lies in cells; [`window`](Self::window) says otherwise.
    ///
    /// # Errors
    /// [`FieldError::EmptyArray`] if there are no cells, [`FieldError::ArrayBytes`] if there are not as many bytes as `size` says.
    pub fn new(name: impl Into<String>, kind: CellType, size: Vec<u32>, bytes: Vec<u8>) -> Result<Self, FieldError> {
        let cells = size.iter().try_fold(1u64, |cells, &side| cells.checked_mul(side.into()));
        if size.is_empty() || cells == Some(0) {
            return Err(FieldError::EmptyArray);
        }
        let need = cells.and_then(|cells| cells.checked_mul(kind.bytes()));
        if need != Some(bytes.len() as u64) {
            return Err(FieldError::ArrayBytes { size, kind, found: bytes.len() as u64 });
        }
        let (series, hash) = (vec![false; size.len()], xxh3_64(&bytes));
        Ok(Self { name: name.into(), kind, size, window: None, series, bytes: Arc::new(bytes), hash })
    }

    /// Sets where it lies: `[lo, hi]` per axis, in units.
    #[must_use]
    pub fn window(self, window: impl Into<Option<Vec<[f64; 2]>>>) -> Self {
        Self { window: window.into(), ..self }
    }

    /// Says which axes are steps of a series, such as time, which are not divided.
    ///
    /// # Panics
    /// If there are not as many as axes.
    #[must_use]
    pub fn series(self, series: Vec<bool>) -> Self {
        assert_eq!(series.len(), self.size.len(), "one per axis");
        Self { series, ..self }
    }

    /// What it is called: the name of its file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Cells per axis, axis 0 first.
    pub fn size(&self) -> &[u32] {
        &self.size
    }

    /// The type of a cell.
    pub fn kind(&self) -> CellType {
        self.kind
    }

    /// The XXH3-64 of its bytes.
    pub fn hash(&self) -> u64 {
        self.hash
    }
}

/// An array over its own cells.
struct StoredArrayField<const K: usize> {
    array: Arc<StoredArray>,
    size: [u32; K],
}

impl<const K: usize> Field<K> for StoredArrayField<K> {
    fn labels(&self) -> Labels {
        Labels::values(self.array.kind)
    }

    fn host(&self) -> Option<&dyn Evaluate<K>> {
        Some(self)
    }

    /// The device gets a copy of the whole array.
    fn twin(&self) -> Option<DeviceTwin> {
        let twin = DeviceTwin::built_in("fields/array.cuh", &ArrayArgs::of(self.size));
        let place = twin.place("cells");
        Some(twin.shared(place, Arc::clone(&self.array.bytes)))
    }
}

impl<const K: usize> Evaluate<K> for StoredArrayField<K> {
    fn evaluate(&self, cells: &[[u32; K]], labels: WordsMut<'_>) {
        let index = |cell: &[u32; K]| {
            let mut index = 0;
            for j in (0..K).rev() {
                index = index * self.size[j] as usize + cell[j] as usize;
            }
            index
        };
        let bytes = &self.array.bytes[..];
        match labels {
            WordsMut::Narrow(words) => match self.array.kind.bytes() {
                1 => words.iter_mut().zip(cells).for_each(|(word, cell)| *word = bytes[index(cell)].into()),
                2 => words.iter_mut().zip(cells).for_each(|(word, cell)| {
                    let at = 2 * index(cell);
                    *word = u16::from_ne_bytes([bytes[at], bytes[at + 1]]).into();
                }),
                _ => words.iter_mut().zip(cells).for_each(|(word, cell)| {
                    *word = u32::from_ne_bytes(taken(bytes, index(cell)));
                }),
            },
            WordsMut::Wide(words) => words.iter_mut().zip(cells).for_each(|(word, cell)| {
                *word = u64::from_ne_bytes(taken(bytes, index(cell)));
            }),
        }
    }
}

/// The bytes of element `index`, of N bytes.
#[inline(always)]
fn taken<const N: usize>(bytes: &[u8], index: usize) -> [u8; N] {
    bytes[N * index..][..N].try_into().expect("N bytes")
}
