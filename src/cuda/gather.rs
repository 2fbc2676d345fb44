//! Bricks on their way from a device to the host, in the order of a list of regions.
//!
//! Leaves are evaluated in the order in which they are found. A kernel puts their bricks into another order where memory is fast, so
//! that the host copies long pieces instead of bricks of some dozen bytes, each of which it would wait for.

use std::collections::VecDeque;
use std::fmt::Write;
use std::ops::Range;
use std::sync::Mutex;

use cudarc::driver::CudaEvent;

use super::args::{FatesArgs, GatherArgs};
use super::constants::CONSTANTS;
use super::device::Device;
use super::driver::refused;
use super::kernel::{Argument, Kernel};
use super::memory::{Allocation, Buffer, PIECE, read};
use super::pinned::Pinned;
use super::specialise::Specialisation;
use crate::abi::DeviceStruct;
use crate::backend::{CudaError, Error, LeafCells};
use crate::cell::CellType;
use crate::parallel;
use crate::result::Terminal;

/// Threads of a block.
pub(super) const BLOCK: u32 = 256;

/// Regions that a thread of the host looks at, and bytes that it copies.
const TOGETHER: usize = 1 << 12;
const COPIED: usize = 1 << 19;

/// The kernels, which are the same for every plan.
pub(super) fn specialise() -> Specialisation {
    let mut text = String::from("// What this specialisation fixes, generated from Rust.\n#pragma once\n\n");
    let mut define = |name, value| writeln!(text, "#define {name} {value}").expect("writing to a string");
    define("BLOCK", BLOCK);
    CONSTANTS.iter().for_each(|&(name, value)| define(name, value));
    text += &GatherArgs::declaration("GatherArgs");
    text += &FatesArgs::declaration("FatesArgs");
    Specialisation::written("strategies/gather.cu", BLOCK, text, false)
}

/// Bricks that a run left on a device: one after the other, each with room for so many cells.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct BricksLeft {
    pub(super) address: u64,
    pub(super) bricks: u64,
    /// Cells that a brick has room for.
    pub(super) each: u64,
    /// Regions may have fewer cells than that.
    pub(super) uneven: bool,
}

/// Hands them to the host.
pub(super) struct Gathering<'a> {
    device: &'a Device,
    left: BricksLeft,
    kind: CellType,
    kernel: Option<Kernel>,
    /// What is on its way, and what is being looked at.
    stages: Vec<Stage>,
    /// Bricks in the order that is asked for; where each begins among the cells that are asked for, and where the last ends.
    numbers: Vec<u32>,
    starts: Vec<u64>,
    /// Bricks of a piece, where there was no room for more.
    fits: Option<usize>,
}

/// Room for a piece.
struct Stage {
    numbers: Buffer,
    starts: Buffer,
    cells: Buffer,
    list: Pinned,
    fetched: Pinned,
    /// Reached when the piece is fetched.
    done: Option<CudaEvent>,
}

impl<'a> Gathering<'a> {
    pub(super) fn new(device: &'a Device, left: BricksLeft, kind: CellType) -> Self {
        let (stages, numbers, starts) = (Vec::new(), Vec::new(), Vec::new());
        Self { device, left, kind, kernel: None, stages, numbers, starts, fits: None }
    }

    /// Bytes that a brick has room for.
    fn room(&self) -> u64 {
        self.left.each * self.kind.bytes()
    }

