//! Launches, and how many of them are in flight.
//!
//! A launch space is a number of blocks. It goes out as one launch where the device's grid allows it, and it is asked
//! for that way; else as a stack of launches over several streams, never more of them in flight than the limit: each
//! waits for the oldest one if there is no room. Streams fork from the main one and join it again.

use std::collections::VecDeque;
use std::sync::Arc;

use cudarc::driver::{CudaEvent, CudaStream};

use super::device::{Argument, Device, Kernel};
use super::driver::refused;
use super::error::CudaError;
use super::specialise::LaunchArgs;
use crate::device::DeviceStruct;
use crate::subdivision::Launches;

/// What launches kernels, and counts them.
pub(super) struct Launcher<'a> {
    device: &'a Device,
    limit: usize,
    streams: Vec<Arc<CudaStream>>,
    in_flight: VecDeque<(CudaEvent, usize)>,
    pub(super) launches: Launches,
}

impl<'a> Launcher<'a> {
    /// At most `limit` launches of a stack are in flight.
    pub(super) fn new(device: &'a Device, limit: usize) -> Self {
        Self { device, limit, streams: Vec::new(), in_flight: VecDeque::new(), launches: Launches::default() }
    }

    /// Launches `blocks` blocks, folded into one launch if the grid allows.
    pub(super) fn fold(
        &mut self,
        kernel: &Kernel,
        blocks: u64,
        run: &Argument,
        launch: &LaunchArgs,
        field: &Argument,
    ) -> Result<(), CudaError> {
        if blocks > self.device.max_grid() {
            return self.stack(kernel, blocks, self.device.max_grid(), run, launch, field);
        }
        if blocks > 0 {
            self.launches.kernels += 1;
            self.launches.most_in_flight = self.launches.most_in_flight.max(1);
            kernel.launch(&self.device.stream, blocks, &[*run, Argument::new(&launch.bytes()), *field])?;
        }
        Ok(())
    }

    /// Launches `blocks` blocks, at most `each` at a time, over streams.
    pub(super) fn stack(
        &mut self,
        kernel: &Kernel,
        blocks: u64,
        each: u64,
        run: &Argument,
        launch: &LaunchArgs,
        field: &Argument,
    ) -> Result<(), CudaError> {
        let each = each.min(self.device.max_grid());
        let fork = self.device.mark()?;
        let mut forked = vec![false; self.limit];
        let mut first = 0;
        while first < blocks {
            let stream = self.room()?;
            if !forked[stream] {
                forked[stream] = true;
                self.streams[stream].wait(&fork).map_err(|e| refused("ordering streams", e))?;
            }
            let launch = LaunchArgs { first: launch.first + first, ..*launch };
            let now = each.min(blocks - first);
            let stream_handle = &self.streams[stream];
            kernel.launch(stream_handle, now, &[*run, Argument::new(&launch.bytes()), *field])?;
            let done = stream_handle.record_event(None).map_err(|e| refused("recording an event", e))?;
            self.in_flight.push_back((done, stream));
            self.launches.kernels += 1;
            self.launches.most_in_flight = self.launches.most_in_flight.max(self.in_flight.len() as u64);
            first += now;
        }
        for (done, _) in self.in_flight.drain(..) {
            self.device.stream.wait(&done).map_err(|e| refused("ordering streams", e))?;
        }
        Ok(())
    }

    /// A stream without a launch in flight; waits for the oldest launch if there is none.
    fn room(&mut self) -> Result<usize, CudaError> {
        let failed = |error| refused("waiting for a launch", error);
        let mut free = None;
        while let Some((done, _)) = self.in_flight.front() {
            if self.in_flight.len() >= self.limit {
                done.synchronize().map_err(failed)?;
            } else if !done.try_is_complete().map_err(failed)? {
                break;
            }
            free = self.in_flight.pop_front().map(|(_, stream)| stream);
        }
        let busy = |stream: usize| self.in_flight.iter().any(|&(_, other)| other == stream);
        if let Some(stream) = free.or_else(|| (0..self.streams.len()).find(|&stream| !busy(stream))) {
            return Ok(stream);
        }
        self.streams.push(self.device.context.new_stream().map_err(|e| refused("creating a stream", e))?);
        Ok(self.streams.len() - 1)
    }
}
