//! One error at the surface of the crate, one variant per way of failing.

use crate::backend::cuda_error::CudaError;
use crate::backend::part::PartError;
use crate::balance::BalancerError;
use crate::bytes::Bytes;
use crate::choice::ChoiceError;
use crate::curve::CurveError;
use crate::field::{DeviceTwin, FieldError, TwinRefusal};
use crate::geometry::DomainError;
use crate::plan::PlanError;
use crate::registry::UnknownName;
use crate::result::{MaterialiseError, MemoryError};

/// What went wrong. The message names the value and what is allowed. An error of a choice begins with the choice's
/// name.
///
/// ```
/// use orthant::prelude::*;
/// use orthant::{Error, PlanError};
///
/// fn build(g: u32) -> Result<Plan<2>, Error> {
///     Ok(Plan::builder([64, 64]).g([g, 4]).build()?)
/// }
/// assert!(build(4).is_ok());
/// match build(100) {
///     Err(Error::Plan(PlanError::InitialSplit { axis, g, n })) => assert_eq!((axis, g, n), (0, 100, 64)),
///     other => panic!("{other:?}"),
/// }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A domain that cannot be.
    #[error(transparent)]
    Domain(#[from] DomainError),
    /// A plan that cannot be.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A part that does not fit its plan.
    #[error(transparent)]
    Part(#[from] PartError),
    /// A field that cannot be.
    #[error(transparent)]
    Field(#[from] FieldError),
    /// A name that no registry holds.
    #[error(transparent)]
    UnknownName(#[from] UnknownName),
    /// A choice that cannot be, or does not go with others.
    #[error(transparent)]
    Choice(#[from] ChoiceError),
    /// A balancer that cannot be had here, or for these items.
    #[error(transparent)]
    Balancer(#[from] BalancerError),
    /// More memory than is allowed.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// A batch that does not go together.
    #[error(transparent)]
    Batch(#[from] BatchError),
    /// Cells that were not kept.
    #[error(transparent)]
    NotKept(MaterialiseError),
    /// More memory than the GPU has free.
    #[error("{what} would take {need} on the GPU, which has {free} free", need = Bytes(*need), free = Bytes(u128::from(*free)))]
    DeviceMemory {
        /// What would be stored.
        what: &'static str,
        /// Bytes needed.
        need: u128,
        /// Bytes that are free.
        free: u64,
    },
    /// Something that cannot be had on a backend.
    #[error("backend {backend}: {what}")]
    Unsupported {
        /// The backend.
        backend: &'static str,
        /// What it lacks.
        what: Unsupported,
    },
    /// CUDA is not here, or failed.
    #[error("backend cuda: {0}")]
    Cuda(#[from] CudaError),
    /// The run was cancelled; holds the signal number, or 0 if the caller cancelled it.
    #[error("interrupted")]
    Interrupted(usize),
    /// The run did not account for every cell: a bug in the engine or a field that changed its mind.
    #[error("the run accounted for {seen} of {total} cells")]
    Incomplete {
        /// Cells filled, evaluated or counted in leaves.
        seen: u128,
        /// Cells of the roots: of the domain, or of what a part covers of it.
        total: u128,
    },
    /// A worker pool that could not be started, or another failure of the system.
    #[error("{0}")]
    System(String),
}

/// What does not go together in the regions and bricks of a batch: a bug of what delivers it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BatchError {
    /// A batch of another plan than that of what takes it.
    #[error("batch: {what} {given}, where the plan of what takes it has {own}")]
    Plan {
        /// What differs.
        what: &'static str,
        /// The batch's.
        given: String,
        /// That of what takes it.
        own: String,
    },
    /// A region that the plan does not have.
    #[error("batch: the plan has no code {code} on level {level}")]
    Region {
        /// Its level.
        level: u32,
        /// Its code.
        code: u64,
    },
    /// A leaf that could have been divided.
    #[error("batch: a leaf on level {level}; leaves are on the deepest, which is {deepest}")]
    Leaf {
        /// Its level.
        level: u32,
        /// The deepest level.
        deepest: u32,
    },
    /// A brick somewhere else than behind the one before it.
    #[error("batch: the brick of code {code} on level {level} begins at cell {place}, where {next} comes next")]
    Place {
        /// The leaf's level.
        level: u32,
        /// Its code.
        code: u64,
        /// Where its brick is said to begin.
        place: u64,
        /// Where the one before it ends.
        next: u128,
    },
    /// More or fewer cells than the leaves have.
    #[error("batch: {have} cells in bricks, and the leaves have {need}")]
    Cells {
        /// Cells in the bricks.
        have: usize,
        /// Cells of the leaves.
        need: u128,
    },
}

/// What a backend does not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unsupported {
    /// Tuning of a GPU, away from one.
    #[error("tuning of a GPU was chosen")]
    CudaTuning,
    /// A field that is CUDA source, away from a GPU.
    #[error("this field is CUDA source and needs a GPU")]
    DeviceOnly,
    /// A field that a device cannot evaluate.
    #[error("this field has no device twin (Field::twin)")]
    NoTwin,
    /// A device twin that was written for another version of what kernels offer.
    #[error(
        "the field's device twin was written for version {api} of the kernels' interface, which here is version {}",
        DeviceTwin::API
    )]
    TwinApi {
        /// Its version.
        api: u32,
    },
    /// A device twin that cannot be used.
    #[error("this field cannot run there: {0}; use --backend cpu")]
    Twin(TwinRefusal),
    /// Regions with a payload on a device.
    #[error("regions with a payload are not supported there yet")]
    Payload,
    /// More regions on a level than kernels can number.
    #[error("level {level} has {regions} regions, and at most 2^31 can be")]
    Regions {
        /// The level.
        level: u32,
        /// Its regions.
        regions: u128,
    },
    /// More terminal regions than dynamic parallelism lists.
    #[error("the run has {regions} terminal regions, and dp lists at most 2^32 - 1")]
    Terminals {
        /// The regions.
        regions: u64,
    },
}

impl From<CurveError> for Error {
    fn from(error: CurveError) -> Self {
        Self::Plan(error.into())
    }
}

impl From<MaterialiseError> for Error {
    fn from(error: MaterialiseError) -> Self {
        match error {
            MaterialiseError::Memory(error) => Self::Memory(error),
            MaterialiseError::NotKept | MaterialiseError::NoBricks => Self::NotKept(error),
        }
    }
}
