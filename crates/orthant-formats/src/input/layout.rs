//! How cells lie in a file.

use crate::input::error::InputFault;
use orthant::CellType;
use orthant::{Endian, IndexOrder, MAX_DIM};

/// How the cells of an array lie in a file: without gaps, from some byte to the end.
///
/// ```
/// use orthant_formats::input::{ArrayFile, Endian, IndexOrder, Layout};
/// use orthant::prelude::*;
/// use orthant::tree::BottomUp;
///
/// # let path = std::env::temp_dir().join(format!("orthant-doc-raw-{}.bin", std::process::id()));
/// // Four bytes of something else, then 3 x 2 cells.
/// std::fs::write(&path, [9, 9, 9, 9, 1, 2, 3, 4, 5, 6])?;
/// let (kind, order, endian) = (orthant::CellType::U8, IndexOrder::C, Endian::Little);
/// let file = ArrayFile::raw(&path, Layout { kind, size: vec![3, 2], order, endian, offset: 4 })?;
/// let source = file.source::<2>()?;
/// let plan = Plan::builder([3, 2]).rule(RuleKind::Full).build()?;
/// assert_eq!(BottomUp::new(&plan, &source)?.tree()?.get([2, 1]), Some(6u8));
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// The type of a cell.
    pub kind: CellType,
    /// Cells per axis, axis 0 first: NumPy's shape, from its end.
    pub size: Vec<u32>,
    /// Which index is the fastest.
    pub order: IndexOrder,
    /// Which byte of a cell comes first.
    pub endian: Endian,
    /// The byte of the file where cells begin.
    pub offset: u64,
}

impl Layout {
    /// The bytes of its cells, or the largest number where they are more, if it is an array's.
    pub(super) fn bytes(&self) -> Result<u128, InputFault> {
        if !(1..=MAX_DIM).contains(&self.size.len()) {
            return Err(InputFault::Axes { offset: 0, axes: self.size.len() });
        }
        if self.size.contains(&0) {
            return Err(InputFault::Extent { offset: 0, cells: 0 });
        }
        let bytes = u128::from(self.kind.bytes());
        Ok(self.size.iter().fold(bytes, |bytes, &cells| bytes.saturating_mul(cells.into())))
    }
}
