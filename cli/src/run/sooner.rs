//! Whether a run ends on the CPU before a GPU is open.

use std::time::{Duration, Instant};

use orthant::WordsMut;
use orthant::field::Field;
use orthant::geometry::Domain;
use orthant::per_axis;

/// What opening a GPU took at least (docs/results/last-mile.md).
const OPENING: Duration = Duration::from_millis(200);

/// The time that a run has to be shorter by, since a sample does not see every cell.
const SURE: f64 = 1.5;

/// Rows that are evaluated for a prediction, and the most cells of each.
const ROWS: u64 = 64;
const CELLS: u32 = 64;

/// The most points, or listed cells, of a run that is predicted.
const LISTED: u64 = 1 << 18;

/// How long `threads` threads are predicted to take for every cell, by some of them; None where that is not shorter than opening a GPU.
pub(super) fn on_cpu<const K: usize>(field: &dyn Field<K>, domain: &Domain<K>, threads: usize) -> Option<Duration> {
    // The host would sort so many points for a prediction, and a GPU sorts them itself. Lists are not told apart from points.
    if field.most_mixed().is_some_and(|cells| cells > LISTED) {
        return None;
    }
    let (host, size, once) = (field.host()?, domain.size(), Instant::now());
    host.ready();
    let once = once.elapsed();
    let length = size[0].min(CELLS);
    let (mut narrow, mut wide) = (vec![0; length as usize], vec![0; length as usize]);
    let (mut cells, start) = (Vec::new(), Instant::now());
    for row in 0..ROWS {
        let corner: [u32; K] = per_axis::each(|axis| {
            let free = if axis == 0 { size[0] - length + 1 } else { size[axis] };
            (scattered(row * K as u64 + axis as u64) % u64::from(free)) as u32
        });
        cells.clear();
        cells.extend((0..length).map(|step| {
            let mut cell = corner;
            cell[0] += step;
            cell
        }));
        match field.labels().kind().bytes() {
            8 => host.evaluate(&cells, WordsMut::Wide(&mut wide)),
            _ => host.evaluate(&cells, WordsMut::Narrow(&mut narrow)),
        }
        let seen = (row + 1) as f64 * f64::from(length);
        let whole = start.elapsed().as_secs_f64() * domain.cells() as f64 / seen / threads as f64;
        // The first rows come with what a processor has to load; none of them takes long by that.
        let long = start.elapsed() > OPENING / 20;
        if long || whole * SURE >= OPENING.as_secs_f64() && row + 1 >= ROWS / 8 {
            return None;
        }
        if row + 1 == ROWS {
            return Some(once + Duration::from_secs_f64(whole));
        }
    }
    None
}

/// Numbers that are spread over 2^32.
fn scattered(number: u64) -> u64 {
    (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use orthant::field::CellField;
    use orthant::geometry::Sample;

    #[test]
    fn short_runs_are_sooner_on_the_cpu() {
        let domain = |n: u32| Domain::new([n, 3], [[0.0, 1.0]; 2], Sample::Corner).unwrap();
        let quick = CellField::new(1, |[x, y]: [u32; 2]| x ^ y & 1);
        assert!(on_cpu(&quick, &domain(40), 1).is_some_and(|time| time < OPENING));
        assert!(on_cpu(&quick, &domain(u32::MAX), 1).is_none());
        let slow = CellField::new(1, |[x, _]: [u32; 2]| {
            std::thread::sleep(Duration::from_micros(50));
            x & 1
        });
        assert!(on_cpu(&slow, &domain(1 << 16), 1).is_none());
    }
}
