//! Proofs about regions of an array, on a CPU.

use crate::field::blocks::{ArrayCells, UniformBlocks};
use crate::field::definition::{Payload, Prove};
use crate::field::error::FieldError;
use crate::geometry::Region;
use crate::rule::Verdict;

/// Where a region begins and ends, in any number of axes.
fn bounds<const K: usize>(region: &Region<K>) -> ([u64; crate::dimension::MAX_DIM], [u64; crate::dimension::MAX_DIM]) {
    let (mut corner, mut end) = ([0; crate::dimension::MAX_DIM], [1; crate::dimension::MAX_DIM]);
    for j in 0..K {
        corner[j] = region.corner[j].into();
        end[j] = corner[j] + u64::from(region.extent[j]);
    }
    (corner, end)
}

fn verdict(value: Option<u64>) -> Verdict {
    value.map_or(Verdict::Mixed, Verdict::Uniform)
}

/// What is certain of a region, by its cells.
pub(super) fn prove<const K: usize>(cells: &ArrayCells<'_>, region: &Region<K>) -> Verdict {
    let (corner, end) = bounds(region);
    verdict(cells.value(&corner, &end))
}

/// Proofs about regions in a window, by its blocks.
///
/// # Errors
/// [`FieldError::Memory`] if there is none for what is known of blocks.
pub(super) fn survey<'a, const K: usize>(
    cells: ArrayCells<'a>,
    window: &Region<K>,
) -> Result<Option<Box<dyn Prove<K> + 'a>>, FieldError> {
    let (corner, end) = bounds(window);
    let blocks = UniformBlocks::new(cells, corner, end)
        .map_err(|refused| FieldError::Memory { what: "the blocks of an array", need: refused.bytes })?;
    Ok(Some(Box::new(BlockProofs(blocks))))
}

/// Complete: the answer is never that nothing is known.
struct BlockProofs<'a>(UniformBlocks<'a>);

impl<const K: usize> Prove<K> for BlockProofs<'_> {
    fn prove(&self, region: &Region<K>, _: Payload) -> Verdict {
        let (corner, end) = bounds(region);
        verdict(self.0.value(&corner, &end))
    }
}
