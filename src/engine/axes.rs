//! Values per axis, before the number of axes is a type.

use crate::backend::Error;
use crate::choice::ChoiceError;
use crate::dimension::MAX_DIM;
use crate::geometry::{Domain, Sample};
use crate::per_axis;

/// One value per axis, in the first places of the most that there are.
pub(super) type OfAxes<T> = [T; MAX_DIM];

/// Those of K axes.
pub(super) fn of_first<T: Copy + Default, const K: usize>(axes: &OfAxes<T>) -> [T; K] {
    per_axis::each(|j| axes[j])
}

/// One value for every one of `k` axes, or one per axis.
pub(super) fn per_axis(
    name: &'static str,
    values: Option<&[u32]>,
    default: u32,
    k: usize,
) -> Result<OfAxes<u32>, Error> {
    let values = match values {
        None => return Ok([default; MAX_DIM]),
        Some([value]) => return Ok([*value; MAX_DIM]),
        Some(values) => values,
    };
    if values.len() != k {
        let reason = format!("{} axes are given; in {k} dimensions it takes 1 or {k} numbers", values.len());
        return Err(ChoiceError::new(name, "", reason).with(&["dim", "size"]).into());
    }
    Ok(per_axis::each(|j| values.get(j).copied().unwrap_or(default)))
}

/// The cells and the window of a domain.
#[derive(Clone, Copy)]
pub(super) struct DomainAxes {
    pub(super) size: OfAxes<u32>,
    pub(super) window: OfAxes<[f64; 2]>,
    pub(super) sample: Sample,
}

impl DomainAxes {
    /// The domain of K axes.
    pub(super) fn domain<const K: usize>(&self) -> Result<Domain<K>, Error> {
        Ok(Domain::new(of_first(&self.size), of_first(&self.window), self.sample)?)
    }
}

/// A window per axis, in the first places.
pub(super) fn window_of(window: &[[f64; 2]]) -> OfAxes<[f64; 2]> {
    per_axis::each(|j| window.get(j).copied().unwrap_or_default())
}

/// The cells themselves as a window.
pub(super) fn window_of_cells(size: &OfAxes<u32>) -> OfAxes<[f64; 2]> {
    per_axis::each(|j| [0.0, f64::from(size[j])])
}
