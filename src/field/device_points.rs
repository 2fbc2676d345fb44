//! What a GPU needs to sort points into cells.

use std::sync::Arc;

use crate::abi::padded;
use crate::dimension::MAX_DIM;
use crate::geometry::Domain;
use crate::points::{Points, PointsError, PointsValue, has_axes};

/// The most points that a GPU sorts: their numbers have 32 bits, and a block looks at whole tiles of them.
pub(crate) const MOST: u64 = (1 << 32) - (1 << 16);

/// Where coordinates lie.
#[cfg_attr(not(feature = "cuda"), expect(dead_code, reason = "read where kernels are compiled"))]
#[derive(Debug, Clone)]
pub(crate) enum PointPlace {
    /// On the host, from which a device copies them.
    Host(Arc<Points>),
    /// At this address of a device, where others may write them.
    Device(u64),
}

/// What a device needs to sort points.
#[cfg_attr(not(feature = "cuda"), expect(dead_code, reason = "read where kernels are compiled"))]
#[derive(Debug, Clone)]
pub(crate) struct DevicePoints {
    /// f64, point after point.
    pub(crate) place: PointPlace,
    pub(crate) number: u64,
    pub(crate) axes: usize,
    pub(crate) size: [u32; MAX_DIM],
    /// On every axis where the window begins and ends, and how long a cell is.
    pub(crate) window: [[f64; 3]; MAX_DIM],
    pub(crate) cells: u64,
    /// Cells are worth the number of their points; else 1.
    pub(crate) counts: bool,
}

impl DevicePoints {
    /// # Errors
    /// [`PointsError`] if a device cannot sort them.
    pub(super) fn new<const K: usize>(
        domain: &Domain<K>,
        place: PointPlace,
        number: u64,
        value: PointsValue,
    ) -> Result<Self, PointsError> {
        let counts = match value {
            PointsValue::Occupied => false,
            PointsValue::Count => true,
            PointsValue::Min | PointsValue::Max | PointsValue::Mean => return Err(PointsError::NoAttribute { value }),
        };
        if !has_axes(K) {
            return Err(PointsError::Axes { axes: K });
        }
        match number {
            0 => return Err(PointsError::None),
            1..=MOST => {}
            _ => return Err(PointsError::Many { points: number, most: MOST }),
        }
        // The index beyond the last cell is that of points that lie in none.
        let cells = u64::try_from(domain.cells()).map_err(|_| PointsError::Bits)?;
        let (size, mut window) = (domain.size(), [[0.0, 1.0, 1.0]; MAX_DIM]);
        for (j, [low, high]) in domain.window().into_iter().enumerate() {
            window[j] = [low, high, domain.pitch()[j]];
        }
        Ok(Self { place, number, axes: K, size: padded(size), window, cells, counts })
    }
}

#[cfg(feature = "cuda")]
impl DevicePoints {
    /// Bytes that a device copies.
    pub(crate) fn copied(&self) -> u64 {
        match self.place {
            PointPlace::Host(_) => 8 * self.axes as u64 * self.number,
            PointPlace::Device(_) => 0,
        }
    }
}
