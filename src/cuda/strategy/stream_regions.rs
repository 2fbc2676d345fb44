//! The regions that a stream leaves, read back: its maps, and below them what the host proves once more.

use rayon::prelude::*;

use crate::backend::Error;
use crate::cuda::args::{MAP_ABSENT, MAP_MIXED, MAP_UNIFORM};
use crate::cuda::memory::read_integers;
use crate::cuda::setup::Setup;
use crate::cuda::strategy::stream::StreamProgram;
use crate::field::{Payload, Verdict};
use crate::geometry::Region;
use crate::result::{Keep, Terminal};

impl<const K: usize> StreamProgram<K> {
    /// The terminal regions of the last run, in any order.
    pub(super) fn terminals(&self, setup: &Setup<'_, K>) -> Result<Vec<Terminal>, Error> {
        let mut terminals = Vec::new();
        if setup.how.kept.keep == Keep::Counts {
            return Ok(terminals);
        }
        let (plan, start) = (&setup.plan, setup.start.level);
        let (encoding, split) = (plan.encoding(), plan.scheme().r);
        // The fates of the level before, which roots have none of.
        let mut above = Vec::new();
        for level in &plan.levels()[start as usize..=self.shape.level as usize] {
            let map = &self.maps[level.index as usize];
            let (lattice, parents) = (Region { corner: [0; K], extent: level.grid }, level.grid);
            let fates = read_integers(setup.device, map.fates.address(), lattice.volume(), 1)?;
            let values = read_integers(setup.device, map.values.address(), lattice.volume(), setup.value_bytes())?;
            let parent = |coords: [u32; K]| {
                let step =
                    |place: u64, j: usize| place * u64::from(parents[j] / split[j]) + u64::from(coords[j] / split[j]);
                (0..K).rev().fold(0, step) as usize
            };
            for (index, (&fate, &value)) in fates.iter().zip(&values).enumerate() {
                let coords = lattice.offset(index as u64);
                let asked = if level.index == start {
                    fate != u64::from(MAP_ABSENT)
                } else {
                    above[parent(coords)] == u64::from(MAP_MIXED)
                };
                if !asked {
                    continue;
                }
                let code = encoding.encode(level.index, coords);
                if fate == u64::from(MAP_UNIFORM) {
                    terminals.push(Terminal::uniform(level.index, code, setup.storage.word(value)));
                } else if plan.is_last(level.index) {
                    terminals.push(Terminal::leaf(level.index, code, None));
                } else if level.index == self.shape.level {
                    terminals.par_extend(self.children(setup, coords));
                }
            }
            above = fates;
        }
        Ok(terminals)
    }

    /// The children of a region, which were proven where they were settled. Verdicts here are those of the GPU.
    fn children<'a>(
        &self,
        setup: &'a Setup<'_, K>,
        parent: [u32; K],
    ) -> impl ParallelIterator<Item = Terminal> + use<'a, K> {
        let (plan, level) = (&setup.plan, self.shape.level + 1);
        let (split, prover) = (plan.scheme().r, setup.field.prover().expect("tiles divide where the host proves, too"));
        let family = Region { corner: std::array::from_fn(|j| parent[j] * split[j]), extent: split };
        (0..family.volume()).into_par_iter().map(move |child| {
            let coords = family.cell(family.offset(child));
            let code = plan.encoding().encode(level, coords);
            match prover.prove(&plan.levels()[level as usize].region(coords), Payload::default()) {
                Verdict::Uniform(value) => Terminal::uniform(level, code, setup.storage.word(value)),
                Verdict::Mixed | Verdict::Unknown => Terminal::leaf(level, code, None),
            }
        })
    }
}
