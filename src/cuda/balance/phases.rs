//! A balancer's kernels, the memory that they work with, and their launches (kernels/balance/phases.cuh).

use crate::abi::DeviceStruct;
use crate::backend::{CudaError, Error};
use crate::balance::{BalanceLayout, Class, Facts};
use crate::cuda::args::BalanceArgs;
use crate::cuda::device::Device;
use crate::cuda::kernel::{Argument, Kernel, LoadedModule};
use crate::cuda::memory::{Allocation, Reserve};

/// Items per thread of a scan: as many as registers hold.
fn scan_items(layout: &BalanceLayout) -> u64 {
    if layout.narrow { 16 } else { 8 }
}

/// Items per block of a scan.
fn scan_tile(layout: &BalanceLayout) -> u64 {
    u64::from(layout.block) * scan_items(layout)
}

/// What kernels of a layout are compiled for, beside the body.
pub(super) fn defines(layout: &BalanceLayout) -> Vec<(&'static str, String)> {
    let told = layout.defines.iter().map(|&(name, value)| (name, format!("{value}u")));
    told.chain([
        ("BALANCER_HEADER", format!("\"{}\"", layout.header)),
        ("SCANS_TILES", u32::from(layout.tile.is_some()).to_string()),
        ("PARTITIONS", u32::from(layout.chunks.is_some()).to_string()),
        ("CREDITS", format!("{}u", layout.credits.unwrap_or(0))),
        ("SCAN_ITEMS", format!("{}u", scan_items(layout))),
        ("NARROW_SUMS", u32::from(layout.narrow).to_string()),
    ])
    .collect()
}

/// The kernels that a layout has.
#[derive(Debug)]
pub(super) struct BalanceKernels {
    scan_units: Option<Kernel>,
    scan_tiles: Option<Kernel>,
    partition: Option<Kernel>,
    expand: Kernel,
    sweep: Option<Kernel>,
}

impl BalanceKernels {
    pub(super) fn of(module: &LoadedModule, layout: &BalanceLayout) -> Result<Self, CudaError> {
        let get = |name, wanted: bool| wanted.then(|| module.get(name)).transpose();
        Ok(Self {
            scan_units: get("scan_units", layout.prefix)?,
            scan_tiles: get("scan_tiles", layout.tile.is_some())?,
            partition: get("partition_units", layout.chunks.is_some())?,
            expand: module.get("expand")?,
            sweep: get("sweep", layout.credits.is_some())?,
        })
    }

    /// The sums of units are there already.
    pub(super) fn without_sums(self) -> Self {
        Self { scan_units: None, ..self }
    }
}

/// Bytes of the counters, which scans and launches begin with.
const COUNTERS: u64 = 16;

/// The memory of one run of a balancer, beside sizes and what units are for.
#[derive(Debug, Default)]
pub(super) struct BalanceRoom {
    prefix: Reserve,
    tiles: Reserve,
    parts: Reserve,
    overflow: Reserve,
    itself: Reserve,
    /// Counters, and a word per tile of a scan.
    state: Reserve,
    state_bytes: u64,
}

