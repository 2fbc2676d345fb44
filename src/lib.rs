//! Adaptive subdivision of k-dimensional domains.
//!
//! Many domains are mostly boring: large regions hold one value, and the interesting cells sit on a thin set. orthant
//! explores a domain region by region instead of cell by cell, in up to eight dimensions: a region whose border shows
//! one value is filled, a mixed one is divided, and regions are named by one scalar each along a space-filling curve.
//!
//! ```
//! use orthant::prelude::*;
//!
//! # fn main() -> Result<(), Error> {
//! let domain = Domain::new([256, 256], [[-1.5, 0.5], [-1.0, 1.0]], Sample::Corner)?;
//! let plan = Plan::new(domain, Scheme::uniform(4, 2, 4), CurveKind::Morton, ExploreRule::Border)?;
//! let field = workload::mandelbrot::open(&domain, &FieldOptions::default())?;
//! let subdivision = run(&plan, &*field, &How::default(), &Control::default())?;
//! assert_eq!(subdivision.field().unwrap().label([192, 128]), 512); // c = 0 never escapes
//! # Ok(())
//! # }
//! ```
//!
//! A [`Plan`](plan::Plan) says what is computed, [`How`](how::How) how fast; a [`Workload`](workload::Workload) says what
//! a cell is worth; [`run`](engine::run) returns a [`Subdivision`](subdivision::Subdivision). The words and the way of
//! the data through the code are in the guide below.

#![deny(unsafe_code)]
#![deny(missing_docs)]

#[cfg(feature = "cli")]
pub mod cli;
pub mod conformance;
mod cpu;
#[cfg_attr(not(feature = "cuda"), path = "cuda/disabled.rs")]
pub mod cuda;
pub mod curve;
pub mod device;
pub mod domain;
pub mod energy;
pub mod engine;
pub mod error;
pub mod escape;
pub mod field;
pub mod how;
pub mod measure;
pub mod memory;
pub mod model;
mod olt;
#[cfg(feature = "cli")]
pub mod output;
pub mod plan;
pub mod region;
pub mod registry;
pub mod report;
pub mod request;
pub mod sampler;
pub mod simd;
pub mod statistics;
pub mod strategy;
pub mod subdivision;
mod visit;
pub mod workload;

pub use cpu::Control;
pub use ndarray;

/// The largest number of dimensions.
pub const MAX_DIM: usize = 8;

/// What most programs need.
pub mod prelude {
    pub use crate::conformance;
    pub use crate::cpu::Control;
    pub use crate::curve::CurveKind;
    pub use crate::domain::{Domain, Sample};
    pub use crate::engine::{Backend, run};
    pub use crate::error::Error;
    pub use crate::escape::{Arithmetic, Precision};
    pub use crate::field::{CellType, Field};
    pub use crate::how::{ExploreOrder, How, Insertion, Keep, ParallelScheme};
    pub use crate::plan::{ExploreRule, Plan, Scheme};
    pub use crate::region::Region;
    pub use crate::request::Request;
    pub use crate::strategy::StrategyKind;
    pub use crate::subdivision::{Content, Subdivision};
    pub use crate::workload::{
        self, ArrayField, CellField, FieldOptions, Job, Open, Payload, Verdict, Workload, WorkloadKind,
    };
    pub use ndarray::Axis;
}

/// The guide, as in the folder `docs`.
pub mod guide {
    #[doc = include_str!("../docs/concepts.md")]
    pub mod concepts {}
    #[doc = include_str!("../docs/values.md")]
    pub mod values {}
    #[doc = include_str!("../docs/model.md")]
    pub mod model {}
    #[doc = include_str!("../docs/bench.md")]
    pub mod bench {}
    #[doc = include_str!("../docs/architecture.md")]
    pub mod architecture {}
    #[doc = include_str!("../docs/design.md")]
    pub mod design {}
}

/// The README, so that its code is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
