//! Has a device look at every cell of an array once, as a run begins, and tell what the regions of its plan are (`pyramid.rs`).

use super::args::{LaunchArgs, PyramidArgs};
use super::launcher::Launcher;
use super::pyramid::Pyramid;
use super::setup::Setup;
use crate::backend::Error;
use crate::dimension::MAX_DIM;
use crate::geometry::{Level, Region};
use crate::per_axis;

/// Looks at the cells of the roots, and merges their regions, if the run has proofs looked up.
///
/// # Errors
/// [`Error::Cuda`], [`Error::Interrupted`].
pub(super) fn survey(setup: &Setup<'_>, launcher: &mut Launcher<'_>) -> Result<(), Error> {
    let Some(pyramid) = &setup.pyramid else { return Ok(()) };
    let (start, depth) = (setup.start.level as usize, pyramid.first.len());
    // Regions below the pyramid are looked at when they are asked for.
    for level in setup.outline.levels[..depth].iter().skip(start).rev() {
        launcher.watch.check()?;
        let (regions, args) = (regions_of(setup, pyramid, level), args(setup, pyramid, level));
        // Of more threads than a grid has each takes several.
        let blocks = |threads: u64| threads.div_ceil(pyramid.cells.threads().into()).min(setup.device.max_grid());
        if level.index as usize + 1 < depth {
            launcher.fold(&pyramid.merge, blocks(regions.volume()), &setup.run, &args, &setup.args)?;
            continue;
        }
        pyramid.mixed.set_part(args.map_first, level.regions() as u64)?;
        // The level of the roots is one that a run always comes to.
        let base = LaunchArgs { tallies: setup.tallies(setup.start.level), ..args.base };
        let args = PyramidArgs { base, ..args };
        let blocks = blocks(columns(setup, pyramid, level, &regions));
        launcher.fold(&pyramid.cells, blocks, &setup.run, &args, &setup.args)?;
    }
    Ok(())
}

/// What a launch about a level of the pyramid is told.
pub(super) fn args(setup: &Setup<'_>, pyramid: &Pyramid, level: &Level<MAX_DIM>) -> PyramidArgs {
    let (outline, regions) = (&setup.outline, regions_of(setup, pyramid, level));
    PyramidArgs {
        base: LaunchArgs {
            level: level.index,
            last: u32::from(outline.is_last(level.index)),
            grid: outline.padded(level.grid),
            side: outline.padded(level.whole_sides()),
            tallies: setup.tallies(level.index),
            ..LaunchArgs::default()
        },
        map_first: pyramid.first[level.index as usize],
        width: pyramid.units,
        corner: outline.padded(regions.corner),
        extent: outline.padded(regions.extent),
    }
}

/// The regions of a level that lie in the roots' box.
fn regions_of(setup: &Setup<'_>, pyramid: &Pyramid, level: &Level<MAX_DIM>) -> Region<MAX_DIM> {
    let mut regions = pyramid.roots;
    for _ in setup.start.level..level.index {
        for (j, split) in setup.outline.split.into_iter().enumerate() {
            regions.corner[j] *= split;
            regions.extent[j] *= split;
        }
    }
    regions
}

/// Columns of a level's regions: a thread takes one through the rows of a region.
fn columns(setup: &Setup<'_>, pyramid: &Pyramid, level: &Level<MAX_DIM>, regions: &Region<MAX_DIM>) -> u64 {
    if regions.extent.contains(&0) {
        return 0;
    }
    let lines: u64 = regions.extent[1..].iter().map(|&count| u64::from(count)).product();
    let last: [u32; MAX_DIM] = per_axis::each(|j| regions.corner[j] + regions.extent[j] - 1);
    let (from, to) = (level.region(regions.corner), level.region(last));
    let cells = u64::from(to.corner[0] + to.extent[0] - from.corner[0]);
    cells * setup.outline.labels.kind().bytes() / pyramid.units * lines
}
