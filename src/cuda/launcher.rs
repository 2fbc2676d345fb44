//! Launches, and how many of them are in flight.
//!
//! A launch space is a number of blocks. It goes out as one launch where the device's grid allows it, and it is asked
//! for that way; else as a stack of launches over several streams, never more of them in flight than the limit: each
//! waits for the oldest one if there is no room. Streams fork from the main one and join it again.

use std::collections::VecDeque;
use std::sync::Arc;

use cudarc::driver::{CudaEvent, CudaStream};

use super::args::Launch;
use super::device::Device;
use super::driver::refused;
use super::kernel::{Argument, Kernel};
use super::native::NativeLaunch;
use super::watch::Watch;
use crate::backend::Error;
use crate::result::Launches;

/// What launches kernels, and counts them.
pub(super) struct Launcher<'a> {
    device: &'a Device,
    limit: usize,
    pub(super) watch: &'a Watch<'a>,
    streams: &'a mut Vec<Arc<CudaStream>>,
    in_flight: VecDeque<(CudaEvent, usize)>,
    pub(super) launches: Launches,
}

impl<'a> Launcher<'a> {
    /// At most `limit` launches of a stack are in flight; `streams` are reused, and grow as needed.
    pub(super) fn new(limit: usize, watch: &'a Watch<'a>, streams: &'a mut Vec<Arc<CudaStream>>) -> Self {
        Self { device: watch.device, limit, watch, streams, in_flight: VecDeque::new(), launches: Launches::default() }
    }

    /// Launches `blocks` blocks, folded into one launch if the grid allows; returns the number of launches.
    pub(super) fn fold(
        &mut self,
        kernel: &Kernel,
        blocks: u64,
        run: &Argument,
        launch: &impl Launch,
        args: &Argument,
    ) -> Result<u64, Error> {
        if blocks > self.device.max_grid() {
            return self.stack(kernel, blocks, self.device.max_grid(), run, launch, args);
        }
        if blocks == 0 {
            return Ok(0);
        }
        self.launches.kernels += 1;
        self.launches.most_in_flight = self.launches.most_in_flight.max(1);
        kernel.launch(&self.device.stream, blocks, &[*run, Argument::new(&launch.bytes()), *args])?;
        Ok(1)
    }

    /// Launches `blocks` blocks of a kernel that takes an address, the number of its first block and one number more; one
    /// launch after the other where the grid is too small. Returns the number of launches.
    pub(super) fn entry(&mut self, kernel: &Kernel, blocks: u64, address: u64, number: u64) -> Result<u64, Error> {
        let word = |word: u64| Argument::new(&word.to_ne_bytes());
        let mut first = 0;
        while first < blocks {
            self.watch.check()?;
            if first > 0 {
                self.watch.wait("waiting for a launch")?;
            }
            let now = (blocks - first).min(self.device.max_grid());
            kernel.launch(&self.device.stream, now, &[word(address), word(first), word(number)])?;
            self.launches.kernels += 1;
            self.launches.most_in_flight = self.launches.most_in_flight.max(1);
            first += now;
        }
        Ok(blocks.div_ceil(self.device.max_grid()))
    }

    /// Launches `blocks` blocks, at most `each` at a time, over streams; returns the number of launches.
    pub(super) fn stack(
        &mut self,
        kernel: &Kernel,
        blocks: u64,
        each: u64,
        run: &Argument,
        launch: &impl Launch,
        args: &Argument,
    ) -> Result<u64, Error> {
        let each = each.min(self.device.max_grid());
        let part = |first: u64| {
            let mut part = *launch;
            *part.first() += first;
            ([each.min(blocks - first) as u32, 1, 1], part)
        };
        self.native(kernel, each, &mut (0..blocks.div_ceil(each)).map(|i| part(i * each)), run, args)
    }

    /// Launches grids of at most `each` blocks over streams; returns their number.
    pub(super) fn native<L: Launch>(
        &mut self,
        kernel: &Kernel,
        each: u64,
        launches: &mut dyn Iterator<Item = NativeLaunch<L>>,
        run: &Argument,
        args: &Argument,
    ) -> Result<u64, Error> {
        // Nor are there more blocks in flight than in one launch.
        let limit = (self.device.max_grid() / each).clamp(1, self.limit as u64) as usize;
        let fork = self.device.mark()?;
        let (mut forked, mut launched) = (Vec::new(), 0);
        for (grid, launch) in launches {
            self.watch.check()?;
            let stream = self.room(limit)?;
            if !forked.contains(&stream) {
                forked.push(stream);
                self.streams[stream].wait(&fork).map_err(|e| refused("ordering streams", e))?;
            }
            let stream_handle = &self.streams[stream];
            kernel.launch_grid(stream_handle, grid, &[*run, Argument::new(&launch.bytes()), *args])?;
            let done = stream_handle.record_event(None).map_err(|e| refused("recording an event", e))?;
            self.in_flight.push_back((done, stream));
            self.launches.kernels += 1;
            self.launches.most_in_flight = self.launches.most_in_flight.max(self.in_flight.len() as u64);
            launched += 1;
        }
        while let Some((done, _)) = self.in_flight.front() {
            self.device.stream.wait(done).map_err(|e| refused("ordering streams", e))?;
            self.in_flight.pop_front();
        }
        Ok(launched)
    }

    /// A stream without a launch in flight; waits for the oldest launch if there is none.
    fn room(&mut self, limit: usize) -> Result<usize, Error> {
        let failed = |error| refused("waiting for a launch", error);
        let mut free = None;
        while let Some((done, _)) = self.in_flight.front() {
            if self.in_flight.len() >= limit {
                self.watch.wait_for(done, "waiting for a launch")?;
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

impl Drop for Launcher<'_> {
    fn drop(&mut self) {
        // After an error, launches may still be using buffers that are about to go.
        if !self.in_flight.is_empty() {
            let context = &self.device.context;
            context.record_err(context.synchronize());
        }
    }
}
