//! The triangles that are near: for each block of 4³ cells those from which a sample of it may be nearest, within the band.
//!
//! A block without triangles has no sample in the band, so that a region of such blocks is uniform without a look at its cells. There are
//! about n² blocks with triangles. A list may have more triangles than a cell needs, never fewer, and the least of the distances from
//! them does not depend on which.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytemuck::cast_slice;

use crate::field::mesh::by_plane::TrianglesByPlane;
use crate::field::mesh::crossing::samples;
use crate::field::mesh::lattice::{MeshLattice, span};
use crate::field::mesh::nearest::{Edges, NearTriangle, near_triangle, squared};
use crate::field::twin::DeviceContent;
use crate::geometry::Region;
use crate::memory::{Refused, reserve};
use crate::parallel;

/// Cells of a block along an axis, as a power of two.
pub(super) const BLOCK_BITS: u32 = 2;
const BLOCK: i64 = 1 << BLOCK_BITS;

/// A triangle of a list, and the bits of an f32: the block's centre is at least so far away from it. The nearest is the first.
type ListedTriangle = [u32; 2];

/// More than all that rounding takes from a distance: a share of it, and a part of an edge.
const SLACK: f64 = 1e-6;

/// The blocks of a mesh.
#[derive(Debug)]
pub(super) struct NearBlocks {
    pub(super) edges: Edges,
    /// The width of the band, in the longest edges of cells.
    pub(super) band: f64,
    /// Bits of a cell, and units from its corner to its sample.
    bits: u32,
    offset: i64,
    /// From the centre of a block to its farthest samples.
    radius: f64,
    size: [u32; 3],
    /// The first plane of blocks that has any.
    pub(super) first: u32,
    planes: Vec<PlaneBlocks>,
    pub(super) triangles: Arc<Vec<NearTriangle>>,
}

/// The blocks of a plane, row by row.
#[derive(Debug, Default)]
struct PlaneBlocks {
    /// The first row.
    first: u32,
    /// Where the blocks of each row begin, and where the last one's end.
    rows: Vec<u32>,
    /// The places of blocks in their rows, and where the list of each begins.
    places: Vec<[u32; 2]>,
    /// The lists one after the other.
    lists: Vec<ListedTriangle>,
}

/// What is put into a plane: row and place of a block, the bits of the distance, the triangle.
type Put = (u64, u32, u32);

impl NearBlocks {
    /// The blocks with a sample that is nearer than `band` longest edges of cells to a triangle. Triangles and lists have at most `limit`
    /// bytes together.
    pub(super) fn new(lattice: &MeshLattice, edges: Edges, band: f64, limit: u64) -> Result<Self, Refused> {
        let mut triangles = Vec::new();
        reserve(&mut triangles, lattice.triangles())?;
        let all = 0..lattice.triangles();
        triangles.extend(all.map(|triangle| near_triangle(&lattice.corners(triangle), edges.unit)));
        let (bits, offset) = (lattice.bits, lattice.offset);
        let radius = from_centre(&edges, [(BLOCK - 1) as f64 / 2.0; 3]);
        let (size, triangles) = (lattice.size, triangles.into());
        Self { edges, band, bits, offset, radius, size, first: 0, planes: Vec::new(), triangles }.filled(lattice, limit)
    }

    fn filled(mut self, lattice: &MeshLattice, limit: u64) -> Result<Self, Refused> {
        let held = AtomicU64::new(size_of::<NearTriangle>() as u64 * self.triangles.len() as u64);
        let reached = |triangle| self.reached(lattice, triangle, 2);
        let listed = TrianglesByPlane::new(|| (0..lattice.triangles()).map(reached))?;
        let planes = parallel::try_map(listed.planes(), &|plane| {
            let found = self.plane(lattice, listed.first + plane as i64, listed.of(plane))?;
            let bytes = found.bytes();
            match held.fetch_add(bytes, Ordering::Relaxed) + bytes {
                all if all > limit => Err(Refused { bytes: all.into() }),
                _ => Ok(found),
            }
        })?;
        (self.first, self.planes) = (listed.first as u32, planes);
        Ok(self)
    }

    /// The blocks along an axis with a sample that may be in the band of a triangle.
    fn reached(&self, lattice: &MeshLattice, triangle: usize, axis: usize) -> (i64, i64) {
        let [low, high] = span(&lattice.corners(triangle), axis);
        // In units of the lattice, and one more against rounding. Windows have less than 2^40 of them, and so has what matters of the band.
        let band = (self.band / self.edges.unit[axis]).min(2f64.powi(41)) as i64 + 1;
        let (first, last) = samples(lattice, [low - band, high + band], lattice.size[axis]);
        (first >> BLOCK_BITS, last >> BLOCK_BITS)
    }

