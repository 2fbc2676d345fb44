//! The grid as a file has it: what is said of it, the tree, the root, and nodes by height.

use std::io::Write;

use crate::export::error::ExportError;
use crate::export::nvdb::active::Active;
use crate::export::nvdb::layout::{ALIGNED, Structure, Values, bits};
use crate::export::nvdb::leaf::VdbLeaf;
use crate::export::nvdb::nodes::{VdbEntry, VdbNode, VdbNodes};
use crate::export::vtk::{origin_and_spacing, three};
use orthant::geometry::Domain;
use orthant::memory::reserve;
use orthant::per_axis;

const MAGIC: u64 = u64::from_le_bytes(*b"NanoVDB0");
/// 32.4.2, in 11, 11 and 10 bits.
const VERSION: u32 = 32 << 21 | 4 << 10 | 2;
/// Nodes know the box of their active values, and its least and greatest; they lie by height.
const FLAGS: u32 = 1 << 1 | 1 << 2 | 1 << 5;
const NAME: &[u8] = b"value\0";
/// Bytes of what is said of a grid.
const GRID_BYTES: usize = 672;
const TREE_BYTES: usize = 64;

/// A grid on its way.
pub(super) struct VdbGrid<'n> {
    pub(super) values: Values,
    pub(super) nodes: &'n VdbNodes,
}

/// Where a grid has its parts.
struct Places {
    root: usize,
    /// Leaves, lower and upper nodes: where the first is, and how long each is.
    nodes: [(usize, usize); 3],
    end: usize,
}

impl Places {
    fn node(&self, height: usize, number: usize) -> usize {
        let (first, each) = self.nodes[height];
        first + number * each
    }
}

/// What lies where in space.
struct Placement {
    spacing: [f64; 3],
    /// Where the middle of cell 0 is.
    middle: [f64; 3],
    /// The box of active cells, in space; the ends change places if there are none.
    world: [[f64; 3]; 2],
}

impl Placement {
    fn of<const K: usize>(domain: &Domain<K>, active: Option<Active>) -> Self {
        let (origin, spacing) = origin_and_spacing(domain);
        let middle = three(std::array::from_fn::<_, 3, _>(|j| 0.5f64.mul_add(spacing[j], origin[j])), 0.0);
        let at =
            |cell: [u32; 3], more: f64| per_axis::each(|j| (f64::from(cell[j]) + more).mul_add(spacing[j], middle[j]));
        let world = active.map_or([[f64::MAX; 3], [f64::MIN; 3]], |active| [at(active.low, 0.0), at(active.high, 1.0)]);
        Self { spacing, middle, world }
    }
}

