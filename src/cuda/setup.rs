//! What a prepared plan has on a device, whatever its strategy.

use super::args::{RunArgs, region_item_bytes, word_bytes};
use super::array_box::ArrayBox;
use super::constants::{TALLY_COLUMNS, TALLY_ROWS};
use super::device::Device;
use super::kernel::Argument;
use super::memory::{Allocation, Buffer, Reserve};
use super::outline::Outline;
use super::points::PointSort;
use super::pyramid::Pyramid;
use super::tape_forest::TapeForest;
use super::twin;
use super::watch::StopFlag;
use crate::abi::DeviceStruct;
use crate::backend::CudaError;
use crate::backend::{CudaTuning, Error, How, Mapping, Shared, Start, StrategyKind, Table};
use crate::curve::DeviceCurve;
use crate::dimension::MAX_DIM;
use crate::field::{DevicePoints, DeviceTwin};
use crate::geometry::Level;
use crate::result::Storage;

/// What every host program works with.
pub(super) struct Setup<'a> {
    pub(super) device: &'a Device,
    pub(super) outline: Outline<'a>,
    pub(super) how: How,
    pub(super) storage: Storage,
    pub(super) cuda: CudaTuning,
    pub(super) twin: DeviceTwin,
    /// Where the run starts, and how many regions it is expected to have.
    pub(super) start: Start<'static, MAX_DIM>,
    pub(super) expected: f64,
    /// The codes of its roots, where they are a table.
    codes: Option<Buffer>,
    /// `RunArgs` and `FieldArgs`.
    pub(super) run: Argument,
    pub(super) args: Argument,
    /// What is known of an array's regions, if proofs are asked for.
    pub(super) pyramid: Option<Pyramid>,
    /// The cells of points that this device sorts.
    points: Option<PointSort>,
    /// The dense array, and its bytes, if one is kept.
    pub(super) array: Reserve,
    pub(super) dense: Option<u64>,
    pub(super) tallies: Buffer,
    pub(super) stop: StopFlag,
    /// Arrays of the field, alive as long as kernels may read them.
    arrays: Vec<Buffer>,
    /// An array that has no room: a box of it lies here.
    boxed: Option<ArrayBox>,
    /// Bytes of arrays that were copied to the device.
    pub(super) copied: u64,
    /// What proofs leave of the field for regions, if they do.
    pub(super) forest: Option<TapeForest>,
}

impl<'a> Setup<'a> {
    /// Uploads the field's twin and allocates the tallies.
    ///
    /// # Errors
    /// [`Error::DeviceMemory`], [`Error::Cuda`].
    pub(super) fn new(
        device: &'a Device,
        outline: Outline<'a>,
        (how, storage): (&How, Storage),
        mut twin: DeviceTwin,
    ) -> Result<Self, Error> {
        let boxed = twin::boxed(device, &outline, &mut twin, storage.cell.bytes())?;
        let arrays = twin::upload(device, &mut twin)?;
        let copied =
            arrays.iter().map(Buffer::bytes).sum::<u64>() + twin.points.as_ref().map_or(0, DevicePoints::copied);
        let points = PointSort::new(device, &mut twin)?;
        let proves = how.tuning.strategy != StrategyKind::Exhaustive && how.tuning.asks_proofs(outline.rule);
        let pyramid = match proves && twin.surveyed {
            true => Some(Pyramid::new(device, &outline, &mut twin, how)?),
            false => None,
        };
        let grows = outline.by_blocks && how.tuning.strategy != StrategyKind::Exhaustive;
        let need = twin.forest.filter(|_| grows);
        let forest = need.map(|need| TapeForest::new(device, &outline, need)).transpose()?;
        if let Some(forest) = &forest {
            twin.write("forest", &forest.address());
        }
        let stop = StopFlag::new(device)?;
        let rows = outline.levels.len() as u64 * u64::from(TALLY_ROWS * TALLY_COLUMNS);
        Ok(Self {
            device,
            how: how.clone(),
            storage,
            cuda: how.on_cuda(),
            args: Argument::new(&twin.args),
            twin,
            start: outline.whole.clone(),
            expected: outline.expected.iter().sum(),
            outline,
            codes: None,
            run: Argument::new(&RunArgs::default().bytes()),
            pyramid,
            points,
            array: Reserve::default(),
            dense: None,
            tallies: Buffer::new(device, "tallies", rows * 8, Allocation::Pool)?,
            stop,
            arrays,
            boxed,
            copied,
            forest,
        })
    }

    /// Sorts points that others may have written since the last run. Returns the number of launches.
    ///
    /// # Errors
    /// As [`PointSort::sort`].
    pub(super) fn sort_points(&mut self) -> Result<u64, Error> {
        let Some(points) = &mut self.points else { return Ok(0) };
        let launches = points.sort(self.device, &mut self.twin)?;
        self.args = Argument::new(&self.twin.args);
        Ok(launches)
    }

    /// Into how many pieces a run of the whole plan is to be cut, so that a piece of the field's array has room.
    pub(super) fn pieces_of_array(&self) -> u64 {
        self.boxed.as_ref().map_or(1, ArrayBox::pieces)
    }

    /// Bytes that it has taken on the device for as long as it lives: the field's arrays and the tallies.
    pub(super) fn held(&self) -> u128 {
        let own = [
            self.pyramid.as_ref().map_or(0, Pyramid::bytes),
            self.points.as_ref().map_or(0, PointSort::bytes),
            self.boxed.as_ref().map_or(0, ArrayBox::room),
            self.forest.as_ref().map_or(0, TapeForest::bytes),
        ];
        let buffers = self.arrays.iter().chain([&self.tallies]).map(Buffer::bytes);
        buffers.chain(own).map(u128::from).sum()
    }

