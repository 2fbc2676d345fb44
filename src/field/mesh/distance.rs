//! A signed distance in a band about a closed mesh.

use std::sync::Arc;

use crate::abi::device_struct;
use crate::cell::{CellType, WordsMut};
use crate::field::definition::{Evaluate, Field, Payload, Prove};
use crate::field::error::FieldError;
use crate::field::labels::Labels;
use crate::field::mesh::blocks::{BlocksPart, NearBlocks, OfBlocks};
use crate::field::mesh::lattice::MeshLattice;
use crate::field::mesh::nearest::Edges;
use crate::field::mesh::rows::{MeshRows, OfPlanes};
use crate::field::twin::DeviceTwin;
use crate::geometry::{Domain, Region};
use crate::rule::Verdict;

/// The usual width of the band, in the longest edges of cells.
pub(crate) const BAND: u32 = 3;

/// Distances of samples from a mesh in its units, negative inside, and the width of the band beyond.
pub(super) struct MeshDistance {
    /// The cells inside.
    rows: Arc<MeshRows>,
    blocks: Arc<NearBlocks>,
    /// Bits of a cell of the lattice, and units from its corner to its sample.
    bits: u32,
    offset: u32,
    /// The width of the band in units of the mesh.
    beyond: f32,
}

device_struct! {
    /// The rows of the cells inside as in `MeshArgs`; the blocks of planes, rows, places and lists; triangles; edges of cells, their
    /// longest, units of the lattice, the band.
    struct DistanceArgs {
        planes: u64,
        starts: u64,
        changes: u64,
        first: u32,
        count: u32,
        block_planes: u64,
        block_rows: u64,
        block_places: u64,
        block_lists: u64,
        triangles: u64,
        first_block: u32,
        count_blocks: u32,
        side: [f64; 3],
        unit: [f64; 3],
        longest: f64,
        band: f64,
        bits: u32,
        offset: u32,
        beyond: f32,
        padding: u32,
    }
}

impl MeshDistance {
    /// The distance whose sign says what `rows` hold, in a band of `band` longest edges of cells. All that is near has at most `limit` bytes.
    pub(super) fn open(
        rows: MeshRows,
        lattice: &MeshLattice,
        domain: &Domain<3>,
        band: u32,
        limit: u64,
    ) -> Result<Self, FieldError> {
        let edges = Edges::of(lattice, domain);
        let beyond = (f64::from(band) * edges.longest) as f32;
        if !beyond.is_normal() {
            return Err(FieldError::Distances { edge: edges.longest, band });
        }
        let blocks = NearBlocks::new(lattice, edges, band.into(), limit);
        let what = "the triangles near cells of a mesh";
        let blocks = blocks.map_err(|refused| FieldError::Memory { what, need: refused.bytes })?;
        let (bits, offset) = blocks.lattice();
        Ok(Self { rows: rows.into(), blocks: blocks.into(), bits, offset, beyond })
    }

    /// The distance with its sign. A sample on the surface has 0, which has none.
    #[inline]
    fn signed(distance: f32, inside: bool) -> f32 {
        if inside && distance > 0.0 { -distance } else { distance }
    }

    #[inline]
    fn distance(&self, cell: [u32; 3]) -> f32 {
        let (least, band) = (self.blocks.nearest(cell), self.blocks.band);
        if least < band * band { (least.sqrt() * self.blocks.edges.longest) as f32 } else { self.beyond }
    }
}

impl Field<3> for MeshDistance {
    fn labels(&self) -> Labels {
        Labels::values(CellType::F32)
    }

    fn host(&self) -> Option<&dyn Evaluate<3>> {
        Some(self)
    }

    fn prover(&self) -> Option<&dyn Prove<3>> {
        Some(self)
    }

    fn twin(&self) -> Option<DeviceTwin> {
        let (planes, block_planes) = (self.rows.table(), self.blocks.table());
        let args = DistanceArgs {
            first: self.rows.first,
            count: planes.len() as u32,
            first_block: self.blocks.first,
            count_blocks: block_planes.len() as u32,
            side: self.blocks.edges.side,
            unit: self.blocks.edges.unit,
            longest: self.blocks.edges.longest,
            band: self.blocks.band,
            bits: self.bits,
            offset: self.offset,
            beyond: self.beyond,
            ..DistanceArgs::default()
        };
        let of_planes = |changes| Arc::new(OfPlanes { rows: self.rows.clone(), changes });
        let of_blocks = |part| Arc::new(OfBlocks { blocks: self.blocks.clone(), part });
        let twin = DeviceTwin::built_in("fields/mesh_distance.cuh", &args).proves();
        let twin =
            twin.with("planes", Arc::new(planes)).with("starts", of_planes(false)).with("changes", of_planes(true));
        let twin = twin.with("block_planes", Arc::new(block_planes)).with("triangles", self.blocks.triangles.clone());
        let parts = [
            ("block_rows", BlocksPart::Rows),
            ("block_places", BlocksPart::Places),
            ("block_lists", BlocksPart::Lists),
        ];
        Some(parts.into_iter().fold(twin, |twin, (name, part)| twin.with(name, of_blocks(part))))
    }
}

impl Evaluate<3> for MeshDistance {
    fn evaluate(&self, cells: &[[u32; 3]], labels: WordsMut<'_>) {
        labels.put(cells.iter().map(|&cell| Self::signed(self.distance(cell), self.rows.holds(cell))));
    }
}

/// A region is uniform if none of its samples is in the band: the surface cannot run between two of them, since the band is at least
/// an edge of a cell wide. Of others nothing is known.
impl Prove<3> for MeshDistance {
    fn prove(&self, region: &Region<3>, _: Payload) -> Verdict {
        if !self.blocks.none_in(region) {
            return Verdict::Unknown;
        }
        Verdict::Uniform(Self::signed(self.beyond, self.rows.holds(region.corner)).to_bits().into())
    }
}
