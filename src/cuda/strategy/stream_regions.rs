//! The regions that a stream leaves, read back: its maps, below them what the host proves once more, and the cells of leaves.

use crate::backend::Error;
use crate::cuda::args::{MAP_ABSENT, MAP_UNIFORM};
use crate::cuda::gather::BricksLeft;
use crate::cuda::memory::{integers, read, read_integers};
use crate::cuda::setup::Setup;
use crate::cuda::strategy::stream::StreamProgram;
use crate::dimension::MAX_DIM;
use crate::geometry::Level;
use crate::memory::zeros;
use crate::parallel;
use crate::result::{Keep, MemoryError, Stored, Terminal};
use crate::rule::Verdict;

/// Entries of a map that a thread of the host looks at.
const ENTRIES: usize = 1 << 14;

/// Parents whose children are proven by one thread of the host, and before what was found is kept.
const FAMILIES: usize = 64;
const PARENTS: usize = 1 << 16;

impl StreamProgram {
    /// The terminal regions of the last run, in any order, and the cells of its leaves.
    pub(super) fn terminals(&self, setup: &Setup<'_>) -> Result<(Vec<Terminal>, BricksLeft), Error> {
        let (mut terminals, mut bricks) = (Vec::new(), BricksLeft::default());
        if setup.how.kept.keep == Keep::Counts {
            return Ok((terminals, bricks));
        }
        let kept = setup.how.kept.keep == Keep::Regions;
        let (outline, start) = (&setup.outline, setup.start.level);
        let refused = |refused| MemoryError::refused(Stored::Terminals)(refused);
        // The places of the regions that are divided below the last map.
        let mut divided = Vec::new();
        for level in &outline.levels[start as usize..=self.shape.level as usize] {
            let (fates, values) = self.maps.level(level.index);
            let fates = fates_of(setup, level, fates)?;
            let step = setup.value_bytes() as usize;
            read(setup.device, values, (fates.len() * step) as u64, &mut |offset, bytes| {
                let (first, regions) = (offset as usize / step, bytes.len() / step);
                let found = parallel::map(regions.div_ceil(ENTRIES), &|part| {
                    let piece = parallel::piece(regions, ENTRIES, part);
                    let values = integers(&bytes[piece.start * step..piece.end * step], step as u64);
                    self.outcomes(setup, level.index, first + piece.start, &fates[first..][piece], values)
                });
                let (found, below): (Vec<_>, Vec<_>) = found.into_iter().map(|of| (of.terminals, of.divided)).unzip();
                parallel::append(&mut terminals, &found).map_err(refused)?;
                Ok(parallel::append(&mut divided, &below).map_err(refused)?)
            })?;
        }
        for parents in divided.chunks(PARENTS) {
            let children = parallel::map(parents.len().div_ceil(FAMILIES), &|part| {
                self.children(setup, &parents[parallel::piece(parents.len(), FAMILIES, part)])
            });
            parallel::append(&mut terminals, &children).map_err(refused)?;
        }
        if kept && self.leaves > 0 {
            let level = &outline.levels[self.shape.level as usize];
            bricks = self.bricks.left(level, self.leaves);
            let places = read_integers(setup.device, self.list.address(), self.leaves, 4)?;
            Terminal::find(&mut terminals, places.len(), &|brick| {
                let code = outline.typed.code_at(level.index, places[brick]);
                Some(Terminal::leaf(level.index, code, Some(brick as u64 * level.most_cells())))
            })?;
        }
        Ok((terminals, bricks))
    }

    /// What regions of a level's map are that follow each other: terminal, divided below the last map, or nothing of their own.
    fn outcomes(
        &self,
        setup: &Setup<'_>,
        level: u32,
        first: usize,
        fates: &[u8],
        values: impl Iterator<Item = u64>,
    ) -> OfMap {
        let (last, mut found) = (setup.outline.is_last(level), OfMap::default());
        for ((place, &fate), value) in (first as u64..).zip(fates).zip(values) {
            let code = || setup.outline.typed.code_at(level, place);
            match (u32::from(fate), last) {
                (MAP_ABSENT, _) => {}
                (MAP_UNIFORM, _) => {
                    found.terminals.push(Terminal::uniform(level, code(), setup.storage.word(value)));
                }
                // Those with bricks are listed in the order of these.
                (_, true) if setup.how.kept.keep == Keep::Regions => {}
                (_, true) => found.terminals.push(Terminal::leaf(level, code(), None)),
                (_, false) if level == self.shape.level => found.divided.push(place),
                (_, false) => {}
            }
        }
        found
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

/// What a piece of a map says: terminal regions, and the places of those that are divided.
#[derive(Default)]
struct OfMap {
    terminals: Vec<Terminal>,
    divided: Vec<u64>,
}

/// What became of the regions of a level, whose map begins at `address`.
fn fates_of(setup: &Setup<'_>, level: &Level<MAX_DIM>, address: u64) -> Result<Vec<u8>, Error> {
    let regions = level.regions() as usize;
    let mut fates = zeros(regions).map_err(MemoryError::refused(Stored::Terminals))?;
    read(setup.device, address, regions as u64, &mut |first, bytes| {
        let here: &mut [u8] = &mut fates[first as usize..][..bytes.len()];
        parallel::pieces_mut(here, ENTRIES, &|i, fates| fates.copy_from_slice(&bytes[i * ENTRIES..][..fates.len()]));
        Ok(())
    })?;
    Ok(fates)
}
