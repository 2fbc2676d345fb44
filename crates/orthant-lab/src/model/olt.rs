//! The offset lookup table: how many entries and bytes it needs at its peak, and how wide a scalar entry must be,
//! Eqs. (26)-(33).

use serde::Serialize;

use super::{Counts, Geometry, ModelError, Ratio};

/// The most entries that the table that is read and the table that is written have together, for each of three ways of
/// sizing them.
///
/// ```
/// use orthant_lab::model::olt::Peak;
/// use orthant_lab::model::{Counts, Ratio};
///
/// // 16 regions of which 4 divide: room for 64 children, or for the 16 that there are.
/// let counts = Counts::measured(Ratio::whole(16u32), Ratio::whole(4u32), &[4])?;
/// let peak = Peak::entries(&counts, Ratio::whole(4u32));
/// assert_eq!((peak.paper, peak.compact), (16.0 + 64.0, 16.0 + 16.0));
/// assert_eq!(peak.bytes(4).compact, 128.0);
/// # Ok::<(), orthant_lab::model::ModelError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Peak {
    /// N_i + N_i·R: room for all children of all regions, Eqs. (26)-(28).
    pub paper: f64,
    /// N_i + N_{i+1}: the size known after a scan.
    pub compact: f64,
    /// a_{i−1} + N_i with a_{−1} = 1: one entry per dividing parent, as the authors' kernel stores it.
    pub parents: f64,
}

impl Peak {
    /// The largest sums over the explored levels; 0 if there are none.
    pub fn entries(counts: &Counts, children: Ratio) -> Self {
        let regions = |i: usize| counts.regions()[i].to_f64();
        let parents = |i: usize| i.checked_sub(1).map_or(1.0, |above| counts.active()[above].to_f64());
        let peak = |entries: &dyn Fn(usize) -> f64| (0..counts.levels() - 1).map(entries).fold(0.0, f64::max);
        Self {
            paper: peak(&|i| regions(i) + (counts.regions()[i] * children).to_f64()),
            compact: peak(&|i| regions(i) + regions(i + 1)),
            parents: peak(&|i| parents(i) + regions(i)),
        }
    }

    /// The bytes of as many entries of `width` bytes.
    pub fn bytes(self, width: u64) -> Self {
        let width = width as f64;
        Self { paper: self.paper * width, compact: self.compact * width, parents: self.parents * width }
    }
}

/// |T_i| = |G_i|·R, the entries that level i can write, Eqs. (26)-(28).
pub fn write_capacity(counts: &Counts, children: Ratio) -> Vec<f64> {
    counts.regions()[..counts.levels() - 1].iter().map(|&regions| (regions * children).to_f64()).collect()
}

/// Bits of a scalar that names a region of level i: ⌈log2 ∏ g_j·r_j^i⌉.
pub fn region_bits(geometry: &Geometry, i: i32) -> u32 {
    geometry.regions(i).bits()
}

/// Bits of a scalar that names a cell: ⌈log2 ∏ n_j⌉. Region indices are shorter.
pub fn cell_bits(geometry: &Geometry) -> u32 {
    geometry.cells().bits()
}

/// Bytes of a scalar entry of that many bits, as tables store it: 4, 8, or 16.
pub fn scalar_bytes(bits: u32) -> u64 {
    match bits {
        ..=32 => 4,
        33..=64 => 8,
        _ => 16,
    }
}

/// Ω(p) = Σ_{d=1}^k p_d·∏_{q<d} |G|_q: the canonical order, axis 0 fastest, Eqs. (31)-(33).
///
/// The printed Eq. (33) multiplies up to d, which is not a bijection; up to d−1 is meant.
///
/// ```
/// use orthant_lab::model::olt::canonical_index;
///
/// // Row 2 of rows of four.
/// assert_eq!(canonical_index(&[1, 2], &[4, 4])?, 9);
/// assert!(canonical_index(&[4, 2], &[4, 4]).is_err());
/// # Ok::<(), orthant_lab::model::ModelError>(())
/// ```
///
/// # Errors
/// [`ModelError::Axes`] if the lists differ in length, [`ModelError::Parameter`] if a coordinate is not below its
/// extent, [`ModelError::TooLarge`] if the index leaves 64 bits.
pub fn canonical_index(p: &[u64], extents: &[u64]) -> Result<u64, ModelError> {
    if p.len() != extents.len() {
        return Err(ModelError::Axes { symbol: "p", found: p.len(), k: extents.len() });
    }
    let too_large = ModelError::TooLarge { what: "the index", allowed: "indices are below 2^64" };
    let (mut index, mut stride) = (0u128, 1u128);
    for (&p, &extent) in p.iter().zip(extents) {
        if p >= extent {
            return Err(ModelError::parameter("p", p, "below the extent of its axis"));
        }
        // Each is below 2^64, so one product and one sum fit before they are checked.
        index += u128::from(p) * stride;
        stride *= u128::from(extent);
        if stride > u128::from(u64::MAX) + 1 {
            return Err(too_large);
        }
    }
    u64::try_from(index).map_err(|_| too_large)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Density;

    #[test]
    fn peaks_in_two_to_four_dimensions() {
        // k, P, g, tau, entries: paper, compact, parents.
        for (k, p, g, tau, expected) in [
            (2, 0.75, 16, 8, [933_120.0, 746_496.0, 233_280.0]),
            (3, 0.5, 8, 6, [1_179_648.0, 655_360.0, 147_456.0]),
            (4, 0.35, 4, 5, [764_281.0, 296_721.0, 47_768.0]),
        ] {
            let geometry = Geometry::uniform(&vec![g << tau; k], g, 2, 1).unwrap();
            let chain = Density::Constant(p).chain(&geometry, tau).unwrap();
            let counts = Counts::of_chain(&geometry, &chain);
            let peak = Peak::entries(&counts, geometry.children());
            for (found, expected) in [peak.paper, peak.compact, peak.parents].into_iter().zip(expected) {
                assert!((found - expected).abs() < 1.0, "k = {k}: {found} {expected}");
            }
        }
    }

    #[test]
    fn regions_take_fewer_bits_than_cells() {
        let geometry = Geometry::uniform(&[1 << 17; 2], 64, 4, 16).unwrap();
        assert_eq!((region_bits(&geometry, 3), cell_bits(&geometry)), (24, 34));
        assert_eq!([1, 32, 33, 64, 65].map(scalar_bytes), [4, 4, 8, 8, 16]);
        assert_eq!(region_bits(&Geometry::uniform(&[1 << 30; 8], 1 << 20, 2, 1).unwrap(), 0), 160);
    }

    #[test]
    fn indices_count_axis_0_first() {
        assert_eq!(canonical_index(&[3, 2, 1, 4], &[10, 4, 5, 6]), Ok(863));
        assert_eq!(canonical_index(&[u64::MAX - 1], &[u64::MAX]), Ok(u64::MAX - 1));
        assert!(canonical_index(&[3], &[3]).is_err() && canonical_index(&[3], &[4, 4]).is_err());
        assert!(canonical_index(&[0; 5], &[1 << 20; 5]).is_err());
    }
}
