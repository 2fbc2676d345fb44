//! Native 3-D grids (`--stack grid3d`): launches whose blocks lie along three axes, as the ASK paper's section 7 stacks them.

use crate::backend::{DpLaunch, Error, How, Mapping, Pass, Stack, StrategyKind};
use crate::choice::ChoiceError;
use crate::cuda::args::{AskArgs, ExhaustiveArgs, Launch};
use crate::dimension::MAX_DIM;

/// The most blocks of a grid along its axes 1 and 2.
const MOST: u64 = 65535;

/// The choices of a run with those that native grids leave open, if it asks for them.
///
/// # Errors
/// If it has no lattice of blocks, or chose what its blocks cannot do.
pub(super) fn settled(how: &How, split: &[u32; MAX_DIM]) -> Result<How, Error> {
    let (tuning, cuda) = (&how.tuning, how.on_cuda());
    if cuda.stack != Stack::Grid3d {
        return Ok(how.clone());
    }
    let refused = |reason: &str, with| Err(ChoiceError::new("stack", Stack::Grid3d, reason).with(with).into());
    match tuning.strategy {
        StrategyKind::Exhaustive | StrategyKind::BottomUp => Ok(how.clone()),
        StrategyKind::Ask if tuning.mapping.is_some_and(|mapping| mapping != Mapping::Mbr) => {
            refused("the regions of a level are a list, and have no lattice of blocks: use --scheme mbr", &["scheme"])
        }
        StrategyKind::Ask if tuning.pass.is_some_and(|pass| pass != Pass::InPlace) => {
            refused("blocks share a region where it is explored: use --pass in-place", &["pass"])
        }
        StrategyKind::Ask => Ok(how.clone().mapping(Some(Mapping::Mbr)).pass(Some(Pass::InPlace))),
        StrategyKind::Dp if cuda.dp_launch != DpLaunch::Region => {
            refused("families of other launches are a list: use --dp-launch region", &["dp-launch"])
        }
        StrategyKind::Dp if split[1..3].iter().any(|&r| u64::from(r) > MOST) => {
            refused("a grid has at most 65535 blocks along axes 1 and 2: use a smaller r", &["r"])
        }
        StrategyKind::Dp => Ok(how.clone()),
    }
}

/// A launch of a stack: blocks per axis, and what the kernel takes.
pub(super) type NativeLaunch<L> = ([u32; 3], L);

/// A launch from the block, the grid or the entry `first` on.
fn from<L: Launch>(first: u64, mut launch: L) -> L {
    *launch.first() = first;
    launch
}

/// The launches of a stack of `depth` grids: `first` is the number of the grid, and grids with more blocks along axes 1 and 2 than a
/// launch may have are cut.
pub(super) fn layers(depth: u64, launch: ExhaustiveArgs) -> impl Iterator<Item = NativeLaunch<ExhaustiveArgs>> {
    let blocks = launch.tiles;
    let cut = |blocks: u32| (0..u64::from(blocks).div_ceil(MOST)).map(|i| i * MOST);
    let rest = |blocks: u32, from: u64| (u64::from(blocks) - from).min(MOST) as u32;
    (0..depth).flat_map(move |first| {
        cut(blocks[2]).flat_map(move |z| {
            cut(blocks[1]).map(move |y| {
                let native_from = [y as u32, z as u32];
                let launch = from(first, ExhaustiveArgs { native_from, ..launch });
                ([blocks[0], rest(blocks[1], y), rest(blocks[2], z)], launch)
            })
        })
    })
}

/// The launches for a list of entries with a box of blocks each: boxes follow each other along axis 2; `first` is the number of an entry.
pub(super) fn entries(entries: u64, launch: AskArgs) -> impl Iterator<Item = NativeLaunch<AskArgs>> {
    let blocks = launch.blocks;
    let each = entries_of_a_launch(blocks);
    (0..entries.div_ceil(each)).map(move |i| {
        let (first, here) = (i * each, (entries - i * each).min(each));
        ([blocks[0], blocks[1], blocks[2] * here as u32], from(first, launch))
    })
}

fn entries_of_a_launch(blocks: [u32; 3]) -> u64 {
    (MOST / u64::from(blocks[2])).max(1)
}

/// The most blocks of one of those launches.
pub(super) fn most(blocks: [u32; 3]) -> u64 {
    entries_of_a_launch(blocks) * blocks.iter().map(|&blocks| u64::from(blocks)).product::<u64>()
}

/// A box of at least so many blocks, at most 2^30, with axes as equal as that goes.
pub(super) fn cube(blocks: u32) -> [u32; 3] {
    let x = (1..).find(|x| u64::from(*x).pow(3) >= u64::from(blocks)).expect("a number has a root");
    let y = (1..=x).find(|y| u64::from(x * y) * u64::from(x) >= u64::from(blocks)).unwrap_or(x);
    [x, y, blocks.div_ceil(x * y)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_is_launched_once() {
        let blocks = |[x, y, z]: [u32; 3]| u64::from(x) * u64::from(y) * u64::from(z);
        let stack = ExhaustiveArgs { tiles: [3, 65536, 131071], ..ExhaustiveArgs::default() };
        let grids: Vec<_> = layers(2, stack).collect();
        assert_eq!(
            grids.iter().map(|(_, launch)| (launch.base.first, launch.native_from)).collect::<Vec<_>>().len(),
            2 * 3 * 2
        );
        assert!(grids.iter().all(|([_, y, z], _)| *y <= 65535 && *z <= 65535));
        assert_eq!((grids[1].0, grids[1].1.native_from), ([3, 1, 65535], [65535, 0]));
        assert_eq!((grids[4].0, grids[4].1.native_from), ([3, 65535, 1], [0, 131070]));
        assert_eq!(grids.iter().map(|grid| blocks(grid.0)).sum::<u64>(), 2 * 3 * 65536 * 131071);
        let lists: Vec<_> = entries(100_000, AskArgs { blocks: [2, 2, 3], ..AskArgs::default() }).collect();
        assert_eq!(
            lists.iter().map(|(grid, launch)| (grid[2], launch.base.base.first)).collect::<Vec<_>>(),
            [(65535, 0), (65535, 21845), (65535, 43690), (65535, 65535), (3 * 12620, 87380),]
        );
        assert_eq!(lists.iter().map(|list| blocks(list.0)).sum::<u64>(), 12 * 100_000);
    }

    #[test]
    fn boxes_hold_their_blocks() {
        for (blocks, cube) in
            [(1, [1, 1, 1]), (2, [2, 1, 1]), (8, [2, 2, 2]), (9, [3, 1, 3]), (1 << 20, [102, 101, 102])]
        {
            assert_eq!(super::cube(blocks), cube, "{blocks}");
        }
        assert!((1..5000).all(|blocks| super::cube(blocks).iter().product::<u32>() >= blocks));
    }
}
