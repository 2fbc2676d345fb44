//! How labels become cells.

use crate::cell::{CellType, WordVec, Words, WordsMut};
use crate::choice::ChoiceError;
use crate::field::Labels;

/// How the labels of a field become the cells that are stored: cut to the type's bytes, or made numbers with a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Storage {
    /// The type of a label.
    pub(crate) label: CellType,
    /// The type of a cell.
    pub(crate) cell: CellType,
}

impl Storage {
    /// Counts become cells of the type `chosen`; values have their own.
    ///
    /// # Errors
    /// If the type does not hold every count.
    pub(crate) fn new(labels: Labels, chosen: CellType) -> Result<Self, ChoiceError> {
        if let Some(most) = labels.most().filter(|&most| most > chosen.most()) {
            let reason = format!("labels of this field reach {most}, more than {}", chosen.most());
            // Where a field has a dwell, that is what its labels reach.
            return Err(ChoiceError::new("cell", chosen, reason).with(&["dwell"]));
        }
        Ok(Self { label: labels.kind(), cell: labels.cell(chosen) })
    }

    /// True if a cell is not just the low bytes of a label.
    pub(crate) fn converts(self) -> bool {
        self.cell.is_float() && !self.label.is_float()
    }

    /// The cell's word of a label's.
    #[inline]
    pub(crate) fn word(self, label: u64) -> u64 {
        match (self.converts(), self.cell.bytes()) {
            (true, _) => self.cell.word(label),
            (false, 8) => label,
            (false, bytes) => label & ((1 << (8 * bytes)) - 1),
        }
    }

    /// Words whose low bytes are the cells: the labels themselves, or what they become, in `room` for words of the cell's type.
    pub(crate) fn cells<'a>(self, labels: Words<'a>, room: &'a mut WordVec) -> Words<'a> {
        if !self.converts() {
            return labels;
        }
        let cells = labels.iter().map(|label| self.cell.word(label));
        match room.reset(labels.len()) {
            WordsMut::Narrow(words) => words.iter_mut().zip(cells).for_each(|(word, cell)| *word = cell as u32),
            WordsMut::Wide(words) => words.iter_mut().zip(cells).for_each(|(word, cell)| *word = cell),
        }
        room.all()
    }
}
