//! The cells of a coarse sample: a grid of points through the whole domain, wherever they are evaluated.
//!
//! Point p of a grid of m points per axis is cell ⌊p_j·n_j/m_j⌋, on the CPU as on a GPU (`kernels/strategies/sample.cu`),
//! so that a sample is the same to the bit on both.

use std::ops::RangeInclusive;

use crate::dimension::here;
use crate::geometry::region::Region;
use crate::per_axis;

/// Points spread evenly over a domain: the cells of a coarse sample.
///
/// ```
/// use orthant::geometry::SampleGrid;
///
/// // Sixteen points of 64 cells: every second cell on both axes.
/// let grid = SampleGrid::new([8, 8], 16);
/// assert_eq!((grid.points(), grid.cells()), ([4, 4], 16));
/// assert_eq!(grid.cells_from(3, 2), [[6, 0], [0, 2]]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SampleGrid<const K: usize> {
    size: [u32; K],
    points: [u32; K],
}

impl<const K: usize> SampleGrid<K> {
    /// A grid of at most `budget` points, and of at least one, over `size` cells per axis. All axes share one step. The
    /// step divides every size if it can, because then digit sets keep their digits.
    pub fn new(size: [u32; K], budget: u64) -> Self {
        here!(fn([u32; K], u64) -> SampleGrid<K> = SampleGrid::<K>::new_here)(size, budget)
    }

    fn new_here(size: [u32; K], budget: u64) -> Self {
        let count = |step: u32| size.iter().map(|&n| f64::from((n / step).max(1))).product::<f64>();
        // The least step that is long enough: the longest axis alone has one point at the latest.
        let (mut step, mut enough) = (1, size.into_iter().max().unwrap_or(1));
        while step < enough {
            let middle = step + (enough - step) / 2;
            match count(middle) <= budget as f64 {
                true => enough = middle,
                false => step = middle + 1,
            }
        }
        let step = least_divisor(size.into_iter().fold(0, gcd), step..=step.saturating_mul(2)).unwrap_or(step);
        Self { size, points: per_axis::each(|j| (size[j] / step).max(1)) }
    }

    /// Cells of the domain per axis.
    pub fn size(&self) -> [u32; K] {
        self.size
    }

    /// Points per axis.
    pub fn points(&self) -> [u32; K] {
        self.points
    }

    /// Points in all, at least one.
    pub fn cells(&self) -> u64 {
        self.whole().volume()
    }

    /// The cells of `count` points from number `first` on, in storage order of the grid.
    pub fn cells_from(&self, first: u64, count: usize) -> Vec<[u32; K]> {
        let coordinate = |j: usize, p: u32| {
            // Below n, which has 32 bits.
            (u64::from(p) * u64::from(self.size[j]) / u64::from(self.points[j])) as u32
        };
        let mut point = self.whole().offset(first);
        let mut cells = Vec::with_capacity(count);
        for _ in 0..count {
            cells.push(per_axis::each(|j| coordinate(j, point[j])));
            self.advance(&mut point);
        }
        cells
    }

    fn whole(&self) -> Region<K> {
        Region { corner: [0; K], extent: self.points }
    }

    /// The next point in storage order; after the last one the first.
    fn advance(&self, point: &mut [u32; K]) {
        for j in 0..K {
            point[j] += 1;
            if point[j] < self.points[j] {
                return;
            }
            point[j] = 0;
        }
    }
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The least divisor of n in a range.
fn least_divisor(n: u32, near: RangeInclusive<u32>) -> Option<u32> {
    // In pairs of a small one and what it leaves.
    let pairs = (1..=n.isqrt()).filter(|small| n.is_multiple_of(*small));
    pairs.flat_map(|small| [small, n / small]).filter(|divisor| near.contains(divisor)).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_divide_where_they_can() {
        fn points<const K: usize>(size: [u32; K], budget: u64) -> [u32; K] {
            SampleGrid::new(size, budget).points()
        }
        assert_eq!(points([4096, 4096], 1 << 14), [128, 128]);
        assert_eq!(points([6561, 6561], 1 << 14), [81, 81]);
        assert_eq!(points([7], 1 << 14), [7]);
        assert_eq!(points([1], 1), [1]);
        let odd = points([1009, 503], 1 << 10);
        assert!(odd.iter().product::<u32>() <= 1 << 10 && odd[0] > 30, "{odd:?}");
        assert_eq!(points([u32::MAX; 8], 1 << 10)[0] as f64, 2.0);
    }

    #[test]
    fn points_are_cells() {
        // On grids that do not divide, from any point on.
        let grid = SampleGrid { size: [1009, 503, 7], points: [30, 23, 5] };
        let all: Vec<_> = grid.whole().cells().map(|[x, y, z]| [x * 1009 / 30, y * 503 / 23, z * 7 / 5]).collect();
        assert_eq!(grid.cells_from(0, all.len()), all);
        assert_eq!(grid.cells_from(1001, 700), all[1001..1701]);
    }
}
