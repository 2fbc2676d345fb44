//! What was computed, with nothing left open: what a report says, and what a tuned scheme is kept for.

use serde::{Deserialize, Serialize};

use crate::curve::CurveKind;
use crate::field::{Arithmetic, DataValue, Precision};
use crate::geometry::Sample;
use crate::rule::RuleKind;

/// All that decides the cells of a run, with every default filled in. Runs with equal computations have equal cells.
///
/// ```
/// use orthant::prelude::*;
///
/// // A request leaves most things open; a computation has all of them.
/// let request = Request::new(FieldKind::Mandelbrot).size(vec![64, 64]);
/// let computation = request.computation(&request.plan::<2>()?);
/// assert_eq!((&*computation.workload, computation.k, computation.curve), ("mandelbrot", 2, CurveKind::Morton));
/// assert!(computation.dwell.is_some());
/// # Ok::<(), orthant::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Computation {
    /// The field's name.
    pub workload: String,
    /// The hash of the source of a `kernel` or a `formula`, or of the data of a `mesh` or of `points`; null for others.
    #[serde(default)]
    pub source: Option<String>,
    /// The text of a formula.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub formula: Option<String>,
    /// What the data are called that the field is made of: the name of their file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
    /// What a cell of them is worth; null of other fields.
    #[serde(default)]
    pub value: Option<DataValue>,
    /// The width of the band of distances, in edges of cells.
    #[serde(default)]
    pub band: Option<u32>,
    /// k.
    pub k: usize,
    /// Cells per axis, axis 0 first.
    pub size: Vec<u32>,
    /// `[lo, hi]` per axis.
    pub domain: Vec<[f64; 2]>,
    /// Where samples lie in their cells.
    pub sample: Sample,
    /// D, if the field has one.
    pub dwell: Option<u32>,
    /// The type of the iterated numbers.
    pub precision: Precision,
    /// Fused or plain.
    pub arithmetic: Arithmetic,
    /// The order of the OLT.
    pub curve: CurveKind,
    /// How a region is found uniform.
    pub explore: RuleKind,
    /// g per axis.
    pub g: Vec<u32>,
    /// r per axis.
    pub r: Vec<u32>,
    /// B: one number where it is the same on every axis, else one per axis.
    #[serde(rename = "B", with = "crate::per_axis")]
    pub b: Vec<u32>,
}

impl Computation {
    /// What was computed, in a few words: the field's name, an unusual value of its data, and the beginning of a formula
    /// or the name of the data.
    pub fn title(&self) -> String {
        titled(&self.workload, self.value, self.formula.as_deref().or(self.data.as_deref()))
    }
}

/// The name of a field, the value of its data unless it is the usual one, and the text of a formula as far as it fits into a line.
pub(super) fn titled(name: &str, value: Option<DataValue>, formula: Option<&str>) -> String {
    const MOST: usize = 80;
    let value = value.filter(|value| ![DataValue::Inside, DataValue::Occupied].contains(value));
    let name = value.map_or(name.to_owned(), |value| format!("{name} {value}"));
    let Some(text) = formula else { return name };
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MOST) {
        None => format!("{name}: {line}"),
        Some((end, _)) => format!("{name}: {}..", &line[..end]),
    }
}
