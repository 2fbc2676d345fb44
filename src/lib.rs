//! Adaptive subdivision of k-dimensional domains.
//!
//! Many domains are mostly boring: large regions hold one value, and the interesting cells sit on a thin set. orthant
//! explores a domain region by region instead of cell by cell, in up to eight dimensions: a region whose border shows
//! one value is filled, a mixed one is divided, and regions are named by one scalar each along a space-filling curve.
//!
//! ```
//! use orthant::prelude::*;
//! use orthant::{Error, field};
//! use orthant::field::FieldOptions;
//!
//! # fn main() -> Result<(), Error> {
//! let plan = Plan::builder([256, 256])
//!     .window([[-1.5, 0.5], [-1.0, 1.0]])
//!     .scheme(Scheme::uniform(4, 2, 4))
//!     .build()?;
//! let mandelbrot = field::mandelbrot::open(plan.domain(), &FieldOptions::default())?;
//! let subdivision = run(&plan, &*mandelbrot)?;
//! assert_eq!(subdivision.array().unwrap().label([192, 128]), 512); // c = 0 never escapes
//! # Ok(())
//! # }
//! ```
//!
//! A [`Plan`] says what is computed, [`How`] how fast; a [`Field`](field::Field) says what a cell is worth; [`run`] and
//! [`Run`] return a [`Subdivision`]. The words and the way of the data through the code are in the guide below.

#![deny(unsafe_code)]
#![deny(missing_docs, missing_debug_implementations)]

pub mod abi;
pub mod backend;
#[cfg_attr(not(feature = "cuda"), expect(dead_code, unused_imports, reason = "layouts are for GPUs"))]
pub mod balance;
mod bytes;
mod cell;
pub mod choice;
mod cpu;
#[cfg_attr(not(feature = "cuda"), path = "cuda/disabled.rs")]
pub mod cuda;
pub mod curve;
#[doc(hidden)]
pub mod dimension;
#[doc(hidden)]
pub mod disk;
mod engine;
pub mod field;
pub mod geometry;
pub mod list;
#[doc(hidden)]
pub mod mapping;
#[doc(hidden)]
pub mod memory;
pub mod mesh;
#[doc(hidden)]
pub mod number;
#[doc(hidden)]
pub mod parallel;
pub mod per_axis;
mod plan;
mod plan_builder;
pub mod points;
mod radix;
#[doc(hidden)]
pub mod registry;
pub mod result;
pub mod rule;
mod simd;
#[doc(hidden)]
pub mod threads;
pub mod tree;
#[doc(hidden)]
pub mod zarr;

pub use backend::{Control, Error, How, Mapping, StrategyKind};
pub use bytes::Bytes;
pub use cell::{Cell, CellType, Endian, IndexOrder, Words, WordsMut};
#[doc(inline)]
pub use dimension::MAX_DIM;
pub use engine::{
    AutoScheme, BackendKind, Built, CellsReport, Computation, Computed, LevelCells, LevelReport, PointsRead, Ran,
    ReadFrom, Report, Request, Run, SCHEMA, SecondsByStage, StageClock, StartingScheme, Target, run,
};
pub use ndarray;
pub use plan::{Plan, PlanError};
pub use plan_builder::PlanBuilder;
#[doc(inline)]
pub use registry::UnknownName;
pub use result::{Keep, Subdivision};
pub use rule::RuleKind;
pub use simd::Isa;
pub use tree::Tree;

/// What most programs need, twenty names. What a field of your own implements is in [`field`] and [`rule`].
pub mod prelude {
    pub use crate::curve::CurveKind;
    pub use crate::engine::{BackendKind, Request, Run, Target, run};
    pub use crate::field::{ArrayField, CellField, Field, FieldKind};
    pub use crate::geometry::{Domain, Region, Sample, Scheme};
    pub use crate::{How, Keep, Plan, RuleKind, StrategyKind, Tree};
}

/// The guide, as in the folder `docs`.
pub mod guide {
    #[doc = include_str!("../docs/install.md")]
    pub mod install {}
    #[doc = include_str!("../docs/support.md")]
    pub mod support {}
    #[doc = include_str!("../docs/concepts.md")]
    pub mod concepts {}
    #[doc = include_str!("../docs/values.md")]
    pub mod values {}
    #[doc = include_str!("../docs/formulas.md")]
    pub mod formulas {}
    #[doc = include_str!("../docs/data.md")]
    pub mod data {}
    #[doc = include_str!("../docs/tree.md")]
    pub mod tree {}
    #[doc = include_str!("../docs/pieces.md")]
    pub mod pieces {}
    #[doc = include_str!("../docs/bench.md")]
    pub mod bench {}
    #[doc = include_str!("../docs/architecture.md")]
    pub mod architecture {}
    #[doc = include_str!("../docs/extending.md")]
    pub mod extending {}
    #[doc = include_str!("../docs/related-work.md")]
    pub mod related_work {}
}

/// The README, so that its code is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
