//! A list of cells that a request holds: sorted by index, so that a cell is found by a search.

use std::sync::Arc;

use rayon::prelude::*;
use xxhash_rust::xxh3::Xxh3;

use crate::cell::CellType;
use crate::list::error::ListError;
use crate::memory::reserve;
use crate::per_axis::text;
use crate::rule::exact;

/// Cells with values. All other cells of the domain have one value, the background.
///
/// A field is made of it ([`cloud`](crate::field::cloud)), which every strategy divides, on CPUs and GPUs. The domain has fewer than 2^64
/// cells. [`CellList`](crate::tree::CellList) makes a tree of a list at once, also in a larger domain. Memory is 16 bytes for each entry,
/// and as many again while it is made.
///
/// ```
/// use orthant::list::StoredList;
/// use orthant::prelude::*;
/// use orthant::CellType;
///
/// let mut entries = StoredList::builder(CellType::U16, vec![1 << 10; 4])?.background(9);
/// entries.push(&[3, 1, 4, 1], 500)?;
/// entries.push(&[1000, 0, 0, 7], 600)?;
/// let list = entries.build("two.npy")?;
/// assert_eq!((list.len(), list.size()), (2, &[1 << 10; 4][..]));
/// let request = Request::new(FieldKind::Array).data(list);
/// assert_eq!((request.k(), request.plan::<4>()?.domain().size()), (4, [1 << 10; 4]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct StoredList {
    name: String,
    kind: CellType,
    size: Vec<u32>,
    background: u64,
    indices: Arc<Vec<u64>>,
    words: Arc<Vec<u64>>,
    dropped: u64,
    hash: u64,
}

/// Lists are equal if their cells are; a hash compares them.
impl PartialEq for StoredList {
    fn eq(&self, other: &Self) -> bool {
        (self.hash, &self.size) == (other.hash, &other.size)
    }
}

impl Eq for StoredList {}

impl StoredList {
    /// An empty list over `size` cells per axis, axis 0 first, with values of type `kind`.
    ///
    /// # Errors
    /// [`ListError::Cells`] if there are no cells, or 2^64 and more.
    pub fn builder(kind: CellType, size: Vec<u32>) -> Result<ListBuilder, ListError> {
        let cells = size.iter().try_fold(1u64, |cells, &side| cells.checked_mul(side.into()));
        if size.is_empty() || cells.is_none_or(|cells| cells == 0) {
            return Err(ListError::Cells { size: text(&size) });
        }
        Ok(ListBuilder { kind, size, background: 0, entries: Vec::new(), limit: u64::MAX })
    }

    /// What it is called: the name of its file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Cells per axis, axis 0 first.
    pub fn size(&self) -> &[u32] {
        &self.size
    }

    /// The type of a value.
    pub fn kind(&self) -> CellType {
        self.kind
    }

    /// The word of cells that are not listed.
    pub fn background(&self) -> u64 {
        self.background
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.indices.len()
    }

    /// True if all cells have the value of the background.
    pub fn is_empty(&self) -> bool {
        self.indices.is_empty()
    }

    /// Entries that were listed with the background's value, and are none.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Bytes that it takes in memory.
    pub fn bytes(&self) -> u64 {
        16 * self.len() as u64
    }

    /// The XXH3-64 of the type, the background, and the indices and words of the entries in order, as `xxh3:` and sixteen hexadecimal
    /// digits. Name and size are no part of it.
    pub fn hash(&self) -> String {
        format!("xxh3:{:016x}", self.hash)
    }

    /// The cells by their index, axis 0 fastest, in order.
    pub(crate) fn indices(&self) -> &Arc<Vec<u64>> {
        &self.indices
    }

    /// Their words.
    pub(crate) fn words(&self) -> &Arc<Vec<u64>> {
        &self.words
    }

    /// The entries in the order of their index: cells, axis 0 first, and words.
    pub fn entries(&self) -> impl Iterator<Item = (Vec<u32>, u64)> + '_ {
        self.indices.iter().zip(&**self.words).map(|(&index, &word)| (cell(&self.size, index), word))
    }
}