    /// Makes ready for a run from `start`, of which so many regions are `expected`: the codes of its roots, and a dense array of
    /// `dense` bytes if one is kept. True if that is new memory.
    ///
    /// # Errors
    /// [`Error::DeviceMemory`], [`Error::Cuda`].
    pub(super) fn aim(&mut self, start: &Start<'_, MAX_DIM>, expected: f64, dense: Option<u64>) -> Result<bool, Error> {
        (self.start, self.expected) = (start.clone().into_owned(), expected);
        let start = &self.start;
        self.codes = None;
        if start.first().is_none_or(|_| !self.row_major() && self.cuda.table == Table::Coordinates) {
            let outline = &self.outline;
            let mut bytes = Vec::new();
            for code in (0..start.len()).map(|index| start.code(index)) {
                match (self.cuda.table, outline.bits > 32) {
                    (Table::Coordinates, _) => {
                        for at in outline.own(&outline.typed.decode(start.level, code)) {
                            bytes.extend_from_slice(&at.to_ne_bytes());
                        }
                    }
                    (Table::Scalars, false) => bytes.extend_from_slice(&(code as u32).to_ne_bytes()),
                    (Table::Scalars, true) => bytes.extend_from_slice(&code.to_ne_bytes()),
                }
            }
            self.codes = Some(Buffer::upload(self.device, "the codes of the roots", &bytes)?);
        }
        let mut row = self.outline.size()[0];
        if let Some(boxed) = &mut self.boxed {
            let exhaustive = self.how.tuning.strategy == StrategyKind::Exhaustive;
            let cells = if exhaustive { self.start.window } else { self.outline.asked(&self.start) };
            self.copied += boxed.bring(self.device, &cells)?;
            self.twin.write("cells", &boxed.origin());
            self.twin.write("lies", &self.outline.padded(cells.extent));
            self.args = Argument::new(&self.twin.args);
            row = cells.extent[0];
        }
        if let Some(pyramid) = &mut self.pyramid {
            pyramid.aim(&self.outline, &self.start, self.twin.address("cells"), row);
        }
        let room = |array: &Reserve| array.buffer().map_or(0, Buffer::bytes);
        let before = room(&self.array);
        self.dense = dense;
        if let Some(bytes) = dense {
            self.array.ensure(self.device, "the dense array", bytes, Allocation::Pool)?;
        }
        let window = start.window;
        let run = RunArgs {
            array: dense.map_or(0, |_| self.array.address()),
            stop: self.stop.address(),
            size: self.outline.padded(self.outline.size()),
            corner: self.outline.padded(window.corner),
            extent: self.outline.padded(window.extent),
            windowed: u32::from(self.windowed()),
            ..RunArgs::default()
        };
        self.run = Argument::new(&run.bytes());
        Ok(room(&self.array) != before)
    }

    /// What kernels are told of the roots: the address of a table, and the first code of those without one.
    pub(super) fn roots(&self) -> (u64, u64) {
        let first = if self.row_major() { 0 } else { self.start.first().unwrap_or(0) };
        (self.codes.as_ref().map_or(0, Buffer::address), first)
    }

    /// True if the roots are in row-major order, which those of tables of coordinates are where there are all of them.
    pub(super) fn row_major(&self) -> bool {
        self.cuda.table == Table::Coordinates && self.start.whole && self.start.first().is_some()
    }

    /// Blocks of `threads` threads that settle a region of a level for the host, so many cells per thread.
    pub(super) fn pieces(&self, level: &Level<MAX_DIM>, threads: u64, per_thread: u64) -> u32 {
        match self.how.tuning.mapping() == Mapping::Mbr {
            false => 1,
            true => Shared::of(StrategyKind::Ask).blocks(level.most_cells(), threads, per_thread),
        }
    }

    /// True if the run's window is not the whole domain.
    pub(super) fn windowed(&self) -> bool {
        self.start.window != self.outline.whole.window
    }

    /// Bytes of a region as an item (kernels/balance/regions.cuh).
    pub(super) fn region_item_bytes(&self) -> u64 {
        region_item_bytes(self.outline.dimensions, self.storage.label)
    }

    /// Bytes of a label's word.
    pub(super) fn value_bytes(&self) -> u64 {
        word_bytes(self.storage.label)
    }

    /// Forgets what was counted and found out.
    pub(super) fn reset(&self) -> Result<(), CudaError> {
        self.forest.as_ref().map_or(Ok(()), TapeForest::clear)?;
        self.tallies.set(0)
    }

    /// The address of a level's tallies.
    pub(super) fn tallies(&self, level: u32) -> u64 {
        self.tallies.address() + u64::from(level * TALLY_ROWS * TALLY_COLUMNS) * 8
    }

    /// The start states of a curve's trees, if it has any.
    pub(super) fn starts(&self, curve: &DeviceCurve<'_>) -> Result<Option<Buffer>, Error> {
        let bytes: Vec<u8> = curve.starts.iter().flat_map(|start| start.to_ne_bytes()).collect();
        match bytes[..] {
            [] => Ok(None),
            _ => Buffer::upload(self.device, "the curve's start states", &bytes).map(Some),
        }
    }
}

/// A column of a level's tallies, added up.
pub(super) fn tally(tallies: &[u64], column: u32) -> u64 {
    (0..TALLY_ROWS).map(|row| tallies[(row * TALLY_COLUMNS + column) as usize]).fold(0, u64::wrapping_add)
}