impl BalanceRoom {
    /// Makes room for items, and tells `args` of it and of their layout.
    pub(super) fn aim(
        &mut self,
        device: &Device,
        layout: &BalanceLayout,
        facts: &Facts,
        mut args: BalanceArgs,
    ) -> Result<BalanceArgs, Error> {
        let sums = 8 * (facts.items + 1);
        self.state_bytes = COUNTERS + 8 * facts.items.div_ceil(scan_tile(layout));
        let room = |to: &mut Reserve, what, bytes: Option<u64>| match bytes {
            Some(bytes) => Ok(to.ensure(device, what, bytes, Allocation::Pool)?.address()),
            None => Ok::<u64, Error>(0),
        };
        args.prefix = room(&mut self.prefix, "sums of sizes", layout.prefix.then_some(sums))?;
        args.tiles = room(&mut self.tiles, "sums of tiles", layout.tile.map(|_| sums))?;
        args.parts = room(&mut self.parts, "parts of chunks", layout.chunks.map(|chunks| 4 * (chunks + 1)))?;
        args.overflow = room(&mut self.overflow, "items without credit", layout.credits.map(|_| 4 * facts.items))?;
        args.counters = room(&mut self.state, "the state of a scan", Some(self.state_bytes))?;
        args.status = args.counters + COUNTERS;
        (args.units, args.items) = (facts.units, facts.items as u32);
        args.chunks = layout.chunks.unwrap_or(0) as u32;
        args.classes = layout.classes.len() as u32;
        for (i, &Class { first, units, size, .. }) in layout.classes.iter().enumerate() {
            (args.class_items[i], args.class_units[i], args.class_size[i]) = (first, units, size);
        }
        if layout.credits.is_some() {
            let bytes = args.bytes();
            let itself = self.itself.ensure(device, "arguments of launches", bytes.len() as u64, Allocation::Pool)?;
            itself.write(device, [&bytes[..]])?;
            args.itself = itself.address();
        }
        Ok(args)
    }

    /// Bytes that it is expected to take per item.
    pub(super) const BYTES_PER_ITEM: u64 = 8 + 8 + 4;

    fn reset(&self, bytes: u64) -> Result<(), CudaError> {
        self.state.buffer().map_or(Ok(()), |state| state.set_part(0, bytes))
    }
}

/// One run of a balancer: its phases put launches into the device's stream, and say how many.
pub(super) struct BalanceRun<'a> {
    pub(super) device: &'a Device,
    pub(super) layout: &'a BalanceLayout,
    pub(super) kernels: &'a BalanceKernels,
    pub(super) room: &'a BalanceRoom,
    pub(super) args: BalanceArgs,
}

impl BalanceRun<'_> {
    /// One launch: kernels whose blocks go on to what no block has done take as many as there may be.
    pub(super) fn launch(&self, kernel: &Kernel, blocks: u64, number: u64) -> Result<(), CudaError> {
        let word = |word: u64| Argument::new(&word.to_ne_bytes());
        let blocks = blocks.clamp(1, self.device.max_grid());
        kernel.launch(&self.device.stream, blocks, &[Argument::new(&self.args.bytes()), word(number), word(0)])
    }

    /// As many launches as it takes; each is told the number of its first block.
    fn launch_all(&self, kernel: &Kernel, blocks: u64) -> Result<u64, CudaError> {
        let most = self.device.max_grid();
        for first in (0..blocks).step_by(most as usize) {
            self.launch(kernel, (blocks - first).min(most), first)?;
        }
        Ok(blocks.div_ceil(most))
    }

    /// Sums.
    pub(super) fn scan(&self) -> Result<u64, CudaError> {
        let tiles = u64::from(self.args.items).div_ceil(scan_tile(self.layout));
        let mut launches = 0;
        for kernel in [&self.kernels.scan_units, &self.kernels.scan_tiles].into_iter().flatten() {
            self.room.reset(self.room.state_bytes)?;
            launches += self.launch_all(kernel, tiles)?;
        }
        Ok(launches)
    }

    pub(super) fn partition(&self) -> Result<u64, CudaError> {
        match (&self.kernels.partition, self.layout.chunks) {
            (Some(kernel), Some(chunks)) => self.launch_all(kernel, (chunks + 1).div_ceil(self.layout.block.into())),
            _ => Ok(0),
        }
    }

    pub(super) fn expand(&self) -> Result<u64, CudaError> {
        let Some(sweep) = &self.kernels.sweep else {
            self.launch(&self.kernels.expand, self.layout.blocks, 0)?;
            return Ok(1);
        };
        self.room.reset(COUNTERS)?;
        self.launch(&self.kernels.expand, self.layout.blocks, 0)?;
        self.launch(sweep, u64::from(self.device.processors()[0]), 0)?;
        Ok(2)
    }
}