/// The cell of an index.
fn cell(size: &[u32], mut index: u64) -> Vec<u32> {
    let coordinate = |&side: &u32| {
        let coordinate = index % u64::from(side);
        index /= u64::from(side);
        coordinate as u32
    };
    size.iter().map(coordinate).collect()
}

/// A list that is being made. [`StoredList::builder`] begins one.
#[derive(Debug)]
pub struct ListBuilder {
    kind: CellType,
    size: Vec<u32>,
    background: u64,
    /// Indices and words.
    entries: Vec<(u64, u64)>,
    limit: u64,
}

impl ListBuilder {
    /// Bytes of an entry while the list is made: twice 16.
    const BYTES: u128 = 32;

    /// Gives all cells that are not listed this word, instead of 0. Entries of that value are dropped.
    #[must_use]
    pub fn background(self, word: u64) -> Self {
        Self { background: exact::key(self.kind, word), ..self }
    }

    /// Allows at most so many bytes for the list.
    #[must_use]
    pub fn mem_limit(self, limit: u64) -> Self {
        Self { limit, ..self }
    }

    /// Makes room for so many entries more.
    ///
    /// # Errors
    /// [`ListError::Memory`] if there is none, or they would exceed the limit.
    pub fn reserve(&mut self, entries: usize) -> Result<(), ListError> {
        let need = (self.entries.len() as u128 + entries as u128) * Self::BYTES;
        let fits = need <= self.limit.into() && reserve(&mut self.entries, entries).is_ok();
        fits.then_some(()).ok_or(ListError::Memory { need })
    }

    /// Appends an entry: a cell, axis 0 first, and the word of its value.
    ///
    /// # Errors
    /// [`ListError::Axes`] if the cell has another number of coordinates than the domain has axes; [`ListError::Outside`] if the domain
    /// has no such cell; [`ListError::Memory`] if there is no room.
    pub fn push(&mut self, cell: &[u32], word: u64) -> Result<(), ListError> {
        if cell.len() != self.size.len() {
            return Err(ListError::Axes { found: cell.len(), axes: self.size.len() });
        }
        if let Some(axis) = (0..cell.len()).find(|&j| cell[j] >= self.size[j]) {
            return Err(ListError::Outside { axis, coordinate: cell[axis], size: self.size[axis] });
        }
        if self.entries.len() == self.entries.capacity() {
            self.reserve(1)?;
        }
        let axes = cell.iter().zip(&self.size).rev();
        let index = axes.fold(0, |index, (&coordinate, &side)| index * u64::from(side) + u64::from(coordinate));
        self.entries.push((index, exact::key(self.kind, word)));
        Ok(())
    }

    /// The list under a name, such as that of its file.
    ///
    /// # Errors
    /// [`ListError::Twice`] if a cell is listed twice, whatever its values; [`ListError::Memory`] if there is no room.
    pub fn build(self, name: impl Into<String>) -> Result<StoredList, ListError> {
        let Self { kind, size, background, mut entries, .. } = self;
        entries.par_sort_unstable();
        if let Some(twice) = entries.windows(2).find(|two| two[0].0 == two[1].0) {
            let cell = cell(&size, twice[0].0).iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
            return Err(ListError::Twice { cell, values: [0, 1].map(|i| kind.text(twice[i].1)) });
        }
        let listed = entries.len();
        entries.retain(|&(_, word)| word != background);
        let (mut indices, mut words) = (Vec::new(), Vec::new());
        for column in [&mut indices, &mut words] {
            let need = entries.len() as u128 * Self::BYTES;
            reserve(column, entries.len()).map_err(|_| ListError::Memory { need })?;
        }
        indices.extend(entries.iter().map(|entry| entry.0));
        words.extend(entries.iter().map(|entry| entry.1));
        let mut hash = Xxh3::new();
        hash.update(kind.name().as_bytes());
        for number in [background].iter().chain(&indices).chain(&words) {
            hash.update(&number.to_le_bytes());
        }
        let (dropped, hash) = ((listed - entries.len()) as u64, hash.digest());
        Ok(StoredList {
            name: name.into(),
            kind,
            size,
            background,
            indices: Arc::new(indices),
            words: Arc::new(words),
            dropped,
            hash,
        })
    }
}
