//! Where a run of a field starts from, unless it is told otherwise.

/// What a bare run of a built-in field uses in a given number of dimensions.
#[derive(Debug, Clone, PartialEq)]
pub struct Defaults {
    /// Cells per axis.
    pub size: u32,
    /// Initial split per axis.
    pub g: u32,
    /// Recurrent split per axis.
    pub r: u32,
    /// Stop side.
    pub b: u32,
    /// Dwell cap; None if the field has none.
    pub dwell: Option<u32>,
    /// `[lo, hi]` per axis.
    pub window: Vec<[f64; 2]>,
    /// True of a mask by nature, whose regions are proven: it is explored in full.
    pub proven: bool,
    /// True of a set of cell indices: its window is the cells themselves, and nothing is iterated.
    pub by_index: bool,
}

impl Defaults {
    /// 64 cells on every axis of the unit cube, {4, 2, 4}, without a dwell.
    pub fn unit(k: usize) -> Self {
        Self { size: 64, g: 4, r: 2, b: 4, dwell: None, window: vec![[0.0, 1.0]; k], proven: false, by_index: false }
    }
}
