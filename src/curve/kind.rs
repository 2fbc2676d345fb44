//! The curves that there are.

use crate::curve::canonical::Canonical;
use crate::curve::encoding::Encoding;
use crate::curve::error::CurveError;
use crate::curve::forest::{self, Forest, Trees};
use crate::curve::hilbert::Hilbert;
use crate::curve::lattice::Lattice;
use crate::curve::morton::{Interleaved, MixedRadix, Uneven};
use crate::dimension::compiled_here;
use crate::registry::registry;

registry! {
    /// The curve that orders the regions of a level.
    ///
    /// ```
    /// use orthant::prelude::*;
    ///
    /// // A grid of 4 x 4 regions, and the code of the region at x = 3, y = 0.
    /// let code = |curve: CurveKind| Ok(curve.encoding([1, 1], [2, 2], 2)?.encode(2, [3, 0]));
    /// assert_eq!(code(CurveKind::Canonical)?, 3);
    /// // Morton interleaves the bits of y = 00 and x = 11: 0101.
    /// assert_eq!(code(CurveKind::Morton)?, 5);
    /// // Hilbert's curve ends where x is largest and y is 0.
    /// assert_eq!(code(CurveKind::Hilbert)?, 15);
    /// # Ok::<(), orthant::curve::CurveError>(())
    /// ```
    pub enum CurveKind("curve") {
        /// Row-major over the level's grid, axis 0 fastest. Any g and r.
        Canonical = "canonical",
        /// Z-order: interleaved bits, or interleaved base-r digits where r is not a power of two. Any g and r.
        Morton = "morton",
        /// The Butz/Hamilton Hilbert curve, continuous over any g. r is one power of two, from 2 on, on all axes.
        Hilbert = "hilbert",
    }
}

impl CurveKind {
    /// True if the children of code c have the codes c·R to c·R + R − 1 on every level. All descendants of a region
    /// then have consecutive codes, which trees need. A curve without this property is *flat*.
    pub fn is_hierarchical(self) -> bool {
        match self {
            Self::Canonical => false,
            Self::Morton | Self::Hilbert => true,
        }
    }

    /// The curve over the levels 0..=`deepest` of the scheme {g, r}.
    ///
    /// # Errors
    /// [`CurveError`] if the curve cannot serve r, or the deepest level has too many regions.
    ///
    /// # Panics
    /// If some g or r is 0, or K is not between 1 and [`MAX_DIM`](crate::MAX_DIM).
    pub fn encoding<const K: usize>(
        self,
        g: [u32; K],
        r: [u32; K],
        deepest: u32,
    ) -> Result<Box<dyn Encoding<K>>, CurveError> {
        (make().0)(self, g, r, deepest)
    }
}

type Made<const K: usize> = Result<Box<dyn Encoding<K>>, CurveError>;

struct Make<const K: usize>(fn(CurveKind, [u32; K], [u32; K], u32) -> Made<K>);

impl<const K: usize> Make<K> {
    const HERE: Self = Self(|kind, g, r, deepest| {
        assert!(!g.contains(&0) && !r.contains(&0), "g and r are at least 1");
        let lattice = Lattice::new(g, r, deepest)?;
        if kind == CurveKind::Hilbert {
            check_hilbert(&g, &r)?;
        }
        let (leading, divided) = (forest::leading(&g), divided(&r));
        Ok(match (kind, divided) {
            (CurveKind::Canonical, _) => Box::new(Canonical::new(lattice)),
            (CurveKind::Hilbert, _) => {
                let hilbert = Hilbert::new(&Trees::new(g, leading));
                Box::new(Forest::binary(lattice, leading, hilbert))
            }
            (CurveKind::Morton, Divided::Evenly) => Box::new(Forest::binary(lattice, leading, Interleaved)),
            (CurveKind::Morton, Divided::ByPowersOfTwo) => {
                Box::new(Forest::binary(lattice, leading, Uneven::new(leading, r)))
            }
            (CurveKind::Morton, Divided::Anyhow) => Box::new(Forest::radix(lattice, MixedRadix::new(r))),
        })
    });
}

/// How the axes are divided from level to level.
enum Divided {
    /// By one power of two.
    Evenly,
    /// Each by a power of two.
    ByPowersOfTwo,
    Anyhow,
}

fn divided(r: &[u32]) -> Divided {
    match r.iter().all(|r| r.is_power_of_two()) {
        true if r.iter().all(|&other| other == r[0]) => Divided::Evenly,
        true => Divided::ByPowersOfTwo,
        false => Divided::Anyhow,
    }
}

/// Checks that a Hilbert curve can serve g and r.
fn check_hilbert(g: &[u32], r: &[u32]) -> Result<(), CurveError> {
    if let Some(axis) = r.iter().position(|&r| r == 1) {
        return Err(CurveError::UnsplitAxis { axis });
    }
    if let Some(axis) = r.iter().position(|r| !r.is_power_of_two()) {
        return Err(CurveError::RadixNotPowerOfTwo { axis, r: r[axis] });
    }
    if let Some(axis) = r.iter().position(|&other| other != r[0]) {
        return Err(CurveError::UnequalRadix { first: r[0], axis, r: r[axis] });
    }
    let trees = g.iter().fold(1, |trees, &g| trees * u128::from(g)) >> (g.len() as u32 * forest::leading(g));
    if trees > 1 << 26 {
        return Err(CurveError::TooManyTrees { trees });
    }
    Ok(())
}

compiled_here!(fn make -> Make);
