//! The regions that a stream leaves, read back: its maps, below them what the host proves once more, and the cells of leaves.

use rayon::iter::Either;
use rayon::prelude::*;

use crate::backend::Error;
use crate::cuda::args::{MAP_ABSENT, MAP_UNIFORM};
use crate::cuda::memory::{integers, read, read_integers};
use crate::cuda::setup::Setup;
use crate::cuda::strategy::stream::StreamProgram;
use crate::dimension::MAX_DIM;
use crate::geometry::Level;
use crate::memory::reserve;
use crate::result::{Bricks, Keep, MemoryError, Stored, Terminal};
use crate::rule::Verdict;

/// Entries of a map that a thread of the host looks at.
const ENTRIES: usize = 1 << 14;

/// Parents whose children are proven by one thread of the host, and before what was found is kept.
const FAMILIES: usize = 64;
const PARENTS: usize = 1 << 16;

impl StreamProgram {
    /// The terminal regions of the last run, in any order, and the cells of its leaves.
    pub(super) fn terminals(&self, setup: &Setup<'_>) -> Result<(Vec<Terminal>, Bricks), Error> {
        let (mut terminals, mut bricks) = (Vec::new(), Bricks::new(setup.storage.cell));
        if setup.how.kept.keep == Keep::Counts {
            return Ok((terminals, bricks));
        }
        let kept = setup.how.kept.keep == Keep::Regions;
        let (outline, start) = (&setup.outline, setup.start.level);
        // The places of the regions that are divided below the last map.
        let mut divided: Vec<u64> = Vec::new();
        for level in &outline.levels[start as usize..=self.shape.level as usize] {
            let (fates, values) = self.maps.level(level.index);
            let fates = fates_of(setup, level, fates)?;
            let step = setup.value_bytes();
            read(setup.device, values, fates.len() as u64 * step, &mut |offset, bytes| {
                let first = (offset / step) as usize;
                let parts = fates[first..].par_chunks(ENTRIES).zip(bytes.par_chunks(ENTRIES * step as usize));
                let outcomes = parts.enumerate().flat_map_iter(|(part, (fates, values))| {
                    let places = (first + part * ENTRIES) as u64..;
                    let asked = places
                        .zip(fates)
                        .zip(integers(values, step))
                        .filter(|((_, fate), _)| u32::from(**fate) != MAP_ABSENT);
                    asked.filter_map(|((place, &fate), value)| self.outcome(setup, level.index, place, fate, value))
                });
                let (settled, open): (Vec<_>, Vec<_>) = outcomes.partition_map(|outcome| outcome);
                terminals.extend(settled);
                divided.extend(open);
                Ok(())
            })?;
        }
        for parents in divided.chunks(PARENTS) {
            let families = parents.par_chunks(FAMILIES);
            terminals.par_extend(families.flat_map_iter(|parents| self.children(setup, parents)));
        }
        if kept && self.leaves > 0 {
            let level = &outline.levels[self.shape.level as usize];
            bricks = self.bricks.read(setup, level, self.leaves)?;
            let places = read_integers(setup.device, self.list.address(), self.leaves, 4)?;
            terminals.par_extend(places.into_par_iter().enumerate().map(|(brick, place)| {
                let code = outline.typed.code_at(level.index, place);
                Terminal::leaf(level.index, code, Some(brick as u64 * level.most_cells()))
            }));
        }
        Ok((terminals, bricks))
    }

    /// What a region of a level's map is: terminal, divided below the last map, or nothing of its own.
    fn outcome(
        &self,
        setup: &Setup<'_>,
        level: u32,
        place: u64,
        fate: u8,
        value: u64,
    ) -> Option<Either<Terminal, u64>> {
        let code = || setup.outline.typed.code_at(level, place);
        let uniform = u32::from(fate) == MAP_UNIFORM;
        match (uniform, setup.outline.is_last(level)) {
            (true, _) => Some(Either::Left(Terminal::uniform(level, code(), setup.storage.word(value)))),
            // Those with bricks are listed in the order of these.
            (false, true) if setup.how.kept.keep == Keep::Regions => None,
            (false, true) => Some(Either::Left(Terminal::leaf(level, code(), None))),
            (false, false) => (level == self.shape.level).then_some(Either::Right(place)),
        }
    }

    /// The children of some regions, which were proven where they were settled. Verdicts here are those of the GPU.
    fn children(&self, setup: &Setup<'_>, parents: &[u64]) -> Vec<Terminal> {
        let (mut children, level) = (Vec::new(), self.shape.level + 1);
        for &parent in parents {
            setup.outline.typed.prove_children(self.shape.level, parent, &mut |code, verdict| {
                children.push(match verdict {
                    Verdict::Uniform(value) => Terminal::uniform(level, code, setup.storage.word(value)),
                    Verdict::Mixed | Verdict::Unknown => Terminal::leaf(level, code, None),
                });
            });
        }
        children
    }
}

/// What became of the regions of a level, whose map begins at `address`.
fn fates_of(setup: &Setup<'_>, level: &Level<MAX_DIM>, address: u64) -> Result<Vec<u8>, Error> {
    let (mut fates, regions) = (Vec::new(), level.regions() as usize);
    reserve(&mut fates, regions).map_err(MemoryError::refused(Stored::Terminals))?;
    read(setup.device, address, regions as u64, &mut |_, bytes| {
        fates.extend_from_slice(bytes);
        Ok(())
    })?;
    Ok(fates)
}
