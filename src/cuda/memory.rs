//! Device memory that is freed with its owner, and the way back to the host in pieces.
#![allow(unsafe_code)]

use std::ops::Range;
use std::sync::Arc;

use cudarc::driver::{CudaStream, DriverError, result, sys};

use super::device::Device;
use super::driver::refused;
use super::pinned::Pinned;
use crate::backend::{CudaError, Error};
use crate::memory::zeros;
use crate::parallel;
use crate::result::{MemoryError, Stored};

/// How device memory is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Allocation {
    /// From the driver's pool, in the order of the stream.
    Pool,
    /// At once, waiting for the device: cudaMalloc and cudaFree, as in the papers' host loop.
    Immediate,
}

/// Bytes on the device.
#[derive(Debug)]
pub(super) struct Buffer {
    address: u64,
    bytes: u64,
    how: Allocation,
    stream: Arc<CudaStream>,
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let context = self.stream.context();
        context.record_err(context.bind_to_thread());
        // SAFETY: allocated in this way, and not freed yet. What still uses it was queued before in the same stream, or
        // is waited for.
        context.record_err(unsafe {
            match self.how {
                Allocation::Pool => result::free_async(self.address, self.stream.cu_stream()),
                Allocation::Immediate => result::free_sync(self.address),
            }
        });
    }
}

impl Buffer {
    /// Room for `bytes` bytes, not initialised; `what` names it in an error.
    pub(super) fn new(device: &Device, what: &'static str, bytes: u64, how: Allocation) -> Result<Self, Error> {
        let stream = device.stream.clone();
        let size = bytes.max(16) as usize;
        let failed = |error: DriverError| match error.0 {
            sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => {
                let free = device.memory().map_or(0, |(free, _)| free);
                Error::DeviceMemory { what, need: u128::from(bytes), free }
            }
            _ => refused("allocating device memory", error).into(),
        };
        device.context.bind_to_thread().map_err(failed)?;
        // SAFETY: freed once, in `drop`.
        let address = unsafe {
            match how {
                Allocation::Pool => result::malloc_async(stream.cu_stream(), size),
                Allocation::Immediate => result::malloc_sync(size),
            }
        };
        Ok(Self { address: address.map_err(failed)?, bytes, how, stream })
    }

    /// A copy of `bytes`.
    pub(super) fn upload(device: &Device, what: &'static str, bytes: &[u8]) -> Result<Self, Error> {
        let buffer = Self::new(device, what, bytes.len() as u64, Allocation::Pool)?;
        buffer.write(device, [bytes])?;
        Ok(buffer)
    }

    /// Copies `pieces` to its start, one after the other, and waits for that.
    pub(super) fn write<'a>(
        &self,
        device: &Device,
        pieces: impl IntoIterator<Item = &'a [u8]>,
    ) -> Result<(), CudaError> {
        let mut start = 0;
        // An error leaves no copy behind that still reads.
        let copied = pieces.into_iter().filter(|piece| !piece.is_empty()).try_for_each(|piece| {
            let end = start + piece.len() as u64;
            assert!(end <= self.bytes, "the buffer is large enough");
            // SAFETY: just asserted; the source lives until the stream has been waited for.
            let copied = unsafe { result::memcpy_htod_async(self.address + start, piece, device.stream.cu_stream()) };
            start = end;
            copied.map_err(|error| refused("copying to the device", error))
        });
        device.synchronise("copying to the device").and(copied)
    }

    pub(super) fn address(&self) -> u64 {
        self.address
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Sets every byte, later, in the order of the stream. The device is [bound](Device::bind).
    pub(super) fn set(&self, value: u8) -> Result<(), CudaError> {
        if self.bytes == 0 {
            return Ok(());
        }
        // SAFETY: the buffer has this many bytes.
        unsafe { result::memset_d8_async(self.address, value, self.bytes as usize, self.stream.cu_stream()) }
            .map_err(|error| refused("setting device memory", error))
    }
}

impl Buffer {
    /// Copies all of `pinned` to its start, later, in the order of `stream`, which is waited for before either goes.
    pub(super) fn receive(&self, pinned: &Pinned, stream: &CudaStream) -> Result<(), CudaError> {
        self.receive_part(pinned, 0..pinned.len(), stream)
    }

    /// Copies a part of `pinned` to its start, as [`receive`](Self::receive).
    pub(super) fn receive_part(
        &self,
        pinned: &Pinned,
        part: Range<usize>,
        stream: &CudaStream,
    ) -> Result<(), CudaError> {
        self.receive_at(0, pinned, part, stream)
    }

