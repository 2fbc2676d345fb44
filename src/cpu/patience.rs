//! How long a worker may be deaf.
//!
//! A run is asked to stop between portions of work. Portions are cut by what they cost, so that a worker hears of it within
//! a few hundredths of a second, whatever a cell is worth. What a cell costs iterations tell where labels count them. Where
//! nothing does, a worker measures: it begins with a single cell, and takes on as much more as the last portion was quick.

use std::cell::Cell;
use std::time::{Duration, Instant};

use crate::backend::{Control, Error};
use crate::cell::WordsMut;
use crate::cpu::host::Host;

/// Cells evaluated between two looks at the control, unless they are costly.
const CELLS: usize = 16 * 1024;

/// Iterations between two looks, at most, where labels count them.
const ITERATIONS: usize = 1 << 27;

/// Cells of the costliest portion: fewer would leave vector lanes empty.
const LEAST: usize = 64;

/// Cells between two looks where nothing tells what they cost, at most: cells that are costly all of a sudden, 50 µs each,
/// are a tenth of a second.
const MEASURED: usize = 2 * 1024;

/// Cells that are not worth a look at the clock, once many of them were quick.
const FEW: usize = 256;

/// What a portion is meant to take.
const TIME: Duration = Duration::from_millis(20);

/// Cells filled between two looks.
pub(super) const FILLED: u64 = 1 << 24;

thread_local! {
    /// The field and the control that this worker last measured with, and how many cells it then took on at a time.
    static LAST: Cell<([usize; 2], usize)> = const { Cell::new(([0; 2], 1)) };
}

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
    let known = match (host.labels.work(), host.labels.most()) {
        (true, Some(most)) => Some((ITERATIONS / (most as usize + 1)).clamp(LEAST, CELLS)),
        _ => None,
    };
    let run = [std::ptr::from_ref(host.evaluate).addr(), std::ptr::from_ref(control).addr()];
    let mut portion = known.unwrap_or_else(|| match LAST.get() {
        (last, portion) if last == run => portion,
        _ => 1,
    });
    while !cells.is_empty() {
        control.check()?;
        let (now, later) = cells.split_at(portion.min(cells.len()));
        let (room, rest) = words.split_at(now.len());
        let measured = known.is_none() && (portion < MEASURED || now.len() > FEW);
        let start = measured.then(Instant::now);
        host.evaluate.evaluate(now, room);
        if let Some(start) = start {
            portion = after(now.len(), start.elapsed());
            LAST.set((run, portion));
        }
        control.look(now.len() as u64);
        (cells, words) = (later, rest);
    }
    Ok(())
}

/// How many cells come next where so many took so long.
fn after(cells: usize, took: Duration) -> usize {
    let fit = (cells as u128 * TIME.as_nanos()).checked_div(took.as_nanos()).unwrap_or(u128::MAX);
    fit.clamp(1, (8 * cells).min(MEASURED) as u128) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn portions_follow_what_cells_cost() {
        let us = Duration::from_micros;
        assert_eq!([after(1, us(0)), after(8, us(1)), after(512, us(1)), after(2048, us(9))], [8, 64, 2048, 2048]);
        // Two milliseconds a cell, and a second.
        assert_eq!([after(1, us(2_000)), after(64, us(128_000)), after(8, us(8_000_000))], [8, 10, 1]);
    }
}
