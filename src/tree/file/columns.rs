//! Rows of a tree as columns of numbers, an array each, and back.

use std::ops::Range;

use crate::cell::CellType;
use crate::memory::{Refused, reserve};
use crate::parallel;
use crate::result::{Cells, Width, each_width};
use crate::rule::exact;
use crate::tree::curve_order::CurveRegions;
use crate::tree::entries::Entries;
use crate::tree::provenance::Provenance;
use crate::tree::tree_rows::TreeRows;

/// Where a row has no brick.
pub(super) const NO_BRICK: i64 = -1;

/// Rows as numbers.
#[derive(Debug, Default)]
pub(super) struct Columns {
    pub(super) level: Vec<u8>,
    /// Coordinates on the row's level, a list per axis.
    pub(super) position: Vec<Vec<u32>>,
    pub(super) provenance: Vec<u8>,
    /// Words: that of a uniform region, the least of a leaf.
    pub(super) value: Vec<u64>,
    /// Words: that of a uniform region, the greatest of a leaf.
    pub(super) largest: Vec<u64>,
    /// Where bricks begin among the shard's cells.
    pub(super) brick: Vec<i64>,
}

/// Rows that a thread looks at.
const PIECE: usize = 512;

impl Columns {
    /// Bytes of a row on so many axes: a byte each for its level and its provenance, the coordinates, a value and where its brick
    /// begins, which both lie beside the bytes that they are read from.
    pub(super) fn row_bytes(k: usize) -> u64 {
        2 + size_of::<u32>() as u64 * k as u64 + 2 * (size_of::<u64>() + size_of::<i64>()) as u64
    }

    /// Some rows of a tree, and the cells of their bricks.
    ///
    /// # Errors
    /// If there is no memory.
    pub(super) fn of(tree: &dyn TreeRows, rows: Range<usize>) -> Result<(Self, Range<usize>), Refused> {
        let mut columns = Self::default();
        let len = rows.len();
        reserve(&mut columns.level, len)?;
        reserve(&mut columns.provenance, len)?;
        reserve(&mut columns.brick, len)?;
        columns.position = vec![Vec::new(); tree.axes()];
        for axis in &mut columns.position {
            reserve(axis, len)?;
        }
        let (entries, mut cells): (&Entries, Option<Range<usize>>) = (tree.entries(), None);
        for row in rows.clone() {
            columns.level.push(entries.level(row) as u8);
            tree.put_coords(row, &mut columns.position);
            columns.provenance.push(number(entries.provenance(row)));
            columns.brick.push(match entries.is_leaf(row) {
                false => NO_BRICK,
                true => {
                    let brick = tree.leaf_range(row);
                    let first = cells.get_or_insert(brick.start..brick.start);
                    first.end = brick.end;
                    (brick.start - first.start) as i64
                }
            });
        }
        let some = |i| parallel::piece(len, PIECE, i).map(|row| ends(tree, rows.start + row)).collect::<Vec<_>>();
        for [value, largest] in parallel::map(len.div_ceil(PIECE), &some).into_iter().flatten() {
            columns.value.push(value);
            columns.largest.push(largest);
        }
        Ok((columns, cells.unwrap_or(0..0)))
    }

    /// The rows, in order and each of a region that the plan has, and how many cells their bricks have. `values` are those of uniform
    /// regions.
    ///
    /// # Errors
    /// The first row that cannot be, and why.
    pub(super) fn entries(
        &self,
        regions: &dyn CurveRegions,
        kind: CellType,
    ) -> Result<(Entries, u64), (usize, String)> {
        self.rows(regions, kind, None)
    }

    /// The same of the tree of a list, whose leaves lie on any level: where the entries of each begin. They end where those of the next
    /// begin, and there are some.
    ///
    /// # Errors
    /// As [`entries`](Self::entries).
    pub(super) fn listed(
        &self,
        regions: &dyn CurveRegions,
        kind: CellType,
    ) -> Result<(Entries, Vec<u64>), (usize, String)> {
        let mut starts = Vec::new();
        let (entries, _) = self.rows(regions, kind, Some(&mut starts))?;
        Ok((entries, starts))
    }

