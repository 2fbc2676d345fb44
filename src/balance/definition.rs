//! What a balancer is.

use crate::balance::expand::UnitRun;
use crate::balance::facts::{Class, Facts};

/// A number that a balancer can be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Knob {
    /// Its name in `name:knob=value`.
    pub name: &'static str,
    /// What it is.
    pub what: &'static str,
    /// What it is unless it is told; 0: by the items.
    pub default: u32,
    /// The least and the most that it may be.
    pub range: [u32; 2],
    /// What has to divide it, or a power of two if that is 0.
    pub multiple: u32,
}

/// Threads per block, which every balancer has.
pub(super) const BLOCK: Knob = block(256, 1024);

/// Threads per block, of which a kernel takes `most`.
pub(super) const fn block(default: u32, most: u32) -> Knob {
    Knob { name: "block", what: "threads per block", default, range: [32, most], multiple: 32 }
}

/// A GPU's multiprocessors, and the threads that each keeps in flight.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Multiprocessors(pub(crate) [u32; 2]);

impl Multiprocessors {
    /// Blocks of `threads` threads that keep it busy to the end: some 32 times as many as it holds.
    pub(super) fn busy(self, threads: u32) -> u64 {
        32 * u64::from(self.0[0]) * u64::from(self.0[1] / threads).max(1)
    }
}

/// How a balancer is laid out on a GPU, for certain items.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct BalanceLayout {
    /// Its kernel.
    pub(crate) header: &'static str,
    /// What that is compiled for.
    pub(crate) defines: Vec<(&'static str, u32)>,
    /// Threads and blocks of the grid that does the units.
    pub(crate) block: u32,
    /// See [`block`](Self::block).
    pub(crate) blocks: u64,
    /// True if it needs to know how many units come before each item.
    pub(crate) prefix: bool,
    /// True if sums over the items of a warp fit 32 bits.
    pub(crate) narrow: bool,
    /// The units of a tile, if it needs to know how many of them come before each item.
    pub(crate) tile: Option<u32>,
    /// The chunks that a kernel looks up beforehand, if it needs that.
    pub(crate) chunks: Option<u64>,
    /// Classes of items.
    pub(crate) classes: Vec<Class>,
    /// Blocks that launches from the device may have in flight, if there are any.
    pub(crate) credits: Option<u32>,
}

/// What a layout follows from.
pub(super) struct LayoutAsked<'a> {
    pub(super) facts: &'a Facts,
    /// The mean size of items that are not empty and have at most so many units.
    pub(super) mean_of_small: &'a dyn Fn(u64) -> f64,
    /// The value of a knob.
    pub(super) knob: &'a dyn Fn(&str) -> u32,
    pub(super) processors: Multiprocessors,
}

impl LayoutAsked<'_> {
    /// The value of a knob, as it was given or by default.
    pub(super) fn knob(&self, knob: &str) -> u32 {
        (self.knob)(knob)
    }
}

/// What a balancer does on the CPU: calls the body for every unit once, in runs.
pub(super) type HostBalancer = fn(prefix: &[u64], body: &(dyn Fn(UnitRun) + Sync));

/// A balancer.
pub(super) trait Definition: Sync {
    /// What it can be told; [`BLOCK`] among that.
    fn knobs(&self) -> &'static [Knob];

    /// Its layout, or what it cannot do about these items.
    fn layout(&self, asked: &LayoutAsked<'_>) -> Result<BalanceLayout, &'static str>;

    /// What it is on the CPU, if it is anything there.
    fn on_cpu(&self) -> Option<HostBalancer> {
        None
    }
}
