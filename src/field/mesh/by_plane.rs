//! Which triangles reach each plane.

use crate::memory::{Refused, copies};

/// The triangles of each plane, in ascending order.
pub(super) struct TrianglesByPlane {
    /// The first plane that has any.
    pub(super) first: i64,
    /// Where the triangles of each plane end.
    ends: Vec<usize>,
    listed: Vec<u32>,
}

impl TrianglesByPlane {
    /// By the first and the last plane of each triangle, which may be none. `spans` starts with the first triangle again in each call.
    pub(super) fn new<I: Iterator<Item = (i64, i64)>>(spans: impl Fn() -> I) -> Result<Self, Refused> {
        let (low, high) = spans()
            .filter(|(low, high)| low <= high)
            .fold((i64::MAX, -1), |(first, last), (low, high)| (first.min(low), last.max(high)));
        if low > high {
            return Ok(Self { first: 0, ends: Vec::new(), listed: Vec::new() });
        }
        let mut ends = copies(0usize, (high - low) as usize + 2)?;
        for (first, last) in spans() {
            (first..=last).for_each(|z| ends[(z - low) as usize + 1] += 1);
        }
        for plane in 1..ends.len() {
            ends[plane] += ends[plane - 1];
        }
        let mut listed = copies(0u32, ends[ends.len() - 1])?;
        for (triangle, (first, last)) in spans().enumerate() {
            for z in first..=last {
                // From the plane's beginning on, which becomes its end.
                let place = &mut ends[(z - low) as usize];
                listed[*place] = triangle as u32;
                *place += 1;
            }
        }
        // The last one is behind all planes.
        ends.pop();
        Ok(Self { first: low, ends, listed })
    }

    /// How many planes there are, from the first one on.
    pub(super) fn planes(&self) -> usize {
        self.ends.len()
    }

    /// The triangles of a plane, counted from the first one.
    pub(super) fn of(&self, plane: usize) -> &[u32] {
        let begin = if plane == 0 { 0 } else { self.ends[plane - 1] };
        &self.listed[begin..self.ends[plane]]
    }
}
