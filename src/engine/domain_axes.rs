//! Values per axis, before the number of axes is a type.

use crate::backend::Error;
use crate::choice::ChoiceError;
use crate::dimension::MAX_DIM;
use crate::geometry::{Domain, Sample};
use crate::per_axis;

/// One value per axis, in the first places of the most that there are.
pub(super) type AxisValues<T> = [T; MAX_DIM];

/// The values of the first K axes.
pub(super) fn first_axes<T: Copy + Default, const K: usize>(axes: &AxisValues<T>) -> [T; K] {
    per_axis::each(|j| axes[j])
}

/// One value for every one of `k` axes, or one per axis.
pub(super) fn per_axis(
    name: &'static str,
    values: Option<&[u32]>,
    default: u32,
    k: usize,
) -> Result<AxisValues<u32>, Error> {
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
    pub(super) size: AxisValues<u32>,
    pub(super) window: AxisValues<[f64; 2]>,
    pub(super) sample: Sample,
}

impl DomainAxes {
    /// The domain of K axes.
    pub(super) fn domain<const K: usize>(&self) -> Result<Domain<K>, Error> {
        Ok(Domain::new(first_axes(&self.size), first_axes(&self.window), self.sample)?)
    }
}

/// A window per axis, in the first places.
pub(super) fn window_of(window: &[[f64; 2]]) -> AxisValues<[f64; 2]> {
    per_axis::each(|j| window.get(j).copied().unwrap_or_default())
}

/// The cells themselves as a window.
pub(super) fn window_of_cells(size: &AxisValues<u32>) -> AxisValues<[f64; 2]> {
    per_axis::each(|j| [0.0, f64::from(size[j])])
}
