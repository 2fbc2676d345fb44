//! What an exploration rule is: the cells that decide whether a region is uniform.
//!
//! A region counts as uniform if all cells of the rule's set have one label. The set is part of the plan, because it can
//! change cells; the order in which it is visited is not.

use crate::geometry::Region;

/// The cells that decide a region: those of a box, or of its faces.
///
/// ```
/// use orthant::prelude::*;
///
/// let region = Region { corner: [0, 0], extent: [4, 4] };
/// let cells = |rule: RuleKind| rule.deciding(&region, [8, 8]).count();
/// assert_eq!((cells(RuleKind::Full), cells(RuleKind::Border)), (16, 12));
/// // `closed` looks at the border of 5 x 5 cells: one layer belongs to the neighbours.
/// assert_eq!(cells(RuleKind::Closed), 16);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deciding<const K: usize> {
    /// The box.
    pub region: Region<K>,
    /// True if only the cells on its faces count.
    pub faces: bool,
}

impl<const K: usize> Deciding<K> {
    /// The number of cells.
    #[inline]
    pub fn count(&self) -> u64 {
        if self.faces { self.region.surface_volume() } else { self.region.volume() }
    }

    /// The offset of cell `index` from the corner of the box; a bijection from `0..count()` onto the set.
    #[inline]
    pub fn offset(&self, index: u64) -> [u32; K] {
        if self.faces { self.region.surface_offset(index) } else { self.region.offset(index) }
    }
}

/// The cells on the faces of a box with these sides, each once; sides need not be whole.
pub(super) fn surface(sides: impl Iterator<Item = f64> + Clone) -> f64 {
    let inside: f64 = sides.clone().map(|side| (side - 2.0).max(0.0)).product();
    sides.product::<f64>() - inside
}
