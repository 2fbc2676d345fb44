//! The scheme of an array of which no more is known than its size.

use crate::geometry::scheme::{Scheme, divides, refine};
use crate::per_axis;

/// Regions of level 0 that a list has at most.
const LIST_ROOTS: u128 = 1 << 12;

impl<const K: usize> Scheme<K> {
    /// The scheme of an array of `size` cells. What you give of g, r and B stays, and the rest is chosen.
    ///
    /// Leaves have about 4096 cells: a side of 4096 in 1-D, 64 in 2-D, 16 in 3-D, 8 in 4-D, and 4 beyond. A region is
    /// divided in two per axis while every axis that is split is longer than one and a half leaves. So the shortest of
    /// these axes sets the number of levels, and longer ones get a larger initial split g.
    ///
    /// Two kinds of axes are not split (r = 1): those that `series` marks, such as time, and those shorter than two
    /// leaves, such as colours, if another axis is longer. Neither has a say in the number of levels.
    ///
    /// ```
    /// use orthant::geometry::Scheme;
    ///
    /// // A photograph of 1024 x 1024 pixels and three colours: colours are not split.
    /// let scheme = Scheme::for_array([1024, 1024, 3], None, None, None, [false; 3]);
    /// assert_eq!((scheme.g, scheme.r), ([1, 1, 1], [2, 2, 1]));
    /// // What you choose stays.
    /// let scheme = Scheme::for_array([1024, 1024, 3], Some([4, 4, 1]), None, None, [false; 3]);
    /// assert_eq!(scheme.g, [4, 4, 1]);
    /// ```
    pub fn for_array(
        size: [u32; K],
        g: Option<[u32; K]>,
        r: Option<[u32; K]>,
        b: Option<[u32; K]>,
        series: [bool; K],
    ) -> Self {
        let axes = ArrayAxes { size: &size, g: chosen(&g), r: chosen(&r), b: chosen(&b), series: &series };
        axes.of_leaves([4096, 64, 16, 8][(K - 1).min(3)] >> u32::from(K > 4)).scheme()
    }

    /// The scheme of points over `size` cells, as that of an array but for leaves, which have about 512 cells at most: points are sparse, and a
    /// leaf has a brick for all of its cells. They have a side of 16 in 2-D, 8 in 3-D, 4 in 4-D, and 2 beyond.
    ///
    /// ```
    /// use orthant::geometry::Scheme;
    ///
    /// let scheme = Scheme::<3>::for_points([2048; 3], None, None, None);
    /// assert_eq!((scheme.g, scheme.r, scheme.b), ([1; 3], [2; 3], [6; 3]));
    /// ```
    pub fn for_points(size: [u32; K], g: Option<[u32; K]>, r: Option<[u32; K]>, b: Option<[u32; K]>) -> Self {
        let axes = ArrayAxes { size: &size, g: chosen(&g), r: chosen(&r), b: chosen(&b), series: &[false; K] };
        axes.of_leaves([256, 16, 8, 4, 2][(K - 1).min(4)]).scheme()
    }

    /// The scheme of a list of cells over `size` cells: the smallest regions on the last level, of 2 cells on a side or more, whose codes
    /// 64 bits hold. Few regions have entries, so that division mostly stops long before. Level 0 has at most 4096 regions: axes that
    /// are short beside others are not split.
    ///
    /// ```
    /// use orthant::geometry::Scheme;
    ///
    /// // 2^20 cells on each of four axes: 16 levels of halves leave a side of 16.
    /// let scheme = Scheme::<4>::for_list([1 << 20; 4], None, None, None);
    /// assert_eq!((scheme.g, scheme.r, scheme.b), ([1; 4], [2; 4], [12; 4]));
    /// // A matrix of ten columns is divided along its rows.
    /// assert_eq!(Scheme::for_list([10, 100_000_000], None, None, None).r, [1, 2]);
    /// ```
    pub fn for_list(size: [u32; K], g: Option<[u32; K]>, r: Option<[u32; K]>, b: Option<[u32; K]>) -> Self {
        let axes = ArrayAxes { size: &size, g: chosen(&g), r: chosen(&r), b: chosen(&b), series: &[false; K] };
        axes.of_list().scheme()
    }
}

/// The chosen values as a slice.
fn chosen<const K: usize>(axes: &Option<[u32; K]>) -> Option<&[u32]> {
    axes.as_ref().map(|axes| &axes[..])
}

/// What is known of an array: its size, which axes are not split, and g, r and B as far as they are chosen.
struct ArrayAxes<'a> {
    size: &'a [u32],
    g: Option<&'a [u32]>,
    r: Option<&'a [u32]>,
    b: Option<&'a [u32]>,
    series: &'a [bool],
}

/// g, r and B of all axes.
struct Splits {
    g: Vec<u32>,
    r: Vec<u32>,
    b: Vec<u32>,
}

impl Splits {
    /// The scheme of K axes.
    fn scheme<const K: usize>(&self) -> Scheme<K> {
        Scheme { g: per_axis::each(|j| self.g[j]), r: per_axis::each(|j| self.r[j]), b: per_axis::each(|j| self.b[j]) }
    }

    /// Regions per axis on the last level over `size` cells.
    fn finest(&self, size: &[u32]) -> Vec<u32> {
        let mut grid = self.g.clone();
        while divides(size, &self.b, &grid, &self.r) {
            let mut next = grid.clone();
            if refine(&mut next, &self.r).is_err() {
                break;
            }
            grid = next;
        }
        grid
    }
}

