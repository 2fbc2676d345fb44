//! The regions that a stream leaves, read back: its maps, below them what the host proves once more, and the cells of leaves.

use crate::backend::Error;
use crate::cuda::constants::{TALLY_FILLED, TALLY_LEAVES, TALLY_SUBDIVIDED};
use crate::cuda::gather::BricksLeft;
use crate::cuda::memory::read;
use crate::cuda::setup::{Setup, tally};
use crate::cuda::strategy::stream::{StreamProgram, lattice, tallies};
use crate::cuda::strategy::stream_list::{LevelMap, StreamLists};
use crate::dimension::MAX_DIM;
use crate::geometry::Level;
use crate::memory::reserve;
use crate::parallel;
use crate::result::{Keep, MemoryError, Stored, Terminal};
use crate::rule::Verdict;

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
        let mut lists = StreamLists::new(setup)?;
        for level in &outline.levels[start as usize..=self.shape.level as usize] {
            let last = outline.is_last(level.index);
            // Leaves with bricks are listed in the order of these.
            let others = if last { !kept } else { level.index == self.shape.level };
            let code = |place| outline.typed.code_at(level.index, place);
            lists.of(&self.map(setup, level, others)?, &mut |listed| {
                let region = |i| match (listed.record(i), listed.uniform) {
                    ((place, value), true) => Terminal::uniform(level.index, code(place), setup.storage.word(value)),
                    ((place, _), false) => Terminal::leaf(level.index, code(place), None),
                };
                if listed.uniform || last {
                    return Ok(Terminal::find(&mut terminals, listed.len(), &|i| Some(region(i)))?);
                }
                reserve(&mut divided, listed.len()).map_err(refused)?;
                divided.extend((0..listed.len()).map(|i| listed.record(i).0));
                Ok(())
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
            read(setup.device, self.list.address(), self.leaves * 4, &mut |offset, bytes| {
                let before = offset / 4;
                Ok(Terminal::find(&mut terminals, bytes.len() / 4, &|i| {
                    let place = u32::from_le_bytes(bytes[4 * i..][..4].try_into().expect("four bytes"));
                    let brick = (before + i as u64) * level.most_cells();
                    Some(Terminal::leaf(level.index, outline.typed.code_at(level.index, place.into()), Some(brick)))
                })?)
            })?;
        }
        Ok((terminals, bricks))
    }

    /// The maps of a level; `others` if more than its uniform regions are asked for.
    fn map(&self, setup: &Setup<'_>, level: &Level<MAX_DIM>, others: bool) -> Result<LevelMap, Error> {
        let tallies = tallies(setup, level)?;
        let mixed = tally(&tallies, TALLY_SUBDIVIDED) + tally(&tallies, TALLY_LEAVES);
        let (fates, values) = self.maps.level(level.index);
        Ok(LevelMap {
            fates,
            values,
            regions: lattice(level)?,
            uniform: tally(&tallies, TALLY_FILLED),
            others: if others { mixed } else { 0 },
        })
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
