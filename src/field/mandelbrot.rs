//! The Mandelbrot set in 2-D: z² + c from z = c, the anchor of the papers.

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
pub(crate) const ABOUT: &str = "z^2 + c from z = c: the anchor of the papers";

/// What a bare run uses.
pub(crate) fn defaults(_: usize) -> Defaults {
    Defaults {
        size: 1024,
        g: 4,
        r: 2,
        b: 8,
        dwell: Some(512),
        window: vec![[-1.5, 0.5], [-1.0, 1.0]],
        explore: RuleKind::Closed,
        by_index: false,
    }
}

/// Opens the Mandelbrot set over a domain: the label of a point c is the number of iterations of z² + c until z
/// escapes, at most `dwell`.
///
/// ```
/// use orthant::field::{FieldOptions, mandelbrot};
/// use orthant::prelude::*;
///
/// // Cells of side 0.5 whose corners are samples: cell (4, 4) is c = 0, cell (0, 0) is c = -2 - 2i.
/// let plan = Plan::builder([8, 8]).window([[-2.0, 2.0]; 2]).scheme(Scheme::uniform(2, 2, 1)).build()?;
/// let field = mandelbrot::open(plan.domain(), &FieldOptions::default().dwell(100))?;
/// let found = run(&plan, &*field)?;
/// let label = |cell| found.array().map(|array| array.label(cell));
/// assert_eq!(label([4, 4]), Some(100)); // never escapes
/// assert!(label([0, 0]) < Some(3));
/// # Ok::<(), orthant::Error>(())
/// ```
///
/// # Errors
/// Never; the signature is that of every field.
pub fn open(domain: &Domain<2>, options: &FieldOptions) -> Result<Box<dyn Field<2>>, FieldError> {
    Ok(escape_field!(Mandelbrot, domain, options, 1.6))
}

/// (x, y, c_x, c_y).
pub(super) struct Mandelbrot;

impl Orbit<2, 4> for Mandelbrot {
    const STATE: usize = 2;
    const TWIN: &'static str = "fields/mandelbrot.cuh";
    const LATE: bool = true;
    type Enclosure<N: Real> = Taylor<N, true>;

    #[inline(always)]
    fn start<L: Lanes>([x, y]: [L; 2]) -> [L; 4] {
        [x, y, x, y]
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
    fn enclose<N: Real>(hull: &Hull<N, 2>) -> Taylor<N, true> {
        let c = Disc { centre: hull.centre, radius: hull.radius(0, 2) };
        Taylor::new(c, None, hull.reach(0, 2), hull.unit)
    }
}
