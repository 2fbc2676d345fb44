//! The exploration rules that there are.

use crate::geometry::Region;
use crate::rule::definition::Deciding;
use crate::rule::verdict::Verdict;
use crate::rule::{border, certified, closed, full};

/// The list of rules: name and module. A new one is a file (with its twin) and a line here.
macro_rules! rules {
    ($($(#[$doc:meta])* $Variant:ident = $name:literal => $module:ident),+ $(,)?) => {
        crate::registry::registry! {
            /// How a region is found uniform. Part of the plan, because it can change cells.
            ///
            /// ```
            /// use orthant::prelude::*;
            ///
            /// // A single cell differs. It lies inside of the only region of level 0, whose border is uniform.
            /// let island = CellField::new(1, |cell| u32::from(cell == [5, 5]));
            /// let found = |rule: RuleKind| {
            ///     let plan = Plan::builder([16, 16]).scheme(Scheme::uniform(1, 2, 1)).rule(rule).build()?;
            ///     Ok::<_, orthant::Error>(run(&plan, &island)?.totals().leaves)
            /// };
            /// assert_eq!(found(RuleKind::Border)?, 0); // the island is lost
            /// assert_eq!(found(RuleKind::Full)?, 1);
            /// # Ok::<(), orthant::Error>(())
            /// ```
            pub enum RuleKind("rule") { $($(#[$doc])* $Variant = $name),+ }
        }

        impl RuleKind {
            /// The cells that decide `region` of a domain of `size` cells.
            #[inline]
            pub fn deciding<const K: usize>(self, region: &Region<K>, size: [u32; K]) -> Deciding<K> {
                match self { $(Self::$Variant => $module::deciding(region, size)),+ }
            }

            /// How many cells decide a region with these sides, which need not be whole: what the cost model counts.
            pub fn cost(self, sides: impl Iterator<Item = f64> + Clone) -> f64 {
                match self { $(Self::$Variant => $module::cost(sides)),+ }
            }

            /// True if a field is asked for proofs unless a run says otherwise.
            #[inline]
            pub fn proves(self) -> bool {
                match self { $(Self::$Variant => $module::PROVES),+ }
            }

            /// True if proofs alone decide, and what is not proven is mixed.
            #[inline]
            pub fn certifies(self) -> bool {
                match self { $(Self::$Variant => $module::CERTIFIES),+ }
            }

            /// Its twin among the kernels.
            #[cfg(feature = "cuda")]
            pub(crate) fn twin(self) -> &'static str {
                match self { $(Self::$Variant => $module::TWIN),+ }
            }
        }
    };
}

rules! {
    /// Every cell on the region's own faces has the same label: the papers' rule.
    Border = "border" => border,
    /// The same on the region enlarged by the next layer of cells on its upper sides, clipped to the domain.
    Closed = "closed" => closed,
    /// Every cell: exact. Fields that can prove regions answer without looking at cells.
    Full = "full" => full,
    /// A proof of every cell: exact. What the field cannot prove is mixed, and no cell is looked at.
    Certified = "certified" => certified,
}

impl RuleKind {
    /// What a proof says of `region` of a domain of `size` cells under this rule, which looks at the cells where it says nothing.
    /// Never another verdict than the cells would give, but for what a rule that certifies takes for mixed.
    #[doc(hidden)]
    pub fn verdict<const K: usize>(
        self,
        region: &Region<K>,
        size: [u32; K],
        prove: impl FnOnce(&Region<K>) -> Verdict,
    ) -> Verdict {
        let deciding = self.deciding(region, size);
        self.judged(&deciding, prove(&deciding.region))
    }

    /// The same of what a proof says of the cells that decide a region.
    pub(crate) fn judged<const K: usize>(self, deciding: &Deciding<K>, verdict: Verdict) -> Verdict {
        match verdict {
            Verdict::Unknown if self.certifies() => Verdict::Mixed,
            // Two labels inside are none of the business of a rule that looks at faces.
            Verdict::Mixed if deciding.faces => Verdict::Unknown,
            verdict => verdict,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_count_the_deciding_cells() {
        for &rule in RuleKind::ALL {
            for extent in [[8, 4, 5], [1, 5, 2], [2, 2, 2], [3, 1, 1]] {
                // Far from the upper sides of the domain, where the closure is whole.
                let region = Region { corner: [3; 3], extent };
                let deciding = rule.deciding(&region, [100; 3]);
                let visited = if rule.certifies() { 1 } else { deciding.count() };
                let cost = rule.cost(extent.iter().map(|&side| f64::from(side)));
                assert_eq!(cost, visited as f64, "{rule} {extent:?}");
                assert!(deciding.region.contains(&region));
            }
        }
        let last = Region { corner: [8, 0], extent: [8, 8] };
        assert_eq!(RuleKind::Closed.deciding(&last, [16, 16]).region.extent, [8, 9]);
    }
}
