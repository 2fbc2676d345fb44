//! Host programs: the order in which regions are explored, settled and divided.
//!
//! A strategy knows no threads and no workload; it calls the verbs of a backend. All strategies of one plan return the
//! same cells, counts and terminal regions, except that Exhaustive has one region, the domain.

mod ask;
mod dp;
mod exhaustive;

use crate::cpu::Cpu;
use crate::error::Error;
use crate::subdivision::{Launches, LevelStats};

/// A host program.
pub(crate) trait Strategy<const K: usize>: Sync {
    /// Settles every cell of the domain.
    fn run(&self, cpu: &Cpu<'_, K>) -> Result<(Vec<LevelStats<K>>, Launches), Error>;
}

/// The list of strategies: name, file, type. A new one is a file and a line here.
macro_rules! strategies {
    ($($(#[$doc:meta])* $Variant:ident = $name:literal => $path:path),+ $(,)?) => {
        crate::registry::registry! {
            /// The host program that drives a subdivision.
            pub enum StrategyKind("strategy") { $($(#[$doc])* $Variant = $name),+ }
        }

        impl StrategyKind {
            pub(crate) fn get<const K: usize>(self) -> &'static dyn Strategy<K> {
                match self { $(Self::$Variant => &$path),+ }
            }
        }
    };
}

strategies! {
    /// Every cell of the domain, without subdivision.
    Exhaustive = "exhaustive" => exhaustive::Exhaustive,
    /// Adaptive Serial Kernels: one pass per level over a double-buffered OLT.
    Ask = "ask" => ask::Ask,
    /// Dynamic parallelism: every mixed region launches its children.
    Dp = "dp" => dp::Dp,
}
