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
pub(in crate::tree) type EachCell<'c, const K: usize> = dyn Fn(&mut dyn FnMut([u32; K])) + 'c;

/// The smallest box that holds the cells of a box that are not among these, which are cells of the box, each once; None if all are.
pub(in crate::tree) fn bounds_without<const K: usize>(
    own: &Region<K>,
    cells: &EachCell<'_, K>,
    count: usize,
) -> Option<Region<K>> {
    let volume = own.cells_wide();
    if count as u128 == volume {
        return None;
    }
    let mut bounds = *own;
    for j in 0..K {
        let face = volume / u128::from(own.extent[j]);
        if (count as u128) < face {
            continue;
        }
        // Layers have no more cells than there are listed ones, so that there are few of them.
        let mut layers = vec![0u128; own.extent[j] as usize];
        cells(&mut |cell| layers[(cell[j] - own.corner[j]) as usize] += 1);
        let open = |layer: &u128| *layer < face;
        let (first, last) = (layers.iter().position(open)?, layers.iter().rposition(open)?);
        bounds.corner[j] = own.corner[j] + first as u32;
        bounds.extent[j] = (last - first + 1) as u32;
    }
    Some(bounds)
}
