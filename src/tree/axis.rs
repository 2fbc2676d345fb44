//! An axis of a level, for look-ups.

/// The regions of one axis, as [`Level`](crate::geometry::Level) has them. Where all products of cells and regions have less than
/// 32 bits, as those of most arrays, a quotient is a product with ⌊(2^64 − 1)/d⌋ + 1, which is exact there.
#[derive(Debug, Clone, Copy)]
pub(super) struct AxisRegions {
    /// n.
    cells: u64,
    /// M.
    regions: u64,
    /// Of n and M; 0 where a quotient has to be a division.
    reciprocals: [u64; 2],
}

impl AxisRegions {
    pub(super) fn new(cells: u32, regions: u32) -> Self {
        let [cells, regions] = [cells, regions].map(u64::from);
        let narrow = u128::from(cells + 1) * u128::from(regions + 1) <= 1 << 32;
        // That of 1 would have 65 bits; it wraps to 0.
        let reciprocal = |d: u64| if narrow { (u64::MAX / d).wrapping_add(1) } else { 0 };
        Self { cells, regions, reciprocals: [reciprocal(cells), reciprocal(regions)] }
    }

    /// The number of the region that a cell lies in.
    #[inline]
    pub(super) fn region(&self, cell: u32) -> u32 {
        quotient((u64::from(cell) + 1) * self.regions - 1, self.cells, self.reciprocals[0]) as u32
    }

    /// The first cell of a region; of the number after the last, the number of cells.
    #[inline]
    pub(super) fn first(&self, region: u32) -> u32 {
        quotient(u64::from(region) * self.cells, self.regions, self.reciprocals[1]) as u32
    }
}

#[inline]
fn quotient(x: u64, d: u64, reciprocal: u64) -> u64 {
    match reciprocal {
        0 => x / d,
        reciprocal => ((u128::from(x) * u128::from(reciprocal)) >> 64) as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Level;

    /// As the level says, with and without reciprocals.
    #[test]
    fn axes_are_those_of_the_level() {
        let sizes = [
            (1, 1),
            (7, 7),
            (100, 1),
            (100, 7),
            (65_535, 65_534),
            (65_536, 65_536),
            (1 << 20, 1 << 11),
            (u32::MAX, 1 << 31),
            (u32::MAX, u32::MAX),
        ];
        for (n, m) in sizes {
            let (axis, level) = (AxisRegions::new(n, m), Level::of([m], [n]));
            let cells = (0..200).flat_map(|i| [i, i * 331, n / 2 + i, n.saturating_sub(i + 1)]);
            for cell in cells.filter(|&cell| cell < n) {
                let [p] = level.coords([cell]);
                let region = level.region([p]);
                assert_eq!(axis.region(cell), p, "{cell} of {n} in {m}");
                assert_eq!((axis.first(p), axis.first(p + 1)), (region.corner[0], region.corner[0] + region.extent[0]));
            }
        }
    }
}
