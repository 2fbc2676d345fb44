//! What was chosen per axis, before the number of axes is a type.

use crate::backend::Error;
use crate::choice::ChoiceError;
use crate::engine::domain_axes::{AxisValues, first_axes, per_axis, window_of};
use crate::engine::request::Computed;

/// g, r and B as far as they were chosen.
pub(super) struct ChosenSplits<const K: usize> {
    pub(super) g: Option<[u32; K]>,
    pub(super) r: Option<[u32; K]>,
    pub(super) b: Option<[u32; K]>,
}

impl Computed {
    /// Cells on each of `k` axes, of which there is at least one.
    pub(super) fn cells(&self, given: Option<&[u32]>, default: u32, k: usize) -> Result<AxisValues<u32>, Error> {
        let size = per_axis("size", given, default, k)?;
        if size[..k].contains(&0) {
            return Err(ChoiceError::new("size", 0, "at least 1 cell per axis is needed").into());
        }
        Ok(size)
    }

    /// The window of `k` axes, if one was chosen.
    pub(super) fn chosen_window(&self, k: usize) -> Result<Option<AxisValues<[f64; 2]>>, Error> {
        let Some(window) = &self.window else { return Ok(None) };
        if window.len() != k {
            let reason = format!("{} intervals are given; {k} are needed, one per axis", window.len());
            return Err(ChoiceError::new("domain", "", reason).into());
        }
        Ok(Some(window_of(window)))
    }

    /// g, r and B as far as they were chosen.
    pub(super) fn chosen_splits<const K: usize>(&self) -> Result<ChosenSplits<K>, Error> {
        let [g, r, b] = self.chosen_axes(K)?;
        let axes = |values: Option<AxisValues<u32>>| values.map(|values| first_axes(&values));
        Ok(ChosenSplits { g: axes(g), r: axes(r), b: axes(b) })
    }

    fn chosen_axes(&self, k: usize) -> Result<[Option<AxisValues<u32>>; 3], Error> {
        let axes = |name, values: &Option<Vec<u32>>| {
            values.as_deref().map(|values| per_axis(name, Some(values), 0, k)).transpose()
        };
        Ok([axes("g", &self.g)?, axes("r", &self.r)?, axes("B", &self.b)?])
    }
}
