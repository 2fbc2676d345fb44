//! How the cells of regions are known.

use crate::geometry::Region;
use crate::plan::Plan;
use crate::registry::registry;
use crate::rule::RuleKind;

registry! {
    /// How it is known that the cells of a terminal region are what the tree says.
    ///
    /// ```
    /// use orthant::prelude::*;
    /// use orthant::tree::Provenance;
    ///
    /// let left = CellField::new(1, |[x, _]| u32::from(x < 32));
    /// let known = |rule| {
    ///     let plan = Plan::builder([64, 64]).scheme(Scheme::uniform(2, 2, 4)).rule(rule).build()?;
    ///     let tree = Tree::of(run(&plan, &left)?)?;
    ///     Ok::<_, Box<dyn std::error::Error>>(tree.region(0).provenance())
    /// };
    /// // `border` looks at faces, `full` at all cells.
    /// assert_eq!((known(RuleKind::Border)?, known(RuleKind::Full)?), (Provenance::Sampled, Provenance::Proved));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub enum Provenance("provenance") {
        /// Every cell was evaluated, or proven.
        Proved = "proved",
        /// The cells that the rule looks at have the region's value; others were not looked at.
        Sampled = "sampled",
        /// The value stands for several: the region was divided, and what was below is [cut](crate::Tree::cut) off.
        Cut = "cut",
    }
}

impl Provenance {
    /// How a plan's rule knows that a region is uniform.
    pub(super) fn of<const K: usize>(plan: &Plan<K>, cells: impl Fn() -> Region<K>) -> Self {
        if plan.rule() == RuleKind::Full || plan.rule().certifies() {
            return Self::Proved;
        }
        // A rule that looks at faces has seen all of a region that has no inside.
        let deciding = plan.rule().deciding(&cells(), plan.domain().size());
        if deciding.count() == deciding.region.volume() { Self::Proved } else { Self::Sampled }
    }
}
