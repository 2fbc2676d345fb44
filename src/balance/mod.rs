//! Load balancers: who does which unit of work-items of very different sizes.
//!
//! A *work-item* (a region to fill, a row of a matrix) has any number of *work-units* (cells, entries), and a balancer spreads
//! the units of all items over threads. The nine techniques that the Multi-phase Mapping paper compares (Busato and Bombieri,
//! "A Dynamic Approach for Workload Partitioning on GPU Architectures", IEEE TPDS 2017) are here, and three that suit regular subdivisions or empty items better. Each is a file: what it can
//! be told, how it is laid out on a GPU (its kernel has the same name in `kernels/balance/`), and what it is on the CPU, if it is
//! anything there.

mod balancer;
mod choice;
mod definition;
mod expand;
mod facts;
mod items;

mod block_search;
mod cta_warp_scan;
mod direct_search;
mod dynamic_warps;
mod level_arithmetic;
mod merge_path;
mod multi_phase;
mod threads;
mod tile_search;
mod two_phase;
mod virtual_warps;
mod warp_search;

pub use balancer::{Balancer, BalancerError, BalancerKind};
pub use choice::BalancerChoice;
pub use definition::Knob;
pub use expand::{UnitRun, expand};
pub use facts::{Class, Facts};
pub use items::{Items, ItemsError};

pub(crate) use definition::{BalanceLayout, Multiprocessors};
pub(crate) use facts::mean_of_small;