    /// Copies a part of `pinned` to where `start` says, as [`receive`](Self::receive).
    pub(super) fn receive_at(
        &self,
        start: u64,
        pinned: &Pinned,
        part: Range<usize>,
        stream: &CudaStream,
    ) -> Result<(), CudaError> {
        let bytes = &pinned.bytes(part.end)?[part.start..];
        assert!(start + bytes.len() as u64 <= self.bytes, "the buffer is large enough");
        // SAFETY: just asserted; the caller waits.
        unsafe { result::memcpy_htod_async(self.address + start, bytes, stream.cu_stream()) }
            .map_err(|error| refused("copying to the device", error))
    }

    /// Sets `bytes` bytes from `start` on to 0, as [`set`](Self::set).
    pub(super) fn set_part(&self, start: u64, bytes: u64) -> Result<(), CudaError> {
        assert!(start + bytes <= self.bytes, "a part of the buffer");
        // SAFETY: just asserted.
        unsafe { result::memset_d8_async(self.address + start, 0, bytes as usize, self.stream.cu_stream()) }
            .map_err(|error| refused("setting device memory", error))
    }
}

/// A buffer that grows when it must and is used again from run to run.
#[derive(Debug, Default)]
pub(super) struct Reserve(Option<Buffer>);

impl Reserve {
    /// The buffer, with room for `bytes` bytes; what it held is lost if it has to grow. Immediate allocations are always
    /// made anew.
    pub(super) fn ensure(
        &mut self,
        device: &Device,
        what: &'static str,
        bytes: u64,
        how: Allocation,
    ) -> Result<&Buffer, Error> {
        let fits = self.0.as_ref().is_some_and(|buffer| buffer.bytes >= bytes && how == Allocation::Pool);
        if !fits {
            self.0 = None;
            self.0 = Some(Buffer::new(device, what, bytes, how)?);
        }
        Ok(self.0.as_ref().expect("just made"))
    }

    /// The buffer, if there is one.
    pub(super) fn buffer(&self) -> Option<&Buffer> {
        self.0.as_ref()
    }

    /// The address, 0 if there is no buffer.
    pub(super) fn address(&self) -> u64 {
        self.0.as_ref().map_or(0, Buffer::address)
    }
}

/// Bytes of a piece on the way to the host: long enough for the full rate, short enough to overlap.
pub(super) const PIECE: usize = 32 << 20;

/// Takes bytes in order: the number of the first, and a piece.
pub(super) type TakeBytes<'t> = &'t mut dyn FnMut(u64, &[u8]) -> Result<(), Error>;

/// Reads `bytes` bytes from `address` on, piece by piece in order, while the next piece is under way.
pub(super) fn read(device: &Device, address: u64, bytes: u64, sink: TakeBytes<'_>) -> Result<(), Error> {
    let piece = |start: u64| (bytes - start).min(PIECE as u64) as usize;
    let mut start = 0;
    if bytes == 0 {
        return Ok(());
    }
    let [mut here, mut next] = [device.staging(piece(0))?, device.staging(piece(0))?];
    here.fetch(&device.stream, address, piece(0))?;
    while start < bytes {
        device.synchronise("copying from the device")?;
        let after = start + piece(start) as u64;
        if after < bytes {
            next.fetch(&device.stream, address + after, piece(after))?;
        }
        sink(start, here.bytes(piece(start))?)?;
        std::mem::swap(&mut here, &mut next);
        start = after;
    }
    // After a failure a copy may still be under way: then nobody gets them again.
    device.keep_staging([here, next]);
    Ok(())
}

/// Integers that a thread of the host turns into words.
const TOGETHER: usize = 1 << 15;

/// Reads `count` unsigned integers of `width` bytes from `address` on.
pub(super) fn read_integers(device: &Device, address: u64, count: u64, width: u64) -> Result<Vec<u64>, Error> {
    let mut values = zeros(count as usize).map_err(MemoryError::refused(Stored::Terminals))?;
    read(device, address, count * width, &mut |first, bytes| {
        let (first, width) = ((first / width) as usize, width as usize);
        parallel::pieces_mut(&mut values[first..first + bytes.len() / width], TOGETHER, &|i, values| {
            let bytes = &bytes[i * TOGETHER * width..][..values.len() * width];
            values.iter_mut().zip(integers(bytes, width as u64)).for_each(|(value, word)| *value = word);
        });
        Ok(())
    })?;
    Ok(values)
}

/// The unsigned integers of `width` bytes that `bytes` are.
pub(super) fn integers(bytes: &[u8], width: u64) -> impl Iterator<Item = u64> {
    // A GPU's hosts are little-endian. Four loads cost less than a copy of a length that is not known.
    bytes.chunks_exact(width as usize).map(move |bytes| match *bytes {
        [a] => a.into(),
        [a, b] => u16::from_le_bytes([a, b]).into(),
        [a, b, c, d] => u32::from_le_bytes([a, b, c, d]).into(),
        _ => u64::from_le_bytes(bytes.try_into().expect("of 1, 2, 4 or 8 bytes")),
    })
}
