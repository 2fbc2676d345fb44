//! Balancers on a GPU, measured.

use std::fmt::Write;
use std::time::Instant;

use cudarc::driver::CudaEvent;

use crate::abi::DeviceStruct;
use crate::backend::{BalanceTimes, Balanced, Balancing, CudaError, Error};
use crate::balance::{BalanceLayout, Balancer, BalancerKind, Facts, Items, Multiprocessors};
use crate::cuda::args::BalanceArgs;
use crate::cuda::balance::phases::{BalanceKernels, BalanceRoom, BalanceRun, defines};
use crate::cuda::compile::compile;
use crate::cuda::constants::{BALANCE_GUARD, CONSTANTS};
use crate::cuda::device::{Device, elapsed};
use crate::cuda::driver::refused;
use crate::cuda::kernel::Kernel;
use crate::cuda::memory::{Allocation, Buffer, read_integers};
use crate::cuda::nvrtc::Nvrtc;
use crate::cuda::specialise::Specialisation;

/// What copies that take turns should take together, so that no cache holds one until its turn comes again.
const BEYOND_CACHES: u64 = 256 << 20;

/// The kernels of a layout for the body that changes four bytes per unit.
fn specialise(layout: &BalanceLayout) -> Specialisation {
    let mut text = String::from("// What this specialisation fixes, generated from Rust.\n#pragma once\n\n");
    let mut define = |name: &str, value: &dyn std::fmt::Display| {
        writeln!(text, "#define {name} {value}").expect("writing to a string");
    };
    CONSTANTS.iter().for_each(|(name, value)| define(name, value));
    define("BLOCK", &format_args!("{}u", layout.block));
    define("BODY_HEADER", &"\"balance/update.cuh\"");
    defines(layout).iter().for_each(|(name, value)| define(name, value));
    text += &BalanceArgs::declaration("BalanceArgs");
    Specialisation::written("balance/balance.cu", layout.block, text, layout.credits.is_some())
}

/// Everything that one run touches.
struct Copy {
    room: BalanceRoom,
    args: BalanceArgs,
    /// Alive as long as kernels use them: sizes and cells.
    _others: [Buffer; 2],
}

impl Copy {
    fn new(device: &Device, sizes: &[u8], layout: &BalanceLayout, facts: &Facts) -> Result<Self, Error> {
        let sizes = Buffer::upload(device, "sizes of items", sizes)?;
        let cells = 4 * (facts.units + u64::from(BALANCE_GUARD));
        let cells = Buffer::new(device, "cells of units", cells, Allocation::Pool)?;
        cells.set(0)?;
        let mut room = BalanceRoom::default();
        let args = BalanceArgs { sizes: sizes.address(), cells: cells.address(), ..BalanceArgs::default() };
        let args = room.aim(device, layout, facts, args)?;
        Ok(Self { room, args, _others: [sizes, cells] })
    }
}

/// A balancer with what it works on.
struct Turns<'a> {
    device: &'a Device,
    layout: BalanceLayout,
    kernels: BalanceKernels,
    check: Kernel,
    copies: Vec<Copy>,
}

impl Turns<'_> {
    /// One phase of every copy.
    fn each<'a>(&'a self, phase: fn(&BalanceRun<'a>) -> Result<u64, CudaError>) -> Result<CudaEvent, Error> {
        for copy in &self.copies {
            phase(&self.run(copy))?;
        }
        Ok(self.device.mark()?)
    }

    fn run<'a>(&'a self, copy: &'a Copy) -> BalanceRun<'a> {
        let Copy { room, args, .. } = copy;
        BalanceRun { device: self.device, layout: &self.layout, kernels: &self.kernels, room, args: *args }
    }

    /// All of it once, with a mark before each phase and behind the last.
    fn sample(&self) -> Result<[CudaEvent; 4], Error> {
        Ok([
            self.device.mark()?,
            self.each(BalanceRun::scan)?,
            self.each(BalanceRun::partition)?,
            self.each(BalanceRun::expand)?,
        ])
    }

    /// What is wrong after so many runs.
    fn mistakes(&self, runs: u64) -> Result<u64, Error> {
        let found = Buffer::new(self.device, "mistakes", 8, Allocation::Pool)?;
        found.set(0)?;
        for copy in &self.copies {
            let args = BalanceArgs { mistakes: found.address(), ..copy.args };
            let run = BalanceRun { args, ..self.run(copy) };
            run.launch(&self.check, u64::from(self.device.processors()[0]) * 8, runs)?;
        }
        self.device.synchronise("checking a balancer")?;
        Ok(read_integers(self.device, found.address(), 1, 8)?[0])
    }
}

/// Does all units again and again.
///
/// # Errors
/// [`Error::Balancer`] of one that is not for these items, [`Error::DeviceMemory`], [`Error::Cuda`], [`Error::Interrupted`].
pub(in crate::cuda) fn balance(device: &Device, asked: &Balancing<'_>) -> Result<Balanced, Error> {
    device.bind()?;
    let facts = asked.items.facts();
    let mean_of_small = |most| asked.items.mean_of_small(most);
    let mut layout = asked.balancer.layout(&facts, &mean_of_small, Multiprocessors(device.processors()))?;
    if facts.units == 0 {
        return Ok(Balanced { samples: Vec::new(), wall: Vec::new(), mistakes: 0, copies: 0 });
    }
    // The check reads sums that the balancer may do without.
    let needs_sums = std::mem::replace(&mut layout.prefix, true);
    let module = device.kernels(&specialise(&layout))?;
    let (kernels, check) = (BalanceKernels::of(&module, &layout)?, module.get("check")?);
    let sizes: Vec<u8> = asked.items.sizes().iter().flat_map(|size| size.to_ne_bytes()).collect();
    let bytes = 4 * facts.units + 24 * facts.items;
    // As many as there is room for, and one if there is none: what is missing is then said with its figure.
    let room = device.memory()?.0 / 5 * 4 / bytes;
    let beyond = BEYOND_CACHES.div_ceil(bytes).clamp(4, 64).min(room).max(1) as usize;
    let copies = asked.copies.unwrap_or(beyond);
    let copies = (0..copies).map(|_| Copy::new(device, &sizes, &layout, &facts)).collect::<Result<_, _>>()?;
    let mut measuring = Turns { device, layout, kernels, check, copies };
    if !needs_sums {
        measuring.each(BalanceRun::scan)?;
        measuring.kernels = measuring.kernels.without_sums();
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
pub fn compile_balancers(compiler: Nvrtc, architecture: &str) -> Result<usize, Error> {
    let items = Items::new(vec![4, 4, 2]).expect("three sizes");
    let kinds = BalancerKind::ALL;
    for &kind in kinds {
        let mean_of_small = |most| items.mean_of_small(most);
        let layout = Balancer::from(kind).layout(&items.facts(), &mean_of_small, Multiprocessors([1, 2048]))?;
        compile(compiler, &specialise(&layout), architecture)?;
    }
    Ok(kinds.len())
}
