//! What a run of ASK leaves on the device, read back: regions by level and place, and the cells of leaves.

use crate::backend::{Error, Table};
use crate::cuda::gather::BricksLeft;
use crate::cuda::memory::read_integers;
use crate::cuda::setup::Setup;
use crate::cuda::strategy::ask::{AskProgram, LevelTables};
use crate::cuda::strategy::definition::LevelRun;
use crate::dimension::MAX_DIM;
use crate::geometry::Level;
use crate::memory::zeros;
use crate::parallel;
use crate::result::{Keep, MemoryError, Stored, Terminal};

/// Families whose codes a thread of the host finds.
const FAMILIES: usize = 1 << 10;

impl AskProgram {
    /// The terminal regions of the last run, and the cells of its leaves.
    pub(super) fn terminals(&self, setup: &Setup<'_>) -> Result<(Vec<Terminal>, BricksLeft), Error> {
        let mut bricks = BricksLeft::default();
        let mut terminals = Vec::new();
        if setup.how.kept.keep == Keep::Counts {
            return Ok((terminals, bricks));
        }
        let levels = &setup.outline.levels[setup.start.level as usize..];
        for (level, &LevelRun { regions, .. }) in levels.iter().zip(&self.runs) {
            let tables = &self.tables[self.slot(level.index)];
            let mixed = read_integers(setup.device, tables.mixed.address(), regions, 1)?;
            let values = read_integers(setup.device, tables.values.address(), regions, setup.value_bytes())?;
            let codes = self.codes(setup, level, tables, regions)?;
            let last = setup.outline.is_last(level.index);
            let bricked = last && setup.how.kept.keep == Keep::Regions;
            Terminal::find(&mut terminals, regions as usize, &|region| match mixed[region] {
                0 => Some(Terminal::uniform(level.index, codes[region], setup.storage.word(values[region]))),
                _ if last && !bricked => Some(Terminal::leaf(level.index, codes[region], None)),
                _ => None,
            })?;
            if bricked {
                bricks = self.bricks.left(level, self.leaves);
                let leaves = read_integers(setup.device, tables.leaves.address(), self.leaves, 4)?;
                Terminal::find(&mut terminals, leaves.len(), &|brick| {
                    let place = brick as u64 * level.most_cells();
                    Some(Terminal::leaf(level.index, codes[leaves[brick] as usize], Some(place)))
                })?;
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
            let mut codes = vec![0; regions as usize];
            parallel::pieces_mut(&mut codes, FAMILIES, &|i, codes| {
                codes.iter_mut().zip((i * FAMILIES) as u64..).for_each(|(place, index)| *place = code(index));
            });
            return Ok(codes);
        }
        let per_family = outline.children;
        let (families, width) = (regions / per_family, if scalars { self.code_bytes } else { 4 });
        let words = read_integers(setup.device, tables.families.address(), families * self.code_bytes / width, width)?;
        let mut codes = zeros(regions as usize).map_err(MemoryError::refused(Stored::Terminals))?;
        let (named, per_family) = (if scalars { 1 } else { outline.dimensions }, per_family as usize);
        parallel::pieces_mut(&mut codes, FAMILIES * per_family, &|i, codes| {
            let parents = words[i * FAMILIES * named..].chunks(named);
            for (parent, children) in parents.zip(codes.chunks_mut(per_family)) {
                match scalars {
                    true => outline.typed.children(level.index - 1, parent[0], children),
                    false => outline.typed.children_at(level.index - 1, parent, children),
                }
            }
        });
        Ok(codes)
    }
}
