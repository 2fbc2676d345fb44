//! Rows of regions, as NumPy's structured arrays have them, and their columns, as tables have them.

use orthant::CellType;
use orthant::geometry::Region;

use crate::memory::typestr;

/// A terminal region.
pub(crate) struct Row<const K: usize> {
    pub(crate) level: u32,
    pub(crate) code: u64,
    pub(crate) cells: Region<K>,
    /// The word of a uniform one; None of a leaf.
    pub(crate) value: Option<u64>,
}

/// The fields of a row, each with its type and where it begins, and the bytes of a row. Axes are in NumPy's order, x last.
pub(crate) fn layout(k: usize, kind: CellType) -> (Vec<(&'static str, String, usize)>, usize) {
    let axes = format!("({k},)u4");
    let fields = vec![
        ("level", "u4".to_owned(), 16),
        ("code", "u8".to_owned(), 0),
        ("corner", axes.clone(), 20),
        ("extent", axes, 20 + 4 * k),
        ("value", typestr(kind), value_at(k)),
        ("brick", "i8".to_owned(), 8),
    ];
    (fields, bytes(k, kind))
}

/// Where the value begins: behind numbers of four bytes, at a multiple of eight.
fn value_at(k: usize) -> usize {
    (20 + 8 * k).next_multiple_of(8)
}

/// Bytes of a row.
pub(crate) fn bytes(k: usize, kind: CellType) -> usize {
    (value_at(k) + kind.bytes() as usize).next_multiple_of(8)
}

/// A column of rows, of one number each.
pub(crate) struct Column {
    pub(crate) name: String,
    /// As Arrow writes its type.
    pub(crate) format: &'static str,
    /// Where it begins in a row, and its bytes.
    pub(crate) at: usize,
    pub(crate) bytes: usize,
    /// If some rows have no value: true of a column that leaves have.
    leaves: Option<bool>,
}

impl Column {
    /// True if some rows may have no value.
    pub(crate) fn nullable(&self) -> bool {
        self.leaves.is_some()
    }

    /// True if a row has a value.
    pub(crate) fn is_valid(&self, row: &[u8]) -> bool {
        // A uniform region has no brick: all bits are set.
        let is_leaf = row[8..16] != [0xFF; 8];
        self.leaves.is_none_or(|leaves| leaves == is_leaf)
    }
}

/// The columns of a row. Axes have the names given, x last. A leaf has no value, a uniform region no brick.
pub(crate) fn columns(kind: CellType, axes: &[String]) -> Vec<Column> {
    let k = axes.len();
    let one = |name: &str, format, at, bytes, leaves| Column { name: name.to_owned(), format, at, bytes, leaves };
    let of_axes = |what: &str, at: usize| -> Vec<Column> {
        let names = axes.iter().enumerate();
        names.map(|(axis, name)| one(&format!("{what}_{name}"), "I", at + 4 * axis, 4, None)).collect()
    };
    let format = match kind.name() {
        "u8" => "C",
        "i8" => "c",
        "u16" => "S",
        "i16" => "s",
        "u32" => "I",
        "i32" => "i",
        "u64" => "L",
        "i64" => "l",
        "f32" => "f",
        _ => "g",
    };
    let mut columns = vec![one("level", "I", 16, 4, None), one("code", "L", 0, 8, None)];
    columns.extend(of_axes("corner", 20));
    columns.extend(of_axes("extent", 20 + 4 * k));
    columns.push(one("value", format, value_at(k), kind.bytes() as usize, Some(false)));
    columns.push(one("brick", "l", 8, 8, Some(true)));
    columns
}

/// Writes the low bytes of a word.
pub(crate) fn put(to: &mut [u8], word: u64) {
    let (bytes, width) = (word.to_ne_bytes(), to.len());
    let low = if cfg!(target_endian = "big") { 8 - width } else { 0 };
    to.copy_from_slice(&bytes[low..low + width]);
}

impl<const K: usize> Row<K> {
    /// Writes the row; a leaf's brick begins at that cell of all bricks, in the order of rows.
    pub(crate) fn write(&self, kind: CellType, brick: Option<u64>, to: &mut [u8]) {
        to.fill(0);
        put(&mut to[0..8], self.code);
        put(&mut to[8..16], brick.map_or(u64::MAX, |brick| brick));
        put(&mut to[16..20], self.level.into());
        for j in 0..K {
            let axis = K - 1 - j;
            put(&mut to[20 + 4 * axis..][..4], self.cells.corner[j].into());
            put(&mut to[20 + 4 * (K + axis)..][..4], self.cells.extent[j].into());
        }
        put(&mut to[value_at(K)..][..kind.bytes() as usize], self.value.unwrap_or(0));
    }
}
