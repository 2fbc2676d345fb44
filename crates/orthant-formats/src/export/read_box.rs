//! A box of cells that was read, to be asked for words.

use crate::export::boxes::Boxes;
use crate::export::error::ExportError;
use orthant::CellType;
use orthant::geometry::Region;
use orthant::memory::zeros;

/// Cells that were read.
pub(super) struct ReadBox<const K: usize> {
    window: Region<K>,
    kind: CellType,
    bytes: Vec<u8>,
}

impl<const K: usize> ReadBox<K> {
    /// Reads a box.
    ///
    /// # Errors
    /// If there is no memory for it, or its cells cannot be read.
    pub(super) fn of(boxes: &dyn Boxes<K>, window: Region<K>) -> Result<Self, ExportError> {
        let kind = boxes.kind();
        let mut bytes = zeros::<u8>((window.volume() * kind.bytes()) as usize)?;
        boxes.read(&window, &mut bytes).map_err(ExportError::Read)?;
        Ok(Self { window, kind, bytes })
    }

    /// The word of a cell of the box.
    pub(super) fn word(&self, cell: [u32; K]) -> u64 {
        fn of<const W: usize>(bytes: &[u8], place: usize) -> [u8; W] {
            bytes[place * W..][..W].try_into().expect("as many as were cut")
        }
        let place = self.window.place(cell);
        match self.kind.bytes() {
            1 => self.bytes[place].into(),
            2 => u16::from_ne_bytes(of(&self.bytes, place)).into(),
            4 => u32::from_ne_bytes(of(&self.bytes, place)).into(),
            _ => u64::from_ne_bytes(of(&self.bytes, place)),
        }
    }
}
