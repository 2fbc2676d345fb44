//! Regions of the last level that are larger than what is read at a time.

use std::sync::atomic::Ordering;

use crate::geometry::{Region, Slabs};
use crate::memory::Refused;
use crate::result::{Cells, Width, each_width};
use crate::tree::block_waves::Reading;
use crate::tree::bottom_up::{BLOCK, BottomUp};
use crate::tree::error::TreeError;
use crate::tree::piece::Piece;
use crate::tree::predicate::{Span, Spans, Uniform, one_value, same_bits};

/// A large region of which some slabs were seen.
#[derive(Default)]
struct LargeLeaf {
    /// The word of its first cell; None before the first slab.
    first: Option<u64>,
    /// How many cells have the bits of `first`, while none is kept.
    same: usize,
    /// True once cells are kept.
    kept: bool,
    /// What all cells count as.
    found: Option<u64>,
}

impl LargeLeaf {
    /// Looks at the next slab, whose cells count as `here` if they are of one value. The number of cells to be kept now.
    fn look(&mut self, slab: &Cells, here: Option<u64>) -> usize {
        if self.first.is_none() {
            self.found = here;
        }
        let first = *self.first.get_or_insert(slab.word(0));
        self.found = self.found.filter(|_| self.found == here);
        self.kept = self.kept || !each_width!(slab.bits(), cells => same_bits(cells, Width::cut(first)));
        if self.kept {
            return self.same + slab.len();
        }
        self.same += slab.len();
        0
    }

    /// Keeps the cells of the slab, and those before it that were not.
    fn keep(&mut self, slab: &Cells, bricks: &mut Cells) -> Result<(), Refused> {
        let same = std::mem::take(&mut self.same);
        bricks.reserve(same + slab.len())?;
        bricks.extend_copies(self.first.expect("a slab was seen"), same);
        bricks.append(slab);
        Ok(())
    }
}

impl<const K: usize> BottomUp<'_, K> {
    /// A region of the last level that is larger than a block, slab by slab: while all cells have the same bits none are kept.
    pub(super) fn large(
        &self,
        code: u64,
        region: &Region<K>,
        buffer: &mut Cells,
        piece: &mut Piece,
        reading: &Reading<'_>,
    ) -> Result<(), TreeError> {
        let (kind, deepest, place) = (self.source.kind(), self.along.deepest(), piece.bricks.len());
        let slabs = Slabs::new(*region, BLOCK);
        let mut leaf = LargeLeaf::default();
        for index in 0..slabs.len() {
            let slab = slabs.get(index);
            self.read(&slab, buffer, reading.control)?;
            reading.control.advance(slab.volume());
            let here = one_value(kind, buffer, &slab, &slab);
            let more = leaf.look(buffer, here) as u64 * kind.bytes();
            if more > 0 {
                self.fits(reading.held.fetch_add(more, Ordering::Relaxed).saturating_add(more))?;
                leaf.keep(buffer, &mut piece.bricks)?;
            }
        }
        match leaf.found {
            Some(word) => {
                reading.held.fetch_sub((piece.bricks.len() - place) as u64 * kind.bytes(), Ordering::Relaxed);
                piece.bricks.truncate(place);
                piece.uniform(&self.along, deepest, code, Uniform::exact(word));
            }
            None => piece.leaf(&self.along, deepest, code, place as u64),
        }
        Ok(())
    }

    /// The same by the span of its cells: those that are not uniform are read once more.
    pub(super) fn large_by(
        &self,
        spans: &Spans,
        code: u64,
        region: &Region<K>,
        buffer: &mut Cells,
        piece: &mut Piece,
        reading: &Reading<'_>,
    ) -> Result<(), TreeError> {
        let (kind, deepest) = (self.source.kind(), self.along.deepest());
        let around = spans.around(region, self.along.plan().domain().size());
        let mut of = |window: &Region<K>| -> Result<Span, TreeError> {
            let slabs = Slabs::new(*window, BLOCK);
            let mut span = Span::NONE;
            for index in 0..slabs.len() {
                let slab = slabs.get(index);
                self.read(&slab, buffer, reading.control)?;
                span = span.join(spans.span(buffer, &slab, &slab));
            }
            Ok(span)
        };
        let own = of(region)?;
        let found = spans.region(own, if around == *region { own } else { of(&around)? });
        reading.control.advance(region.volume());
        if let Some(found) = found {
            piece.uniform(&self.along, deepest, code, found);
            return Ok(());
        }
        piece.leaf(&self.along, deepest, code, piece.bricks.len() as u64);
        let more = region.volume() * kind.bytes();
        self.fits(reading.held.fetch_add(more, Ordering::Relaxed).saturating_add(more))?;
        piece.bricks.reserve(region.volume() as usize)?;
        let slabs = Slabs::new(*region, BLOCK);
        for index in 0..slabs.len() {
            self.read(&slabs.get(index), buffer, reading.control)?;
            piece.bricks.append(buffer);
        }
        Ok(())
    }
}
