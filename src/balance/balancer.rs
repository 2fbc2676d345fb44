//! Balancers by name, with what they are told.

use std::fmt;
use std::str::FromStr;

use crate::balance::definition::{BalanceLayout, Definition, HostBalancer, Knob, LayoutAsked, Multiprocessors};
use crate::balance::expand::UnitRun;
use crate::balance::facts::Facts;
use crate::balance::{
    block_search, cta_warp_scan, direct_search, dynamic_warps, level_arithmetic, merge_path, multi_phase, threads,
    tile_search, two_phase, virtual_warps, warp_search,
};
use crate::registry::{UnknownName, registry};

registry! {
    /// The balancers: ways to share the units of items among workers.
    ///
    /// ```
    /// use orthant::balance::BalancerKind;
    ///
    /// let kind: BalancerKind = "merge-path".parse()?;
    /// assert!(kind.is_on_cpu());
    /// // What it can be told, as in `merge-path:block=128`.
    /// assert!(kind.knobs().iter().any(|knob| knob.name == "block" && knob.range[0] <= 128));
    /// # Ok::<(), orthant::UnknownName>(())
    /// ```
    pub enum BalancerKind ("balancer") {
        /// A thread per item.
        Threads = "threads",
        /// So many threads per item.
        VirtualWarps = "virtual-warps",
        /// So many threads per item, and grids launched from the device for the largest.
        DynamicWarps = "dynamic-warps",
        /// A block, a warp, or a scan, by an item's size.
        CtaWarpScan = "cta-warp-scan",
        /// A search among all items for every unit.
        DirectSearch = "direct-search",
        /// A search among 32 items for every unit.
        WarpSearch = "warp-search",
        /// Equal units for the threads of a block, which has so many items.
        BlockSearch = "block-search",
        /// Equal units for all threads.
        TwoPhase = "two-phase",
        /// Equal units for all threads, neighbours side by side.
        MultiPhase = "multi-phase",
        /// Equal steps over units and items.
        MergePath = "merge-path",
        /// Equal tiles of items for all blocks.
        TileSearch = "tile-search",
        /// Division, where items of one size lie together.
        LevelArithmetic = "level-arithmetic",
    }
}

impl BalancerKind {
    fn definition(self) -> &'static dyn Definition {
        match self {
            Self::Threads => &threads::Threads,
            Self::VirtualWarps => &virtual_warps::VirtualWarps,
            Self::DynamicWarps => &dynamic_warps::DynamicWarps,
            Self::CtaWarpScan => &cta_warp_scan::CtaWarpScan,
            Self::DirectSearch => &direct_search::DirectSearch,
            Self::WarpSearch => &warp_search::WarpSearch,
            Self::BlockSearch => &block_search::BlockSearch,
            Self::TwoPhase => &two_phase::TwoPhase,
            Self::MultiPhase => &multi_phase::MultiPhase,
            Self::MergePath => &merge_path::MergePath,
            Self::TileSearch => &tile_search::TileSearch,
            Self::LevelArithmetic => &level_arithmetic::LevelArithmetic,
        }
    }

    /// Its settings.
    pub fn knobs(self) -> &'static [Knob] {
        self.definition().knobs()
    }

    /// True if it exists on the CPU, too. It has no settings there.
    pub fn is_on_cpu(self) -> bool {
        self.definition().on_cpu().is_some()
    }
}

/// A balancer with its settings, written `multi-phase` or `multi-phase:units=7:rounds=3`.
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
/// use orthant::balance::{Balancer, BalancerKind, Items};
///
/// let tuned: Balancer = "multi-phase:units=7".parse()?;
/// assert_eq!((tuned.kind(), tuned.to_string().as_str()), (BalancerKind::MultiPhase, "multi-phase:units=7"));
/// assert!("multi-phase:unit=7".parse::<Balancer>().is_err());
/// // On the CPU: threads share the units, and each is done once.
/// let items = Items::new(vec![2, 0, 3, 1000])?;
/// let done = AtomicU64::new(0);
/// let count = |run: orthant::balance::UnitRun| drop(done.fetch_add(run.ranks.end - run.ranks.start, Relaxed));
/// Balancer::from(BalancerKind::MergePath).run(&items.prefix(), &count)?;
/// assert_eq!(done.into_inner(), 1005);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Balancer {
    kind: BalancerKind,
    told: Vec<(&'static str, u32)>,
}

