//! The cell of a coordinate, as [`Domain::cell_at`] has it, and mostly without a fused product.

use crate::geometry::Domain;

/// An axis of a domain. A quotient that is not near a whole number is the cell; the others are found as the domain finds them.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct AxisCells {
    low: f64,
    high: f64,
    /// 1/h.
    inverse: f64,
    /// How near a quotient may come to a whole number and still be on the side of it that it seems to be on.
    margin: f64,
    last: u32,
}

impl AxisCells {
    pub(super) fn new<const K: usize>(domain: &Domain<K>, axis: usize) -> Self {
        let ([low, high], n) = (domain.window()[axis], domain.size()[axis]);
        let inverse = 1.0 / domain.pitch()[axis];
        // Each of four roundings moves the quotient by 2^-53 of itself, and where a cell begins by as much of the coordinate.
        let margin = (8.0 * f64::from(n) + 4.0 * low.abs().max(high.abs()) * inverse) * f64::EPSILON;
        Self { low, high, inverse, margin: if margin < 0.25 { margin } else { 1.0 }, last: n - 1 }
    }

    /// The cell of a coordinate: None of one outside of the window. `exact` finds it where rounding could matter.
    #[inline]
    pub(super) fn cell(&self, x: f64, exact: impl FnOnce() -> u32) -> Option<u32> {
        // False of NaN, too.
        if !(x >= self.low && x <= self.high) {
            return None;
        }
        let quotient = (x - self.low) * self.inverse;
        let cell = quotient as u32;
        let over = quotient - f64::from(cell);
        let plain = over >= self.margin && over <= 1.0 - self.margin && cell <= self.last;
        Some(if plain { cell } else { exact() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Sample;

    /// Of coordinates about the borders of cells, and of others, in windows near and far from 0.
    #[test]
    fn cells_are_those_of_the_domain() {
        let windows =
            [[0.0, 1.0], [0.1, 0.3], [-1e9, -1e9 + 1.0], [1e-300, 3e-300], [-1e300, 1e300], [5.0, 5.0 + 1e-13]];
        for window in windows {
            for n in [1, 2, 3, 7, 1000, 65_536, 1 << 30, u32::MAX] {
                let domain = Domain::new([n], [window], Sample::Centre).unwrap();
                let axis = AxisCells::new(&domain, 0);
                let border = |c: u32| f64::from(c).mul_add(domain.pitch()[0], window[0]);
                let borders = (0..400).map(|i| (u64::from(n) * i / 400) as u32).flat_map(|c| {
                    let at = border(c);
                    [at, at.next_up(), at.next_down(), at + domain.pitch()[0] / 3.0]
                });
                let others = [window[1], window[1].next_up(), window[0].next_down(), f64::NAN, f64::INFINITY];
                for x in borders.chain(others) {
                    let expected = domain.cell_at([x]).map(|[cell]| cell);
                    assert_eq!(axis.cell(x, || domain.cell_on(0, x)), expected, "{x:?} of {n} in {window:?}");
                }
            }
        }
    }
}
