//! How long a worker may be deaf.
//!
//! A run is asked to stop between portions of work. Portions are cut by what they cost, so that a worker hears of it within
//! a few hundredths of a second, whatever a cell is worth.

use crate::backend::{Control, Error};
use crate::cell::WordsMut;
use crate::cpu::host::Host;

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
    host: Host<'_, K>,
    mut cells: &[[u32; K]],
    mut words: WordsMut<'_>,
    control: &Control,
) -> Result<(), Error> {
    let portion = match (host.labels.work(), host.labels.most()) {
        (true, Some(most)) => (ITERATIONS / (most as usize + 1)).clamp(LEAST, CELLS),
        _ => CELLS,
    };
    while !cells.is_empty() {
        control.check()?;
        let (now, later) = cells.split_at(portion.min(cells.len()));
        let (room, rest) = words.split_at(now.len());
        host.evaluate.evaluate(now, room);
        control.look(now.len() as u64);
        (cells, words) = (later, rest);
    }
    Ok(())
}
