//! What the numbers of 32 bits in kernels can hold, checked before anything is compiled.

use crate::backend::{Error, How, Mapping, StrategyKind, Unsupported};
use crate::choice::{ChoiceError, ChoiceValue};
use crate::cuda::outline::Outline;
use crate::result::Keep;

/// The most regions of a level, children of a region, and tiles of a block's shape in a region.
pub(super) const MOST: u64 = 1 << 31;

/// Places for pending launches per credit. A launch keeps its place longer than its grid runs, so that some fail with far
/// fewer grids in flight than places. Worse, with 64 places an H200 (driver 580, CUDA 13.0) now and then hangs for good
/// from 16 grids in flight on; with 8 it never did.
pub(super) const PENDING_PER_CREDIT: u64 = 8;

/// A level has too many regions.
pub(super) fn too_many_regions(level: u32, regions: u128) -> Error {
    Error::Unsupported { backend: "cuda", what: Unsupported::Regions { level, regions } }
}

/// Checks what is known of a plan before it runs; levels below the first are checked as they come.
///
/// # Errors
/// [`Error::Choice`] with the number that is too large.
pub(super) fn check(outline: &Outline<'_>, how: &How) -> Result<(), Error> {
    if (how.tuning.strategy, how.tuning.mapping()) == (StrategyKind::Dp, Mapping::Stream) {
        let reason = "streams are a scheme of ask";
        return Err(ChoiceError::new("scheme", Mapping::Stream, reason).with(&["strategy"]).into());
    }
    if let (Some(balancer), None) = (how.on_cuda().balancer, how.settles_by()) {
        let refused = |reason| ChoiceError::new("balancer", balancer.write().unwrap_or_default(), reason);
        return Err(match how.kept.keep {
            Keep::Dense => refused("it settles from lists, and in place there are none").with(&["pass"]),
            _ => refused("it settles the regions of a dense array").with(&["keep"]),
        }
        .into());
    }
    let most = u128::from(MOST);
    let children = outline.children;
    if outline.levels.len() > 1 && children > MOST {
        let reason = format!("a region has {children} children; the CUDA backend takes at most 2^31: use a smaller r");
        return Err(ChoiceError::new("r", "", reason).into());
    }
    let tiles = most_tiles(outline, how.on_cuda().block);
    if how.kept.keep != Keep::Counts && tiles > most {
        let reason = format!(
            "a region of level 0 has {tiles} tiles of a block's shape; the CUDA backend takes at most 2^31: use a larger g"
        );
        return Err(ChoiceError::new("g", "", reason).into());
    }
    Ok(())
}

/// The tiles of a block's shape in the largest region of level 0, at most (kernels/walk.cuh).
fn most_tiles(outline: &Outline<'_>, block: [u32; 3]) -> u128 {
    let extent = outline.levels[0].least_extent();
    let side = |j: usize| u128::from(extent[j]) + 1;
    (0..outline.dimensions).map(|j| if j < 3 { side(j).div_ceil(u128::from(block[j])) } else { side(j) }).product()
}