/// Why a balancer cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BalancerError {
    /// No such balancer.
    #[error(transparent)]
    Unknown(#[from] UnknownName),
    /// Something that it cannot be told.
    #[error("{kind}: '{text}': {}", takes(*kind))]
    Told {
        /// The balancer.
        kind: BalancerKind,
        /// What it was told.
        text: String,
    },
    /// Items that it is not for.
    #[error("{kind}: {reason}")]
    Items {
        /// The balancer.
        kind: BalancerKind,
        /// Why not.
        reason: &'static str,
    },
}

/// Sizes below this fit 32 bits 512 times over: the items of a warp in a scan.
const NARROW: u64 = 1 << 23;

fn takes(kind: BalancerKind) -> String {
    let knob = |knob: &Knob| {
        let [least, most] = knob.range;
        let multiple = match knob.multiple {
            0 => ", a power of two".into(),
            1 => String::new(),
            multiple => format!(", a multiple of {multiple}"),
        };
        format!("{}={least}..{most}{multiple}", knob.name)
    };
    format!("it takes {}", kind.knobs().iter().map(knob).collect::<Vec<_>>().join("; "))
}

impl Balancer {
    /// Which one it is.
    pub fn kind(&self) -> BalancerKind {
        self.kind
    }

    fn knob(&self, name: &str) -> u32 {
        let told = self.told.iter().find(|(known, _)| *known == name).map(|&(_, value)| value);
        let knob = self.kind.knobs().iter().find(|knob| knob.name == name);
        told.or(knob.map(|knob| knob.default)).unwrap_or(0)
    }

    /// Its layout on a GPU, for items of which `facts` and the mean size of those with at most so many units are known.
    ///
    /// # Errors
    /// [`BalancerError::Items`].
    pub(crate) fn layout(
        &self,
        facts: &Facts,
        mean_of_small: &dyn Fn(u64) -> f64,
        processors: Multiprocessors,
    ) -> Result<BalanceLayout, BalancerError> {
        let asked = LayoutAsked { facts, mean_of_small, knob: &|name| self.knob(name), processors };
        let layout = self.kind.definition().layout(&asked);
        let layout = layout.map_err(|reason| BalancerError::Items { kind: self.kind, reason })?;
        Ok(BalanceLayout { narrow: !layout.prefix || facts.most < NARROW, ..layout })
    }

    /// Calls `body` for every unit once, in runs, over the threads of rayon's current pool. `prefix` is that of
    /// [`Items::prefix`](crate::balance::Items::prefix).
    ///
    /// # Errors
    /// [`BalancerError::Items`] if it is none on the CPU.
    pub fn run(&self, prefix: &[u64], body: &(dyn Fn(UnitRun) + Sync)) -> Result<(), BalancerError> {
        let on_cpu: Option<HostBalancer> = self.kind.definition().on_cpu();
        let reason = "it is a technique of GPUs; on the CPU there are threads, two-phase and merge-path";
        let run = on_cpu.ok_or(BalancerError::Items { kind: self.kind, reason })?;
        if !self.told.is_empty() {
            let reason = "what it was told is about a GPU; on the CPU it takes nothing";
            return Err(BalancerError::Items { kind: self.kind, reason });
        }
        if prefix.last().is_some_and(|&units| units > 0) {
            run(prefix, body);
        }
        Ok(())
    }
}

impl From<BalancerKind> for Balancer {
    fn from(kind: BalancerKind) -> Self {
        Self { kind, told: Vec::new() }
    }
}

impl FromStr for Balancer {
    type Err = BalancerError;

    fn from_str(text: &str) -> Result<Self, BalancerError> {
        let mut parts = text.split(':');
        let kind: BalancerKind = parts.next().unwrap_or_default().parse()?;
        let mut balancer = Self::from(kind);
        for part in parts {
            let told = || {
                let (name, value) = part.split_once('=')?;
                let knob = kind.knobs().iter().find(|knob| knob.name == name)?;
                let value: u32 = value.parse().ok()?;
                let whole = match knob.multiple {
                    0 => value.is_power_of_two(),
                    multiple => value.is_multiple_of(multiple),
                };
                let fits = (knob.range[0]..=knob.range[1]).contains(&value) && whole;
                let new = balancer.told.iter().all(|&(told, _)| told != name);
                (fits && new).then_some((knob.name, value))
            };
            let told = told().ok_or_else(|| BalancerError::Told { kind, text: part.to_owned() })?;
            balancer.told.push(told);
        }
        Ok(balancer)
    }
}

impl fmt::Display for Balancer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let told = self.told.iter().map(|(name, value)| format!(":{name}={value}"));
        f.pad(&format!("{}{}", self.kind, told.collect::<String>()))
    }
}
