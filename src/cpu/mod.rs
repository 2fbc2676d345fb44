//! The CPU backend, on rayon's threads.

mod backend;
mod balance;
mod explore;
mod host;
mod olt;
mod patience;
mod settled;
mod strategy;
mod visit;
mod work;

pub use backend::Cpu;
