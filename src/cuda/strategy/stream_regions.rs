//! The regions that a stream leaves, read back: its maps, and below them what the host proves once more.

use rayon::prelude::*;

use crate::backend::Error;
use crate::cuda::args::{MAP_ABSENT, MAP_UNIFORM};
use crate::cuda::memory::{integers, read};
use crate::cuda::setup::Setup;
use crate::cuda::strategy::stream::StreamProgram;
use crate::field::Payload;
use crate::geometry::{Level, Region};
use crate::memory::reserve;
use crate::result::{Keep, MemoryError, Stored, Terminal};
use crate::rule::Verdict;

/// Parents whose children are proven by one thread of the host, and before what was found is kept.
const FAMILIES: usize = 64;
const PARENTS: usize = 1 << 16;

impl<const K: usize> StreamProgram<K> {
    /// The terminal regions of the last run, in any order.
    pub(super) fn terminals(&self, setup: &Setup<'_, K>) -> Result<Vec<Terminal>, Error> {
        let mut terminals = Vec::new();
        if setup.how.kept.keep == Keep::Counts {
            return Ok(terminals);
        }
        let (plan, start) = (&setup.plan, setup.start.level);
        // The regions that are divided below the last map.
        let mut divided: Vec<[u32; K]> = Vec::new();
        for level in &plan.levels()[start as usize..=self.shape.level as usize] {
            let (fates, values) = self.maps.level(level.index);
            let fates = fates_of(setup, level, fates)?;
            let step = setup.value_bytes();
            let mut coords = [0; K];
            read(setup.device, values, fates.len() as u64 * step, |offset, bytes| {
                let first = (offset / step) as usize;
                for (value, &fate) in integers(bytes, step).zip(&fates[first..]) {
                    if u32::from(fate) != MAP_ABSENT {
                        let code = plan.encoding().encode(level.index, coords);
                        if u32::from(fate) == MAP_UNIFORM {
                            terminals.push(Terminal::uniform(level.index, code, setup.storage.word(value)));
                        } else if plan.is_last(level.index) {
                            terminals.push(Terminal::leaf(level.index, code, None));
                        } else if level.index == self.shape.level {
                            divided.push(coords);
                        }
                    }
                    advance(&mut coords, level.grid);
                }
                Ok(())
            })?;
        }
        for parents in divided.chunks(PARENTS) {
            let families = parents.par_chunks(FAMILIES);
            terminals.par_extend(
                families.flat_map_iter(|parents| parents.iter().flat_map(|&parent| self.children(setup, parent))),
            );
        }
        Ok(terminals)
    }

    /// The children of a region, which were proven where they were settled. Verdicts here are those of the GPU.
    fn children<'a>(&self, setup: &'a Setup<'_, K>, parent: [u32; K]) -> impl Iterator<Item = Terminal> + use<'a, K> {
        let (plan, level) = (&setup.plan, self.shape.level + 1);
        let (split, prover) = (plan.scheme().r, setup.field.prover().expect("tiles divide where the host proves, too"));
        let family = Region { corner: std::array::from_fn(|j| parent[j] * split[j]), extent: split };
        (0..family.volume()).map(move |child| {
            let coords = family.cell(family.offset(child));
            let code = plan.encoding().encode(level, coords);
            match prover.prove(&plan.levels()[level as usize].region(coords), Payload::default()) {
                Verdict::Uniform(value) => Terminal::uniform(level, code, setup.storage.word(value)),
                Verdict::Mixed | Verdict::Unknown => Terminal::leaf(level, code, None),
            }
        })
    }
}

/// What became of the regions of a level, whose map begins at `address`.
fn fates_of<const K: usize>(setup: &Setup<'_, K>, level: &Level<K>, address: u64) -> Result<Vec<u8>, Error> {
    let (mut fates, regions) = (Vec::new(), level.regions() as usize);
    reserve(&mut fates, regions).map_err(MemoryError::refused(Stored::Terminals))?;
    read(setup.device, address, regions as u64, |_, bytes| {
        fates.extend_from_slice(bytes);
        Ok(())
    })?;
    Ok(fates)
}

/// The next place of a lattice in row-major order.
fn advance<const K: usize>(coords: &mut [u32; K], grid: [u32; K]) {
    for (place, cells) in coords.iter_mut().zip(grid) {
        *place += 1;
        if *place < cells {
            return;
        }
        *place = 0;
    }
}