    fn rows(
        &self,
        regions: &dyn CurveRegions,
        kind: CellType,
        mut starts: Option<&mut Vec<u64>>,
    ) -> Result<(Entries, u64), (usize, String)> {
        let (order, deepest) = (regions.order(), regions.order().deepest());
        let mut coords = vec![0; self.position.len()];
        let (mut entries, mut cells) = (Entries::default(), 0u64);
        entries.reserve(self.level.len()).map_err(|refused| (0, format!("no memory for {} bytes", refused.bytes)))?;
        for row in 0..self.level.len() {
            let wrong = |reason: String| Err((row, reason));
            let level = u32::from(self.level[row]);
            if level > deepest {
                return wrong(format!("level {level}; levels are 0 to {deepest}"));
            }
            let grid = regions.grid(level);
            for j in 0..coords.len() {
                coords[j] = self.position[j][row];
                if coords[j] >= grid[j] {
                    return wrong(format!(
                        "position {} on axis {j}, which has {} regions on level {level}",
                        coords[j], grid[j]
                    ));
                }
            }
            let code = regions.code_at(level, &coords);
            let key = order.key(level, code);
            let Some(provenance) = of_number(self.provenance[row]) else {
                return wrong(format!("provenance {}; it is 0, 1 or 2", self.provenance[row]));
            };
            match (self.brick[row], &mut starts) {
                (NO_BRICK, _) => {
                    let word = self.value[row];
                    if exact::key(kind, word) != word {
                        return wrong(format!(
                            "the value of a uniform region is {word:#x}, which is no number, and not the usual one"
                        ));
                    }
                    entries.uniform(level, key, word, provenance);
                }
                (brick, Some(starts)) => {
                    let follows = starts.last().map_or(brick == 0, |&last| brick as u64 > last && brick > 0);
                    if !follows || provenance != Provenance::Proved {
                        return wrong(format!("entries from {brick} on, which is not where they can begin"));
                    }
                    entries.leaf(level, key, starts.len() as u64);
                    starts.push(brick as u64);
                }
                (brick, None) if level < deepest || provenance != Provenance::Proved => {
                    return wrong(format!(
                        "a brick at {brick}; only regions of level {deepest} and provenance 0 have one"
                    ));
                }
                (brick, None) if u64::try_from(brick) != Ok(cells) => {
                    return wrong(format!("a brick at {brick}, where {cells} comes next"));
                }
                (_, None) => {
                    entries.leaf(level, key, cells);
                    // No more than the domain has, which a tree's header was checked for.
                    cells += regions.cells_of(level, code) as u64;
                }
            }
        }
        Ok((entries, cells))
    }
}

/// How a provenance is written.
fn number(provenance: Provenance) -> u8 {
    match provenance {
        Provenance::Proved => 0,
        Provenance::Sampled => 1,
        Provenance::Cut => 2,
    }
}

fn of_number(written: u8) -> Option<Provenance> {
    [Provenance::Proved, Provenance::Sampled, Provenance::Cut]
        .into_iter()
        .find(|&provenance| number(provenance) == written)
}

/// The least and the greatest word of a row's cells.
pub(super) fn ends(tree: &dyn TreeRows, row: usize) -> [u64; 2] {
    let (leaf, number) = tree.entries().leaf_or_word(row);
    match (leaf, tree.list()) {
        (false, _) => [number; 2],
        (true, Some(list)) => list.leaf(number as usize).ends(tree.volume_wide(row)),
        (true, None) => of_cells(tree.bricks(), tree.leaf_range(row)),
    }
}

/// The least and the greatest word of some cells, those that are no number greater than all numbers.
fn of_cells(cells: &Cells, range: Range<usize>) -> [u64; 2] {
    // One after the other: of a pair that is made in one pass, compilers use no vectors.
    fn of_width<W: Width + Ord>(cells: &[W], turn: impl Fn(W) -> W) -> [W; 2] {
        let (first, turned) = (turn(cells[0]), || cells.iter().map(|&cell| turn(cell)));
        [turned().fold(first, W::min), turned().fold(first, W::max)]
    }
    let kind = cells.kind();
    if kind.is_float() {
        let ranked = range.map(|place| {
            let word = exact::key(kind, cells.word(place));
            (kind.rank(word), word)
        });
        let first = ([u64::MAX, 0], [0; 2]);
        let (_, found) = ranked.fold(first, |(ranks, words), (rank, word)| {
            let least = if rank <= ranks[0] { (rank, word) } else { (ranks[0], words[0]) };
            let greatest = if rank >= ranks[1] { (rank, word) } else { (ranks[1], words[1]) };
            ([least.0, greatest.0], [least.1, greatest.1])
        });
        return found;
    }
    // Numbers with a sign have the order of their bits when that is turned.
    let sign = kind.rank(0);
    each_width!(cells.bits(), cells => {
        let turn = |cell| Width::cut(Width::word(cell) ^ sign);
        of_width(&cells[range], turn).map(turn).map(Width::word)
    })
}
