//! Short tapes of a long formula, which its proofs leave on a device for the regions that they do not decide.
//!
//! Tables say where the tape of a region is, by its place in its level's lattice. Tapes lie one behind the other in a pool, in which
//! blocks take room by a counter. Where the pool is full a region goes on with the tape above, which has the same results.
//! A run begins with empty tables, so that none depends on the one before. `kernels/fields/formula_forest.cuh` is the other side.

use crate::abi::DeviceStruct;
use crate::backend::{CudaError, Error};
use crate::cuda::args::ForestArgs;
use crate::cuda::constants::{FOREST_COUNTERS, FOREST_LEFT_OUT, FOREST_TAPES, FOREST_WORDS};
use crate::cuda::device::Device;
use crate::cuda::memory::{Allocation, Buffer, read_integers};
use crate::cuda::outline::Outline;
use crate::field::ForestNeed;
use crate::result::Launches;

/// The most regions that have a place in a table: 64 MiB of them. Levels below have no tapes of their own.
const MOST_PLACES: u64 = 1 << 24;

/// The most bytes of tapes, and of rows.
const MOST_BYTES: u64 = 128 << 20;
const MOST_ROW_BYTES: u64 = 64 << 20;

/// The most rows: more blocks than that are seldom at work.
const MOST_ROWS: u64 = 1024;

/// The forest of a plan on a device.
pub(super) struct TapeForest {
    args: Buffer,
    tables: Buffer,
    pool: Buffer,
    counters: Buffer,
    rows: Buffer,
    busy: Buffer,
}

/// What kernels are told, but for addresses, and the places of all tables.
fn args_and_places(outline: &Outline<'_>, need: ForestNeed) -> (ForestArgs, u64) {
    let mut args = ForestArgs { size: outline.padded(outline.size()), ..ForestArgs::default() };
    let mut places = 0;
    for (number, level) in outline.levels.iter().enumerate().take(args.first.len()) {
        let Some(all) = u64::try_from(level.regions()).ok().and_then(|regions| regions.checked_add(places)) else {
            break;
        };
        if all > MOST_PLACES {
            break;
        }
        args.first[number] = places;
        args.grid[number] = outline.padded(level.grid);
        args.side[number] = outline.padded(level.whole_sides());
        (args.levels, places) = (number as u32 + 1, all);
    }
    args.row_bytes = (need.row as u64).next_multiple_of(128);
    args.row_count = (MOST_ROW_BYTES / args.row_bytes).clamp(2, MOST_ROWS) as u32;
    // No tape is longer than the whole one.
    args.room = (need.words as u64).saturating_mul(places.max(1)).min(MOST_BYTES / 8);
    (args, places)
}

impl TapeForest {
    /// Takes the memory of a forest over the levels of a plan.
    ///
    /// # Errors
    /// [`Error::DeviceMemory`], [`Error::Cuda`].
    pub(super) fn new(device: &Device, outline: &Outline<'_>, need: ForestNeed) -> Result<Self, Error> {
        let (mut args, places) = args_and_places(outline, need);
        let take = |bytes: u64| Buffer::new(device, "the short tapes of a formula", bytes, Allocation::Pool);
        let (tables, pool) = (take(places * 4)?, take(args.room * 8)?);
        let counters = take(u64::from(FOREST_COUNTERS) * 8)?;
        let (rows, busy) = (take(args.row_bytes * u64::from(args.row_count))?, take(u64::from(args.row_count) * 4)?);
        (args.tables, args.pool, args.counters) = (tables.address(), pool.address(), counters.address());
        (args.rows, args.busy) = (rows.address(), busy.address());
        let args = Buffer::upload(device, "the short tapes of a formula", &args.bytes())?;
        Ok(Self { args, tables, pool, counters, rows, busy })
    }

    /// The address of what kernels are told.
    pub(super) fn address(&self) -> u64 {
        self.args.address()
    }

    /// Bytes on the device.
    pub(super) fn bytes(&self) -> u64 {
        let Self { args, tables, pool, counters, rows, busy } = self;
        [args, tables, pool, counters, rows, busy].map(Buffer::bytes).iter().sum()
    }

    /// Forgets all tapes. Rows are free, too: a run that was ended may have left them taken.
    pub(super) fn clear(&self) -> Result<(), CudaError> {
        [&self.tables, &self.counters, &self.busy].into_iter().try_for_each(|buffer| buffer.set(0))
    }

    /// Says how many tapes a run left.
    pub(super) fn count(&self, device: &Device, launches: &mut Launches) -> Result<(), Error> {
        let found = read_integers(device, self.counters.address(), u64::from(FOREST_COUNTERS), 8)?;
        let of = |counter: u32| found[counter as usize];
        launches.tapes = of(FOREST_TAPES);
        launches.tape_bytes = of(FOREST_WORDS) * 8;
        launches.tapes_left_out = of(FOREST_LEFT_OUT);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::CurveKind;
    use crate::geometry::{Domain, Sample, Scheme};
    use crate::plan::Plan;
    use crate::rule::RuleKind;

    #[test]
    fn levels_beyond_the_most_places_have_no_table() {
        let of_size = |n: u32| {
            let domain = Domain::new([n, n], [[0.0, 1.0]; 2], Sample::Centre).unwrap();
            let plan = Plan::new(domain, Scheme::uniform(8, 4, 4), CurveKind::Morton, RuleKind::Certified).unwrap();
            super::args_and_places(&Outline::of_plan(&plan), ForestNeed { words: 7000, row: 100_000 })
        };
        // Regions of 128, 32 and 8 cells a side.
        let (args, places) = of_size(1024);
        assert_eq!((args.levels, places), (3, 64 + 1024 + 16384));
        assert_eq!((args.first[2], args.grid[2][..3].to_vec(), args.side[2][0]), (64 + 1024, vec![128, 128, 0], 8));
        assert_eq!((args.room, args.row_bytes % 128), (MOST_BYTES / 8, 0));
        assert!(u64::from(args.row_count) * args.row_bytes <= MOST_ROW_BYTES);
        // Of 65536, 16384, .. 16 cells a side, of which there are 4096² on the last level: with those above too many.
        let (args, places) = of_size(1 << 16);
        assert_eq!((args.levels, places), (5, 64 + 1024 + (1 << 14) + (1 << 18) + (1 << 22)));
    }
}
