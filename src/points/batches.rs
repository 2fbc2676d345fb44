//! Points that come a few at a time, since memory does not hold them.

use std::io;

use crate::cell::CellType;
use crate::points::attribute::PointAttribute;
use crate::points::definition::Points;
use crate::points::extent::PointsExtent;

/// What is done with points that come: coordinates, point after point, and the words of their attribute, if they have one.
pub type OnBatch<'b> = dyn FnMut(&[f64], &[u64]) -> io::Result<()> + 'b;

/// Points that can be gone through from the first to the last, as often as is asked for.
pub trait PointBatches: Sync {
    /// Where they lie.
    fn extent(&self) -> &PointsExtent;

    /// The number of points, at least 1.
    fn count(&self) -> u64;

    /// The type of the number that each of them has, if there is one.
    fn measured(&self) -> Option<CellType>;

    /// Goes through all of them.
    ///
    /// # Errors
    /// If they cannot be read, or `batch` fails.
    fn each(&self, batch: &mut OnBatch<'_>) -> io::Result<()>;
}

/// Those in memory, a few at a time.
impl PointBatches for Points {
    fn extent(&self) -> &PointsExtent {
        self.extent()
    }

    fn count(&self) -> u64 {
        self.len() as u64
    }

    fn measured(&self) -> Option<CellType> {
        self.measured().map(PointAttribute::kind)
    }

    fn each(&self, batch: &mut OnBatch<'_>) -> io::Result<()> {
        const TOGETHER: usize = 1 << 16;
        let words = Points::measured(self).map_or(&[][..], PointAttribute::words);
        let coordinates = self.coordinates().chunks(TOGETHER * self.axes());
        coordinates.enumerate().try_for_each(|(i, some)| {
            let from = (i * TOGETHER).min(words.len());
            batch(some, &words[from..(from + TOGETHER).min(words.len())])
        })
    }
}
