//! Balancers on a GPU, measured (kernels/balance/).

use std::fmt::Write;
use std::time::Instant;

use cudarc::driver::CudaEvent;

use super::args::{BALANCE_GUARD, BalanceArgs, CONSTANTS};
use super::device::{Argument, Device, Kernel, elapsed};
use super::driver::refused;
use super::memory::{Allocation, Buffer, read_integers};
use super::specialise::Specialisation;
use crate::abi::DeviceStruct;
use crate::backend::{BalanceTimes, Balanced, Balancing, CudaError, Error};
use crate::balance::{BalanceLayout, Class, Multiprocessors};

/// Items per thread of a scan, so that a block's tile fits its shared memory.
fn scan_items(block: u32) -> u64 {
    if block > 512 { 4 } else { 8 }
}

/// What copies that take turns should take together, so that no cache holds one until its turn comes again.
const BEYOND_CACHES: u64 = 256 << 20;

/// Bytes of the counters, which scans and launches begin with.
const COUNTERS: u64 = 16;

/// The kernels of a layout for the body that changes four bytes per unit.
fn specialise(layout: &BalanceLayout) -> Specialisation {
    let mut text = String::from("// What this specialisation fixes, generated from Rust.\n#pragma once\n\n");
    let mut define = |name: &str, value: &dyn std::fmt::Display| {
        writeln!(text, "#define {name} {value}").expect("writing to a string");
    };
    CONSTANTS.iter().for_each(|(name, value)| define(name, value));
    layout.defines.iter().for_each(|(name, value)| define(name, &format_args!("{value}u")));
    define("BLOCK", &format_args!("{}u", layout.block));
    define("BALANCER_HEADER", &format_args!("\"{}\"", layout.header));
    define("BODY_HEADER", &"\"balance/update.cuh\"");
    define("SCANS_TILES", &u32::from(layout.tile.is_some()));
    define("PARTITIONS", &u32::from(layout.chunks.is_some()));
    define("CREDITS", &format_args!("{}u", layout.credits.unwrap_or(0)));
    define("SCAN_ITEMS", &format_args!("{}u", scan_items(layout.block)));
    text += &BalanceArgs::declaration("BalanceArgs");
    Specialisation::written("balance/balance.cu", layout.block, text, layout.credits.is_some())
}

/// The kernels that a layout has.
struct BalanceKernels {
    scan_units: Option<Kernel>,
    scan_tiles: Option<Kernel>,
    partition: Option<Kernel>,
    expand: Kernel,
    sweep: Option<Kernel>,
    check: Kernel,
}

impl BalanceKernels {
    fn of(device: &Device, layout: &BalanceLayout) -> Result<Self, CudaError> {
        let module = device.kernels(&specialise(layout))?;
        let get = |name, wanted: bool| wanted.then(|| module.get(name)).transpose();
        Ok(Self {
            scan_units: get("scan_units", layout.prefix)?,
            scan_tiles: get("scan_tiles", layout.tile.is_some())?,
            partition: get("partition_units", layout.chunks.is_some())?,
            expand: module.get("expand")?,
            sweep: get("sweep", layout.credits.is_some())?,
            check: module.get("check")?,
        })
    }
}

/// Everything that one run touches.
struct Copy {
    args: BalanceArgs,
    /// Counters, and a word per tile of a scan.
    state: Buffer,
    /// Alive as long as kernels use them.
    _others: Vec<Buffer>,
}

