//! How much of a tree a page shows: all of it, or as many levels as fit.

use orthant::tree::{Parts, Representative, TreeFile};

use super::arrays::Arrays;
use crate::error::Error;

/// Bytes that a browser is given to unpack: more than this takes it long, whatever they are packed into.
const UNPACKED: u128 = 1 << 28;

/// What of a tree a page shows.
pub(super) struct Detail {
    pub(super) arrays: Arrays,
    /// The level that the tree is cut at, and what its regions show; None of a whole tree.
    pub(super) cut: Option<(u32, Representative)>,
}

/// As much of a tree as there is a page of, and that page; None if there is none of level 0 either. Arrays that take more than
/// `room` bytes need not be tried.
pub(super) fn fit<const K: usize, T>(
    tree: &TreeFile<K>,
    by: Representative,
    room: u64,
    page: &dyn Fn(&Detail) -> Result<Option<T>, Error>,
) -> Result<Option<(Detail, T)>, Error> {
    let parts: &dyn Parts<K> = tree;
    let unpacked = |rows: u128, cells: u128| rows * Arrays::row_bytes(tree) + cells * u128::from(tree.kind().bytes());
    if unpacked(tree.len().into(), tree.leaf_cells().into()) <= UNPACKED
        && let Some(arrays) = Arrays::of(parts, room)?
    {
        let detail = Detail { arrays, cut: None };
        if let Some(page) = page(&detail)? {
            return Ok(Some((detail, page)));
        }
    }
    let rows = rows_of_cuts(tree);
    for level in (0..rows.len() as u32).rev() {
        // Regions are not gathered of which there are too many.
        if unpacked(rows[level as usize], 0) <= UNPACKED
            && let Some(arrays) = Arrays::of(&parts.cut(level, by)?, room)?
        {
            let detail = Detail { arrays, cut: Some((level, by)) };
            if let Some(page) = page(&detail)? {
                return Ok(Some((detail, page)));
            }
        }
    }
    Ok(None)
}

/// The regions that are left when a tree is cut, level by level.
fn rows_of_cuts<const K: usize>(tree: &TreeFile<K>) -> Vec<u128> {
    let children = u128::from(tree.plan().scheme().children());
    let (mut above, mut regions) = (0, tree.plan().levels()[0].regions());
    let mut rows = Vec::new();
    for [uniform, leaves] in tree.terminals() {
        rows.push(above + regions);
        let terminal = u128::from(uniform + leaves);
        above += terminal;
        regions = regions.saturating_sub(terminal).saturating_mul(children);
    }
    rows
}

impl Detail {
    /// What is not shown, as a sentence without its end.
    pub(super) fn left_out<const K: usize>(&self, tree: &TreeFile<K>) -> Option<String> {
        let (level, by) = self.cut?;
        let kept: u64 = tree.terminals()[..=level as usize].iter().map(|[uniform, _]| uniform).sum();
        let shown = by.about();
        let deepest = tree.terminals().len() - 1;
        let left = tree.len() - kept;
        let which = if level as usize == deepest { "leaves" } else { "deeper regions and leaves" };
        Some(format!("levels 0 to {level} of 0 to {deepest} are shown: instead of {left} {which} {shown}"))
    }
}
