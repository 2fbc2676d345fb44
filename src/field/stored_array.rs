//! An array that a request holds: data of the user's own.

use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use crate::cell::CellType;
use crate::field::error::FieldError;

/// The cells of an array of any type, axis 0 fastest, and where they lie in space.
///
/// ```
/// use orthant::field::StoredArray;
/// use orthant::prelude::*;
/// use orthant::CellType;
///
/// // Two rows of three cells of two bytes.
/// let bytes = [7u16, 7, 7, 7, 7, 9].iter().flat_map(|cell| cell.to_ne_bytes()).collect();
/// let array = StoredArray::new("pixels.npy", CellType::U16, vec![3, 2], bytes)?;
/// let request = Request::new(FieldKind::Array).data(array);
/// let plan = request.plan::<2>()?;
/// assert_eq!(plan.domain().size(), [3, 2]);
/// # Ok::<(), orthant::Error>(())
/// ```
#[derive(Debug)]
pub struct StoredArray {
    name: String,
    pub(super) kind: CellType,
    pub(crate) size: Vec<u32>,
    pub(crate) window: Option<Vec<[f64; 2]>>,
    /// Which axes are steps of a series.
    pub(crate) series: Vec<bool>,
    pub(super) bytes: Arc<Vec<u8>>,
    hash: u64,
}

/// Arrays are equal if their cells are; a hash compares them.
impl PartialEq for StoredArray {
    fn eq(&self, other: &Self) -> bool {
        (self.hash, self.kind, &self.size) == (other.hash, other.kind, &other.size)
    }
}

impl Eq for StoredArray {}

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

    /// All cells, axis 0 fastest, in this machine's byte order.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The type of a cell.
    pub fn kind(&self) -> CellType {
        self.kind
    }

    /// The XXH3-64 of its bytes, as `xxh3:` and sixteen hexadecimal digits. Size, name and place are no part of it.
    pub fn hash(&self) -> String {
        format!("xxh3:{:016x}", self.hash)
    }
}
