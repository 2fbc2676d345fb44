//! How long a worker may be deaf.
//!
//! A run is asked to stop between portions of work. Portions are cut by what they cost, so that a worker hears of it within
//! a few hundredths of a second, whatever a cell is worth.

use crate::backend::{Control, Error};
use crate::field::Field;

/// Cells evaluated between two looks at the control, unless they are costly.
const CELLS: usize = 16 * 1024;

/// Iterations between two looks, at most, where labels count them.
const ITERATIONS: usize = 1 << 27;

/// Cells of the costliest portion: fewer would leave vector lanes empty.
const LEAST: usize = 64;

/// Cells filled between two looks.
pub(super) const FILLED: u64 = 1 << 24;

/// The labels of cells, portion by portion; after each the control hears how many.
///
/// # Errors
/// [`Error::Interrupted`].
pub(super) fn evaluate<const K: usize>(
    field: &dyn Field<K>,
    cells: &[[u32; K]],
    labels: &mut [u32],
    control: &Control,
) -> Result<(), Error> {
    let portion = match field.labels_count_iterations() {
        true => (ITERATIONS / (field.max_label() as usize + 1)).clamp(LEAST, CELLS),
        false => CELLS,
    };
    cells.chunks(portion).zip(labels.chunks_mut(portion)).try_for_each(|(cells, labels)| {
        control.check()?;
        field.evaluate(cells, labels);
        control.look(cells.len() as u64);
        Ok(())
    })
}