    /// Lists the bricks that are asked for, and says where each will be.
    fn list(&mut self, terminals: &mut [Terminal], volumes: &[u64], start: u64) {
        let pieces = terminals.len().div_ceil(TOGETHER);
        let of = |i| volumes[parallel::piece(volumes.len(), TOGETHER, i)].iter().filter(|&&cells| cells > 0);
        let known = parallel::map(pieces, &|i| (of(i).count(), of(i).sum::<u64>()));
        let (bricks, cells) = known.iter().fold((0, 0), |(bricks, cells), (more, of)| (bricks + more, cells + of));
        self.numbers.resize(bricks, 0);
        self.starts.resize(if self.left.uneven { bricks + 1 } else { 0 }, cells);
        if let Some(last) = self.starts.last_mut() {
            *last = cells;
        }
        let (mut numbers, mut starts, mut at) = (&mut self.numbers[..], &mut self.starts[..], 0);
        let mut tasks = Vec::with_capacity(pieces);
        let regions = terminals.chunks_mut(TOGETHER).zip(volumes.chunks(TOGETHER));
        for ((terminals, volumes), &(bricks, cells)) in regions.zip(&known) {
            let (mine, behind) = numbers.split_at_mut(bricks);
            let (begins, later) = starts.split_at_mut(if self.left.uneven { bricks } else { 0 });
            tasks.push(Mutex::new((terminals, volumes, mine, begins, at)));
            (numbers, starts, at) = (behind, later, at + cells);
        }
        let each = self.left.each;
        parallel::each(pieces, &|i| {
            let mut task = tasks[i].lock().expect("every piece has one task");
            let (terminals, volumes, numbers, starts, at) = &mut *task;
            let mut next = 0;
            for (terminal, &cells) in terminals.iter_mut().zip(*volumes) {
                let Some(place) = terminal.brick() else { continue };
                numbers[next] = (place / each) as u32;
                if let Some(begin) = starts.get_mut(next) {
                    *begin = *at;
                }
                *terminal = terminal.with_brick(start + *at);
                (next, *at) = (next + 1, *at + cells);
            }
        });
    }

    /// Where a brick begins among the cells that are asked for.
    fn start(&self, brick: usize) -> u64 {
        self.starts.get(brick).copied().unwrap_or(brick as u64 * self.left.each)
    }

    /// The bytes of some bricks that follow each other.
    fn bytes(&self, bricks: &Range<usize>) -> Range<usize> {
        let width = self.kind.bytes();
        (self.start(bricks.start) * width) as usize..(self.start(bricks.end) * width) as usize
    }

    /// A stage that nothing is under way in, for pieces of so many bricks at most.
    fn stage(&mut self, bricks: usize) -> Result<Stage, Error> {
        if let Some(stage) = self.stages.pop() {
            return Ok(stage);
        }
        let (device, what) = (self.device, "bricks on their way");
        let lists = 4 * (bricks as u64 + 1);
        let buffer = |bytes| Buffer::new(device, what, bytes, Allocation::Pool);
        let cells = bricks as u64 * self.room();
        Ok(Stage {
            numbers: buffer(lists)?,
            starts: buffer(if self.left.uneven { lists } else { 0 })?,
            cells: buffer(cells)?,
            list: device.staging(2 * lists as usize)?,
            fetched: device.staging(cells as usize)?,
            done: None,
        })
    }

    /// Puts some bricks on their way.
    fn send(&self, kernel: &Kernel, stage: &mut Stage, bricks: &Range<usize>) -> Result<(), CudaError> {
        let (device, cell) = (self.device, self.kind.bytes());
        let numbers = &self.numbers[bricks.clone()];
        let uneven = self.left.uneven;
        // Units of all bricks: cells where bricks differ, else what divides a brick.
        let width = if uneven { cell } else { 1 << self.room().trailing_zeros().min(4) };
        let units = self.room() / width;
        let list = stage.list.bytes_mut()?;
        let (split, mut end) = (4 * numbers.len(), 4 * numbers.len());
        list[..split].copy_from_slice(bytemuck::cast_slice(numbers));
        if uneven {
            let starts = &self.starts[bricks.start..=bricks.end];
            end += 4 * starts.len();
            // A piece has fewer than 2^32 cells.
            let words = starts.iter().map(|start| ((start - starts[0]) as u32).to_ne_bytes());
            list[split..end].chunks_exact_mut(4).zip(words).for_each(|(to, word)| to.copy_from_slice(&word));
        }
        stage.numbers.receive_part(&stage.list, 0..split, &device.stream)?;
        if uneven {
            stage.starts.receive_part(&stage.list, split..end, &device.stream)?;
        }
        let lanes = units.next_power_of_two().min(32);
        let args = GatherArgs {
            from: self.left.address,
            to: stage.cells.address(),
            numbers: stage.numbers.address(),
            starts: if uneven { stage.starts.address() } else { 0 },
            bricks: numbers.len() as u64,
            units,
            lanes: lanes as u32,
            width: width as u32,
        };
        let none = Argument::new(&[]);
        let blocks = (numbers.len() as u64 * lanes).div_ceil(u64::from(BLOCK));
        kernel.launch(&device.stream, blocks, &[Argument::new(&args.bytes()), none, none])?;
        stage.fetched.fetch(&device.stream, stage.cells.address(), self.bytes(bricks).len())?;
        stage.done = Some(device.mark()?);
        Ok(())
    }