impl VdbGrid<'_> {
    /// Writes the file: what is in it, the name of the grid, and the grid.
    pub(super) fn write<const K: usize>(&self, domain: &Domain<K>, out: &mut dyn Write) -> Result<(), ExportError> {
        let geometry = Placement::of(domain, self.nodes.active);
        let grid = self.grid(&geometry)?;
        let mut file = Structure::default();
        file.field(MAGIC.to_le_bytes());
        file.field(VERSION.to_le_bytes());
        // One grid, not compressed.
        file.fields([1u16, 0].map(u16::to_le_bytes));
        file.fields([grid.len() as u64, grid.len() as u64, name_key(), self.nodes.cells].map(u64::to_le_bytes));
        file.fields([self.values.grid_type, 0].map(u32::to_le_bytes));
        file.fields(geometry.world.as_flattened().iter().map(|at| at.to_le_bytes()));
        file.fields(ends(self.nodes.active));
        file.fields(geometry.spacing.map(f64::to_le_bytes));
        file.field((NAME.len() as u32).to_le_bytes());
        file.fields(self.counts().into_iter().chain([1]).map(|count| (count as u32).to_le_bytes()));
        file.fields(self.nodes.tiles.map(|tiles| (tiles as u32).to_le_bytes()));
        file.fields([0u16; 2].map(u16::to_le_bytes));
        file.field(VERSION.to_le_bytes());
        file.0.extend(NAME);
        out.write_all(&file.0).and_then(|()| out.write_all(&grid)).map_err(ExportError::Write)
    }

    /// Leaves, lower and upper nodes.
    fn counts(&self) -> [usize; 3] {
        [self.nodes.leaves.len(), self.nodes.lower.len(), self.nodes.upper.len()]
    }

    fn places(&self) -> Places {
        let root = GRID_BYTES + TREE_BYTES;
        let upper = root + self.root_bytes(None).0.len();
        let nothing =
            |entries: u32| VdbNode { entries: vec![VdbEntry::Tile(0); entries.pow(3) as usize], active: None };
        let none = Places { root, nodes: [(0, 0); 3], end: 0 };
        let length = |node: &VdbNode| self.node_bytes(node, 0, 0, &none).0.len();
        let [leaf, low, up] = [VdbLeaf::bytes_of(self.values), length(&nothing(16)), length(&nothing(32))];
        let counts = self.counts();
        let lower = upper + counts[2] * up;
        let leaves = lower + counts[1] * low;
        Places { root, nodes: [(leaves, leaf), (lower, low), (upper, up)], end: leaves + counts[0] * leaf }
    }

    fn grid(&self, geometry: &Placement) -> Result<Vec<u8>, ExportError> {
        let places = self.places();
        let mut bytes = Vec::new();
        reserve(&mut bytes, places.end)?;
        bytes.extend(self.grid_bytes(geometry, places.end).0);
        bytes.extend(self.tree_bytes(&places).0);
        bytes.extend(self.root_bytes(Some(&places)).0);
        let head = crc32fast::hash(&bytes[16..]);
        // The checksum of the checksums of all nodes.
        let mut tail = crc32fast::Hasher::new();
        let mut node = |node: &[u8], checksum: u32| {
            tail.update(&u64::from(checksum).to_le_bytes());
            bytes.extend(node);
        };
        for (height, nodes) in [(2, &self.nodes.upper), (1, &self.nodes.lower)] {
            for (number, found) in nodes.iter().enumerate() {
                let found = self.node_bytes(found, height, places.node(height, number), &places);
                node(&found.0, crc32fast::hash(&found.0));
            }
        }
        for leaf in &self.nodes.leaves {
            node(&leaf.bytes, leaf.checksum);
        }
        let tail = if self.nodes.root.is_empty() { u32::MAX } else { tail.finalize() };
        bytes[8..16].copy_from_slice(&(u64::from(tail) << 32 | u64::from(head)).to_le_bytes());
        Ok(bytes)
    }

    fn grid_bytes(&self, geometry: &Placement, end: usize) -> Structure {
        let mut grid = Structure::default();
        // The checksum is there when all else is.
        grid.fields([MAGIC, 0].map(u64::to_le_bytes));
        grid.fields([VERSION, FLAGS, 0, 1].map(u32::to_le_bytes));
        grid.field((end as u64).to_le_bytes());
        grid.0.extend(NAME);
        grid.0.resize(40 + 256, 0);
        // From cells to space and back, in single and double precision.
        let (there, back) = (diagonal(geometry.spacing), diagonal(geometry.spacing.map(f64::recip)));
        let single = |of: &[f64]| of.iter().map(|&number| (number as f32).to_le_bytes()).collect::<Vec<_>>();
        let double = |of: &[f64]| of.iter().map(|&number| number.to_le_bytes()).collect::<Vec<_>>();
        let map = [&there[..], &back, &geometry.middle, &[1.0]];
        map.iter().for_each(|part| grid.fields(single(part)));
        map.iter().for_each(|part| grid.fields(double(part)));
        grid.fields(double(geometry.world.as_flattened()));
        grid.fields(double(&geometry.spacing));
        grid.fields([0, self.values.grid_type].map(u32::to_le_bytes));
        // No data beside the grid.
        grid.field((end as u64).to_le_bytes());
        grid.0.resize(GRID_BYTES, 0);
        grid
    }

    fn tree_bytes(&self, places: &Places) -> Structure {
        let mut tree = Structure::default();
        let counts = self.counts();
        for height in 0..3 {
            // NanoVDB's manager of nodes wants a place even where there are none.
            let offset = if self.nodes.root.is_empty() { 0 } else { places.nodes[height].0 - GRID_BYTES };
            tree.field((offset as u64).to_le_bytes());
        }
        tree.field(((places.root - GRID_BYTES) as u64).to_le_bytes());
        tree.fields(counts.map(|count| (count as u32).to_le_bytes()));
        tree.fields(self.nodes.tiles.map(|tiles| (tiles as u32).to_le_bytes()));
        tree.field(self.nodes.cells.to_le_bytes());
        tree
    }

    /// The root, and what it has; before places are known, as long as it will be.
    fn root_bytes(&self, places: Option<&Places>) -> Structure {
        let mut root = Structure::default();
        root.fields(ends(self.nodes.active));
        root.field((self.nodes.root.len() as u32).to_le_bytes());
        // Of cells beyond the domain.
        root.value(self.values, 0);
        root.range(self.values, range(self.nodes.active));
        root.align(ALIGNED);
        for &([x, y, z], entry) in &self.nodes.root {
            let key = |cell: u32| u64::from(cell >> 12);
            root.field((key(x) << 42 | key(y) << 21 | key(z)).to_le_bytes());
            let (child, word) = match entry {
                VdbEntry::Tile(word) => (0, word),
                VdbEntry::Child(number) => (places.map_or(0, |places| places.node(2, number) - places.root), 0),
            };
            root.field((child as u64).to_le_bytes());
            root.field(u32::from(word != 0).to_le_bytes());
            root.value(self.values, word);
            root.align(ALIGNED);
        }
        root
    }

    fn node_bytes(&self, node: &VdbNode, height: usize, here: usize, places: &Places) -> Structure {
        let mut bytes = Structure::default();
        bytes.fields(ends(node.active));
        bytes.field(0u64.to_le_bytes());
        bytes.fields(bits(node.entries.iter().map(|entry| matches!(entry, VdbEntry::Tile(1..)))));
        bytes.fields(bits(node.entries.iter().map(|entry| matches!(entry, VdbEntry::Child(_)))));
        bytes.range(self.values, range(node.active));
        bytes.align(ALIGNED);
        for entry in &node.entries {
            match *entry {
                VdbEntry::Tile(word) => bytes.0.extend(self.values.bytes(word)),
                VdbEntry::Child(number) => {
                    bytes.0.extend(((places.node(height - 1, number) - here) as u64).to_le_bytes())
                }
            }
        }
        bytes
    }
}

fn diagonal([x, y, z]: [f64; 3]) -> [f64; 9] {
    [x, 0.0, 0.0, 0.0, y, 0.0, 0.0, 0.0, z]
}

/// Both ends of a box of cells; of none, the wrong way round.
fn ends(active: Option<Active>) -> impl Iterator<Item = [u8; 4]> {
    let ends = active
        .map_or([[i32::MAX; 3], [i32::MIN; 3]], |active| [active.low, active.high].map(|end| end.map(|c| c as i32)));
    ends.into_iter().flatten().map(i32::to_le_bytes)
}

fn range(active: Option<Active>) -> [u64; 2] {
    active.and_then(|active| active.range).unwrap_or_default()
}

/// The key of the name, as NanoVDB makes it.
fn name_key() -> u64 {
    NAME.iter()
        .take_while(|&&byte| byte != 0)
        .fold(0u64, |key, &byte| key.wrapping_mul(67).wrapping_add(u64::from(byte) + (key >> 56)))
}
