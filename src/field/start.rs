//! Where a run of a field starts from, unless it is told otherwise.

use crate::rule::RuleKind;

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
    /// How a region is found uniform: what measures best on a GPU at no more wrong cells than `border` has.
    pub explore: RuleKind,
    /// True if the field is a set of cell indices. Its window is the cells themselves, and nothing is iterated.
    pub by_index: bool,
}

impl Defaults {
    /// 64 cells on every axis of the unit cube, {4, 2, 4}, without a dwell.
    pub fn unit(k: usize) -> Self {
        let window = vec![[0.0, 1.0]; k];
        Self { size: 64, g: 4, r: 2, b: 4, dwell: None, window, explore: RuleKind::Border, by_index: false }
    }
}
