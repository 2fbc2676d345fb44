//! What a run of ASK leaves on the device, read back: regions by level and place, and the cells of leaves.

use crate::backend::{Error, Table};
use crate::cuda::args::LaunchArgs;
use crate::cuda::memory::read_integers;
use crate::cuda::setup::Setup;
use crate::cuda::strategy::ask::{AskProgram, LevelTables};
use crate::geometry::{Level, Region};
use crate::result::{Bricks, Keep, Terminal};

impl AskProgram {
    /// The terminal regions of the last run, and the cells of its leaves.
    pub(super) fn terminals<const K: usize>(&self, setup: &Setup<'_, K>) -> Result<(Vec<Terminal>, Bricks), Error> {
        let mut bricks = Bricks::new(setup.storage.cell);
        let mut terminals = Vec::new();
        if setup.how.kept.keep == Keep::Counts {
            return Ok((terminals, bricks));
        }
        for &LaunchArgs { regions, level, .. } in &self.launched {
            let level = &setup.plan.levels()[level as usize];
            let tables = &self.tables[self.slot(level.index)];
            let mixed = read_integers(setup.device, tables.mixed.address(), regions, 1)?;
            let values = read_integers(setup.device, tables.values.address(), regions, setup.value_bytes())?;
            let codes = self.codes(setup, level, tables, regions)?;
            let mut places = vec![None; regions as usize];
            if setup.plan.is_last(level.index) && setup.how.kept.keep == Keep::Regions {
                bricks = self.bricks.read(setup, level, self.leaves)?;
                let leaves = read_integers(setup.device, tables.leaves.address(), self.leaves, 4)?;
                let starts = (0..).step_by(level.most_cells() as usize);
                leaves.into_iter().zip(starts).for_each(|(leaf, start)| places[leaf as usize] = Some(start));
            }
            for (((code, mixed), value), place) in codes.into_iter().zip(mixed).zip(values).zip(places) {
                if mixed == 0 {
                    terminals.push(Terminal::uniform(level.index, code, setup.storage.word(value)));
                } else if setup.plan.is_last(level.index) {
                    terminals.push(Terminal::leaf(level.index, code, place));
                }
            }
        }
        Ok((terminals, bricks))
    }

    /// The codes of a level's regions, in the order of its table.
    fn codes<const K: usize>(
        &self,
        setup: &Setup<'_, K>,
        level: &Level<K>,
        tables: &LevelTables,
        regions: u64,
    ) -> Result<Vec<u64>, Error> {
        let encoding = setup.plan.encoding();
        let lattice = |grid: [u32; K]| Region { corner: [0; K], extent: grid };
        let scalars = setup.cuda.table == Table::Scalars;
        if level.index == setup.start.level {
            let code = |index| match setup.row_major() {
                true => encoding.encode(level.index, lattice(level.grid).offset(index)),
                false => setup.start.code(index),
            };
            return Ok((0..regions).map(code).collect());
        }
        let per_family = setup.plan.scheme().children();
        let (families, width) = (regions / per_family, if scalars { self.code_bytes } else { 4 });
        let words = read_integers(setup.device, tables.families.address(), families * self.code_bytes / width, width)?;
        let mut codes = vec![0; regions as usize];
        let split = setup.plan.scheme().r;
        let parents = words.chunks(if scalars { 1 } else { K });
        for (parent, children) in parents.zip(codes.chunks_mut(per_family as usize)) {
            if scalars {
                encoding.children(level.index - 1, parent[0], children);
            } else {
                let corner = std::array::from_fn(|j| parent[j] as u32 * split[j]);
                let family = Region { corner, extent: split };
                children.iter_mut().zip(family.cells()).for_each(|(code, p)| *code = encoding.encode(level.index, p));
            }
        }
        Ok(codes)
    }
}
