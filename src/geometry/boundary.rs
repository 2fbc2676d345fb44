//! How many regions of a lattice a boundary of some box dimension meets.
//!
//! A lattice of M regions on every axis of a k-dimensional domain has M^d regions that a boundary of box dimension d meets.
//! With M_1 ≤ .. ≤ M_k (and M_0 = 1) it has ∏_j (M_j/M_{j−1})^min(d, k−j+1): the coarsest grid on all axes, then what is
//! split on the k−1 finest axes alone, and so on, where the part of the boundary in a region is seen along the axes that are
//! not split, in a projection onto the k−j+1 others. For d = k−1 that is ∏ M_j / M_1, the number of the longest columns.
//! Lengths are measured in the domain's own extents, so that a boundary looks alike on every axis.

/// The share of the lattice's regions that the boundary meets: ∏_j (M_j/M_{j−1})^(min(d, c) − c) with c = k−j+1.
pub(crate) fn met(grid: &[u64], d: f64) -> f64 {
    let mut ascending = grid.to_vec();
    ascending.sort_unstable();
    let mut before = 1;
    let factor = |(j, &m): (usize, &u64)| {
        let axes = (grid.len() - j) as u32;
        let split = power(m, axes) / power(std::mem::replace(&mut before, m), axes);
        split.powf((d - f64::from(axes)).min(0.0) / f64::from(axes))
    };
    ascending.iter().enumerate().map(factor).product()
}

/// P_0, P_1, .. of grids M_j = g_j·r_j^i: the share of the regions below met ones that are met.
pub(crate) fn densities(g: &[u64], r: &[u64], d: f64) -> impl Iterator<Item = f64> {
    let first = met(g, d);
    // With one r on all axes the quotients of the M_j stay as they are.
    let same = r.iter().all(|split| *split == r[0]).then(|| met(r, d));
    let grids = std::iter::successors(Some(g.to_vec()), {
        let r = r.to_vec();
        move |grid| Some(grid.iter().zip(&r).map(|(m, r)| m.saturating_mul(*r)).collect())
    });
    let mut above = first;
    let further = grids.skip(1).map(move |grid| {
        same.unwrap_or_else(|| {
            let here = met(&grid, d);
            (here / std::mem::replace(&mut above, here)).min(1.0)
        })
    });
    std::iter::once(first).chain(further)
}

/// m^axes, exact before it is rounded where it can be.
fn power(m: u64, axes: u32) -> f64 {
    u128::from(m).checked_pow(axes).map_or_else(|| (m as f64).powi(axes as i32), |power| power as f64)
}
