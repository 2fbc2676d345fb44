//! A set of cells by its rows: along axis 0, the cells at which a row enters the set or leaves it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytemuck::cast_slice;

use crate::field::mesh::by_plane::TrianglesByPlane;
use crate::field::mesh::crossing::{CrossedTriangle, rows_near, samples};
use crate::field::mesh::lattice::{LatticeTriangle, MeshLattice, span};
use crate::field::mesh::overlap::MetTriangle;
use crate::field::twin::DeviceContent;
use crate::memory::{Refused, copies, reserve};
use crate::parallel;

/// The rows of a set of cells.
#[derive(Debug)]
pub(super) struct MeshRows {
    /// The first plane of axis 2 that has any.
    pub(super) first: u32,
    planes: Vec<PlaneRows>,
}

/// The first and the last plane in which a triangle has to be looked at.
type PlanesOf<'t> = dyn Fn(&LatticeTriangle) -> (i64, i64) + 't;

/// Puts the changes of a plane, of these triangles.
type PutPlane<'t> = dyn Fn(i64, &[u32], &mut Vec<u64>) -> Result<(), Refused> + Sync + 't;

/// The rows of a plane.
#[derive(Debug)]
struct PlaneRows {
    /// The first row.
    first: u32,
    /// Where the changes of each row begin, and where the last one's end.
    starts: Vec<u32>,
    changes: Vec<u32>,
}

/// What is put into a plane: the place of a row and of one of its cells, so that they sort by rows.
#[inline]
fn key(row: i64, cell: u32) -> u64 {
    (row as u64) << 32 | u64::from(cell)
}

impl MeshRows {
    /// The cells whose samples lie inside of a closed mesh.
    pub(super) fn inside(lattice: &MeshLattice, limit: u64) -> Result<Self, Refused> {
        let planes = |corners: &LatticeTriangle| samples(lattice, span(corners, 2), lattice.size[2]);
        Self::of(lattice, limit, &planes, &|z, triangles, changes| {
            for &triangle in triangles {
                let corners = lattice.corners(triangle as usize);
                let crossed = CrossedTriangle::new(&corners);
                let (first, last) = rows_near(lattice, &corners, z);
                reserve(changes, (last + 1 - first).max(0) as usize)?;
                changes.extend((first..=last).filter_map(|y| Some(key(y, crossed.first_beyond(lattice, [y, z])?))));
            }
            changes.sort_unstable();
            Ok(())
        })
    }

    /// The cells that meet the triangles.
    pub(super) fn surface(lattice: &MeshLattice, limit: u64) -> Result<Self, Refused> {
        let planes = |corners: &LatticeTriangle| touched(lattice, span(corners, 2), lattice.size[2]);
        Self::of(lattice, limit, &planes, &|z, triangles, changes| {
            let mut runs = Vec::new();
            for &triangle in triangles {
                let corners = lattice.corners(triangle as usize);
                let [x, y] = [0, 1].map(|axis| touched(lattice, span(&corners, axis), lattice.size[axis]));
                if x.0 <= x.1 && y.0 <= y.1 {
                    let plane = TrianglePlane { met: MetTriangle::new(&corners), bits: lattice.bits, z };
                    plane.runs(x, y, &mut runs)?;
                }
            }
            runs.sort_unstable();
            let mut runs = runs.into_iter();
            let Some((mut start, mut end)) = runs.next() else { return Ok(()) };
            let mut close = |start: u64, end: u64| {
                reserve(changes, 2)?;
                changes.push(start);
                // Beyond the last cell nothing changes.
                changes.extend(((end as u32) < lattice.size[0] - 1).then_some(end + 1));
                Ok(())
            };
            for (next, last) in runs {
                // Ends of rows differ in their upper half.
                if next <= end + 1 && next >> 32 == end >> 32 {
                    end = end.max(last);
                } else {
                    close(start, end)?;
                    (start, end) = (next, last);
                }
            }
            close(start, end)
        })
    }

    /// The rows that `put` finds plane by plane, of the triangles that `planes` says lie there. What it puts is in order; two equal
    /// changes are none. All rows together have at most `limit` bytes.
    fn of(lattice: &MeshLattice, limit: u64, planes: &PlanesOf<'_>, put: &PutPlane<'_>) -> Result<Self, Refused> {
        let listed =
            TrianglesByPlane::new(|| (0..lattice.triangles()).map(|triangle| planes(&lattice.corners(triangle))))?;
        let held = AtomicU64::new(0);
        let planes = parallel::try_map(listed.planes(), &|plane| {
            let mut changes = Vec::new();
            put(listed.first + plane as i64, listed.of(plane), &mut changes)?;
            let rows = PlaneRows::of(&changes)?;
            let bytes = rows.bytes();
            match held.fetch_add(bytes, Ordering::Relaxed) + bytes {
                all if all > limit => Err(Refused { bytes: all.into() }),
                _ => Ok(rows),
            }
        })?;
        Ok(Self { first: listed.first as u32, planes })
    }

    /// The changes of a row in ascending order: a cell is in the set if an odd number of them is not above it.
    #[inline]
    pub(super) fn row(&self, y: u32, z: u32) -> &[u32] {
        let Some(plane) = z.checked_sub(self.first).and_then(|plane| self.planes.get(plane as usize)) else {
            return &[];
        };
        plane.row(y)
    }

