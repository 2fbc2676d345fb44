//! Fields from outside the crate that have a name: whoever registers one has everything that the built-in ones have.

use std::any::Any;
use std::sync::OnceLock;

use crate::dimension::MAX_DIM;
use crate::field::definition::Field;
use crate::field::error::FieldError;
use crate::field::options::FieldOptions;
use crate::field::start::Defaults;
use crate::geometry::Domain;

/// Builds a field over a domain.
pub type Open<const K: usize> = fn(&Domain<K>, &FieldOptions) -> Result<Box<dyn Field<K>>, FieldError>;

/// Work on a field whose number of dimensions is known only at run time: a closure that is generic over K.
///
/// ```
/// use orthant::Error;
/// use orthant::field::{Job, Open};
/// use orthant::prelude::*;
///
/// /// Counts uniform regions, in as many dimensions as the request has.
/// struct Filled(Request);
/// impl Job for Filled {
///     type Output = Result<u64, Error>;
///     fn run<const K: usize>(self, open: Open<K>) -> Self::Output {
///         let plan = self.0.plan::<K>()?;
///         let field = open(plan.domain(), &self.0.options()?)?;
///         Ok(run(&plan, &*field)?.totals().filled)
///     }
/// }
/// // The diagonal of a square of 4 x 4 regions: 12 regions of level 0 do not meet it, and 2 of 4 children of each other.
/// let request = Request::new(FieldKind::Diagonal).size(vec![64, 64]).scheme(4, 2, 4);
/// assert_eq!(request.workload.dispatch(request.k(), Filled(request))??, 12 + 4 * 2);
/// # Ok::<(), Error>(())
/// ```
pub trait Job {
    /// The result of the work.
    type Output;
    /// Does the work in K dimensions. `open` builds the field.
    fn run<const K: usize>(self, open: Open<K>) -> Self::Output;
}

/// A field of your own with a name. Once it is [registered](crate::field::FieldKind::register), the command line and
/// requests know it like a built-in one.
///
/// ```
/// use orthant::field::{Defaults, OwnField};
/// use orthant::prelude::*;
/// let rings = OwnField::new("rings", "rings about a corner", |k| Defaults { size: 256, ..Defaults::unit(k) })
///     .in_dim::<2>(|_, _| Ok(Box::new(CellField::new(1, |[x, y]| (x * x + y * y) >> 9 & 1))));
/// FieldKind::register(vec![rings])?;
/// let request = Request::new("rings".parse()?);
/// assert_eq!(request.plan::<2>()?.domain().size(), [256, 256]);
/// # Ok::<(), orthant::Error>(())
/// ```
pub struct OwnField {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) defaults: fn(usize) -> Defaults,
    dims: Vec<usize>,
    /// `Open<K>` for K = 1, 2, ..
    opens: [Option<Box<dyn Any + Send + Sync>>; MAX_DIM],
}

impl std::fmt::Debug for OwnField {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OwnField").field("name", &self.name).field("dims", &self.dims).finish_non_exhaustive()
    }
}

/// The number of a registered field among all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct OwnNumber(usize);

static REGISTERED: OnceLock<Vec<OwnField>> = OnceLock::new();

fn registered() -> &'static [OwnField] {
    REGISTERED.get().map_or(&[], Vec::as_slice)
}

/// Keeps the fields that the program registers, once.
pub(super) fn keep(fields: Vec<OwnField>) -> Result<(), FieldError> {
    REGISTERED.set(fields).map_err(|_| FieldError::Registered)
}

impl OwnNumber {
    /// Those that the program registered.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        (0..registered().len()).map(Self)
    }

    pub(super) fn field(self) -> &'static OwnField {
        &registered()[self.0]
    }
}

impl OwnField {
    /// A field that exists in no dimension yet. `about` is its line in lists, and `defaults` says what a bare run uses
    /// in k dimensions.
    pub fn new(name: &'static str, about: &'static str, defaults: fn(usize) -> Defaults) -> Self {
        Self { name, about, defaults, dims: Vec::new(), opens: [const { None }; MAX_DIM] }
    }

    /// Adds what builds the field in K dimensions.
    ///
    /// # Panics
    /// If K is not between 1 and 8.
    #[must_use]
    pub fn in_dim<const K: usize>(mut self, open: Open<K>) -> Self {
        self.opens[K - 1] = Some(Box::new(open));
        self.dims = (1..=MAX_DIM).filter(|&k| self.opens[k - 1].is_some()).collect();
        self
    }

    /// The numbers of dimensions it exists in.
    pub(super) fn dims(&self) -> &[usize] {
        &self.dims
    }

    /// Runs `job` in `k` dimensions.
    pub(super) fn dispatch<J: Job>(&'static self, k: usize, job: J) -> Result<J::Output, FieldError> {
        macro_rules! in_each {
            ($($K:literal),+) => {
                match k {
                    $($K => self.open::<$K>().map(|open| job.run::<$K>(open)),)+
                    _ => None,
                }
            };
        }
        let lacking = FieldError::Dimension { field: self.name, k, dims: self.dims() };
        in_each!(1, 2, 3, 4, 5, 6, 7, 8).ok_or(lacking)
    }

    fn open<const K: usize>(&self) -> Option<Open<K>> {
        let open = self.opens[K - 1].as_deref()?;
        open.downcast_ref::<Open<K>>().copied()
    }
}
