//! A run of regions along the curve in the making, in which families of one value become their parents.

use crate::backend::{Batch, Error, Sink};
use crate::cell::CellType;
use crate::memory::{Refused, reserve};
use crate::result::{Cells, Content, MemoryError, Stored};
use crate::tree::along::Along;
use crate::tree::curve_order::CurveOrder;
use crate::tree::entries::Entries;
use crate::tree::predicate::{Criterion, Span, Uniform};
use crate::tree::provenance::Provenance;

/// Terminal regions of a batch.
const REGIONS: usize = 1 << 16;

/// Regions along the curve, and their bricks.
///
/// Regions come in the order of the curve. When the last child of a family comes and all have one value, the family leaves and
/// its parent takes its place, which may complete a family in turn. So a piece never holds more than its regions and, on every
/// level, one family that is still to be decided.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) entries: Entries,
    pub(super) bricks: Cells,
    criterion: Criterion,
    /// What the cells of each region are, where values alone do not decide.
    spans: Vec<Span>,
}

impl Piece {
    pub(super) fn new(kind: CellType, criterion: Criterion) -> Self {
        Self { entries: Entries::default(), bricks: Cells::empty(kind), criterion, spans: Vec::new() }
    }

    /// Of regions none of which becomes another.
    pub(super) fn settled(entries: Entries, bricks: Cells) -> Self {
        Self { entries, bricks, criterion: Criterion::Exact, spans: Vec::new() }
    }

    /// Bytes of its regions and bricks.
    pub(super) fn bytes(&self) -> u64 {
        let spans = (self.spans.len() * size_of::<Span>()) as u64;
        spans + self.entries.len() as u64 * Entries::BYTES + self.bricks.len() as u64 * self.bricks.kind().bytes()
    }

    /// The next region, of one value, which all its cells have been seen to have, or to be near enough to.
    pub(super) fn uniform(&mut self, order: &CurveOrder, level: u32, code: u64, found: Uniform) {
        let (mut level, mut code, mut found) = (level, code, found);
        self.push(order, level, code, found);
        while level > 0 && code % order.children == order.children - 1 {
            let family = usize::try_from(order.children).ok().and_then(|r| self.entries.len().checked_sub(r));
            // Regions follow each other, so that so many of one level before the last child are its siblings.
            let Some((start, parent)) = family.and_then(|start| Some((start, self.family(start, level, found)?)))
            else {
                return;
            };
            self.truncate(start);
            (level, code, found) = (level - 1, code / order.children, parent);
            self.push(order, level, code, found);
        }
    }

    fn push(&mut self, order: &CurveOrder, level: u32, code: u64, found: Uniform) {
        self.entries.uniform(level, order.key(level, code), found.word, Provenance::Proved);
        if let Criterion::Spans(_) = self.criterion {
            self.spans.push(found.span);
        }
    }

    /// What the family of regions of `level` is that the rows from `start` on are, the last of them `last`; None if it is no single
    /// region.
    fn family(&self, start: usize, level: u32, last: Uniform) -> Option<Uniform> {
        match &self.criterion {
            Criterion::Exact => self.entries.all_uniform(start, level, last.word).then_some(last),
            Criterion::Spans(spans) if self.entries.all_of_level(start, level) => spans.joined(self.joined(start)),
            Criterion::Spans(_) => None,
        }
    }

    /// What the cells of all regions from `start` on are.
    fn joined(&self, start: usize) -> Span {
        self.spans[start..].iter().copied().fold(Span::NONE, Span::join)
    }

    /// The next region, a leaf whose brick begins at `place`.
    pub(super) fn leaf(&mut self, order: &CurveOrder, level: u32, code: u64, place: u64) {
        self.entries.leaf(level, order.key(level, code), place);
        if let Criterion::Spans(_) = self.criterion {
            self.spans.push(Span::NONE);
        }
    }

    /// Row `index` of another piece, whose bricks are `by` cells further on here.
    fn copy(&mut self, other: &Self, index: usize, by: u64) {
        self.entries.copy(&other.entries, index, by);
        self.spans.extend(other.spans.get(index));
    }

    fn truncate(&mut self, len: usize) {
        self.entries.truncate(len);
        self.spans.truncate(len);
    }

