//! The Julibrot in 4-D: z² + c from every z, for every c; axes 0 and 1 are z, axes 2 and 3 are c.
//!
//! Its level sets have no pockets and no islands in the continuum, so the border rule errs by sampling only.

use crate::domain::Domain;
use crate::error::Error;
use crate::escape::{Orbit, Rounding, escape_field};
use crate::plan::ExploreRule;
use crate::simd::Lanes;
use crate::workload::mandelbrot::square_plus_c;
use crate::workload::{Defaults, FieldOptions, Workload};

/// One line for lists.
pub const ABOUT: &str = "z^2 + c from every z for every c: all quadratic Julia sets at once";

/// What a bare run uses.
pub fn defaults(_: usize) -> Defaults {
    Defaults {
        size: 48,
        g: 3,
        r: 2,
        b: 2,
        dwell: Some(64),
        window: vec![[-1.5, 1.5], [-1.5, 1.5], [-1.5, 0.5], [-1.0, 1.0]],
        explore: ExploreRule::Border,
    }
}

/// The field over `domain`.
///
/// # Errors
/// Never; the signature is that of every workload.
pub fn open(domain: &Domain<4>, options: &FieldOptions) -> Result<Box<dyn Workload<4>>, Error> {
    Ok(escape_field!(Julibrot, domain, options, 3.8))
}

/// (x, y, c_x, c_y).
struct Julibrot;

impl Orbit<4, 4> for Julibrot {
    const STATE: usize = 2;
    const TWIN: &'static str = "workloads/julibrot.cuh";
    const LATE: bool = true;

    #[inline(always)]
    fn start<L: Lanes>(point: [L; 4]) -> [L; 4] {
        point
    }

    #[inline(always)]
    fn step<L: Lanes, A: Rounding>(z: [L; 4]) -> [L; 4] {
        square_plus_c::<L, A>(z)
    }

    #[inline(always)]
    fn norm2<L: Lanes, A: Rounding>(z: &[L; 4]) -> L {
        A::mul_add(z[0], z[0], z[1] * z[1])
    }
}
