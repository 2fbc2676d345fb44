//! How the cells of regions are known.

use crate::geometry::Region;
use crate::plan::Plan;
use crate::rule::RuleKind;

/// How it is known that the cells of a terminal region are what the tree says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Provenance {
    /// Every cell was evaluated, or proven.
    Proved,
    /// The cells that the rule looks at have the region's value; others were not looked at.
    Sampled,
    /// The value stands for several: the region was divided, and what was below is [cut](crate::Tree::cut) off.
    Cut,
}

impl Provenance {
    /// How a plan's rule knows that a region is uniform.
    pub(super) fn of<const K: usize>(plan: &Plan<K>, cells: &Region<K>) -> Self {
        if plan.rule() == RuleKind::Full {
            return Self::Proved;
        }
        // A rule that looks at faces has seen all of a region that has no inside.
        let deciding = plan.rule().deciding(cells, plan.domain().size());
        if deciding.count() == deciding.region.volume() { Self::Proved } else { Self::Sampled }
    }
}