    /// The blocks of a plane that these triangles come near.
    fn plane(&self, lattice: &MeshLattice, z: i64, triangles: &[u32]) -> Result<PlaneBlocks, Refused> {
        let mut put = Vec::new();
        for &triangle in triangles {
            let [x, y] = [0, 1].map(|axis| self.reached(lattice, triangle as usize, axis));
            if x.0 <= x.1 && y.0 <= y.1 {
                self.near(triangle, x, y, z, &mut put)?;
            }
        }
        put.sort_unstable();
        let (mut found, mut row) = (PlaneBlocks::default(), None);
        for block in put.chunk_by(|a, b| a.0 == b.0) {
            let (y, x) = ((block[0].0 >> 32) as u32, block[0].0 as u32);
            let nearest = f64::from(f32::from_bits(block[0].1));
            // Of a triangle that lies farther no sample is nearest.
            let last = nearest * (1.0 + SLACK) + 2.0 * self.radius + SLACK;
            let kept = block.partition_point(|&(_, bits, _)| f64::from(f32::from_bits(bits)) <= last);
            reserve(&mut found.lists, kept)?;
            let begin = found.lists.len();
            found.lists.extend(block[..kept].iter().map(|&(_, bits, triangle)| [triangle, bits]));
            if !self.in_band([x, y, z as u32], nearest, &found.lists[begin..]) {
                found.lists.truncate(begin);
                continue;
            }
            reserve(&mut found.places, 1)?;
            let first = *row.get_or_insert(y);
            reserve(&mut found.rows, (y - first) as usize + 1)?;
            // Rows between have none.
            found.rows.resize((y - first) as usize + 1, found.places.len() as u32);
            found.places.push([x, begin as u32]);
        }
        if let Some(first) = row {
            found.first = first;
            reserve(&mut found.rows, 1)?;
            found.rows.push(found.places.len() as u32);
            // The last list ends where the next one would begin.
            reserve(&mut found.places, 1)?;
            found.places.push([u32::MAX, found.lists.len() as u32]);
        }
        match found.places.len().max(found.lists.len()) {
            most if u32::try_from(most).is_err() => Err(Refused { bytes: most as u128 * 8 }),
            _ => Ok(found),
        }
    }

    /// True if a sample of a block with this list is in the band.
    fn in_band(&self, block: [u32; 3], nearest: f64, list: &[ListedTriangle]) -> bool {
        let corner = block.map(|place| place << BLOCK_BITS);
        let extent = [0, 1, 2].map(|j| (self.size[j] - corner[j]).min(BLOCK as u32));
        // A whole block has samples half a cell from its centre.
        if extent == [BLOCK as u32; 3] && nearest < self.band - 1.0 {
            return true;
        }
        let band = self.band * self.band;
        Region { corner, extent }.cells().any(|cell| self.least(cell, list) < band)
    }

    /// Puts the blocks of a rectangle that a triangle comes near.
    fn near(&self, triangle: u32, x: (i64, i64), y: (i64, i64), z: i64, put: &mut Vec<Put>) -> Result<(), Refused> {
        let middle = [x, y, (z, z)].map(|(first, last)| {
            let sum = ((first + last) << BLOCK_BITS) + (BLOCK - 1);
            // The middle between the first sample and the last one.
            (sum << self.bits) as f64 / 2.0 + self.offset as f64
        });
        let away = squared(&self.triangles[triangle as usize], middle, self.edges.unit).sqrt();
        let half = [x, y, (z, z)].map(|(first, last)| (((last - first) << BLOCK_BITS) + (BLOCK - 1)) as f64 / 2.0);
        let radius = from_centre(&self.edges, half);
        if away > (self.band + radius) * (1.0 + SLACK) + SLACK {
            return Ok(());
        }
        let halves = |(first, last): (i64, i64)| {
            let middle = first + (last - first) / 2;
            [(first, middle), (middle + 1, last)]
        };
        if x.1 - x.0 > y.1 - y.0 {
            return halves(x).into_iter().try_for_each(|x| self.near(triangle, x, y, z, put));
        }
        if y.0 < y.1 {
            return halves(y).into_iter().try_for_each(|y| self.near(triangle, x, y, z, put));
        }
        reserve(put, 1)?;
        let least = (away * (1.0 - SLACK) - SLACK).max(0.0) as f32;
        put.push(((y.0 as u64) << 32 | x.0 as u64, least.to_bits(), triangle));
        Ok(())
    }

    /// Bits of a cell of the lattice, and units from its corner to its sample.
    pub(super) fn lattice(&self) -> (u32, u32) {
        (self.bits, self.offset as u32)
    }

