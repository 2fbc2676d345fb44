//! Points that a device sorts into cells (kernels/strategies/points.cu).

use std::fmt::Write;

use super::args::PointsArgs;
use super::device::Device;
use super::kernel::{Argument, Kernel, LoadedModule};
use super::memory::{Allocation, Buffer, read_integers};
use super::specialise::Specialisation;
use crate::abi::DeviceStruct;
use crate::backend::{CudaError, Error};
use crate::field::{DevicePoints, DeviceTwin, FieldError, PointPlace, buckets};
use crate::per_axis;
use crate::points::PointsError;

/// Threads of a block: one for each digit of eight bits.
const BLOCK: u32 = 256;

/// Points that a block takes.
const TILE: u64 = 4096;

/// The kernels, which are the same for all points.
pub(super) fn specialise() -> Specialisation {
    let mut text = String::from("// What this specialisation fixes, generated from Rust.\n#pragma once\n\n");
    writeln!(text, "#define BLOCK {BLOCK}\n#define TILE {TILE}").expect("writing to a string");
    text += &PointsArgs::declaration("PointsArgs");
    Specialisation::written("strategies/points.cu", BLOCK, text, false)
}

/// The cells that points lie in.
pub(super) struct PointSort {
    /// What sorts them; none where that is done.
    sorter: Option<Sorter>,
    cells: Option<PointCells>,
}

/// Indices of cells, their words, and where indices begin by buckets.
struct PointCells {
    indices: Buffer,
    words: Option<Buffer>,
    starts: Buffer,
}

/// What sorting takes beside its result.
struct Sorter {
    points: DevicePoints,
    kernels: LoadedModule,
    /// Coordinates that were copied.
    copied: Option<Buffer>,
    /// Room for all indices, which passes move from one to the other.
    keys: [Buffer; 2],
    counts: Buffer,
    sums: Buffer,
    found: Buffer,
}

/// Bytes that sorting points takes on a device, at most.
pub(super) fn bytes(points: &DevicePoints) -> u64 {
    let words = if points.counts { 12 } else { 0 };
    // Indices twice, a number for each digit of a tile, and what each cell has if none has several points.
    points.copied() + points.number * (16 + 1 + 10 + words)
}

impl PointSort {
    /// Makes room, and sorts what the host has.
    ///
    /// # Errors
    /// [`Error::DeviceMemory`], [`Error::Cuda`]; [`Error::Field`] if no point lies in the domain.
    pub(super) fn new(device: &Device, twin: &mut DeviceTwin) -> Result<Option<Self>, Error> {
        let Some(points) = twin.points.clone() else { return Ok(None) };
        let room = |bytes| Buffer::new(device, "points and their cells", bytes, Allocation::Pool);
        let (number, tiles) = (points.number, points.number.div_ceil(TILE));
        let entries = tiles * u64::from(BLOCK);
        let copied = match &points.place {
            PointPlace::Host(host) => {
                let buffer = room(points.copied())?;
                buffer.write(device, [bytemuck::cast_slice(host.coordinates())])?;
                Some(buffer)
            }
            PointPlace::Device(_) => None,
        };
        let lent = copied.is_none();
        let sorter = Sorter {
            kernels: device.kernels(&specialise())?,
            copied,
            keys: [room(8 * number)?, room(8 * number)?],
            counts: room(4 * entries)?,
            sums: room(4 * entries.div_ceil(TILE))?,
            found: room(16)?,
            points,
        };
        let mut sorted = Self { sorter: Some(sorter), cells: None };
        if !lent {
            sorted.sort(device, twin)?;
            device.synchronise("sorting points")?;
            sorted.sorter = None;
            // Runs have nothing to sort.
            twin.points = None;
        }
        Ok(Some(sorted))
    }

    /// Bytes that it takes.
    pub(super) fn bytes(&self) -> u64 {
        let cells = self.cells.iter().flat_map(|PointCells { indices, words, starts }| {
            [Some(indices), words.as_ref(), Some(starts)].into_iter().flatten()
        });
        let sorter =
            self.sorter.iter().flat_map(|Sorter { copied, keys: [one, other], counts, sums, found, .. }| {
                [copied.as_ref(), Some(one), Some(other), Some(counts), Some(sums), Some(found)].into_iter().flatten()
            });
        cells.chain(sorter).map(Buffer::bytes).sum()
    }

