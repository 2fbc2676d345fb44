//! How structures of C lie in memory, and values in them.

use crate::export::error::ExportError;
use orthant::CellType;

/// What every structure begins at a multiple of.
pub(super) const ALIGNED: usize = 32;

/// How values lie in nodes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Values {
    kind: CellType,
    /// What NanoVDB calls the type.
    pub(super) grid_type: u32,
    /// Bytes of a value.
    pub(super) width: usize,
    /// Bytes of a mean.
    pub(super) mean: usize,
}

impl Values {
    pub(super) fn of(kind: CellType) -> Result<Self, ExportError> {
        let (grid_type, width) = match kind {
            CellType::F32 => (1, 4),
            CellType::F64 => (2, 8),
            CellType::U8 | CellType::I8 | CellType::I16 => (3, 2),
            CellType::U16 | CellType::I32 => (4, 4),
            CellType::I64 => (5, 8),
            CellType::U32 => (10, 4),
            CellType::U64 => return Err(ExportError::Kind { format: ".nvdb", kind, allowed: "all others" }),
        };
        Ok(Self { kind, grid_type, width, mean: if width == 8 { 8 } else { 4 } })
    }

    /// The type of the cells that become values.
    pub(super) fn kind(self) -> CellType {
        self.kind
    }

    /// A word as a value, in the first `width` bytes.
    pub(super) fn bytes(self, word: u64) -> [u8; 8] {
        let signed = match self.kind {
            CellType::I8 => word as i8 as u64,
            _ => word,
        };
        signed.to_le_bytes()
    }
}

/// A structure of C on its way, field by field.
#[derive(Debug, Default)]
pub(super) struct Structure(pub(super) Vec<u8>);

impl Structure {
    /// Fills up to a multiple of so many bytes.
    pub(super) fn align(&mut self, to: usize) {
        self.0.resize(self.0.len().next_multiple_of(to), 0);
    }

    /// A field that begins at a multiple of its length.
    pub(super) fn field<const N: usize>(&mut self, bytes: [u8; N]) {
        self.align(N);
        self.0.extend(bytes);
    }

    /// Fields of one length, one after the other.
    pub(super) fn fields<const N: usize>(&mut self, fields: impl IntoIterator<Item = [u8; N]>) {
        fields.into_iter().for_each(|bytes| self.field(bytes));
    }

    /// A value.
    pub(super) fn value(&mut self, values: Values, word: u64) {
        self.align(values.width);
        self.0.extend(&values.bytes(word)[..values.width]);
    }

    /// Least and greatest value, and a mean and a deviation that nobody computed.
    pub(super) fn range(&mut self, values: Values, [least, greatest]: [u64; 2]) {
        self.value(values, least);
        self.value(values, greatest);
        self.align(values.mean);
        self.0.resize(self.0.len() + 2 * values.mean, 0);
    }
}

/// Bits in words of 64, the first of a word in its lowest place.
pub(super) fn bits(bits: impl Iterator<Item = bool>) -> Vec<[u8; 8]> {
    let bits: Vec<bool> = bits.collect();
    let word = |bits: &[bool]| bits.iter().rev().fold(0u64, |word, &bit| word << 1 | u64::from(bit)).to_le_bytes();
    bits.chunks(64).map(word).collect()
}
