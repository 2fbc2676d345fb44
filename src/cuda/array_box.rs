//! A field's array of which a box lies on a device, since the whole has no room there.
//!
//! The host packs the rows of the box by all threads while the piece before is on its way.

use std::sync::Arc;

use super::device::Device;
use super::driver::refused;
use super::memory::{Allocation, Buffer, PIECE, Reserve};
use crate::backend::{CudaError, Error};
use crate::dimension::MAX_DIM;
use crate::field::DeviceContent;
use crate::geometry::Region;
use crate::parallel;

/// Bytes that a thread packs.
const PACKED: usize = 1 << 19;

/// The share of what is free that a piece and its cells in the result should take: the box of a run of codes has more cells than the run,
/// and kernels and tables lie beside it.
const SHARE: u64 = 4;

/// What an array leaves free, as a share of its bytes.
const BESIDE: u64 = 4;

/// An array on the host, and a box of it on a device.
pub(super) struct ArrayBox {
    /// All of its elements, axis 0 fastest, each of so many bytes.
    content: Arc<dyn DeviceContent>,
    size: [u32; MAX_DIM],
    width: u64,
    room: Reserve,
    /// What lies on the device.
    lies: Option<Region<MAX_DIM>>,
    /// Into how many pieces a run of the whole is to be cut.
    pieces: u64,
}

impl ArrayBox {
    /// An array of so many bytes, of which a part lies there at once: as much as about a fourth of what is free has room for, with a cell of
    /// so many bytes for each of its elements.
    pub(super) fn new(
        content: Arc<dyn DeviceContent>,
        (size, width): ([u32; MAX_DIM], u64),
        (bytes, free): (u64, u64),
        cell: u64,
    ) -> Self {
        let pieces = (bytes / width * (width + cell)).div_ceil((free / SHARE).max(1));
        Self { content, size, width, room: Reserve::default(), lies: None, pieces }
    }

    /// True if an array of so many bytes has room, and what is known of its regions beside it.
    pub(super) fn whole(bytes: u64, free: u64) -> bool {
        bytes.saturating_add(bytes / BESIDE) <= free
    }

    /// Bytes that it has taken.
    pub(super) fn room(&self) -> u64 {
        self.room.buffer().map_or(0, Buffer::bytes)
    }

    /// Into how many pieces a run of the whole is to be cut.
    pub(super) fn pieces(&self) -> u64 {
        self.pieces
    }

    /// Brings a box to the device, unless it lies there. Bytes that were copied.
    ///
    /// # Errors
    /// [`Error::DeviceMemory`], [`Error::Cuda`].
    pub(super) fn bring(&mut self, device: &Device, cells: &Region<MAX_DIM>) -> Result<u64, Error> {
        if self.lies.as_ref() == Some(cells) {
            return Ok(0);
        }
        self.lies = None;
        let bytes = cells.volume() * self.width;
        self.room.ensure(
            device,
            "a piece of the field's array (a larger -g makes pieces smaller)",
            bytes,
            Allocation::Pool,
        )?;
        let copied = self.copy(device, cells, bytes);
        // A failure leaves no copy behind that still reads.
        device.synchronise("copying a piece of an array")?;
        copied?;
        self.lies = Some(*cells);
        Ok(bytes)
    }

    /// Where the array's first element would lie: elements of the box are counted from there, in rows of the box.
    pub(super) fn origin(&self) -> u64 {
        let Some(lies) = &self.lies else { return 0 };
        let place = (0..MAX_DIM)
            .rev()
            .fold(0u64, |place, j| place.wrapping_mul(lies.extent[j].into()).wrapping_add(lies.corner[j].into()));
        self.room.address().wrapping_sub(place.wrapping_mul(self.width))
    }

    fn copy(&self, device: &Device, cells: &Region<MAX_DIM>, bytes: u64) -> Result<(), CudaError> {
        let runs = RunsOfBox::of(cells, &self.size, self.width);
        let all = self.content.pieces().next().expect("elements lie in one piece");
        let piece = (bytes as usize).min(PIECE);
        let [mut here, mut next] = [device.staging(piece)?, device.staging(piece)?];
        let (mut sent, mut before) = (0, None);
        let buffer = self.room.buffer().expect("just made");
        while sent < bytes {
            let some = (bytes - sent).min(piece as u64) as usize;
            parallel::pieces_mut(&mut here.bytes_mut()?[..some], PACKED, &|i, to| {
                runs.pack(all, sent + (i * PACKED) as u64, to);
            });
            buffer.receive_at(sent, &here, 0..some, &device.stream)?;
            // The other buffer is free when what was sent from it has arrived.
            if let Some(before) = before.replace(device.mark()?) {
                before.synchronize().map_err(|error| refused("copying a piece of an array", error))?;
            }
            std::mem::swap(&mut here, &mut next);
            sent += some as u64;
        }
        device.synchronise("copying a piece of an array")?;
        device.keep_staging([here, next]);
        Ok(())
    }
}

/// RunsOfBox of bytes that a box is of an array: along the axes that it covers as a whole, and the next one.
struct RunsOfBox {
    /// Bytes of a run.
    bytes: u64,
    /// The first byte, and of the axes beyond how many runs there are and how many bytes from one to the next.
    start: u64,
    axes: Vec<(u64, u64)>,
}

impl RunsOfBox {
    fn of(cells: &Region<MAX_DIM>, size: &[u32; MAX_DIM], width: u64) -> Self {
        let (mut bytes, mut start, mut stride, mut whole, mut axes) = (width, 0, width, true, Vec::new());
        for j in 0..MAX_DIM {
            let count = u64::from(cells.extent[j]);
            start += u64::from(cells.corner[j]) * stride;
            match whole {
                true => bytes *= count,
                false => axes.push((count, stride)),
            }
            whole &= cells.extent[j] == size[j];
            stride *= u64::from(size[j]);
        }
        Self { bytes, start, axes }
    }

    /// The bytes of the box from `first` on.
    fn pack(&self, all: &[u8], mut first: u64, mut to: &mut [u8]) {
        while !to.is_empty() {
            let (mut run, within) = (first / self.bytes, first % self.bytes);
            let mut from = self.start + within;
            for &(count, stride) in &self.axes {
                from += run % count * stride;
                run /= count;
            }
            let some = (self.bytes - within).min(to.len() as u64) as usize;
            let (now, later) = to.split_at_mut(some);
            now.copy_from_slice(&all[from as usize..][..some]);
            (to, first) = (later, first + some as u64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dimension::widened;

    /// Boxes of an array of bytes that are their own places.
    #[test]
    fn boxes_are_packed_in_their_order() {
        let size = widened([7u32, 5, 6], 1);
        let all: Vec<u8> = (0..7 * 5 * 6).collect();
        for (corner, extent) in
            [([0, 0, 0], [7, 5, 6]), ([0, 0, 2], [7, 5, 3]), ([0, 1, 1], [7, 3, 4]), ([2, 1, 3], [4, 4, 2])]
        {
            let cells = Region { corner: widened(corner, 0), extent: widened(extent, 1) };
            let runs = RunsOfBox::of(&cells, &size, 1);
            let whole: Vec<u8> = cells.cells().map(|c| (c[0] + 7 * (c[1] + 5 * c[2])) as u8).collect();
            for piece in [1, 3, 16, 1 << 10] {
                let mut packed = vec![0; whole.len()];
                packed.chunks_mut(piece).enumerate().for_each(|(i, to)| runs.pack(&all, (i * piece) as u64, to));
                assert_eq!(packed, whole, "{corner:?} {extent:?}");
            }
        }
    }
}
