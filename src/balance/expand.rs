//! Units of work-items, one item after the other.

use std::ops::Range;

/// Units of one item that follow each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitRun {
    /// The item.
    pub item: u32,
    /// Their places in the item.
    pub ranks: Range<u64>,
    /// The number of the first of them among all units.
    pub unit: u64,
}

/// Calls `body` once for every item that has units, in order. All balancers have to do the same units. `prefix` is
/// [`Items::prefix`](crate::balance::Items::prefix).
///
/// ```
/// use orthant::balance::{Items, expand};
///
/// let items = Items::new(vec![2, 0, 3])?;
/// let mut runs = Vec::new();
/// expand(&items.prefix(), |run| runs.push((run.item, run.ranks, run.unit)));
/// assert_eq!(runs, [(0, 0..2, 0), (2, 0..3, 2)]);
/// # Ok::<(), orthant::balance::ItemsError>(())
/// ```
pub fn expand(prefix: &[u64], mut body: impl FnMut(UnitRun)) {
    for (item, ends) in prefix.windows(2).enumerate() {
        if ends[0] < ends[1] {
            body(UnitRun { item: item as u32, ranks: 0..ends[1] - ends[0], unit: ends[0] });
        }
    }
}

/// The units of `units`, which begin in `item` or in one that follows it.
pub(super) fn walk(prefix: &[u64], mut item: usize, units: Range<u64>, body: &(dyn Fn(UnitRun) + Sync)) {
    let mut unit = units.start;
    while unit < units.end {
        while prefix[item + 1] <= unit {
            item += 1;
        }
        let (start, end) = (prefix[item], prefix[item + 1].min(units.end));
        body(UnitRun { item: item as u32, ranks: unit - start..end - start, unit });
        unit = end;
    }
}

/// Pieces of about `total` / `pieces` steps each, at least `least`.
pub(super) fn pieces(total: u64, least: u64) -> (usize, u64) {
    // Several per thread, since not every unit takes as long.
    let pieces = rayon::current_num_threads() as u64 * 16;
    let each = total.div_ceil(pieces).max(least);
    (total.div_ceil(each) as usize, each)
}