impl ArrayAxes<'_> {
    /// The splits of a list: the smallest leaves whose codes 64 bits hold.
    fn of_list(&self) -> Splits {
        let regions = |grid: &[u32]| grid.iter().fold(1, |all: u128, &m| all.saturating_mul(m.into()));
        let fits = |splits: &Splits| {
            regions(&splits.finest(self.size)) <= 1 << 64 && (self.g.is_some() || regions(&splits.g) <= LIST_ROOTS)
        };
        let plans = |splits: &Splits| splits.r.iter().chain(&splits.b).all(|&number| number > 0);
        let of = |bits: u32| self.of_leaves(1 << bits);
        (1..32).map(of).find(|splits| !plans(splits) || fits(splits)).unwrap_or_else(|| of(32))
    }

    /// The splits whose leaves have about `usual` cells on a side.
    fn of_leaves(&self, usual: u64) -> Splits {
        let &Self { size, series, .. } = self;
        let leaf = |j: usize, r: u32| self.b.map_or(usual, |b| u64::from(r) * u64::from(b[j])).max(1);
        let long = |j: usize| !series[j] && u64::from(size[j]) >= 2 * leaf(j, 2);
        let axes = 0..size.len();
        let none = !axes.clone().any(long);
        let split = |j: usize| if (none && !series[j]) || long(j) { 2 } else { 1 };
        let r = self.r.map_or_else(|| axes.clone().map(split).collect(), <[u32]>::to_vec);
        // The levels below level 0 that the axis allows.
        let below = |j: usize| {
            let step = |&side: &u64| side.checked_mul(r[j].into());
            std::iter::successors(Some(leaf(j, r[j])), step).skip(1).take_while(|&side| side <= size[j].into()).count()
        };
        let t = axes.clone().filter(|&j| r[j] > 1).map(below).min().unwrap_or(0);
        let grid = |j: usize| {
            let side = u64::from(r[j]).saturating_pow(t as u32).saturating_mul(leaf(j, r[j])).max(1);
            let n = u64::from(size[j]);
            (n / side + u64::from(n % side >= side.div_ceil(2))).clamp(1, n.max(1)) as u32
        };
        // It stops where children would be shorter than three quarters of a leaf.
        let stop = |j: usize| ((3 * usual) / (2 * u64::from(r[j].max(2)))).max(1) as u32;
        let g = self.g.map_or_else(|| axes.clone().map(grid).collect(), <[u32]>::to_vec);
        let b = self.b.map_or_else(|| axes.clone().map(stop).collect(), <[u32]>::to_vec);
        Splits { g, r, b }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sides<const K: usize>(size: [u32; K]) -> (Scheme<K>, usize, [f64; K]) {
        let scheme = Scheme::for_array(size, None, None, None, [false; K]);
        let levels = scheme.levels(size);
        let grid = levels.last().unwrap().grid;
        (scheme, levels.len(), std::array::from_fn(|j| f64::from(size[j]) / f64::from(grid[j])))
    }

    #[test]
    fn leaves_are_about_as_long_as_they_should_be() {
        assert_eq!(sides([512; 3]), (Scheme::uniform(1, 2, 12), 6, [16.0; 3]));
        let (scheme, levels, _) = sides([500, 470, 136]);
        assert_eq!((scheme, levels), (Scheme { g: [4, 4, 1], r: [2; 3], b: [12; 3] }, 4));
        // Colours and steps of time are left whole.
        assert_eq!(sides([1024, 1024, 3]), (Scheme { g: [1; 3], r: [2, 2, 1], b: [12; 3] }, 7, [16.0, 16.0, 3.0]));
        assert_eq!(sides([1 << 20]), (Scheme::uniform(1, 2, 3072), 9, [4096.0]));
        assert_eq!(sides([5, 1]), (Scheme::uniform(1, 2, 48), 1, [5.0, 1.0]));
        for n in (1..3000).chain([u32::MAX]) {
            for (usual, side) in [(64.0, sides([n; 2]).2[0]), (16.0, sides([n; 3]).2[0]), (4.0, sides([n; 5]).2[0])] {
                assert!(side <= 1.5 * usual && (side >= 0.75 * usual || f64::from(n) <= 1.5 * usual), "{n}: {side}");
            }
        }
    }

    /// Two hundred steps of time do not keep the others from being divided as they are without.
    #[test]
    fn a_series_is_divided_on_the_other_axes() {
        let of = |series| Scheme::for_array([64, 64, 32, 200], None, None, None, series);
        let (whole, series) = (of([false; 4]), of([false, false, false, true]));
        assert_eq!((whole.r, whole.g), ([2; 4], [2, 2, 1, 6]));
        assert_eq!((series.r, series.g), ([2, 2, 2, 1], [2, 2, 1, 25]));
        assert_eq!(series.levels([64, 64, 32, 200]).len(), 3);
        assert_eq!(Scheme::for_array([9, 9, 99], None, None, None, [false, false, true]).r, [2, 2, 1]);
    }

    #[test]
    fn what_was_chosen_stays() {
        let scheme = Scheme::for_array([500, 470, 136], Some([4; 3]), None, Some([4; 3]), [false; 3]);
        assert_eq!(scheme, Scheme::uniform(4, 2, 4));
        // The initial grid suits the leaves that r and B lead to.
        assert_eq!(Scheme::for_array([729, 730], None, Some([3; 2]), Some([1; 2]), [false; 2]).g, [1, 1]);
        assert_eq!(Scheme::for_array([100; 2], None, Some([0; 2]), Some([0; 2]), [false; 2]).r, [0; 2]);
    }
}
