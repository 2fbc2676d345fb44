//! A field that is an array on a device.

use crate::cell::CellType;
use crate::field::array;
use crate::field::definition::{Evaluate, Field};
use crate::field::error::FieldError;
use crate::field::labels::Labels;
use crate::field::twin::DeviceTwin;

/// A field whose values are an array that lies in the memory of a GPU. It is read there, and nothing is copied to the host.
///
/// The memory is yours. It has to stay until all runs over the field are done, on the device that carries them out. Every run reads
/// what is there when it begins: it waits for all work that was queued before in any stream of the device's primary context. A wrong
/// address or size makes the run fail, as every kernel that reads what is not there.
///
/// ```
/// use orthant::prelude::*;
/// use orthant::CellType;
/// use orthant::field::{DeviceArrayField, FieldError};
///
/// // 2048 x 1024 cells of two bytes, axis 0 fastest, at an address that another library told.
/// let field = DeviceArrayField::new(0x7f00_0000_0000, CellType::U16, [2048, 1024])?;
/// assert!(field.host().is_none() && field.twin().is_some());
/// // Elements of two bytes begin at even addresses.
/// let odd = DeviceArrayField::new(0x7f00_0000_0001, CellType::U16, [2048, 1024]);
/// assert!(matches!(odd, Err(FieldError::DeviceAddress { .. })));
/// # Ok::<(), FieldError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceArrayField<const K: usize> {
    address: u64,
    kind: CellType,
    size: [u32; K],
}

impl<const K: usize> DeviceArrayField<K> {
    /// The array of `size` elements per axis at `address`, axis 0 fastest, without gaps. The domain must have that size.
    ///
    /// # Errors
    /// [`FieldError::EmptyArray`] if there are no elements, [`FieldError::DeviceAddress`] if none can begin there.
    pub fn new(address: u64, kind: CellType, size: [u32; K]) -> Result<Self, FieldError> {
        if size.contains(&0) {
            return Err(FieldError::EmptyArray);
        }
        if address == 0 || !address.is_multiple_of(kind.bytes()) {
            return Err(FieldError::DeviceAddress { address, kind });
        }
        Ok(Self { address, kind, size })
    }
}

impl<const K: usize> Field<K> for DeviceArrayField<K> {
    fn labels(&self) -> Labels {
        Labels::values(self.kind)
    }

    /// It is read on a GPU only.
    fn host(&self) -> Option<&dyn Evaluate<K>> {
        None
    }

    fn twin(&self) -> Option<DeviceTwin> {
        Some(array::twin(self.size, self.address).lent())
    }
}
