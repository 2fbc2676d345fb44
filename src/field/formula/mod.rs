//! A field that is a line of text: a formula in the coordinates of a sample.
//!
//! The text is read (`lex.rs`, `parse.rs`, `statements.rs`, `ending.rs`, `scope.rs`) into operations that are each kept once
//! (`dag.rs`; `part.rs` has complex numbers), which become those of a run's own numbers (`lower.rs`, `number.rs`) and then a
//! tape (`tape.rs`). The tape is run over blocks of cells (`lanes.rs`) and over bounds of regions (`intervals.rs`), which is
//! what proofs are made of: of sixteen regions at once (`siblings.rs`). Regions of which nothing is proven get shorter tapes
//! (`shorten.rs`), which are found by place (`forest.rs`). A formula that iterates is two tapes (`iterated.rs`). `source.rs` writes tapes for a GPU,
//! and `waves.rs` those that a GPU shortens itself.
//! `docs/formulas.md` is the language. `vm.rs` reads another one, the `.vm` models of MPR and fidget.

#[cfg(test)]
mod compiled;
mod dag;
mod ending;
mod error;
mod field;
mod forest;
#[cfg(test)]
mod forest_tests;
mod functions;
mod intervals;
mod iterated;
#[cfg(test)]
mod iterated_tests;
mod labels;
mod lanes;
mod lex;
mod lower;
mod number;
mod parse;
mod part;
#[cfg(test)]
mod random;
mod sampled;
mod scope;
mod shorten;
mod siblings;
mod source;
mod statements;
mod tape;
#[cfg(test)]
mod tests;
mod text;
mod value;
mod vm;
mod waves;

pub use error::FormulaError;
pub use field::open;
pub(crate) use field::{ABOUT, defaults};
pub use text::Formula;