    /// The list of a block.
    #[inline]
    fn list(&self, [x, y, z]: [u32; 3]) -> &[ListedTriangle] {
        let Some(plane) = self.plane_at(z) else { return &[] };
        let (row, begin) = plane.row(y);
        match row.binary_search_by_key(&x, |place| place[0]) {
            Ok(place) => {
                let [start, end] = [0, 1].map(|more| plane.places[begin + place + more][1] as usize);
                &plane.lists[start..end]
            }
            Err(_) => &[],
        }
    }

    #[inline]
    fn plane_at(&self, z: u32) -> Option<&PlaneBlocks> {
        self.planes.get(z.checked_sub(self.first)? as usize)
    }

    /// True if no sample of a region is in the band; false if one may be.
    pub(super) fn none_in(&self, region: &Region<3>) -> bool {
        let of = |j: usize| {
            let [first, last] = [region.corner[j], region.corner[j] + (region.extent[j] - 1)];
            (first >> BLOCK_BITS, last >> BLOCK_BITS)
        };
        let (x, y, z) = (of(0), of(1), of(2));
        let none = |plane: &PlaneBlocks, y: u32| {
            let (row, _) = plane.row(y);
            let at = row.partition_point(|place| place[0] < x.0);
            row.get(at).is_none_or(|place| place[0] > x.1)
        };
        (z.0..=z.1).filter_map(|z| self.plane_at(z)).all(|plane| (y.0..=y.1).all(|y| none(plane, y)))
    }

    /// The square of the distance of a cell's sample from the nearest triangle, in longest edges of cells; the square of the band if
    /// none is nearer.
    #[inline]
    pub(super) fn nearest(&self, cell: [u32; 3]) -> f64 {
        self.least(cell, self.list(cell.map(|at| at >> BLOCK_BITS)))
    }

    /// The same by the list of the cell's block.
    #[inline]
    fn least(&self, cell: [u32; 3], list: &[ListedTriangle]) -> f64 {
        let mut least = self.band * self.band;
        if list.is_empty() {
            return least;
        }
        let point = cell.map(|at| ((i64::from(at) << self.bits) + self.offset) as f64);
        let middle = (BLOCK - 1) as f64 / 2.0;
        let beside = from_centre(&self.edges, cell.map(|at| f64::from(at & (BLOCK as u32 - 1)) - middle));
        for &[triangle, away] in list {
            // A triangle is not nearer to a sample than that.
            let gap = f64::from(f32::from_bits(away)) - beside;
            if gap > 0.0 && gap * gap > least {
                break;
            }
            let other = squared(&self.triangles[triangle as usize], point, self.edges.unit);
            if other < least {
                least = other;
            }
        }
        least
    }

    /// Of each plane its first row, how many there are, and where its rows, its places and its lists begin among those of all planes.
    pub(super) fn table(&self) -> Vec<[u64; 5]> {
        let (mut rows, mut places, mut lists) = (0, 0, 0);
        let entry = |plane: &PlaneBlocks| {
            let count = plane.rows.len().saturating_sub(1) as u64;
            let entry = [plane.first.into(), count, rows, places, lists];
            rows += plane.rows.len() as u64;
            places += plane.places.len() as u64;
            lists += plane.lists.len() as u64;
            entry
        };
        self.planes.iter().map(entry).collect()
    }
}

/// The length of a vector that is given in cells.
#[inline]
fn from_centre(edges: &Edges, cells: [f64; 3]) -> f64 {
    let [x, y, z] = [cells[0] * edges.side[0], cells[1] * edges.side[1], cells[2] * edges.side[2]];
    (x * x + y * y + z * z).sqrt()
}

impl PlaneBlocks {
    fn bytes(&self) -> u64 {
        4 * self.rows.len() as u64 + 8 * (self.places.len() + self.lists.len()) as u64
    }

    /// The blocks of a row, and where they begin.
    #[inline]
    fn row(&self, y: u32) -> (&[[u32; 2]], usize) {
        match y.checked_sub(self.first).and_then(|row| self.rows.get(row as usize..)) {
            Some(&[start, end, ..]) => (&self.places[start as usize..end as usize], start as usize),
            _ => (&[], 0),
        }
    }
}

/// The parts of blocks, each of all planes: they go to a device from where they are.
#[derive(Debug, Clone, Copy)]
pub(super) enum BlocksPart {
    Rows,
    Places,
    Lists,
}

#[derive(Debug)]
pub(super) struct OfBlocks {
    pub(super) blocks: Arc<NearBlocks>,
    pub(super) part: BlocksPart,
}

impl DeviceContent for OfBlocks {
    fn pieces(&self) -> Box<dyn Iterator<Item = &[u8]> + '_> {
        Box::new(self.blocks.planes.iter().map(|plane| match self.part {
            BlocksPart::Rows => cast_slice(&plane.rows),
            BlocksPart::Places => cast_slice(&plane.places),
            BlocksPart::Lists => cast_slice(&plane.lists),
        }))
    }
}
