//! What the maps of a stream say, as lists that a kernel makes (kernels/strategies/gather.cu).
//!
//! A map has an entry for every region of a level, wherever the roots of a run are, and most entries say nothing. So the host reads
//! what was found, and no map.

use crate::abi::DeviceStruct;
use crate::backend::Error;
use crate::cuda::args::FatesArgs;
use crate::cuda::constants::MAP_ABSENT;
use crate::cuda::gather;
use crate::cuda::kernel::{Argument, Kernel};
use crate::cuda::memory::{Allocation, Buffer, Reserve, integers, read, read_integers};
use crate::cuda::setup::Setup;

/// Regions that a thread of the GPU looks at, as in the kernel.
const FATES: u64 = 16;

/// Records of a list, at most: several lists take less time than fresh memory for a long one. Where a GPU has little room left a list
/// has fewer, but not fewer than that.
const MOST: u64 = 1 << 22;
const LEAST: u64 = 1 << 8;

/// The maps of a level.
pub(super) struct LevelMap {
    /// The addresses of fates and values, and how many regions have them.
    pub(super) fates: u64,
    pub(super) values: u64,
    pub(super) regions: u64,
    /// How many regions are uniform, and how many others are asked for, as the tallies say.
    pub(super) uniform: u64,
    pub(super) others: u64,
}

/// Records of a list, of regions of one kind.
pub(super) struct MapRecords<'l> {
    /// True of uniform regions; others have no value.
    pub(super) uniform: bool,
    bytes: &'l [u8],
    width: usize,
}

impl MapRecords<'_> {
    pub(super) fn len(&self) -> usize {
        self.bytes.len() / (2 * self.width)
    }

    /// The place of a region in its level, and its value.
    pub(super) fn record(&self, i: usize) -> (u64, u64) {
        let mut words = integers(&self.bytes[2 * i * self.width..][..2 * self.width], self.width as u64);
        let mut next = || words.next().expect("a record has two words");
        (next(), next())
    }
}

/// The lists of a run, one after the other.
pub(super) struct StreamLists<'s> {
    setup: &'s Setup<'s>,
    kernel: Kernel,
    counters: Buffer,
    records: Reserve,
    most: u64,
}

impl<'s> StreamLists<'s> {
    pub(super) fn new(setup: &'s Setup<'s>) -> Result<Self, Error> {
        let kernel = setup.device.kernels(&gather::specialise())?.get("list_fates")?;
        let counters = Buffer::new(setup.device, "what was listed of maps", 16, Allocation::Pool)?;
        Ok(Self { setup, kernel, counters, records: Reserve::default(), most: MOST })
    }

    /// Bytes of a word of a record.
    fn width(&self) -> u64 {
        self.setup.value_bytes()
    }

    /// Takes the regions of a level, in any order.
    ///
    /// # Errors
    /// [`Error::Incomplete`] if there are more or fewer than the tallies say; what `take` refuses.
    pub(super) fn of(
        &mut self,
        map: &LevelMap,
        take: &mut dyn FnMut(&MapRecords<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let all = map.uniform + map.others;
        let (mut first, mut seen) = (0, 0);
        while first < map.regions && all > 0 {
            let room = self.room(all)?;
            // A list that has room for all of them has room for those of any regions.
            let regions = if room == all { map.regions } else { room };
            let grid = self.setup.device.max_grid() * u64::from(gather::BLOCK) * FATES;
            let regions = regions.min(map.regions - first).min(grid - FATES);
            seen += self.some(map, first, regions, room, take)?;
            first += regions;
        }
        if seen != all {
            return Err(Error::Incomplete { seen: seen.into(), total: all.into() });
        }
        Ok(())
    }

    /// Makes room for so many records, or for as many as there can be.
    fn room(&mut self, all: u64) -> Result<u64, Error> {
        loop {
            let room = all.min(self.most);
            let bytes = 2 * room * self.width();
            match self.records.ensure(self.setup.device, "regions on their way", bytes, Allocation::Pool) {
                Err(Error::DeviceMemory { .. }) if room > LEAST => self.most = (room / 2).max(LEAST),
                made => return made.map(|_| room),
            }
        }
    }

    /// Takes those of some regions that follow each other. How many it has.
    fn some(
        &self,
        map: &LevelMap,
        first: u64,
        regions: u64,
        room: u64,
        take: &mut dyn FnMut(&MapRecords<'_>) -> Result<(), Error>,
    ) -> Result<u64, Error> {
        const { assert!(MAP_ABSENT == 0) };
        let (device, width) = (self.setup.device, self.width());
        let args = FatesArgs {
            fates: map.fates + first,
            values: map.values + width * first,
            records: self.records.address(),
            counters: self.counters.address(),
            first,
            regions,
            room,
            others: u32::from(map.others > 0),
            width: width as u32,
        };
        self.counters.set(0)?;
        let none = Argument::new(&[]);
        // The first thread may begin before the first region, at an address that its loads need.
        let blocks = (regions + FATES).div_ceil(u64::from(gather::BLOCK) * FATES);
        self.kernel.launch(&device.stream, blocks, &[Argument::new(&args.bytes()), none, none])?;
        let listed = read_integers(device, self.counters.address(), 2, 8)?;
        let (uniform, others) = (listed[0], listed[1]);
        let seen = uniform + others;
        if seen > room {
            return Err(Error::Incomplete { seen: seen.into(), total: room.into() });
        }
        let record = 2 * width;
        for (uniform, from, records) in [(true, 0, uniform), (false, room - others, others)] {
            read(device, self.records.address() + record * from, record * records, &mut |_, bytes| {
                take(&MapRecords { uniform, bytes, width: width as usize })
            })?;
        }
        Ok(seen)
    }
}
