//! The laws of the engine, callable: `cargo test` and `orthant verify` run the same ones.
//!
//! A case fixes a plan; a run of it fixes everything that must not change a cell. Rows are a covering set: every pair of
//! choices meets in one of them. All runs of a case must agree in their whole array, their counts per level and their
//! terminal regions; all but Exhaustive, from which exploration may differ in the cells that it misses. Those are counted
//! and shown, never hidden, and must be none where the case says so. Every run is made over two different poisons, so that
//! a cell that is not written shows. Some rows carry a plan out in parts, which come to the same. A coarse sample has the same labels wherever it is taken.

mod axes;
mod cases;
mod cover;
mod cut;
mod reference;
mod served;
mod suite;

pub use axes::{Row, Scope};
pub use cases::{Case, cases};
pub use cut::{Cut, in_parts, in_windows};
pub use suite::{Checked, Suite};
