//! What balancers are measured by, on any backend.

use crate::backend::control::Control;
use crate::backend::error::Error;
use crate::backend::seam::sealed::SealedBackend;
use crate::balance::{Balancer, Items};

/// A measurement of a balancer: it does the units of items again and again. Each unit changes four bytes of its own.
///
/// ```
/// use orthant::backend::Balancing;
/// use orthant::balance::{BalancerKind, Items};
/// use orthant::{Control, Target};
///
/// let (items, balancer, control) = (Items::new(vec![2, 0, 3])?, BalancerKind::MergePath.into(), Control::default());
/// let (items, balancer, control) = (&items, &balancer, &control);
/// let asked = Balancing { items, balancer, warm_up: 1, samples: 3, copies: Some(1), control };
/// let found = Target::cpu().balance(&asked)?;
/// assert_eq!((found.samples.len(), found.mistakes), (3, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Balancing<'a> {
    /// The items.
    pub items: &'a Items,
    /// The balancer.
    pub balancer: &'a Balancer,
    /// Repetitions before the first sample.
    pub warm_up: usize,
    /// Samples.
    pub samples: usize,
    /// Copies of everything that take turns, so that caches do not hold what is measured. None: as many as are needed.
    pub copies: Option<usize>,
    /// Cancels it between two samples.
    pub control: &'a Control,
}

/// Where balancers can be measured.
pub trait Balances: SealedBackend {
    /// Does the units of items by a balancer, again and again, and checks that each was done.
    ///
    /// # Errors
    /// [`Error::Balancer`] of one that is not here or not for these items; [`Error::DeviceMemory`], [`Error::Cuda`],
    /// [`Error::Interrupted`].
    fn balance(&self, asked: &Balancing<'_>) -> Result<Balanced, Error>;
}

/// The result of a measurement.
#[derive(Debug, Clone, PartialEq)]
pub struct Balanced {
    /// The times of all samples.
    pub samples: Vec<BalanceTimes>,
    /// What each took on the host's clock.
    pub wall: Vec<f64>,
    /// Units that were not done once per sample in their place, and items whose sum is wrong. A correct balancer has 0.
    pub mistakes: u64,
    /// Copies that took turns.
    pub copies: usize,
}

/// Seconds of one sample, by what they went into.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BalanceTimes {
    /// The sums of sizes.
    pub scan: f64,
    /// What is looked up before units can be done.
    pub partition: f64,
    /// The units.
    pub expansion: f64,
}

impl BalanceTimes {
    /// All of it.
    pub fn total(&self) -> f64 {
        self.scan + self.partition + self.expansion
    }
}
