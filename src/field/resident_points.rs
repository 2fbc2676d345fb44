//! A field of points that lie on a device.

use crate::cell::CellType;
use crate::field::cloud;
use crate::field::definition::{Evaluate, Field};
use crate::field::device_points::{DevicePoints, PointPlace};
use crate::field::error::FieldError;
use crate::field::labels::Labels;
use crate::field::twin::DeviceTwin;
use crate::geometry::Domain;
use crate::points::PointsValue;

/// A field of points whose coordinates lie in the memory of a GPU. The GPU sorts them into cells there, at the beginning of every run.
///
/// Coordinates are f64, point after point, axis 0 first. A cell is worth 1 or the number of its points. Points that lie outside of the
/// domain, or have coordinates that are no numbers, are in no cell; a run in whose domain no point lies fails.
///
/// The memory is yours. It has to stay until all runs over the field are done, on the device that carries them out. Every run reads
/// what is there when it begins: it waits for all work that was queued before in any stream of the device's primary context.
///
/// ```
/// use orthant::field::DevicePointsField;
/// use orthant::points::PointsValue;
/// use orthant::prelude::*;
///
/// let plan = Plan::builder([1024; 3]).window([[0.0, 1.0]; 3]).rule(RuleKind::Full).build()?;
/// // A million points at an address that another library told.
/// let (address, points) = (0x7f00_0000_0000, 1_000_000);
/// let field = DevicePointsField::new(plan.domain(), address, points, PointsValue::Count)?;
/// assert!(field.host().is_none() && field.twin().is_some());
/// // There is no attribute whose mean could be taken.
/// assert!(DevicePointsField::new(plan.domain(), address, points, PointsValue::Mean).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct DevicePointsField<const K: usize> {
    points: DevicePoints,
    size: [u32; K],
    labels: Labels,
}

impl<const K: usize> DevicePointsField<K> {
    /// The field of `points` points of K coordinates each, which lie at `address`, over a domain.
    ///
    /// # Errors
    /// [`FieldError::DeviceAddress`] if no f64 can begin there; [`FieldError::Points`] if there are none or more than 2^32 - 2^16, K is not
    /// 2 to 6, the domain has 2^64 cells or more, or the value is that of an attribute.
    pub fn new(domain: &Domain<K>, address: u64, points: u64, value: PointsValue) -> Result<Self, FieldError> {
        let kind = CellType::F64;
        if address == 0 || !address.is_multiple_of(kind.bytes()) {
            return Err(FieldError::DeviceAddress { address, kind });
        }
        let points = DevicePoints::new(domain, PointPlace::Device(address), points, value)?;
        let labels = if points.counts { Labels::values(CellType::U32) } else { Labels::counts(1) };
        Ok(Self { points, size: domain.size(), labels })
    }
}

impl<const K: usize> Field<K> for DevicePointsField<K> {
    fn labels(&self) -> Labels {
        self.labels
    }

    /// It is read on a GPU only.
    fn host(&self) -> Option<&dyn Evaluate<K>> {
        None
    }

    fn most_mixed(&self) -> Option<u64> {
        Some(self.points.number)
    }

    fn twin(&self) -> Option<DeviceTwin> {
        Some(cloud::twin_of_points(self.size, self.points.clone()).lent())
    }
}
