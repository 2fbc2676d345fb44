//! What a stream remembers (kernels/stream/map.cuh, list.cuh): what became of the regions of every level, and which of them are mixed.

use crate::backend::Error;
use crate::cuda::args::StreamArgs;
use crate::cuda::constants::MAP_ABSENT;
use crate::cuda::device::Device;
use crate::cuda::memory::{Allocation, Reserve};
use crate::dimension::MAX_DIM;
use crate::geometry::Level;

/// Bytes of a region's fate.
const FATE: u64 = 1;

/// Where the regions of levels lie, in entries: the first of each level, and how many there are. The last level has no list.
#[derive(Debug, Clone, PartialEq, Eq)]
struct MapLayout {
    first: Vec<u64>,
    regions: u64,
}

impl MapLayout {
    fn of(levels: &[Level<MAX_DIM>]) -> Self {
        let (mut first, mut regions) = (Vec::new(), 0u64);
        for level in levels {
            first.push(regions);
            regions = regions.saturating_add(u64::try_from(level.regions()).unwrap_or(u64::MAX));
        }
        Self { first, regions }
    }

    fn first(&self, level: u32) -> u64 {
        self.first[level as usize]
    }

    fn is_last(&self, level: u32) -> bool {
        level as usize + 1 == self.first.len()
    }

    /// Bytes of fates, of values, and of lists.
    fn bytes(&self, each: Each) -> [u64; 3] {
        let listed = *self.first.last().expect("a plan has a level");
        [(FATE, self.regions), (each.value, self.regions), (each.entry, listed)]
            .map(|(each, all)| all.saturating_mul(each))
    }
}

/// Bytes of a value, and of an entry of a list.
#[derive(Clone, Copy)]
pub(super) struct Each {
    pub(super) value: u64,
    pub(super) entry: u64,
}

/// Bytes of all that for some levels.
pub(super) fn bytes(levels: &[Level<MAX_DIM>], each: Each) -> u128 {
    MapLayout::of(levels).bytes(each).map(u128::from).iter().sum()
}

/// The maps and lists of some levels.
pub(super) struct Maps {
    layout: MapLayout,
    each: Each,
    fates: Reserve,
    values: Reserve,
    lists: Reserve,
}

impl Maps {
    pub(super) fn new(levels: &[Level<MAX_DIM>], each: Each) -> Self {
        let (fates, values, lists) = Default::default();
        Self { layout: MapLayout::of(levels), each, fates, values, lists }
    }

    /// Takes what memory it needs.
    pub(super) fn ensure(&mut self, device: &Device) -> Result<(), Error> {
        let parts = [&mut self.fates, &mut self.values, &mut self.lists];
        for (part, bytes) in parts.into_iter().zip(self.layout.bytes(self.each)) {
            part.ensure(device, "the maps of a stream", bytes, Allocation::Pool)?;
        }
        Ok(())
    }

    /// Forgets what became of the regions of a level and of those below.
    pub(super) fn forget(&self, level: u32) -> Result<(), Error> {
        const { assert!(MAP_ABSENT == 0) };
        let first = self.layout.first(level);
        Ok(self.fates.buffer().expect("made ready").set_part(first, self.layout.regions - first)?)
    }

    /// What kernels are told of a level; `roots` if it asks for those.
    pub(super) fn tell(&self, args: &mut StreamArgs, level: u32, roots: bool) {
        let list = |level: u32| self.lists.address() + self.each.entry * self.layout.first(level);
        (args.fates, args.values) = (self.fates.address(), self.values.address());
        args.map_first = self.layout.first(level);
        args.base.families = if roots { 0 } else { list(level - 1) };
        args.base.next = if self.layout.is_last(level) { 0 } else { list(level) };
    }

    /// Bytes of the maps.
    pub(super) fn bytes(&self) -> u64 {
        let [fates, values, _] = self.layout.bytes(self.each);
        fates.saturating_add(values)
    }

    /// Entries of the list of a level that has so many mixed regions.
    pub(super) fn listed(&self, level: u32, mixed: u64) -> u64 {
        if (level as usize + 1) < self.layout.first.len() { mixed } else { 0 }
    }

    /// Bytes of so many entries.
    pub(super) fn list_bytes(&self, entries: u64) -> u64 {
        entries * self.each.entry
    }

    /// The addresses of a level's fates and values.
    pub(super) fn level(&self, level: u32) -> (u64, u64) {
        let first = self.layout.first(level);
        (self.fates.address() + FATE * first, self.values.address() + self.each.value * first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cuda::outline::Outline;
    use crate::curve::CurveKind;
    use crate::geometry::{Domain, Sample, Scheme};
    use crate::plan::Plan;
    use crate::rule::RuleKind;

    #[test]
    fn levels_follow_one_another() {
        let domain = Domain::new([64, 32], [[0.0, 1.0]; 2], Sample::Centre).unwrap();
        let plan = Plan::new(domain, Scheme::uniform(4, 2, 2), CurveKind::Morton, RuleKind::Certified).unwrap();
        let layout = MapLayout::of(&Outline::of_plan(&plan).levels);
        // Regions of 16 x 8 and of 8 x 4 cells are asked for; those of 4 x 2 are leaves.
        assert_eq!(layout, MapLayout { first: vec![0, 16], regions: 16 + 64 });
        assert_eq!(layout.bytes(Each { value: 4, entry: 8 }), [80, 4 * 80, 8 * 16]);
        assert_eq!((layout.is_last(0), layout.is_last(1)), (false, true));
    }
}
