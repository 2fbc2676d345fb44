//! A region in pieces of bounded size, so that no cell list and no task grows with a region.

use crate::geometry::region::Region;

/// A region cut into slabs of at most a given number of cells, each contiguous in the region's storage order.
///
/// Axes below `axis` are whole, `axis` is cut into runs of `thickness`, those above are single layers:
///
/// ```text
///   at most 4 cells    4 4 4 4 5     at most 10 cells    1 1 1 1 1
///                      2 2 2 2 3                         0 0 0 0 0
///                      0 0 0 0 1                         0 0 0 0 0
/// ```
#[doc(hidden)]
#[derive(Debug)]
pub struct Slabs<const K: usize> {
    region: Region<K>,
    axis: usize,
    thickness: u32,
}

impl<const K: usize> Slabs<K> {
    /// Slabs of `region` with at most `most` cells, which is at least 1.
    #[doc(hidden)]
    #[inline]
    pub fn new(region: Region<K>, most: u64) -> Self {
        let (mut axis, mut below) = (0, 1);
        while axis + 1 < K && below * u64::from(region.extent[axis]) <= most {
            below *= u64::from(region.extent[axis]);
            axis += 1;
        }
        let thickness = (most / below).min(u64::from(region.extent[axis])) as u32;
        Self { region, axis, thickness }
    }

    /// The number of slabs.
    #[doc(hidden)]
    #[inline]
    pub fn len(&self) -> u64 {
        self.region.extent[self.axis + 1..].iter().fold(self.along(), |len, &side| len * u64::from(side))
    }

    /// Slab `index`, below [`len`](Self::len); ascending indices follow the region's storage order.
    #[doc(hidden)]
    #[inline]
    pub fn get(&self, index: u64) -> Region<K> {
        let mut slab = self.region;
        let start = (index % self.along()) as u32 * self.thickness;
        slab.corner[self.axis] += start;
        slab.extent[self.axis] = self.thickness.min(self.region.extent[self.axis] - start);
        let mut rest = index / self.along();
        for j in self.axis + 1..K {
            let side = u64::from(self.region.extent[j]);
            slab.corner[j] += (rest % side) as u32;
            slab.extent[j] = 1;
            rest /= side;
        }
        slab
    }

    /// Runs along the axis that is cut.
    #[inline]
    fn along(&self) -> u64 {
        u64::from(self.region.extent[self.axis].div_ceil(self.thickness))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check<const K: usize>(extent: [u32; K], most: u64) {
        let region = Region { corner: [7; K], extent };
        let slabs = Slabs::new(region, most);
        let mut cells = Vec::new();
        for slab in (0..slabs.len()).map(|i| slabs.get(i)) {
            assert!((1..=most).contains(&slab.volume()), "{slab:?} of {extent:?}");
            slab.extend_cells(&mut cells);
        }
        assert_eq!(cells, region.cells().collect::<Vec<_>>(), "{extent:?} in slabs of {most}");
    }

    proptest! {
        #[test]
        fn slabs_are_the_region_in_storage_order(extent in prop::array::uniform4(1u32..7), most in 1u64..400) {
            check(extent, most);
            check([extent[0] * extent[1]], most);
            check([extent[0] * 9, extent[1]], most);
        }
    }
}
