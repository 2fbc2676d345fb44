//! Regions of the last level that are larger than what is read at a time.

use std::sync::atomic::Ordering;

use crate::geometry::{Region, Slabs};
use crate::result::{Cells, Width, each_width};
use crate::tree::bottom_up::{BLOCK, BottomUp, Reading};
use crate::tree::error::TreeError;
use crate::tree::piece::Piece;
use crate::tree::predicate::{Span, Spans, Uniform, one_value, same_bits};

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
        let (kind, deepest) = (self.source.kind(), self.along.deepest());
        let place = piece.bricks.len();
        let (mut first, mut same, mut kept, mut found) = (0, 0, false, None);
        let slabs = Slabs::new(*region, BLOCK);
        for index in 0..slabs.len() {
            let slab = slabs.get(index);
            self.read(&slab, buffer, reading.control)?;
            reading.control.advance(slab.volume());
            let here = one_value(kind, buffer, &slab, &slab);
            if index == 0 {
                (first, found) = (buffer.word(0), here);
            }
            found = found.filter(|_| found == here);
            kept = kept || !each_width!(buffer.bits(), cells => same_bits(cells, Width::cut(first)));
            if kept {
                let more = (same + buffer.len()) as u64 * kind.bytes();
                self.fits(reading.held.fetch_add(more, Ordering::Relaxed).saturating_add(more))?;
                piece.bricks.reserve(same + buffer.len())?;
                piece.bricks.extend_copies(first, std::mem::take(&mut same));
                piece.bricks.append(buffer);
            } else {
                same += buffer.len();
            }
        }
        match found {
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
            (0..slabs.len()).try_fold(Span::NONE, |span, index| {
                let slab = slabs.get(index);
                self.read(&slab, buffer, reading.control)?;
                Ok(span.join(spans.span(buffer, &slab, &slab)))
            })
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
        (0..slabs.len()).try_for_each(|index| {
            self.read(&slabs.get(index), buffer, reading.control)?;
            piece.bricks.append(buffer);
            Ok(())
        })
    }
}
