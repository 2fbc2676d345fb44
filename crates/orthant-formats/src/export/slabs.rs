//! Cells in storage order, little-endian, a slab at a time.

use std::io::Write;

use crate::export::error::ExportError;
use orthant::geometry::{Region, Slabs};
use orthant::memory::zeros;
use orthant::tree::Source;

/// Bytes of a slab; enough for all threads of a pool to have some of it.
const SLAB: u64 = 1 << 26;

/// Writes the cells of a box into `bytes`, little-endian.
pub(super) fn read<const K: usize>(
    source: &dyn Source<K>,
    window: &Region<K>,
    bytes: &mut [u8],
) -> Result<(), ExportError> {
    source.read(window, bytes).map_err(ExportError::Read)?;
    if cfg!(target_endian = "big") {
        bytes.chunks_exact_mut(source.kind().bytes() as usize).for_each(<[u8]>::reverse);
    }
    Ok(())
}

/// Writes all cells, of which at most `most` bytes are in memory at a time, or one cell.
pub(super) fn write<const K: usize>(source: &dyn Source<K>, most: u64, out: &mut dyn Write) -> Result<(), ExportError> {
    let width = source.kind().bytes();
    let slabs = Slabs::new(Region { corner: [0; K], extent: source.size() }, (most.min(SLAB) / width).max(1));
    let mut bytes = zeros::<u8>((slabs.get(0).volume() * width) as usize)?;
    for index in 0..slabs.len() {
        let slab = slabs.get(index);
        let bytes = &mut bytes[..(slab.volume() * width) as usize];
        read(source, &slab, bytes)?;
        out.write_all(bytes).map_err(ExportError::Write)?;
    }
    Ok(())
}