impl Copy {
    fn new(
        device: &Device,
        sizes: &[u8],
        asked: &Balancing<'_>,
        layout: &BalanceLayout,
        units: u64,
    ) -> Result<Self, Error> {
        let items = asked.items.sizes().len() as u64;
        let room = |what, bytes| Buffer::new(device, what, bytes, Allocation::Pool);
        let sums = 8 * (items + 1);
        let sizes = Buffer::upload(device, "sizes of items", sizes)?;
        let prefix = room("sums of sizes", sums)?;
        let tiles = layout.tile.map(|_| room("sums of tiles", sums)).transpose()?;
        let parts = layout.chunks.map(|chunks| room("parts of chunks", 4 * (chunks + 1))).transpose()?;
        let overflow = layout.credits.map(|_| room("items without credit", 4 * items)).transpose()?;
        let cells = room("cells of units", 4 * (units + u64::from(BALANCE_GUARD)))?;
        let scanned = u64::from(layout.block) * scan_items(layout.block);
        let state = room("the state of a scan", COUNTERS + 8 * items.div_ceil(scanned))?;
        cells.set(0)?;
        let address = |buffer: &Option<Buffer>| buffer.as_ref().map_or(0, Buffer::address);
        let mut args = BalanceArgs {
            sizes: sizes.address(),
            prefix: prefix.address(),
            tiles: address(&tiles),
            parts: address(&parts),
            cells: cells.address(),
            counters: state.address(),
            status: state.address() + COUNTERS,
            overflow: address(&overflow),
            units,
            items: items as u32,
            chunks: layout.chunks.unwrap_or(0) as u32,
            classes: layout.classes.len() as u32,
            ..BalanceArgs::default()
        };
        for (i, &Class { first, units, size, .. }) in layout.classes.iter().enumerate() {
            (args.class_items[i], args.class_units[i], args.class_size[i]) = (first, units, size);
        }
        let mut others = vec![sizes, prefix, cells];
        others.extend([tiles, parts, overflow].into_iter().flatten());
        if layout.credits.is_some() {
            let itself = Buffer::upload(device, "arguments of launches", &args.bytes())?;
            args.itself = itself.address();
            others.push(itself);
        }
        Ok(Self { args, state, _others: others })
    }
}

/// A balancer with what it works on.
struct Turns<'a> {
    device: &'a Device,
    layout: BalanceLayout,
    kernels: BalanceKernels,
    copies: Vec<Copy>,
}

impl Turns<'_> {
    /// One launch: kernels whose blocks go on to what no block has done take as many as there may be.
    fn launch(&self, kernel: &Kernel, blocks: u64, args: &BalanceArgs, number: u64) -> Result<(), Error> {
        let word = |word: u64| Argument::new(&word.to_ne_bytes());
        let blocks = blocks.clamp(1, self.device.max_grid());
        Ok(kernel.launch(&self.device.stream, blocks, &[Argument::new(&args.bytes()), word(number), word(0)])?)
    }

    /// As many launches as it takes; each is told the number of its first block.
    fn launch_all(&self, kernel: &Kernel, blocks: u64, args: &BalanceArgs) -> Result<(), Error> {
        let most = self.device.max_grid();
        (0..blocks)
            .step_by(most as usize)
            .try_for_each(|first| self.launch(kernel, (blocks - first).min(most), args, first))
    }

    /// Sums, for every copy.
    fn scan(&self) -> Result<(), Error> {
        for copy in &self.copies {
            let tiles =
                u64::from(copy.args.items).div_ceil(u64::from(self.layout.block) * scan_items(self.layout.block));
            let scans = [&self.kernels.scan_units, &self.kernels.scan_tiles];
            for kernel in scans.into_iter().flatten() {
                copy.state.set(0)?;
                self.launch_all(kernel, tiles, &copy.args)?;
            }
        }
        Ok(())
    }

    fn partition(&self) -> Result<(), Error> {
        if let (Some(kernel), Some(chunks)) = (&self.kernels.partition, self.layout.chunks) {
            for copy in &self.copies {
                self.launch_all(kernel, (chunks + 1).div_ceil(self.layout.block.into()), &copy.args)?;
            }
        }
        Ok(())
    }

    fn expand(&self) -> Result<(), Error> {
        for copy in &self.copies {
            if let Some(sweep) = &self.kernels.sweep {
                copy.state.set_part(0, COUNTERS)?;
                self.launch(&self.kernels.expand, self.layout.blocks, &copy.args, 0)?;
                self.launch(sweep, u64::from(self.device.processors()[0]), &copy.args, 0)?;
            } else {
                self.launch(&self.kernels.expand, self.layout.blocks, &copy.args, 0)?;
            }
        }
        Ok(())
    }

    /// All of it once, with a mark before each phase and behind the last.
    fn sample(&self) -> Result<[CudaEvent; 4], Error> {
        let start = self.device.mark()?;
        self.scan()?;
        let scanned = self.device.mark()?;
        self.partition()?;
        let parted = self.device.mark()?;
        self.expand()?;
        Ok([start, scanned, parted, self.device.mark()?])
    }

    /// What is wrong after so many runs.
    fn mistakes(&self, runs: u64) -> Result<u64, Error> {
        let found = Buffer::new(self.device, "mistakes", 8, Allocation::Pool)?;
        found.set(0)?;
        for copy in &self.copies {
            let args = BalanceArgs { mistakes: found.address(), ..copy.args };
            self.launch(&self.kernels.check, u64::from(self.device.processors()[0]) * 8, &args, runs)?;
        }
        self.device.synchronise("checking a balancer")?;
        Ok(read_integers(self.device, found.address(), 1, 8)?[0])
    }
}

