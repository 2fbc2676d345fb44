//! How a region is found uniform: the exploration rules, a file each, and the predicate that says which cells are equal.

mod border;
mod certified;
mod closed;
mod definition;
pub mod exact;
mod full;
mod kind;
mod verdict;

pub use definition::Deciding;
pub use kind::RuleKind;
pub use verdict::Verdict;
