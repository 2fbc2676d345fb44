//! How near to each other a table keeps what is near: measures of an order of regions.
//!
//! None of them alone suffices. Steps say how far consecutive entries lie apart; cut faces, how compact a chunk is that one
//! warp works on; lines, how much memory such a chunk touches with its neighbours in a row-major array.

use std::collections::HashSet;

use orthant::dimension::here;

/// Entries of a chunk: the lanes of a warp.
const CHUNK: usize = 32;

/// Elements of four bytes in a memory line of 128.
const LINE: u128 = 32;

/// The measures of one order.
///
/// ```
/// // Four regions in a square, row by row: of three steps, the one to the second row is of two axes.
/// let rows = orthant_lab::curves::Locality::new(&[[0, 0], [1, 0], [0, 1], [1, 1]], [2, 2]).ok_or("there are two regions")?;
/// assert_eq!((rows.max_step, rows.cut_faces), (2, 0.0));
/// # Ok::<(), &str>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Locality {
    /// The mean distance of consecutive entries, added up over the axes.
    pub mean_step: f64,
    /// The longest step.
    pub max_step: u64,
    /// The share of steps of length one.
    pub unit_steps: f64,
    /// Faces of an entry towards regions that are not in its chunk, on average; those on the border of the domain do not
    /// count.
    pub cut_faces: f64,
    /// Distinct 128-byte lines that a chunk and its face neighbours touch in a row-major array with four bytes per region,
    /// on average.
    pub lines: f64,
}

impl Locality {
    /// Measures regions in the order of `coords`, out of a lattice of `grid` regions. Chunks do not begin with the table
    /// but a third of a chunk later, so that orders made of powers of two gain nothing. None for fewer than two.
    pub fn new<const K: usize>(coords: &[[u32; K]], grid: [u32; K]) -> Option<Self> {
        here!(fn(&[[u32; K]], [u32; K]) -> Option<Locality> = Locality::new_here)(coords, grid)
    }

    fn new_here<const K: usize>(coords: &[[u32; K]], grid: [u32; K]) -> Option<Self> {
        if coords.len() < 2 {
            return None;
        }
        let distance = |pair: &[[u32; K]]| (0..K).map(|j| u64::from(pair[0][j].abs_diff(pair[1][j]))).sum::<u64>();
        let steps: Vec<u64> = coords.windows(2).map(distance).collect();
        let many = steps.len() as f64;
        let shifted = &coords[(CHUNK / 3).min(coords.len().saturating_sub(CHUNK))..];
        // A table shorter than a chunk is one.
        let size = CHUNK.min(coords.len());
        let chunks: Vec<(u64, usize)> = shifted.chunks_exact(size).map(|chunk| faces_and_lines(chunk, grid)).collect();
        let over = chunks.len() as f64;
        Some(Self {
            mean_step: steps.iter().sum::<u64>() as f64 / many,
            max_step: steps.iter().copied().max().unwrap_or_default(),
            unit_steps: steps.iter().filter(|&&step| step == 1).count() as f64 / many,
            cut_faces: chunks.iter().map(|(faces, _)| *faces).sum::<u64>() as f64 / (over * size as f64),
            lines: chunks.iter().map(|(_, lines)| *lines).sum::<usize>() as f64 / over,
        })
    }
}

/// The cut faces of a chunk and the lines it touches.
fn faces_and_lines<const K: usize>(chunk: &[[u32; K]], grid: [u32; K]) -> (u64, usize) {
    let inside: HashSet<[u32; K]> = chunk.iter().copied().collect();
    let line = |region: [u32; K]| {
        (0..K).rev().fold(0u128, |index, j| index * u128::from(grid[j]) + u128::from(region[j])) / LINE
    };
    let mut lines: HashSet<u128> = HashSet::new();
    let mut cut = 0;
    for &region in chunk {
        lines.insert(line(region));
        for (axis, up) in (0..K).flat_map(|axis| [(axis, false), (axis, true)]) {
            let next = if up { region[axis].checked_add(1) } else { region[axis].checked_sub(1) };
            let neighbour = next.filter(|&next| next < grid[axis]).map(|next| {
                let mut neighbour = region;
                neighbour[axis] = next;
                neighbour
            });
            lines.extend(neighbour.map(line));
            cut += u64::from(neighbour.is_some_and(|neighbour| !inside.contains(&neighbour)));
        }
    }
    (cut, lines.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use orthant::curve::CurveKind;

    fn full<const K: usize>(kind: CurveKind, bits: u32) -> Locality {
        let encoding = kind.encoding([1; K], [2; K], bits).unwrap();
        let coords: Vec<[u32; K]> = (0..1u64 << (K as u32 * bits)).map(|code| encoding.decode(bits, code)).collect();
        Locality::new(&coords, [1 << bits; K]).unwrap()
    }

    #[test]
    fn full_squares_have_their_known_measures() {
        let [row_major, morton, hilbert] =
            [CurveKind::Canonical, CurveKind::Morton, CurveKind::Hilbert].map(|kind| full::<2>(kind, 10));
        let rounded = [row_major, morton, hilbert].map(|order| format!("{:.2}", order.cut_faces));
        assert_eq!(rounded, ["2.06", "1.06", "0.91"]);
        assert_eq!((row_major.max_step, morton.max_step, hilbert.max_step), (1024, 1024, 1));
        assert_eq!((hilbert.mean_step, hilbert.unit_steps), (1.0, 1.0));
        assert!((morton.mean_step - 2.0).abs() < 0.01 && (morton.unit_steps - 0.5).abs() < 0.01);
        assert!(row_major.lines < morton.lines);
    }

    #[test]
    fn full_cubes_have_their_known_measures() {
        let cut_faces = |kind| full::<3>(kind, 7).cut_faces;
        assert_eq!(format!("{:.2}", cut_faces(CurveKind::Canonical)), "4.03");
        assert_eq!(format!("{:.2}", cut_faces(CurveKind::Morton)), "2.58");
        assert_eq!(format!("{:.2}", cut_faces(CurveKind::Hilbert)), "2.28");
    }

    #[test]
    fn short_tables() {
        assert_eq!(Locality::new(&[[1u32, 1]], [4, 4]), None);
        let pair = Locality::new(&[[0u32, 0], [0, 1]], [2, 2]).unwrap();
        assert_eq!((pair.mean_step, pair.cut_faces, pair.lines), (1.0, 1.0, 1.0));
    }
}
