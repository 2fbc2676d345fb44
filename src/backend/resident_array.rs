//! A dense array that stays on a device.
//!
//! Whoever computes on a GPU next needs an address there, not a copy on the host. What is said here is enough to describe the
//! array to other programs; the memory stays the prepared plan's.

use crate::cell::CellType;
use crate::field::DeviceArrayField;
use crate::geometry::Region;

/// Where a dense array lies in the memory of a device.
/// [`Prepared::resident_array`](crate::backend::Prepared::resident_array) says whose it is, and how long it stays.
///
/// ```
/// use orthant::backend::Part;
/// use orthant::prelude::*;
/// use orthant::Control;
///
/// let plan = Plan::builder([64, 64]).scheme(Scheme::uniform(2, 2, 4)).build()?;
/// let left = CellField::new(1, |[x, _]| u32::from(x < 32));
/// let cpu = Target::cpu();
/// let mut prepared = cpu.of().prepare(&plan, &left, &How::default())?;
/// prepared.run(&Part::default(), &Control::default())?;
/// // The CPU has its array on the host.
/// assert_eq!(prepared.resident_array()?, None);
/// # Ok::<(), orthant::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResidentArray<const K: usize> {
    /// The address of its first cell, on the device.
    pub address: u64,
    /// Bytes of all its cells.
    pub bytes: u64,
    /// The number of the device, as [`Target::open`](crate::Target::open) counts.
    pub ordinal: usize,
    /// The cells that it covers, axis 0 fastest.
    pub window: Region<K>,
    /// The type of a cell.
    pub cell: CellType,
}

impl<const K: usize> ResidentArray<K> {
    /// The array as a field, for another run on the same device. It is read where it lies.
    pub fn field(&self) -> DeviceArrayField<K> {
        DeviceArrayField::new(self.address, self.cell, self.window.extent).expect("a dense array has cells")
    }
}
