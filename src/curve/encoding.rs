//! What a curve is: codes of regions and back.

use crate::curve::device::DeviceCurve;
use crate::curve::error::CurveError;
use crate::curve::lattice::Lattice;

/// Keeps [`Encoding`] to the curves of this crate: a curve has a decoder on GPUs, too.
pub(super) mod sealed {
    pub trait SealedCurve {}
}

/// One curve over the levels of one scheme. Only this crate implements it; [`CurveKind`](crate::curve::CurveKind) lists
/// the curves.
///
/// `encode`, `decode` and `children` expect arguments in range, and debug builds assert that. `try_encode` and
/// `try_decode`, methods of `dyn Encoding`, return an error instead.
///
/// ```
/// use orthant::prelude::*;
///
/// let plan = Plan::builder([64, 64]).scheme(Scheme::uniform(4, 2, 4)).curve(CurveKind::Hilbert).build()?;
/// let curve = plan.encoding();
/// // Each of the 16 codes of level 0 names one region, and regions with successive codes are neighbours.
/// let regions: Vec<[u32; 2]> = (0..16).map(|code| curve.decode(0, code)).collect();
/// assert!((0..16).all(|code| curve.encode(0, regions[code as usize]) == code));
/// assert!(regions.windows(2).all(|pair| pair[0][0].abs_diff(pair[1][0]) + pair[0][1].abs_diff(pair[1][1]) == 1));
/// assert!(curve.try_decode(0, 16).is_err());
/// // The children of region 5 follow each other on level 1.
/// let mut children = [0; 4];
/// curve.children(0, 5, &mut children);
/// assert_eq!(children, [20, 21, 22, 23]);
/// # Ok::<(), orthant::PlanError>(())
/// ```
pub trait Encoding<const K: usize>: sealed::SealedCurve + Send + Sync {
    /// The lattices of the levels.
    fn lattice(&self) -> &Lattice<K>;

    /// The code of the region at `coords` on `level`.
    fn encode(&self, level: u32, coords: [u32; K]) -> u64;

    /// The coordinates of `code` on `level`.
    fn decode(&self, level: u32, code: u64) -> [u32; K];

    /// The codes, on `level + 1` and in ascending order of child, of the R children of `code` on `level`.
    fn children(&self, level: u32, code: u64, codes: &mut [u64]) {
        self.children_from(level, code, 0, codes);
    }

    /// Some of them: those from number `first` on.
    fn children_from(&self, level: u32, code: u64, first: u64, codes: &mut [u64]);

    /// What the same curve needs on a GPU to decode the codes of `level`.
    fn device(&self, level: u32) -> DeviceCurve<'_>;

    /// [`encode`](Self::encode) for many; the slices have equal length.
    fn encode_slice(&self, level: u32, coords: &[[u32; K]], codes: &mut [u64]) {
        for (&coords, code) in coords.iter().zip(codes) {
            *code = self.encode(level, coords);
        }
    }

    /// [`decode`](Self::decode) for many; the slices have equal length.
    fn decode_slice(&self, level: u32, codes: &[u64], coords: &mut [[u32; K]]) {
        for (&code, coords) in codes.iter().zip(coords) {
            *coords = self.decode(level, code);
        }
    }
}

/// What every curve does alike: once for all of them, and only where it is called.
impl<const K: usize> dyn Encoding<K> + '_ {
    /// Bits that the codes of `level` need: ⌈log2 ∏M_j⌉.
    pub fn bits(&self, level: u32) -> u32 {
        128 - (self.lattice().codes(level) - 1).leading_zeros()
    }

    /// [`encode`](Encoding::encode) with its arguments checked.
    ///
    /// # Errors
    /// [`CurveError`] if the level or a coordinate is out of range.
    pub fn try_encode(&self, level: u32, coords: [u32; K]) -> Result<u64, CurveError> {
        let lattice = self.lattice();
        if level > lattice.deepest() {
            return Err(CurveError::LevelOutOfRange { level, deepest: lattice.deepest() });
        }
        let grid = lattice.grid(level);
        match (0..K).find(|&j| coords[j] >= grid[j]) {
            Some(axis) => Err(CurveError::CoordOutOfRange { axis, value: coords[axis], extent: grid[axis] }),
            None => Ok(self.encode(level, coords)),
        }
    }

    /// [`decode`](Encoding::decode) with its arguments checked.
    ///
    /// # Errors
    /// [`CurveError`] if the level or the code is out of range.
    pub fn try_decode(&self, level: u32, code: u64) -> Result<[u32; K], CurveError> {
        let lattice = self.lattice();
        if level > lattice.deepest() {
            return Err(CurveError::LevelOutOfRange { level, deepest: lattice.deepest() });
        }
        let codes = lattice.codes(level);
        if u128::from(code) >= codes {
            return Err(CurveError::CodeOutOfRange { code, codes });
        }
        Ok(self.decode(level, code))
    }
}

#[cfg(test)]
mod tests {
    use crate::curve::CurveKind;

    #[test]
    fn children_can_be_asked_for_in_parts() {
        for kind in CurveKind::ALL {
            let curve =
                kind.encoding([3, 2, 4], [4, 2, 4], 2).or_else(|_| kind.encoding([3, 2, 4], [2; 3], 2)).unwrap();
            let all = curve.lattice().children();
            let mut whole = vec![0; all as usize];
            curve.children(1, 17, &mut whole);
            for first in 0..all {
                for end in first + 1..=all {
                    let mut part = vec![0; (end - first) as usize];
                    curve.children_from(1, 17, first, &mut part);
                    assert_eq!(part, whole[first as usize..end as usize], "{kind} {first} {end}");
                }
            }
        }
    }
}