    /// The first of the rows at the end that can still become one region with what follows: the number of all rows if there are none.
    /// The piece covers the keys from `first` to before `next`.
    fn undecided(&self, order: &CurveOrder, first: u128, next: u128) -> usize {
        let len = self.entries.len();
        if next == order.whole().end {
            return len;
        }
        for level in 0..order.deepest() {
            // The region that goes on.
            let begins = order.key(level, order.code(level, next as u64));
            if u128::from(begins) == next || u128::from(begins) < first {
                continue;
            }
            let start = self.entries.first_from(0..len, begins);
            let one = match &self.criterion {
                Criterion::Exact => self.entries.all_of_value(start),
                Criterion::Spans(spans) => {
                    self.entries.all_proved(start) && (start == len || spans.joined(self.joined(start)).is_some())
                }
            };
            if one {
                return start;
            }
        }
        len
    }

    /// Takes from it what no later region changes, as the piece that covers the keys from `first` to the one that is returned: nothing if
    /// all of it may still become one region with what follows. Before it covered those up to `next`.
    pub(super) fn decided(&mut self, order: &CurveOrder, first: u128, next: u128) -> Option<(Self, u128)> {
        let undecided = self.undecided(order, first, next);
        if undecided == 0 {
            return None;
        }
        // Regions of one value have no bricks.
        let mut rest = Self::new(self.bricks.kind(), self.criterion);
        (undecided..self.entries.len()).for_each(|row| rest.copy(self, row, 0));
        let until = rest.entries.keys.first().map_or(next, |&key| key.into());
        self.truncate(undecided);
        Some((std::mem::replace(self, rest), until))
    }

    /// Hands its regions to a sink, along the curve.
    ///
    /// # Errors
    /// Those of the sink, or if there is no memory for a batch.
    pub(super) fn deliver<const K: usize>(&self, along: &Along<K>, sink: &mut dyn Sink<K>) -> Result<(), Error> {
        let plan = along.plan();
        let mut terminals = Vec::with_capacity(REGIONS.min(self.entries.len()));
        let (mut cells, mut start, mut next) = (Cells::empty(self.bricks.kind()), 0, 0);
        while next < self.entries.len() {
            let rows = next..self.entries.len().min(next + REGIONS);
            next = rows.end;
            terminals.clear();
            for row in rows {
                terminals.push(self.entries.terminal(along, row));
            }
            let mut end = start;
            for terminal in &terminals {
                if let Content::Leaf { .. } = terminal.content() {
                    end += plan.region(terminal.level(), terminal.code).volume() as usize;
                }
            }
            cells.clear();
            cells.reserve(end - start).map_err(MemoryError::refused(Stored::Terminals))?;
            cells.extend_from(&self.bricks, start..end);
            sink.terminals(Batch { plan, terminals: &terminals, bricks: &cells, start: start as u64 })?;
            start = end;
        }
        Ok(())
    }

    /// The regions of the piece that follows this one.
    ///
    /// # Errors
    /// If there is no memory for them.
    pub(super) fn append(&mut self, order: &CurveOrder, next: &Self) -> Result<(), Refused> {
        self.bricks.reserve(next.bricks.len())?;
        let by = self.bricks.len() as u64;
        self.append_rows(order, next, by)?;
        self.bricks.append(&next.bricks);
        Ok(())
    }

    /// The same without bricks, which begin `by` cells further on here.
    ///
    /// # Errors
    /// If there is no memory for them.
    pub(super) fn append_rows(&mut self, order: &CurveOrder, next: &Self, by: u64) -> Result<(), Refused> {
        self.entries.reserve(next.entries.len())?;
        reserve(&mut self.spans, next.spans.len())?;
        for index in 0..next.entries.len() {
            match next.entries.content(index) {
                Content::Uniform(word) => {
                    let level = next.entries.level(index);
                    let span = next.spans.get(index).copied().unwrap_or(Span::NONE);
                    self.uniform(order, level, order.code(level, next.entries.keys[index]), Uniform { word, span });
                }
                // No family from before it can be of one value, and those after it have been looked at in their own piece.
                Content::Leaf { .. } => {
                    self.entries.append(&next.entries, index, by);
                    self.spans.extend_from_slice(next.spans.get(index..).unwrap_or_default());
                    break;
                }
            }
        }
        Ok(())
    }
}
