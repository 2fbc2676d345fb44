//! An array of the user's own as a field with a name.

use std::sync::Arc;

use crate::cell::WordsMut;
use crate::field::array;
use crate::field::block_proofs;
use crate::field::blocks::{ArrayCells, taken};
use crate::field::cloud;
use crate::field::data::FieldData;
use crate::field::definition::{Evaluate, Field, Payload, Prove};
use crate::field::error::FieldError;
use crate::field::labels::Labels;
use crate::field::options::FieldOptions;
use crate::field::start::Defaults;
use crate::field::stored_array::StoredArray;
use crate::field::twin::DeviceTwin;
use crate::geometry::{Domain, Region};
use crate::rule::{RuleKind, Verdict};

/// One line for lists.
pub(crate) const ABOUT: &str = "an array of yours, or a list of cells, from a file";

/// What a bare run uses, but for what the array says itself: its size, its window and its scheme.
pub(crate) fn defaults(k: usize) -> Defaults {
    Defaults { explore: RuleKind::Full, by_index: true, ..Defaults::unit(k) }
}

/// Opens the array, or the list of cells, that `options` hold. The domain must have its size.
///
/// # Errors
/// [`FieldError::NoData`] if there is none, [`FieldError::ArraySize`] if it has another size, [`FieldError::Memory`] if there is no room for what
/// finds the cells of a list.
pub fn open<const K: usize>(domain: &Domain<K>, options: &FieldOptions) -> Result<Box<dyn Field<K>>, FieldError> {
    let size = domain.size();
    let check = |found: &[u32]| {
        let wrong = || FieldError::ArraySize { found: found.to_vec(), domain: size.to_vec() };
        (found == size).then_some(()).ok_or_else(wrong)
    };
    match &options.data {
        Some(FieldData::Array(array)) => {
            check(array.size())?;
            Ok(Box::new(StoredArrayField { array: Arc::clone(array), size }))
        }
        Some(FieldData::List(list)) => {
            check(list.size())?;
            cloud::of_list(domain, list)
        }
        _ => Err(FieldError::NoData { field: "array", what: "the file of an array, or of a list of cells" }),
    }
}

/// An array over its own cells.
struct StoredArrayField<const K: usize> {
    array: Arc<StoredArray>,
    size: [u32; K],
}

impl<const K: usize> StoredArrayField<K> {
    fn cells(&self) -> ArrayCells<'_> {
        ArrayCells::new(self.array.kind, &self.size, &self.array.bytes)
    }
}

impl<const K: usize> Field<K> for StoredArrayField<K> {
    fn labels(&self) -> Labels {
        Labels::values(self.array.kind)
    }

    fn host(&self) -> Option<&dyn Evaluate<K>> {
        Some(self)
    }

    fn prover(&self) -> Option<&dyn Prove<K>> {
        Some(self)
    }

    /// The device gets a copy of the whole array.
    fn twin(&self) -> Option<DeviceTwin> {
        Some(array::twin(self.size, 0).with("cells", self.array.bytes.clone()))
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

/// Complete: the answer is never that nothing is known.
impl<const K: usize> Prove<K> for StoredArrayField<K> {
    fn prove(&self, region: &Region<K>, _: Payload) -> Verdict {
        block_proofs::prove(&self.cells(), region)
    }

    fn survey(&self, window: &Region<K>) -> Result<Option<Box<dyn Prove<K> + '_>>, FieldError> {
        block_proofs::survey(self.cells(), window)
    }
}
