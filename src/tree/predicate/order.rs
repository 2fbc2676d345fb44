//! The order of cells by what they are: numbers as they ascend, then what is not a number, then what is no data.
//!
//! A *key* is a cell's place in that order, with no gaps: the key of no data is the greatest, and those that would come after it are
//! one less. So the least and the greatest key of some cells say all that a predicate asks: what is apart from the numbers is
//! never between two of them.

use crate::cell::CellType;
use crate::geometry::{Region, Rows};
use crate::result::{Cells, Width, each_width};
use crate::rule::exact;

/// The least and the greatest key of some cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tree) struct Span {
    pub(super) least: u64,
    pub(super) greatest: u64,
}

impl Span {
    /// Of no cells.
    pub(in crate::tree) const NONE: Self = Self { least: u64::MAX, greatest: 0 };

    pub(in crate::tree) fn join(self, other: Self) -> Self {
        Self { least: self.least.min(other.least), greatest: self.greatest.max(other.greatest) }
    }
}

/// The order of the cells of a type, of which one value can be no data.
#[derive(Debug, Clone, Copy)]
pub(super) struct CellOrder {
    pub(super) kind: CellType,
    /// The rank of what is no data.
    nodata: Option<u64>,
}

impl CellOrder {
    pub(super) fn new(kind: CellType, nodata: Option<u64>) -> Self {
        Self { kind, nodata: nodata.map(|word| kind.rank(exact::key(kind, word))) }
    }

    /// The greatest number of the type's bits.
    fn top(self) -> u64 {
        u64::MAX >> (64 - 8 * self.kind.bytes())
    }

    /// The least key of cells that are not less than one of this rank.
    fn from(self, rank: u64) -> u64 {
        rank - u64::from(self.nodata.is_some_and(|nodata| nodata < rank))
    }

    /// The least key of cells that are not less than `word`.
    pub(super) fn key_from(self, word: u64) -> u64 {
        self.from(self.kind.rank(word))
    }

    /// The key of a cell.
    pub(super) fn key(self, word: u64) -> u64 {
        let rank = self.kind.rank(exact::key(self.kind, word));
        if self.nodata == Some(rank) { self.top() } else { self.from(rank) }
    }

    /// The word that cells of a key count as.
    pub(super) fn word(self, key: u64) -> u64 {
        let rank = match self.nodata {
            Some(nodata) if key == self.top() => nodata,
            Some(nodata) if key >= nodata => key + 1,
            _ => key,
        };
        self.kind.of_rank(rank)
    }

    /// True if cells of this key are numbers, and so all of lesser ones.
    pub(super) fn is_number(self, key: u64) -> bool {
        let nodata = self.nodata.is_some() && key == self.top();
        !nodata && Some(self.word(key)) != self.kind.nan()
    }

    /// The span of a region's cells, which lie in a buffer over `block`.
    pub(super) fn span<const K: usize>(self, buffer: &Cells, block: &Region<K>, region: &Region<K>) -> Span {
        self.of_cells(buffer, if block == region { Rows::one(buffer.len()) } else { Rows::of(region, block) })
    }

    fn of_cells(self, buffer: &Cells, rows: Rows) -> Span {
        each_width!(buffer.bits(), cells => self.of_rows(cells, rows))
    }

    /// The span of rows: a loop without branches for each kind of order, so that lanes do it.
    fn of_rows<W: Width + Ord>(self, cells: &[W], rows: Rows) -> Span {
        let (kind, top, sign) = (self.kind, self.top(), 1 << (8 * self.kind.bytes() - 1));
        let turned = kind.rank(0);
        let whole = move |word: u64| word ^ turned;
        let infinity = match kind {
            CellType::F32 => u64::from(f32::INFINITY.to_bits()),
            _ => f64::INFINITY.to_bits(),
        };
        let nan = kind.nan().unwrap_or(0);
        let real = move |word: u64| {
            let word = if word & !sign > infinity { nan } else { word };
            word ^ if word & sign == 0 { sign } else { top }
        };
        let without = |rank: u64, nodata: u64| if rank == nodata { top } else { rank - u64::from(rank > nodata) };
        match (kind.is_float(), self.nodata) {
            (false, None) => span_of(cells, rows, whole),
            (false, Some(nodata)) => span_of(cells, rows, |word| without(whole(word), nodata)),
            (true, None) => span_of(cells, rows, real),
            (true, Some(nodata)) => span_of(cells, rows, |word| without(real(word), nodata)),
        }
    }
}

