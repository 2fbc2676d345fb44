//! Leaves: boxes of 8^3 cells, as they are in the file.

use crate::export::nvdb::active::Active;
use crate::export::nvdb::layout::{ALIGNED, Structure, Values, bits};

/// Cells of a leaf.
const CELLS: usize = 512;

/// A leaf as it is in the file; it knows of no others.
#[derive(Debug)]
pub(super) struct VdbLeaf {
    pub(super) bytes: Box<[u8]>,
    pub(super) checksum: u32,
    pub(super) active: Active,
    /// Active cells.
    pub(super) cells: u64,
}

impl VdbLeaf {
    /// The leaf whose cells are `words`, the last axis fastest.
    pub(super) fn new(values: Values, words: &[u64; CELLS], active: Active) -> Self {
        let mut leaf = Structure::default();
        leaf.fields(active.low.map(u32::to_le_bytes));
        leaf.fields((0..3).map(|j| [(active.high[j] - active.low[j]) as u8]));
        // It has a box.
        leaf.field([1 << 1]);
        leaf.fields(bits(words.iter().map(|&word| word != 0)));
        leaf.range(values, active.range.unwrap_or_default());
        leaf.align(ALIGNED);
        words.iter().for_each(|&word| leaf.value(values, word));
        leaf.align(ALIGNED);
        let bytes = leaf.0.into_boxed_slice();
        let cells = words.iter().filter(|&&word| word != 0).count() as u64;
        Self { checksum: crc32fast::hash(&bytes), bytes, active, cells }
    }

    /// Bytes of a leaf.
    pub(super) fn bytes_of(values: Values) -> usize {
        // Its box, the bits of its cells, two values and two means, and the cells.
        let head = (16 + CELLS / 8 + 2 * values.width).next_multiple_of(values.mean) + 2 * values.mean;
        (head.next_multiple_of(ALIGNED) + CELLS * values.width).next_multiple_of(ALIGNED)
    }
}
