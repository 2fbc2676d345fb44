//! One run, where plan, field, choices and backend meet.

use crate::backend::{Control, Error, How, Part};
use crate::engine::target::Target;
use crate::field::Field;
use crate::plan::Plan;
use crate::result::Subdivision;

/// Carries out a plan on the CPU with default choices. [`Run`] has setters for others.
///
/// ```
/// use orthant::prelude::*;
///
/// let plan = Plan::builder([64, 64]).scheme(Scheme::uniform(2, 2, 4)).build()?;
/// let left = CellField::new(1, |[x, _]| u32::from(x < 32));
/// let found = run(&plan, &left)?;
/// // Four regions are uniform: their borders were looked at, their insides were not.
/// assert_eq!((found.totals().filled, found.totals().evaluated_cells), (4, 0));
/// assert!(found.totals().explored_cells < 64 * 64);
/// # Ok::<(), orthant::Error>(())
/// ```
///
/// # Errors
/// As [`Run::start`].
pub fn run<const K: usize>(plan: &Plan<K>, field: &dyn Field<K>) -> Result<Subdivision<K>, Error> {
    Run::new(plan, field).start()
}

/// A run before it starts: a plan, a field, and how, where and under whose control to carry it out.
///
/// ```
/// use orthant::prelude::*;
/// use orthant::{Error, field};
/// use orthant::field::FieldOptions;
/// # fn main() -> Result<(), Error> {
/// let plan = Plan::builder([64, 64]).window([[-1.5, 0.5], [-1.0, 1.0]]).scheme(Scheme::uniform(4, 2, 4)).build()?;
/// let field = field::mandelbrot::open(plan.domain(), &FieldOptions::default())?;
/// let counts = Run::new(&plan, &*field).how(How::default().keep(Keep::Counts)).start()?;
/// assert!(counts.array().is_none());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Run<'a, const K: usize> {
    plan: &'a Plan<K>,
    field: &'a dyn Field<K>,
    how: How,
    target: Option<&'a Target>,
    control: Option<&'a Control>,
}

impl<'a, const K: usize> Run<'a, K> {
    /// A run of `plan` over `field` on the CPU.
    pub fn new(plan: &'a Plan<K>, field: &'a dyn Field<K>) -> Self {
        Self { plan, field, how: How::default(), target: None, control: None }
    }

    /// Sets what is kept, and tuning.
    #[must_use]
    pub fn how(self, how: How) -> Self {
        Self { how, ..self }
    }

    /// Runs on another backend than the CPU.
    #[must_use]
    pub fn on(self, target: &'a Target) -> Self {
        Self { target: Some(target), ..self }
    }

    /// Lets `control` watch and cancel the run.
    #[must_use]
    pub fn control(self, control: &'a Control) -> Self {
        Self { control: Some(control), ..self }
    }

    /// Carries out the run.
    ///
    /// # Errors
    /// As [`Backend::prepare`](crate::backend::Backend::prepare), [`Prepared::run`](crate::backend::Prepared::run) and
    /// [`Prepared::subdivision`](crate::backend::Prepared::subdivision).
    pub fn start(self) -> Result<Subdivision<K>, Error> {
        let cpu = Target::cpu();
        let backend = self.target.unwrap_or(&cpu).of();
        let mut prepared = backend.prepare(self.plan, self.field, &self.how)?;
        prepared.run(&Part::default(), self.control.unwrap_or(&Control::default()))?;
        prepared.subdivision()
    }
}
