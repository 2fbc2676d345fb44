//! A source that has no cells that are not a number.

use std::io;

use orthant::CellType;
use orthant::geometry::Region;
use orthant::tree::Source;

/// A source that fails at the first cell that is NaN. Other sources let all NaNs count as one value.
///
/// ```
/// use orthant_formats::input::Numbers;
/// use orthant::prelude::*;
/// use orthant::tree::Source;
/// let array = ndarray::arr2(&[[1.0f32, 2.0], [3.0, f32::NAN]]).into_dyn();
/// let field: ArrayField<2, _> = ArrayField::new(array.view()).unwrap();
/// let mut row = [0; 8];
/// let numbers = Numbers(&field);
/// numbers.read(&Region { corner: [0, 0], extent: [2, 1] }, &mut row).unwrap();
/// let error = numbers.read(&Region { corner: [0, 1], extent: [2, 1] }, &mut row).unwrap_err();
/// assert!(error.to_string().contains("cell [1, 1] is not a number"));
/// # use orthant::ndarray;
/// ```
#[derive(Debug)]
pub struct Numbers<'s, const K: usize>(pub &'s dyn Source<K>);

impl<const K: usize> Source<K> for Numbers<'_, K> {
    fn kind(&self) -> CellType {
        self.0.kind()
    }

    fn size(&self) -> [u32; K] {
        self.0.size()
    }

    fn read(&self, window: &Region<K>, bytes: &mut [u8]) -> io::Result<()> {
        self.0.read(window, bytes)?;
        let first = match self.kind() {
            CellType::F32 => bytes.as_chunks().0.iter().position(|&cell| f32::from_ne_bytes(cell).is_nan()),
            CellType::F64 => bytes.as_chunks().0.iter().position(|&cell| f64::from_ne_bytes(cell).is_nan()),
            _ => None,
        };
        first.map_or(Ok(()), |place| {
            let cell = window.cell(window.offset(place as u64));
            Err(io::Error::new(io::ErrorKind::InvalidData, format!("cell {cell:?} is not a number")))
        })
    }
}
