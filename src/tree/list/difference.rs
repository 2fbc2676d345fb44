//! Where the listed cells of a box differ from those of another list.

use crate::geometry::Region;
use crate::tree::list::scattered::{Scattered, bounds_without, order};

/// What is done with two words, and so many cells that have them: true if they differ.
pub(in crate::tree) type Differ<'d> = dyn FnMut([u64; 2], u128) -> bool + 'd;

/// The cells that differ: how many, the smallest box around them, and the first of them with its words.
pub(in crate::tree) struct ListDifference<const K: usize> {
    pub(in crate::tree) cells: u128,
    pub(in crate::tree) bounds: Region<K>,
    pub(in crate::tree) first: ([u32; K], [u64; 2]),
}

/// Compares the cells of a box; None if no cell differs.
pub(in crate::tree) fn between<const K: usize>(
    window: &Region<K>,
    [own, other]: [&Scattered<K>; 2],
    differ: &mut Differ<'_>,
) -> Option<ListDifference<K>> {
    let (mut found, mut listed): (Option<ListDifference<K>>, Vec<[u32; K]>) = (None, Vec::new());
    let (mut mine, mut theirs) = (0, 0);
    loop {
        let next = match (own.cells.get(mine), other.cells.get(theirs)) {
            (None, None) => break,
            (Some((cell, _)), None) | (None, Some((cell, _))) => *cell,
            (Some((a, _)), Some((b, _))) => *if order(a, b).is_le() { a } else { b },
        };
        let words = [own.take(&mut mine, &next), other.take(&mut theirs, &next)];
        listed.push(next);
        if differ(words, 1) {
            add(&mut found, 1, Region { corner: next, extent: [1; K] }, (next, words));
        }
    }
    // All that are in neither list.
    let rest = window.cells_wide() - listed.len() as u128;
    let words = [own.background, other.background];
    if rest > 0 && differ(words, rest) {
        let each = |visit: &mut dyn FnMut(&[u32])| listed.iter().for_each(|cell| visit(cell));
        let bounds = bounds_without(window, &each, listed.len()).expect("some are left");
        let place = |place: usize| window.cell(window.offset(place as u64));
        let mut first = 0;
        while listed.get(first).is_some_and(|&cell| cell == place(first)) {
            first += 1;
        }
        add(&mut found, rest, bounds, (place(first), words));
    }
    found
}

impl<const K: usize> Scattered<K> {
    /// The word of a cell, and the next entry if it is that of the cell.
    fn take(&self, entry: &mut usize, cell: &[u32; K]) -> u64 {
        match self.cells.get(*entry) {
            Some((next, word)) if next == cell => {
                *entry += 1;
                *word
            }
            _ => self.background,
        }
    }
}

fn add<const K: usize>(
    found: &mut Option<ListDifference<K>>,
    cells: u128,
    bounds: Region<K>,
    first: ([u32; K], [u64; 2]),
) {
    let Some(all) = found else {
        *found = Some(ListDifference { cells, bounds, first });
        return;
    };
    all.cells += cells;
    all.bounds = all.bounds.hull(&bounds);
    if order(&first.0, &all.first.0).is_lt() {
        all.first = first;
    }
}
