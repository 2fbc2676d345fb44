//! What a run of ASK leaves on the device, read back: regions by level and place, and the cells of leaves.

use crate::backend::{Error, Table};
use crate::cuda::args::LaunchArgs;
use crate::cuda::memory::read_integers;
use crate::cuda::setup::Setup;
use crate::cuda::strategy::ask::{AskProgram, LevelTables};
use crate::dimension::MAX_DIM;
use crate::geometry::Level;
use crate::result::{Bricks, Keep, Terminal};

impl AskProgram {
    /// The terminal regions of the last run, and the cells of its leaves.
    pub(super) fn terminals(&self, setup: &Setup<'_>) -> Result<(Vec<Terminal>, Bricks), Error> {
        let mut bricks = Bricks::new(setup.storage.cell);
        let mut terminals = Vec::new();
        if setup.how.kept.keep == Keep::Counts {
            return Ok((terminals, bricks));
        }
        for &LaunchArgs { regions, level, .. } in &self.launched {
            let level = &setup.outline.levels[level as usize];
            let tables = &self.tables[self.slot(level.index)];
            let mixed = read_integers(setup.device, tables.mixed.address(), regions, 1)?;
            let values = read_integers(setup.device, tables.values.address(), regions, setup.value_bytes())?;
            let codes = self.codes(setup, level, tables, regions)?;
            let mut places = vec![None; regions as usize];
            if setup.outline.is_last(level.index) && setup.how.kept.keep == Keep::Regions {
                bricks = self.bricks.read(setup, level, self.leaves)?;
                let leaves = read_integers(setup.device, tables.leaves.address(), self.leaves, 4)?;
                let starts = (0..).step_by(level.most_cells() as usize);
                leaves.into_iter().zip(starts).for_each(|(leaf, start)| places[leaf as usize] = Some(start));
            }
            for (((code, mixed), value), place) in codes.into_iter().zip(mixed).zip(values).zip(places) {
                if mixed == 0 {
                    terminals.push(Terminal::uniform(level.index, code, setup.storage.word(value)));
                } else if setup.outline.is_last(level.index) {
                    terminals.push(Terminal::leaf(level.index, code, place));
                }
            }
        }
        Ok((terminals, bricks))
    }

    /// The codes of a level's regions, in the order of its table.
    fn codes(
        &self,
        setup: &Setup<'_>,
        level: &Level<MAX_DIM>,
        tables: &LevelTables,
        regions: u64,
    ) -> Result<Vec<u64>, Error> {
        let outline = &setup.outline;
        let scalars = setup.cuda.table == Table::Scalars;
        if level.index == setup.start.level {
            let code = |index| match setup.row_major() {
                true => outline.typed.code_at(level.index, index),
                false => setup.start.code(index),
            };
            return Ok((0..regions).map(code).collect());
        }
        let per_family = outline.children;
        let (families, width) = (regions / per_family, if scalars { self.code_bytes } else { 4 });
        let words = read_integers(setup.device, tables.families.address(), families * self.code_bytes / width, width)?;
        let mut codes = vec![0; regions as usize];
        let parents = words.chunks(if scalars { 1 } else { outline.dimensions });
        for (parent, children) in parents.zip(codes.chunks_mut(per_family as usize)) {
            match scalars {
                true => outline.typed.children(level.index - 1, parent[0], children),
                false => outline.typed.children_at(level.index - 1, parent, children),
            }
        }
        Ok(codes)
    }
}
