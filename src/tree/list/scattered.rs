//! Cells of a box that are not of the value that all others have.

use crate::geometry::Region;

/// Cells of a box that are listed, and the word of all others.
///
/// ```
/// use orthant::prelude::*;
/// use orthant::tree::{CellList, Source};
/// use orthant::{CellType, Control};
///
/// let plan = Plan::builder([1 << 20; 2]).scheme(Scheme::uniform(1, 2, 2)).rule(RuleKind::Full).build()?;
/// let mut list = CellList::new(&plan, CellType::U8)?.background(7);
/// list.push([70, 4], 5)?;
/// let tree = list.sorted(&Control::default())?.tree()?;
/// let found = tree.scattered(&Region { corner: [0, 0], extent: [1 << 20, 9] })?.ok_or("a list")?;
/// assert_eq!((found.background, &found.cells[..]), (7, &[([70, 4], 5)][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scattered<const K: usize> {
    /// The word of all other cells.
    pub background: u64,
    /// The cells and their words, in storage order of the box.
    pub cells: Vec<([u32; K], u64)>,
}

/// True if a cell comes before another in storage order.
pub(in crate::tree) fn order<const K: usize>(a: &[u32; K], b: &[u32; K]) -> std::cmp::Ordering {
    a.iter().rev().cmp(b.iter().rev())
}

impl<const K: usize> Scattered<K> {
    pub(in crate::tree) fn new(background: u64) -> Self {
        Self { background, cells: Vec::new() }
    }

    /// Puts the cells in storage order.
    pub(in crate::tree) fn sort(&mut self) {
        self.cells.sort_unstable_by(|(a, _), (b, _)| order(a, b));
    }
}

/// Hands each of some cells to a visitor.
pub(in crate::tree) type EachCell<'c> = dyn Fn(&mut dyn FnMut(&[u32])) + 'c;

/// The smallest box that holds the cells of a box that are not among these, which are cells of the box, each once; None if all are.
pub(in crate::tree) fn bounds_without<const K: usize>(
    own: &Region<K>,
    cells: &EachCell<'_>,
    count: usize,
) -> Option<Region<K>> {
    let volume = own.cells_wide();
    if count as u128 == volume {
        return None;
    }
    let mut bounds = *own;
    for j in 0..K {
        let (corner, extent) = (own.corner[j], own.extent[j]);
        let side = AxisOf { axis: j, corner, extent, face: volume / u128::from(extent) };
        let [before, behind] = side.covered(cells, count as u128)?;
        bounds.corner[j] = corner + before;
        bounds.extent[j] = extent - before - behind;
    }
    Some(bounds)
}

/// One axis of a box.
struct AxisOf {
    axis: usize,
    corner: u32,
    extent: u32,
    /// The cells of a layer.
    face: u128,
}

impl AxisOf {
    /// How many layers at either end have no cell but so many listed ones; None if no layer has another.
    fn covered(&self, cells: &EachCell<'_>, count: u128) -> Option<[u32; 2]> {
        if count < self.face {
            return Some([0; 2]);
        }
        // Of so many layers at either end one has a cell that is not listed: the axis can be far longer.
        let some = (count / self.face + 1).min(self.extent.into()) as usize;
        let mut ends = [vec![0u128; some], vec![0u128; some]];
        cells(&mut |cell| {
            let before = (cell[self.axis] - self.corner) as usize;
            let behind = self.extent as usize - 1 - before;
            for (layers, layer) in ends.iter_mut().zip([before, behind]) {
                if let Some(layer) = layers.get_mut(layer) {
                    *layer += 1;
                }
            }
        });
        let open = |layers: &[u128]| layers.iter().position(|layer| *layer < self.face).map(|layer| layer as u32);
        Some([open(&ends[0])?, open(&ends[1])?])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An axis can be far longer than the list: only its ends are looked at.
    #[test]
    fn bounds_are_those_of_what_is_left() {
        let bounds = |extent: [u32; 2], cells: &[[u32; 2]]| {
            let own = Region { corner: [5, 1], extent };
            let each = |visit: &mut dyn FnMut(&[u32])| cells.iter().for_each(|&[x, y]| visit(&[5 + x, 1 + y]));
            let found = bounds_without(&own, &each, cells.len());
            found.map(|found| ([found.corner[0] - 5, found.corner[1] - 1], found.extent))
        };
        assert_eq!(bounds([4_000_000_000, 1], &[[0, 0], [1, 0], [7, 0]]), Some(([2, 0], [3_999_999_998, 1])));
        assert_eq!(bounds([4_000_000_000, 1], &[[3_999_999_999, 0]]), Some(([0, 0], [3_999_999_999, 1])));
        assert_eq!(bounds([2, 2], &[[0, 0], [0, 1]]), Some(([1, 0], [1, 2])));
        assert_eq!(bounds([3, 2], &[[0, 1], [1, 1], [2, 1], [0, 0]]), Some(([1, 0], [2, 1])));
        assert_eq!(bounds([1, 2], &[[0, 0], [0, 1]]), None);
    }
}
