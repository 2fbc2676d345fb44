//! Kernels and what they take; launches name themselves when they fail.
#![allow(unsafe_code)]

use std::sync::Arc;

use cudarc::driver::{CudaFunction, CudaModule, CudaStream, DriverError, LaunchConfig, PushKernelArg};

use super::driver::{refused, words};
use crate::backend::CudaError;

/// The kernels of one specialisation.
#[derive(Debug, Clone)]
pub(super) struct LoadedModule {
    module: Arc<CudaModule>,
    block: [u32; 3],
}

impl LoadedModule {
    /// Of kernels with blocks of this shape.
    pub(super) fn new(module: Arc<CudaModule>, block: [u32; 3]) -> Self {
        Self { module, block }
    }

    /// A kernel by name.
    pub(super) fn get(&self, name: &'static str) -> Result<Kernel, CudaError> {
        let function = self.module.load_function(name).map_err(|e| refused("looking up a kernel", e))?;
        Ok(Kernel { name, function, block: self.block })
    }
}

/// A kernel that can be launched.
#[derive(Debug, Clone)]
pub(super) struct Kernel {
    name: &'static str,
    function: CudaFunction,
    block: [u32; 3],
}

/// The bytes of a struct, aligned as a kernel expects.
#[derive(Debug, Clone, Copy)]
pub(super) struct Argument([u64; 64]);

impl Argument {
    /// # Panics
    /// If there are more than 512 bytes: no struct is that large.
    pub(super) fn new(bytes: &[u8]) -> Self {
        assert!(bytes.len() <= 512, "a kernel's struct has at most 512 bytes");
        let mut words = [0; 64];
        for (word, bytes) in words.iter_mut().zip(bytes.chunks(8)) {
            let mut padded = [0; 8];
            padded[..bytes.len()].copy_from_slice(bytes);
            *word = u64::from_ne_bytes(padded);
        }
        Self(words)
    }
}

impl Argument {
    /// The bytes, and zeros after them.
    pub(super) fn bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }
}

impl Kernel {
    /// Threads per block.
    pub(super) fn threads(&self) -> u32 {
        self.block.iter().product()
    }

    /// The same kernel with other blocks, of no more threads than it was compiled for.
    pub(super) fn of(&self, threads: u32) -> Self {
        Self { block: [threads, 1, 1], ..self.clone() }
    }

    /// Launches `blocks` blocks, at most the device's limit, on `stream`.
    pub(super) fn launch(&self, stream: &CudaStream, blocks: u64, arguments: &[Argument; 3]) -> Result<(), CudaError> {
        self.launch_grid(stream, [blocks as u32, 1, 1], arguments)
    }

    /// Launches a grid of so many blocks per axis, each at most the device's limit.
    pub(super) fn launch_grid(
        &self,
        stream: &CudaStream,
        grid: [u32; 3],
        arguments: &[Argument; 3],
    ) -> Result<(), CudaError> {
        let block_dim = (self.threads(), 1, 1);
        let config = LaunchConfig { grid_dim: grid.into(), block_dim, shared_mem_bytes: 0 };
        let mut builder = stream.launch_builder(&self.function);
        arguments.iter().for_each(|argument| {
            builder.arg(&argument.0);
        });
        let blocks = grid.iter().map(|&blocks| u64::from(blocks)).product();
        // SAFETY: every kernel takes three structs by value, whose layout its compilation asserts; the addresses in them
        // are those of live buffers, sized by the caller for the blocks it launches.
        unsafe { builder.launch(config) }.map(drop).map_err(|error| self.failed(blocks, &error))
    }

    fn failed(&self, blocks: u64, error: &DriverError) -> CudaError {
        CudaError::Launch { kernel: self.name, blocks, block: self.block, text: words(error) }
    }
}