    /// Waits for what is under way in a stage, and copies it.
    fn arrive(&self, stage: &mut Stage, to: &mut [u8]) -> Result<(), CudaError> {
        let Some(done) = stage.done.take() else { return Ok(()) };
        done.synchronize().map_err(|error| refused("copying bricks from the device", error))?;
        copy(stage.fetched.bytes(to.len())?, to);
        Ok(())
    }

    /// Pieces of at most `each` bricks: one is copied here while the next is under way. After a failure those that were sent are still in
    /// `under_way`.
    fn take_pieces(
        &mut self,
        kernel: &Kernel,
        each: usize,
        to: &mut [u8],
        under_way: &mut VecDeque<(Stage, Range<usize>)>,
    ) -> Result<(), Error> {
        let bricks = self.numbers.len();
        // What no piece of these bricks needs is not made.
        let most = each.min((self.left.bricks as usize).max(bricks));
        let pieces = bricks.div_ceil(each);
        for i in 0..=pieces {
            if i < pieces {
                under_way.push_back((self.stage(most)?, parallel::piece(bricks, each, i)));
                let (stage, piece) = under_way.back_mut().expect("just put there");
                self.send(kernel, stage, piece)?;
            }
            if i > 0 {
                let (stage, piece) = under_way.front_mut().expect("sent before");
                self.arrive(stage, &mut to[self.bytes(piece)])?;
                self.stages.extend(under_way.pop_front().map(|(stage, _)| stage));
            }
        }
        Ok(())
    }

    /// Bricks that are larger than a piece, one after the other.
    fn take_large(&self, to: &mut [u8]) -> Result<(), Error> {
        for (brick, &number) in self.numbers.iter().enumerate() {
            let to = &mut to[self.bytes(&(brick..brick + 1))];
            let address = self.left.address + u64::from(number) * self.room();
            read(self.device, address, to.len() as u64, &mut |first, bytes| {
                copy(bytes, &mut to[first as usize..][..bytes.len()]);
                Ok(())
            })?;
        }
        Ok(())
    }
}

/// Copies by all threads, which share the first touch of fresh memory.
fn copy(from: &[u8], to: &mut [u8]) {
    parallel::pieces_mut(to, COPIED, &|i, to| to.copy_from_slice(&from[i * COPIED..][..to.len()]));
}

impl LeafCells for Gathering<'_> {
    fn kind(&self) -> CellType {
        self.kind
    }

    fn len(&self) -> u64 {
        self.left.bricks * self.left.each
    }

    fn together(&self, _: u64) -> u64 {
        u64::MAX
    }

    fn take(&mut self, terminals: &mut [Terminal], volumes: &[u64], start: u64, to: &mut [u8]) -> Result<(), Error> {
        self.list(terminals, volumes, start);
        if self.numbers.is_empty() {
            return Ok(());
        }
        if self.room() > PIECE as u64 {
            return self.take_large(to);
        }
        let kernel = match self.kernel.take() {
            Some(kernel) => kernel,
            None => self.device.kernels(&specialise())?.get("gather")?,
        };
        let mut each = self.fits.unwrap_or((PIECE as u64 / self.room()) as usize);
        let taken = loop {
            let mut under_way = VecDeque::new();
            let taken = self.take_pieces(&kernel, each, to, &mut under_way);
            if taken.is_err() {
                // Copies may still use what is about to go.
                let _ = self.device.synchronise("copying bricks from the device");
            }
            match taken {
                // What the run left free may be little: smaller pieces, and at last a brick at a time, which needs no room.
                Err(Error::DeviceMemory { .. }) if each > 1 => {
                    each = (each.min(self.numbers.len()) / 2).max(1);
                    self.stages.clear();
                    self.fits = Some(each);
                }
                Err(Error::DeviceMemory { .. }) => break self.take_large(to),
                taken => break taken,
            }
        };
        self.kernel = Some(kernel);
        taken
    }
}

impl Drop for Gathering<'_> {
    fn drop(&mut self) {
        for stage in std::mem::take(&mut self.stages) {
            // A stage is here when nothing is under way in it.
            self.device.keep_staging([stage.list, stage.fetched]);
        }
    }
}
