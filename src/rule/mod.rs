//! How a region is found uniform: the exploration rules, a file each.

mod border;
mod closed;
mod definition;
mod full;
mod kind;

pub use definition::Deciding;
pub use kind::RuleKind;
