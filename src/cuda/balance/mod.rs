//! Balancers on a GPU (kernels/balance/): what they are made of, measured side by side, and settling by them.

mod measure;
mod phases;
mod settling;

pub use measure::compile_balancers;

pub(super) use measure::balance;
pub(super) use settling::{Settling, specialise_all};
