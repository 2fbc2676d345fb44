//! How many regions a run is expected to examine, before it runs.

use crate::backend::part::Start;
use crate::field::Field;
use crate::geometry::Region;
use crate::plan::Plan;

/// What is expected of a run, level by level from that of its roots.
pub(crate) struct Expected {
    /// Regions that are examined.
    pub(crate) regions: Vec<f64>,
    /// Leaves: mixed regions of the last level.
    pub(crate) leaves: f64,
}

impl Expected {
    /// As [`Plan::expected_regions`] where a run of codes was chosen regardless of the boundary; the regions of a table are
    /// taken for children of mixed ones. No level has more mixed regions than the field says.
    pub(crate) fn of<const K: usize>(plan: &Plan<K>, field: &dyn Field<K>, start: &Start<'_, K>) -> Self {
        let children = plan.scheme().children() as f64;
        // Rules that look at cells beside a region have a cell decide several.
        let cell = Region { corner: [0; K], extent: [1; K] };
        let deciding = plan.rule().deciding(&cell, plan.domain().size()).region.volume() as f64;
        let most = field.most_mixed().map_or(f64::INFINITY, |cells| cells as f64 * deciding);
        let densities = plan.expected_densities(field.boundary_dimension());
        let (before, below) = densities.split_at(start.level as usize);
        // What is left of the regions of a run of codes, since those above them were mixed.
        let left = if start.first().is_some() { before.iter().product() } else { 1.0 };
        Self::below(start.len() as f64, left, below, children, most)
    }

    /// Goes down level by level. `first` is the number of regions on the first level, and `left` is the share of them that remains. A
    /// density is the share of a level's regions that are mixed. No level has more than `most` mixed regions.
    fn below(first: f64, mut left: f64, densities: &[f64], children: f64, most: f64) -> Self {
        let (mut regions, mut leaves) = (Vec::with_capacity(densities.len()), 0.0);
        let mut examined = first;
        for density in densities {
            regions.push(examined);
            leaves = (examined * density * left).min(most);
            (examined, left) = (leaves * children, 1.0);
        }
        Self { regions, leaves }
    }
}
