//! How many regions of a lattice a boundary of some box dimension meets.
//!
//! A lattice of M regions on every axis of a k-dimensional domain has M^d regions that a boundary of box dimension d meets.
//! With M_1 ≤ .. ≤ M_k (and M_0 = 1) it has ∏_j (M_j/M_{j−1})^min(d, k−j+1): the coarsest grid on all axes, then what is
//! split on the k−1 finest axes alone, and so on, where the part of the boundary in a region is seen along the axes that are
//! not split, in a projection onto the k−j+1 others. For d = k−1 that is ∏ M_j / M_1, the number of the longest columns.
//! Lengths are measured in the domain's own extents, so that a boundary looks alike on every axis.
//!
//! What a region shows of a boundary lies between its cells. On an axis that is split sides are many cells, and the region
//! is as long as its share of the domain. An axis that is not split may have single cells as sides, along which nothing
//! can change however long they are: there a region is as long as from its first cell to its last, (s − 1)/n.

/// A lattice on the way down: n, M and r per axis.
#[derive(Debug, Clone)]
#[doc(hidden)]
pub struct Grid {
    axes: Vec<[u64; 3]>,
}

impl Grid {
    /// The lattice of M regions per axis over n cells, whose axes with r = 1 are not split.
    #[doc(hidden)]
    pub fn new(axes: impl Iterator<Item = [u64; 3]>) -> Self {
        Self { axes: axes.collect() }
    }

    /// The share of its regions that the boundary meets: ∏_j (M_j/M_{j−1})^(min(d, c) − c) with c = k−j+1.
    #[doc(hidden)]
    pub fn met(&self, d: f64) -> f64 {
        let finest = self.axes.iter().map(|[n, ..]| *n).max().unwrap_or(1) as f64;
        let mut ascending: Vec<f64> = (self.axes.iter())
            .map(|&[n, m, r]| match r {
                1 => (n as f64 * m as f64 / n.saturating_sub(m) as f64).min(finest),
                _ => m as f64,
            })
            .collect();
        ascending.sort_by(f64::total_cmp);
        let mut before = 1.0;
        let factor = |(j, &m): (usize, &f64)| {
            let axes = (self.axes.len() - j) as u32;
            let split = power(m, axes) / power(std::mem::replace(&mut before, m), axes);
            split.powf((d - f64::from(axes)).min(0.0) / f64::from(axes))
        };
        ascending.iter().enumerate().map(factor).product()
    }

    /// P_0, P_1, .. from this grid down: the share of the regions below met ones that are met.
    #[doc(hidden)]
    pub fn densities(self, d: f64) -> impl Iterator<Item = f64> {
        let first = self.met(d);
        // With one r on all axes the quotients of the M_j stay as they are.
        let [n, _, r] = self.axes[0];
        let same = self.axes.iter().all(|axis| axis[2] == r);
        let same = same.then(|| Self { axes: vec![[n, r, r]; self.axes.len()] }.met(d));
        let down =
            |grid: &Self| Some(Self { axes: grid.axes.iter().map(|&[n, m, r]| [n, m.saturating_mul(r), r]).collect() });
        let mut above = first;
        let further = std::iter::successors(Some(self), down).skip(1).map(move |grid| {
            same.unwrap_or_else(|| {
                let here = grid.met(d);
                (here / std::mem::replace(&mut above, here)).min(1.0)
            })
        });
        std::iter::once(first).chain(further)
    }
}

/// m^axes; of a whole number exact before it is rounded, where it can be.
fn power(m: f64, axes: u32) -> f64 {
    let whole = (m.fract() == 0.0).then(|| (m as u128).checked_pow(axes)).flatten();
    whole.map_or_else(|| m.powi(axes as i32), |power| power as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn densities<const K: usize>(n: [u64; K], g: [u64; K], r: [u64; K], d: f64) -> Vec<f64> {
        Grid::new((0..K).map(|j| [n[j], g[j], r[j]])).densities(d).take(4).collect()
    }

    #[test]
    fn axes_that_are_split_alike_have_the_papers_density() {
        for (k, d) in [(1, 0.0), (2, 1.0), (2, 1.585), (3, 2.3), (6, 5.7), (8, 7.0)] {
            let (g, r): (u64, u64) = (12, 3);
            let grid = Grid::new((0..k).map(|_| [1 << 20, g, r]));
            let found: Vec<_> = grid.densities(d).take(3).collect();
            let exponent = (d - k as f64) / k as f64;
            let power = |m: u64| (m.pow(k as u32) as f64).powf(exponent);
            // To the last bit.
            assert_eq!(found, [power(g), power(r), power(r)], "k = {k}, d = {d}");
        }
        // Whatever g.
        assert_eq!(densities([1 << 20; 2], [64, 1], [2; 2], 1.0), [1.0, 0.5, 0.5, 0.5]);
    }

    #[test]
    fn slices_and_columns() {
        let densities =
            |n, g, r, d| -> Vec<f64> { densities::<3>(n, g, r, d).iter().map(|p| (p * 1e4).round() / 1e4).collect() };
        // Steps of one cell are slices, coarse as the axis may be; d - 1 of a boundary is left in them.
        assert_eq!(densities([1024, 1024, 2], [2, 2, 2], [2, 2, 1], 2.0)[1..], [0.5; 3]);
        assert_eq!(densities([1024, 4, 4], [2, 4, 4], [2, 1, 1], 2.0)[1..], [0.5; 3]);
        // The whole of an axis is a projection, which a surface fills.
        assert_eq!(densities([1024; 3], [2, 2, 1], [2, 2, 1], 2.0)[1..], [1.0; 3]);
        // A line in space leaves a line.
        assert_eq!(densities([1024; 3], [2, 2, 1], [2, 2, 1], 1.0)[1..], [0.5; 3]);
        // From slices to columns, where the split axes become the finer ones.
        let found = densities([1 << 20, 1 << 20, 1 << 20], [2, 2, 8], [2, 2, 1], 2.0);
        assert!(found[1] == 0.5 && found[3] == 1.0 && found[0] == 0.5, "{found:?}");
        assert!(
            self::densities([1 << 20; 8], [1, 2, 4, 8, 16, 32, 64, 128], [3, 1, 2, 1, 5, 1, 7, 1], 3.3)
                .into_iter()
                .all(|p| p > 0.0 && p <= 1.0)
        );
    }
}