/// The least and the greatest key of the cells of some rows.
fn span_of<W: Width + Ord>(cells: &[W], rows: Rows, key: impl Fn(u64) -> u64) -> Span {
    let Some(first) = cells.get(rows.start()) else { return Span::NONE };
    let mut ends = [W::cut(key(first.word())); 2];
    rows.each(|start| {
        ends = cells[start..start + rows.len()].iter().fold(ends, |[least, greatest], cell| {
            let key = W::cut(key(cell.word()));
            [least.min(key), greatest.max(key)]
        });
    });
    Span { least: ends[0].word(), greatest: ends[1].word() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::Cell;
    use crate::geometry::Region;

    /// Keys ascend without gaps, numbers first; words come back; a span is that of the keys one by one.
    fn check<T: Cell>(ascending: &[T], nodata: Option<T>) {
        let nodata = nodata.map(Cell::word);
        let order = CellOrder::new(T::TYPE, nodata);
        let apart = |word: u64| Some(exact::key(T::TYPE, word)) == nodata.map(|word| exact::key(T::TYPE, word));
        let words = || ascending.iter().map(|value| value.word());
        let keys: Vec<u64> = words().filter(|&word| !apart(word)).map(|word| order.key(word)).collect();
        assert!(keys.is_sorted(), "{} {nodata:?} {keys:?}", T::TYPE);
        for word in words() {
            let (key, nan) = (order.key(word), T::TYPE.number(word).is_nan());
            assert_eq!(order.word(key), exact::key(T::TYPE, word), "{} {word:#x}", T::TYPE);
            assert_eq!(order.is_number(key), !nan && !apart(word), "{} {word:#x}", T::TYPE);
        }
        let mut cells = Cells::zeroed(T::TYPE, ascending.len()).unwrap();
        cells.bytes_mut().copy_from_slice(bytemuck::cast_slice(ascending));
        let all = Region { corner: [0], extent: [ascending.len() as u32] };
        for start in 0..ascending.len() {
            for end in start + 1..=ascending.len() {
                let some = Region { corner: [start as u32], extent: [(end - start) as u32] };
                let keys = || words().skip(start).take(end - start).map(|word| order.key(word));
                let expected = Span { least: keys().min().unwrap(), greatest: keys().max().unwrap() };
                assert_eq!(order.span(&cells, &all, &some), expected, "{} {start}..{end} {nodata:?}", T::TYPE);
            }
        }
    }

    #[test]
    fn cells_have_an_order() {
        for nodata in [None, Some(0), Some(3), Some(255)] {
            check(&[0u8, 1, 2, 3, 4, 254, 255], nodata);
        }
        for nodata in [None, Some(i16::MIN), Some(-1), Some(i16::MAX)] {
            check(&[i16::MIN, -2, -1, 0, 1, i16::MAX], nodata);
        }
        check(&[0u64, 1, u64::MAX - 1, u64::MAX], Some(u64::MAX));
        check(&[i64::MIN, -1, 0, i64::MAX], Some(-1));
        let reals = [f32::NEG_INFINITY, -1.0, -1e-45, -0.0, 0.0, 1e-45, 1.0, f32::INFINITY, f32::NAN, -f32::NAN];
        for nodata in [None, Some(-1.0), Some(0.0), Some(f32::NAN), Some(f32::INFINITY)] {
            check(&reals, nodata);
        }
        check(&reals.map(f64::from), Some(-9999.0));
    }
}