/// Does all units again and again.
///
/// # Errors
/// [`Error::Balancer`] of one that is not for these items, [`Error::DeviceMemory`], [`Error::Cuda`], [`Error::Interrupted`].
pub(super) fn balance(device: &Device, asked: &Balancing<'_>) -> Result<Balanced, Error> {
    device.bind()?;
    let facts = asked.items.facts();
    let mut layout = asked.balancer.layout(asked.items, &facts, Multiprocessors(device.processors()))?;
    if facts.units == 0 {
        return Ok(Balanced { samples: Vec::new(), wall: Vec::new(), mistakes: 0, copies: 0 });
    }
    // The check reads sums that the balancer may do without.
    let needs_sums = std::mem::replace(&mut layout.prefix, true);
    let kernels = BalanceKernels::of(device, &layout)?;
    let sizes: Vec<u8> = asked.items.sizes().iter().flat_map(|size| size.to_ne_bytes()).collect();
    let bytes = 4 * facts.units + 24 * facts.items;
    // As many as there is room for, and one if there is none: what is missing is then said with its figure.
    let room = device.memory()?.0 / 5 * 4 / bytes;
    let beyond = BEYOND_CACHES.div_ceil(bytes).clamp(4, 64).min(room).max(1) as usize;
    let copies = asked.copies.unwrap_or(beyond);
    let copies =
        (0..copies).map(|_| Copy::new(device, &sizes, asked, &layout, facts.units)).collect::<Result<_, _>>()?;
    let mut measuring = Turns { device, layout, kernels, copies };
    if !needs_sums {
        measuring.scan()?;
        measuring.kernels.scan_units = None;
    }
    device.synchronise("preparing a balancer")?;
    let (mut samples, mut wall) = (Vec::new(), Vec::new());
    let copies = measuring.copies.len() as f64;
    // The next sample is under way before one is waited for: a device that waits for the host would be measured with it.
    let (mut ahead, mut last) = (None, Instant::now());
    for sample in 0..=asked.warm_up + asked.samples {
        asked.control.check()?;
        let next = (sample < asked.warm_up + asked.samples).then(|| measuring.sample()).transpose()?;
        let Some(marks) = std::mem::replace(&mut ahead, next) else { continue };
        marks[3].synchronize().map_err(|error| refused("running a balancer", error))?;
        let whole = last.elapsed().as_secs_f64();
        last = Instant::now();
        // One behind what is under way.
        if sample > asked.warm_up {
            wall.push(whole / copies);
            let seconds = |phase: usize| -> Result<f64, Error> {
                Ok(elapsed(&marks[phase], &marks[phase + 1])?.as_secs_f64() / copies)
            };
            samples.push(BalanceTimes { scan: seconds(0)?, partition: seconds(1)?, expansion: seconds(2)? });
        }
    }
    let mistakes = measuring.mistakes((asked.warm_up + asked.samples) as u64)?;
    Ok(Balanced { samples, wall, mistakes, copies: measuring.copies.len() })
}

/// Compiles the kernels of every balancer as it is by default for an architecture such as `sm_90`; needs NVRTC, but no GPU.
/// Returns how many sources were compiled.
///
/// # Errors
/// [`CudaError::Compile`] with the compiler's log.
pub fn compile_balancers(compiler: super::Nvrtc, architecture: &str) -> Result<usize, Error> {
    let items = crate::balance::Items::new(vec![4, 4, 2]).expect("three sizes");
    let kinds = crate::balance::BalancerKind::ALL;
    for &kind in kinds {
        let layout = crate::balance::Balancer::from(kind).layout(&items, &items.facts(), Multiprocessors([1, 2048]))?;
        super::compile::compile(compiler, &specialise(&layout), architecture)?;
    }
    Ok(kinds.len())
}