    /// The bytes of all rows.
    pub(super) fn bytes(&self) -> u64 {
        self.planes.iter().map(PlaneRows::bytes).sum()
    }

    /// True if a cell is in the set.
    #[inline]
    pub(super) fn holds(&self, [x, y, z]: [u32; 3]) -> bool {
        self.row(y, z).partition_point(|&change| change <= x) % 2 == 1
    }

    /// Of each plane its first row, how many there are, and where its starts and its changes begin among those of all planes.
    pub(super) fn table(&self) -> Vec<[u64; 4]> {
        let (mut starts, mut changes) = (0, 0);
        let entry = |plane: &PlaneRows| {
            let rows = plane.starts.len().saturating_sub(1) as u64;
            let entry = [plane.first.into(), rows, starts, changes];
            starts += plane.starts.len() as u64;
            changes += plane.changes.len() as u64;
            entry
        };
        self.planes.iter().map(entry).collect()
    }
}

/// The starts, or the changes, of all planes: they go to a device from where they are, as rows are large.
#[derive(Debug)]
pub(super) struct OfPlanes {
    pub(super) rows: Arc<MeshRows>,
    pub(super) changes: bool,
}

impl DeviceContent for OfPlanes {
    fn pieces(&self) -> Box<dyn Iterator<Item = &[u8]> + '_> {
        Box::new(
            self.rows.planes.iter().map(|plane| cast_slice(if self.changes { &plane.changes } else { &plane.starts })),
        )
    }
}

impl PlaneRows {
    fn bytes(&self) -> u64 {
        4 * (self.starts.len() + self.changes.len()) as u64
    }

    fn of(keys: &[u64]) -> Result<Self, Refused> {
        let none = || Self { first: 0, starts: Vec::new(), changes: Vec::new() };
        let (Some(&first), Some(&last)) = (keys.first(), keys.last()) else { return Ok(none()) };
        if u32::try_from(keys.len()).is_err() {
            return Err(Refused { bytes: keys.len() as u128 * 4 });
        }
        let first = (first >> 32) as u32;
        let mut starts = copies(0u32, ((last >> 32) as u32 - first) as usize + 2)?;
        let mut changes = Vec::new();
        reserve(&mut changes, keys.len())?;
        for equal in keys.chunk_by(|a, b| a == b).filter(|equal| equal.len() % 2 == 1) {
            changes.push(equal[0] as u32);
            starts[(equal[0] >> 32) as usize + 1 - first as usize] += 1;
        }
        for row in 1..starts.len() {
            starts[row] += starts[row - 1];
        }
        Ok(Self { first, starts, changes })
    }

    #[inline]
    fn row(&self, y: u32) -> &[u32] {
        match y.checked_sub(self.first).and_then(|row| self.starts.get(row as usize..)) {
            Some(&[start, end, ..]) => &self.changes[start as usize..end as usize],
            _ => &[],
        }
    }
}

/// The cells of an axis that meet an interval, both with their ends.
fn touched(lattice: &MeshLattice, [low, high]: [i64; 2], size: u32) -> (i64, i64) {
    let first = ((low + (1 << lattice.bits) - 1) >> lattice.bits) - 1;
    (first.max(0), (high >> lattice.bits).min(i64::from(size) - 1))
}

/// A triangle in a plane of cells.
struct TrianglePlane {
    met: MetTriangle,
    bits: u32,
    z: i64,
}

impl TrianglePlane {
    /// True if the triangle meets one of these cells, both ends included.
    fn meets(&self, x: (i64, i64), y: (i64, i64)) -> bool {
        let units = |(first, last): (i64, i64)| [first << self.bits, (last + 1) << self.bits];
        self.met.meets(&[units(x), units(y), units((self.z, self.z))])
    }

    /// The cells of each row that it meets: they follow each other, since both are convex.
    fn runs(&self, x: (i64, i64), y: (i64, i64), runs: &mut Vec<(u64, u64)>) -> Result<(), Refused> {
        if !self.meets(x, y) {
            return Ok(());
        }
        if y.0 < y.1 {
            let middle = y.0 + (y.1 - y.0) / 2;
            self.runs(x, (y.0, middle), runs)?;
            return self.runs(x, (middle + 1, y.1), runs);
        }
        let first = self.first(x, y);
        let last = self.last((first, x.1), y);
        reserve(runs, 1)?;
        runs.push((key(y.0, first as u32), key(y.0, last as u32)));
        Ok(())
    }

    /// The first cell of a row that it meets, of some of which it meets one.
    fn first(&self, (mut low, mut high): (i64, i64), y: (i64, i64)) -> i64 {
        while low < high {
            let middle = low + (high - low) / 2;
            if self.meets((low, middle), y) { high = middle } else { low = middle + 1 }
        }
        low
    }

    /// The last one.
    fn last(&self, (mut low, mut high): (i64, i64), y: (i64, i64)) -> i64 {
        while low < high {
            let middle = low + (high - low + 1) / 2;
            if self.meets((middle, high), y) { low = middle } else { high = middle - 1 }
        }
        high
    }
}
