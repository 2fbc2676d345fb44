//! What makes regions one, and what stands for their cells.
//!
//! All predicates are monotone: what is true of a region is true of its parts, so that families of regions for which it holds need
//! only be asked whether it holds for them together, and that takes no more than the least and the greatest cell of each.

use crate::cell::CellType;
use crate::geometry::{Region, Rows};
use crate::number::Number;
use crate::per_axis;
use crate::result::{Cells, Width, each_width};
use crate::rule::exact;
use crate::tree::predicate::order::{CellOrder, Span};
use crate::tree::predicate::tolerance;

/// A region that counts as one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tree) struct Uniform {
    /// What stands for its cells.
    pub(in crate::tree) word: u64,
    /// What they are.
    pub(in crate::tree) span: Span,
}

impl Uniform {
    /// Of one value that is known to be that of all cells.
    pub(in crate::tree) fn exact(word: u64) -> Self {
        Self { word, span: Span::NONE }
    }
}

/// Decides for what regions a predicate holds.
#[derive(Debug, Clone, Copy)]
pub(in crate::tree) enum Criterion {
    /// Cells that have one value: nothing but that has to be remembered of a region.
    Exact,
    /// By the span of the cells.
    Spans(Spans),
}

/// Decides by spans.
#[derive(Debug, Clone, Copy)]
pub(in crate::tree) struct Spans {
    pub(super) order: CellOrder,
    pub(super) holds: Holds,
}

/// When spans are one.
#[derive(Debug, Clone, Copy)]
pub(super) enum Holds {
    /// Some number is no further than that from all.
    Within(Number),
    /// Numbers, and those around, are on one side of those that are not less than this word.
    OneSide(u64),
}

/// On which side cells are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Below,
    Above,
    /// What is no number, or no data: by its key.
    Apart(u64),
}

impl Criterion {
    /// The same by spans; by those 0 and -0 are one.
    pub(in crate::tree) fn spans(self, kind: CellType, nodata: Option<u64>) -> Spans {
        match self {
            Self::Exact => Spans { order: CellOrder::new(kind, nodata), holds: Holds::Within(Number::Natural(0)) },
            Self::Spans(spans) => spans,
        }
    }

    /// True if a word may stand for another in a uniform region.
    pub(in crate::tree) fn stands(&self, kind: CellType, own: u64, other: u64) -> bool {
        match self {
            _ if exact::key(kind, own) == exact::key(kind, other) => true,
            Self::Exact => false,
            Self::Spans(spans) => spans.stands(own, other),
        }
    }
}

impl Spans {
    fn stands(&self, own: u64, other: u64) -> bool {
        let [one, another] = [own, other].map(|word| self.order.key(word));
        match self.holds {
            Holds::Within(bound) => {
                let numbers = self.order.is_number(one) && self.order.is_number(another);
                numbers && tolerance::near(self.order.kind, own, other, bound)
            }
            Holds::OneSide(at) => {
                let span = Span { least: one.min(another), greatest: one.max(another) };
                self.side(at, span).is_some()
            }
        }
    }

    /// The cells that decide what a region of the last level is: its own, and for contours those around it.
    #[inline(never)]
    pub(in crate::tree) fn around<const K: usize>(&self, region: &Region<K>, size: [u32; K]) -> Region<K> {
        let Holds::OneSide(_) = self.holds else { return *region };
        let corner: [u32; K] = per_axis::each(|j| region.corner[j].saturating_sub(1));
        let end = |j: usize| (region.corner[j] + (region.extent[j] - 1)).saturating_add(2).min(size[j]);
        Region { corner, extent: per_axis::each(|j| end(j) - corner[j]) }
    }

    /// The span of a region's cells, which lie in a buffer over `block`.
    pub(in crate::tree) fn span<const K: usize>(&self, buffer: &Cells, block: &Region<K>, region: &Region<K>) -> Span {
        self.order.span(buffer, block, region)
    }

    /// What a region of the last level is, by its cells and those [`around`](Self::around).
    pub(in crate::tree) fn region(&self, own: Span, around: Span) -> Option<Uniform> {
        match self.holds {
            Holds::OneSide(at) => self.side(at, around).and_then(|_| self.joined(own)),
            Holds::Within(_) => self.joined(own),
        }
    }

    /// What regions for which it holds are together.
    pub(in crate::tree) fn joined(&self, span: Span) -> Option<Uniform> {
        let word = self.word(span)?;
        Some(Uniform { word, span })
    }

    fn word(&self, span: Span) -> Option<u64> {
        let Span { least, greatest } = span;
        let word = |key| self.order.word(key);
        match self.holds {
            _ if least == greatest => Some(word(least)),
            Holds::Within(_) if !self.order.is_number(greatest) => None,
            // What stands for numbers must not say that they are no data.
            Holds::Within(bound) => {
                let apart = |word| !self.order.is_number(self.order.key(word));
                tolerance::between(self.order.kind, word(least), word(greatest), bound, apart)
            }
            Holds::OneSide(at) => match self.side(at, span)? {
                Side::Below => Some(word(greatest)),
                Side::Above | Side::Apart(_) => Some(word(least)),
            },
        }
    }

    /// The side that all cells of a span are on.
    fn side(&self, at: u64, span: Span) -> Option<Side> {
        let at = self.order.key_from(at);
        let side = |key| match key {
            _ if !self.order.is_number(key) => Side::Apart(key),
            _ if key < at => Side::Below,
            _ => Side::Above,
        };
        Some(side(span.least)).filter(|&least| least == side(span.greatest))
    }

    /// The tolerance that a span needs to be one; infinite where none does.
    pub(in crate::tree) fn needed(&self, span: Span) -> f64 {
        let Span { least, greatest } = span;
        match () {
            () if least == greatest => 0.0,
            () if !self.order.is_number(greatest) => f64::INFINITY,
            () => tolerance::needed(self.order.kind, self.order.word(least), self.order.word(greatest)),
        }
    }
}

/// The word that all cells of `region` count as, which lie in a buffer over `block`; None if there are several.
pub(in crate::tree) fn one_value<const K: usize>(
    kind: CellType,
    buffer: &Cells,
    block: &Region<K>,
    region: &Region<K>,
) -> Option<u64> {
    fn of_rows<W: Width>(kind: CellType, cells: &[W], rows: Rows) -> Option<u64> {
        let first = cells[rows.start()];
        let word = exact::key(kind, first.word());
        if rows.all(|start| same_bits(&cells[start..start + rows.len()], first)) {
            return Some(word);
        }
        // Other bits can be the same value only where neither is a number.
        let is_nan = |cell: &W| exact::key(kind, cell.word()) == word;
        let all = || rows.all(|start| cells[start..start + rows.len()].iter().all(is_nan));
        (kind.nan() == Some(word) && all()).then_some(word)
    }
    let rows = if block == region { Rows::one(buffer.len()) } else { Rows::of(region, block) };
    each_width!(buffer.bits(), cells => of_rows(kind, cells, rows))
}

/// True if all cells have the bits of `first`.
pub(in crate::tree) fn same_bits<W: Width>(cells: &[W], first: W) -> bool {
    // Without a branch per cell, so that lanes do it; with one per chunk, so that a mixed row ends soon.
    cells.chunks(256).all(|chunk| chunk.iter().fold(true, |same, &cell| same & (cell == first)))
}