    /// Sorts them, if that is still to be done, and tells the twin where cells are. Returns the number of launches.
    ///
    /// # Errors
    /// [`Error::Cuda`]; [`Error::Field`] if no point lies in the domain.
    pub(super) fn sort(&mut self, device: &Device, twin: &mut DeviceTwin) -> Result<u64, Error> {
        let Some(Sorter { points, kernels, copied, keys, counts, sums, found }) = &self.sorter else { return Ok(0) };
        // The cells of the points that were there before go first.
        self.cells = None;
        let DevicePoints { number, cells, axes, size, window, .. } = *points;
        let tiles = number.div_ceil(TILE);
        let of_window = |what: usize| per_axis::each(|j| window[j][what]);
        let room = |bytes| Buffer::new(device, "the cells of points", bytes, Allocation::Pool);
        let args = PointsArgs {
            points: match points.place {
                PointPlace::Host(_) => copied.as_ref().map_or(0, Buffer::address),
                PointPlace::Device(address) => address,
            },
            number,
            counts: counts.address(),
            sums: sums.address(),
            found: found.address(),
            cells,
            tiles,
            axes: axes as u32,
            size,
            low: of_window(0),
            high: of_window(1),
            pitch: of_window(2),
            ..PointsArgs::default()
        };
        let mut launches = SortLaunches { device, kernels, count: 0 };
        found.set(0)?;
        let passes = (u64::BITS - cells.leading_zeros()).div_ceil(8);
        // The last pass leaves them in the first buffer.
        let place = |turn: u32| keys[turn as usize % 2].address();
        launches.go("point_cells", number.div_ceil(BLOCK.into()), &PointsArgs { to: place(passes), ..args })?;
        for pass in 0..passes {
            let (from, to) = (place(passes - pass), place(passes - pass - 1));
            let args = PointsArgs { from, to, digit: 8 * pass, ..args };
            launches.go("count_digits", tiles, &args)?;
            launches.sum(&args, tiles * u64::from(BLOCK))?;
            launches.go("scatter", tiles, &args)?;
        }
        let args = PointsArgs { from: place(0), ..args };
        launches.go("count_heads", tiles, &args)?;
        launches.sum(&args, tiles)?;
        let rows = read_integers(device, found.address(), 2, 8)?[1];
        if rows == 0 {
            let axes = &window[..axes];
            let window = per_axis::window_text(&axes.iter().map(|axis| [axis[0], axis[1]]).collect::<Vec<_>>());
            return Err(FieldError::from(PointsError::Outside { points: number, window }).into());
        }
        let (buckets, shift) = buckets(rows, cells);
        let of_counts = |bytes: u64| points.counts.then(|| room(bytes)).transpose();
        let (indices, words, heads) = (room(8 * rows)?, of_counts(8 * rows)?, of_counts(4 * rows)?);
        let starts = room(8 * (buckets + 1))?;
        let address = |buffer: &Option<Buffer>| buffer.as_ref().map_or(0, Buffer::address);
        let args = PointsArgs { heads: address(&heads), words: address(&words), rows, buckets, shift, ..args };
        launches.go("list_heads", tiles, &PointsArgs { to: indices.address(), ..args })?;
        if words.is_some() {
            launches.go("count_points", rows.div_ceil(BLOCK.into()), &args)?;
        }
        let args = PointsArgs { from: indices.address(), starts: starts.address(), ..args };
        launches.go("begin_buckets", (buckets + 1).div_ceil(BLOCK.into()), &args)?;
        twin.write("indices", &args.from);
        twin.write("words", &args.words);
        twin.write("starts", &args.starts);
        twin.write("rows", &rows);
        twin.write("shift", &u64::from(shift));
        let launches = launches.count;
        self.cells = Some(PointCells { indices, words, starts });
        Ok(launches)
    }
}

/// Launches kernels one after the other, and counts them.
struct SortLaunches<'a> {
    device: &'a Device,
    kernels: &'a LoadedModule,
    count: u64,
}

impl SortLaunches<'_> {
    fn go(&mut self, name: &'static str, blocks: u64, args: &PointsArgs) -> Result<(), CudaError> {
        self.count += 1;
        let (none, kernel): (_, Kernel) = (Argument::new(&[]), self.kernels.get(name)?);
        kernel.launch(&self.device.stream, blocks, &[Argument::new(&args.bytes()), none, none])
    }

    /// Prefix sums of so many counts.
    fn sum(&mut self, args: &PointsArgs, entries: u64) -> Result<(), CudaError> {
        let args = PointsArgs { entries, ..*args };
        let pieces = entries.div_ceil(TILE);
        self.go("sum_counts", pieces, &args)?;
        self.go("sum_sums", 1, &args)?;
        self.go("spread_sums", pieces, &args)
    }
}
