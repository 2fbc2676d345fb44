//! What streams cost: the features of their levels, and how many cells lie on the faces that regions share.
//!
//! A stream's worker is a warp, not a block, and its cells come from many regions: they fill the lanes, so that nothing is rounded up
//! per region. Hence X_A and X_V are iterations and cells over all lanes in flight. The array is stored once, in rows of tiles: X_T
//! counts rows, which are short where the lattice is small. What is waited for is the warp that evaluates the last leaf. Launches
//! follow each other without the host, but each level's kernels wait for those of the level before: one that asks proofs, or two that
//! evaluate faces and read them; and tiles at the end.

use super::observed::{Hardware, LevelWork, Terms};
use orthant::backend::{LEAST_MAPPED, MOST_DIVIDED, TILES};
use orthant::geometry::Level;
use orthant::per_axis;

/// Lanes of a warp.
const WARP: f64 = 32.0;

/// Cells of the longest row: a line of the caches, of cells of two bytes.
const LINE: f64 = 64.0;

/// True if a region has too few cells for an entry in a map.
fn is_small(level: &LevelWork) -> bool {
    level.volume < LEAST_MAPPED as f64
}

/// True if leaves are small, and proven where they are settled.
fn proven_in_tiles(levels: &[LevelWork]) -> bool {
    let [.., above, last] = levels else { return false };
    let most = MOST_DIVIDED as f64;
    is_small(last) && above.volume <= most && last.lattice / above.lattice <= most
}

/// True if proofs decide of leaves that are smaller than a warp, and not in tiles: their map is as large as the array, which takes twice as long
/// as any other stream and more than constants of other plans tell.
pub(super) fn maps_cells(levels: &[LevelWork]) -> bool {
    let looks = levels.iter().any(|level| level.explored > 0.0);
    levels.last().is_some_and(|last| !looks && is_small(last) && !proven_in_tiles(levels))
}

/// The features of a stream. Where no level looks at a cell, proofs decide.
pub(super) fn terms(hardware: Hardware, levels: &[LevelWork]) -> Terms {
    let (lanes, looks) = (hardware.lanes_in_flight(), levels.iter().any(|level| level.explored > 0.0));
    let (mut terms, mut longest) = (Terms::default(), 0.0f64);
    for level in levels {
        let leaf = if level.leaves > 0.0 { level.evaluated / level.leaves } else { 0.0 };
        terms.weigh(level, (level.explored + level.evaluated) / lanes);
        terms.beta += level.regions / (lanes / WARP);
        longest = longest.max(leaf / WARP);
    }
    let asked = match levels {
        [above @ .., _] if !looks && proven_in_tiles(levels) => above,
        all => all,
    };
    let launches = 1 + asked.len() * if looks { 2 } else { 1 };
    let rows = asked.last().map_or(0.0, rows);
    Terms { gamma: rows / lanes, lambda: longest, kappa: launches as f64, ..terms }
}

/// Rows that tiles of a level's regions store.
fn rows(level: &LevelWork) -> f64 {
    let regions = (level.lattice / TILES as f64).clamp(1.0, WARP).log2().floor().exp2();
    level.lattice * level.volume / (level.side * regions).min(LINE)
}

/// Cells on planes about or inside of one region of a level, on average over the lattice, when each axis has `planes` of them: as kernels
/// count them, a cell where planes of two axes cross is on that of the first, with the next layer of the others.
pub(super) fn on_planes<const K: usize>(size: [u32; K], level: &Level<K>, planes: [f64; K]) -> f64 {
    let side = |l: usize| f64::from(size[l]) / f64::from(level.grid[l]);
    // The next layer of the last region of an axis lies outside of the domain.
    let closed = |l: usize| side(l) + 1.0 - 1.0 / f64::from(level.grid[l]);
    let section = |j: usize| (0..j).map(|l| side(l) - 1.0).chain((j + 1..K).map(closed)).product::<f64>();
    (0..K).map(|j| planes[j] * section(j)).sum()
}

/// Planes about a root, of which neighbours share one.
pub(super) fn about_roots<const K: usize>(level: &Level<K>) -> [f64; K] {
    per_axis::each(|j| 1.0 + 1.0 / f64::from(level.grid[j]))
}

/// Planes between the children of a region.
pub(super) fn between_children<const K: usize>(r: [u32; K]) -> [f64; K] {
    per_axis::each(|j| f64::from(r[j]) - 1.0)
}

/// Cells of a leaf that no plane holds, on average.
pub(super) fn inside<const K: usize>(size: [u32; K], level: &Level<K>) -> f64 {
    (0..K).map(|j| f64::from(size[j]) / f64::from(level.grid[j]) - 1.0).product()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GPU: Hardware = Hardware::Gpu { multiprocessors: 2, threads: 512, block: 128 };

    #[test]
    fn warps_take_cells_of_any_region() {
        let level = LevelWork {
            lattice: 64.0,
            volume: 256.0,
            side: 16.0,
            regions: 64.0,
            divided: 16.0,
            filled: 48.0,
            deciding: 256.0,
            explored: 2048.0,
            filled_cells: 4096.0,
            iterations: Some(20_480.0),
            ..LevelWork::default()
        };
        let (explored, iterations) = (1024.0, Some(4096.0));
        let last = LevelWork { volume: 64.0, side: 8.0, lattice: 256.0, leaves: 10.0, evaluated: 640.0, ..level };
        let last = LevelWork { explored, iterations, ..last };
        let of = |levels: &[LevelWork]| terms(GPU, levels);
        // 1024 lanes in flight, 32 warps. The shape of blocks is nothing to them.
        let faces = of(&[level, last]);
        assert_eq!((faces.alpha, faces.nu), (20.0 + 4.0, 2.0 + 1.625));
        assert_eq!((faces.gamma, faces.lambda, faces.beta), (2.0, 2.0, 4.0));
        assert_eq!((faces.kappa, faces.delta), (5.0, 0.0));
        let proofs = [LevelWork { explored: 0.0, ..level }, LevelWork { explored: 0.0, ..last }];
        assert_eq!((of(&proofs).kappa, of(&proofs).nu), (3.0, 0.625));
        // Leaves of 16 cells are proven in tiles, which are those of the level above.
        let small = [proofs[0], LevelWork { leaves: 40.0, volume: 16.0, side: 4.0, lattice: 1024.0, ..proofs[1] }];
        assert_eq!((of(&small).kappa, of(&small).lambda, of(&small).gamma), (2.0, 0.5, 1.0));
        assert!(!maps_cells(&small) && !maps_cells(&proofs) && !maps_cells(&[level, last]));
        // They have a map if there is no level above, or one whose regions have too many cells or children.
        assert!(maps_cells(&small[1..]));
        assert!(maps_cells(&[LevelWork { volume: 1024.0, ..small[0] }, small[1]]));
        assert!(maps_cells(&[small[0], LevelWork { lattice: 64.0 * 512.0, ..small[1] }]));
        // With eight times as many regions as tiles, rows have eight of them; at most a line.
        let many = LevelWork { lattice: f64::from(1u32 << 20), volume: 16.0, side: 4.0, ..LevelWork::default() };
        assert_eq!(rows(&many), f64::from(1u32 << 19));
        assert_eq!(rows(&LevelWork { side: 16.0, volume: 256.0, ..many }), f64::from(1u32 << 22));
    }
}
