//! Packages that name the same curves, to compare ours with: `hilbert_2d`, and `zorder` in two, three and four dimensions.
//!
//! They stand here and not in the program, since generic code is compiled as whoever calls it is.

use hilbert_2d::{Variant, h2xy_discrete, xy2h_discrete};
use zorder::{Deinterleave, Interleave, coord_of, index_of};

use crate::curve::CurveKind;

/// A package for a curve, which names one region per call.
///
/// ```
/// use orthant::curve::{CurveKind, Package};
///
/// let package = Package::of(CurveKind::Morton, 3, 8).unwrap();
/// let cells = [1, 0, 0, 0, 0, 1];
/// let mut codes = [0; 2];
/// package.encode(&cells, &mut codes);
/// assert_eq!((package.name(), codes), ("zorder", [1, 4]));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Package {
    name: &'static str,
    order: u32,
    encode: fn(u32, &[u32], &mut [u64]),
    decode: fn(u32, &[u64], &mut [u32]),
}

impl Package {
    /// The package for a curve over a grid of `2^order` regions per axis in `k` dimensions; None if none of them has it.
    // Inlined into a caller it would take the functions along, to be compiled as the caller is.
    #[inline(never)]
    pub fn of(curve: CurveKind, k: usize, order: u32) -> Option<Self> {
        match (curve, k, order) {
            (CurveKind::Hilbert, 2, ..=31) => Some(Self {
                name: "hilbert_2d",
                order,
                encode: |order, cells, codes| {
                    let code = |[x, y]: [usize; 2]| xy2h_discrete(x, y, order as usize, Variant::Hilbert) as u64;
                    all::<2>(cells, codes, |cell| code(cell.map(|x| x as usize)));
                },
                decode: |order, codes, cells| {
                    back::<2>(codes, cells, |code| {
                        let (x, y) = h2xy_discrete(code as usize, order as usize, Variant::Hilbert);
                        [x as u32, y as u32]
                    });
                },
            }),
            (CurveKind::Morton, 2, ..=32) => Some(morton::<u32, 2>(order)),
            (CurveKind::Morton, 3, ..=16) => Some(morton::<u16, 3>(order)),
            (CurveKind::Morton, 4, ..=16) => Some(morton::<u16, 4>(order)),
            _ => None,
        }
    }

    /// What it is called.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Writes the codes of regions, which are given axis by axis, one region after the other.
    pub fn encode(&self, cells: &[u32], codes: &mut [u64]) {
        (self.encode)(self.order, cells, codes);
    }

    /// Writes the regions of codes, axis by axis.
    pub fn decode(&self, codes: &[u64], cells: &mut [u32]) {
        (self.decode)(self.order, codes, cells);
    }
}

/// By shifts and masks, as ours: its instructions of BMI2 are not inlined here.
fn morton<X, const K: usize>(order: u32) -> Package
where
    X: Interleave<K, Output = u64> + TryFrom<u32> + Default,
    u64: Deinterleave<K, Output = X>,
    u32: From<X>,
{
    Package {
        name: "zorder",
        order,
        // The order leaves no coordinate that is too wide.
        encode: |_, cells, codes| {
            all(cells, codes, |cell: [u32; K]| index_of(cell.map(|x| X::try_from(x).unwrap_or_default())));
        },
        decode: |_, codes, cells| back(codes, cells, |code| coord_of(code).map(u32::from)),
    }
}

fn all<const K: usize>(cells: &[u32], codes: &mut [u64], encode: impl Fn([u32; K]) -> u64) {
    cells.as_chunks().0.iter().zip(codes).for_each(|(cell, code)| *code = encode(*cell));
}

fn back<const K: usize>(codes: &[u64], cells: &mut [u32], decode: impl Fn(u64) -> [u32; K]) {
    cells.as_chunks_mut().0.iter_mut().zip(codes).for_each(|(cell, code)| *cell = decode(*code));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same codes as ours, and back, over a whole grid.
    fn agrees<const K: usize>(curve: CurveKind, order: u32) {
        let ours = curve.encoding([1; K], [2; K], order).unwrap();
        let package = Package::of(curve, K, order).unwrap();
        let codes: Vec<u64> = (0..1 << (order * K as u32)).collect();
        let mut cells = vec![[0; K]; codes.len()];
        ours.decode_slice(order, &codes, &mut cells);
        let (mut theirs, mut back) = (vec![0; codes.len()], vec![[0; K]; codes.len()]);
        package.encode(cells.as_flattened(), &mut theirs);
        package.decode(&codes, back.as_flattened_mut());
        assert_eq!((theirs, back), (codes, cells), "{curve} in {K} dimensions");
    }

    #[test]
    fn packages_name_the_same_curves() {
        agrees::<2>(CurveKind::Hilbert, 6);
        agrees::<2>(CurveKind::Morton, 6);
        agrees::<3>(CurveKind::Morton, 4);
        agrees::<4>(CurveKind::Morton, 3);
        assert!(Package::of(CurveKind::Canonical, 2, 6).is_none() && Package::of(CurveKind::Morton, 3, 17).is_none());
    }
}
