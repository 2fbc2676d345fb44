//! The Julibrot in 4-D: z² + c from every z, for every c; axes 0 and 1 are z, axes 2 and 3 are c.
//!
//! Its level sets have no pockets and no islands in the continuum, so the border rule errs by sampling only.

use crate::field::definition::Field;
use crate::field::error::FieldError;
use crate::field::escape::enclosure::Hull;
use crate::field::escape::labels::escape_field;
use crate::field::escape::orbit::{Orbit, Rounding};
use crate::field::escape::square::{Disc, Taylor, square_plus_c};
use crate::field::options::FieldOptions;
use crate::field::start::Defaults;
use crate::geometry::Domain;
use crate::rule::RuleKind;
use crate::simd::{Lanes, Real};

/// One line for lists.
pub(crate) const ABOUT: &str = "z^2 + c from every z for every c: all quadratic Julia sets at once";

/// What a bare run uses.
pub(crate) fn defaults(_: usize) -> Defaults {
    Defaults {
        size: 48,
        g: 3,
        r: 2,
        b: 2,
        dwell: Some(64),
        window: vec![[-1.5, 1.5], [-1.5, 1.5], [-1.5, 0.5], [-1.0, 1.0]],
        explore: RuleKind::Certified,
        by_index: false,
    }
}

/// Opens all quadratic Julia sets over a domain: axes 0 and 1 are the starting point z, axes 2 and 3 are c. The label
/// is the number of iterations of z² + c until z escapes, at most `dwell`.
///
/// ```
/// use orthant::field::{FieldOptions, julibrot};
/// use orthant::prelude::*;
///
/// // Axes 0 and 1 are z, axes 2 and 3 are c. Cell 2 is 0 on every axis, cell 0 is -2.
/// let builder = Plan::builder([4; 4]).window([[-2.0, 2.0]; 4]).sample(Sample::Corner);
/// let plan = builder.scheme(Scheme::uniform(2, 2, 1)).build()?;
/// let field = julibrot::open(plan.domain(), &FieldOptions::default().dwell(64))?;
/// let found = run(&plan, &*field)?;
/// let label = |cell| found.array().map(|array| array.label(cell));
/// assert_eq!(label([2, 2, 2, 2]), Some(64)); // z = 0 stays there for c = 0
/// assert!(label([0, 0, 2, 2]) < Some(3)); // z = -2 - 2i escapes
/// # Ok::<(), orthant::Error>(())
/// ```
///
/// # Errors
/// Never; the signature is that of every field.
pub fn open(domain: &Domain<4>, options: &FieldOptions) -> Result<Box<dyn Field<4>>, FieldError> {
    Ok(escape_field!(Julibrot, domain, options, 3.8))
}

/// (x, y, c_x, c_y).
pub(super) struct Julibrot;

impl Orbit<4, 4> for Julibrot {
    const STATE: usize = 2;
    const TWIN: &'static str = "fields/julibrot.cuh";
    const LATE: bool = true;
    type Enclosure<N: Real> = Taylor<N, false>;

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

    #[inline(always)]
    fn enclose<N: Real>(hull: &Hull<N, 4>) -> Taylor<N, false> {
        let [x, y, cx, cy] = hull.centre;
        let start = Disc { centre: [x, y], radius: hull.radius(0, 2) };
        let c = Disc { centre: [cx, cy], radius: hull.radius(2, 4) };
        Taylor::new(c, Some(start), hull.reach(2, 4), hull.unit)
    }
}
