//! The cost model of the ASK paper in k dimensions: what a subdivision should cost before it is run.
//!
//! Equation numbers are those of Quezada, Navarro, Romero and Aguilera, *Modeling GPU Dynamic Parallelism for Self
//! Similar Density Workloads*, arXiv 2206.02255. A domain of n cells per axis is split into g, then r at a time until
//! sides reach B; a region is mixed with probability P. [`mod@work`] counts operations, [`time`] puts them on q
//! multiprocessors of c cores, [`mod@optimum`] finds the best {g, r, B}, [`overhead`] is what the paper leaves out.
//!
//! ```
//! use orthant_lab::model::{Costs, Density, Geometry, Options, work};
//!
//! # fn main() -> Result<(), orthant_lab::model::ModelError> {
//! let geometry = Geometry::uniform(&[1 << 16, 1 << 16], 2, 2, 8)?;
//! let work = work(&geometry, &Density::Constant(0.7), Costs::new(16.0, 100.0)?, Options::default())?;
//! assert_eq!(work.tau, 12);
//! assert!((work.reduction - 10.406).abs() < 1e-3); // a tenth of evaluating every cell
//! # Ok(())
//! # }
//! ```
//!
//! The equations are pure functions. Numbers of regions and the quotients under ceilings are exact rationals, τ is an exact
//! integer; sums are doubles.
//!
//! From equations to times: [`observed`] has the features of what this engine does, [`mod@fit`] their constants from measured
//! runs, [`sample`] what a coarse sample of a field says of the levels of any scheme, and [`auto`] the scheme that follows.

pub mod auto;
mod code;
pub mod counts;
pub mod density;
mod error;
pub mod fields;
pub mod fit;
pub mod geometry;
pub mod kernels;
pub mod observed;
pub mod olt;
pub mod optimum;
mod options;
pub mod overhead;
pub mod percolation;
pub mod pilot;
mod ratio;
mod rounds;
pub mod sample;
mod streams;
pub mod tau;
pub mod time;
pub mod work;

pub use code::{Code, features};
pub use counts::Counts;
pub use density::{Chain, Density};
pub use error::ModelError;
pub use geometry::{Geometry, Surface};
pub use kernels::Kernels;
pub use optimum::{Objective, Problem, Space, optimum};
pub use options::{Options, QueryCeil, Wave};
pub use ratio::Ratio;
pub use rounds::Rounds;
pub use tau::TauPolicy;
pub use time::{Processors, times};
pub use work::{Costs, work};
