//! The rows of a tree as arrays that a page holds: packed by zlib, which browsers unpack, and written as base64.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use orthant::Tree;
use orthant::tree::{Parts, Provenance, TreeRegion};

use crate::error::Error;
use crate::output::packed::{Packed, pack};

/// Added to a row's provenance if it is a leaf.
const LEAF: u8 = 128;

/// Bytes that wait until all threads pack them.
const WAVE: usize = 1 << 25;

/// Packed arrays.
pub(super) struct Arrays {
    pub(super) rows: u64,
    /// Bytes of a region's coordinate on an axis: 1, 2 or 4.
    pub(super) position: u8,
    /// Each as base64 of zlib, little-endian, by its name: `level` and `how` have a byte per row, `position0`.. a coordinate on the row's
    /// level, `value` a cell (0 of leaves), and `cells` the bricks of leaves, in the order of rows.
    pub(super) texts: Vec<(String, String)>,
}

/// Arrays in the making.
struct Packer {
    level: Packed,
    how: Packed,
    value: Packed,
    cells: Packed,
    position: Vec<Packed>,
    position_bytes: u8,
}

impl Arrays {
    /// Packs all regions; None if they take more than `room` bytes of a page.
    pub(super) fn of<const K: usize>(tree: &dyn Parts<K>, room: u64) -> Result<Option<Self>, Error> {
        let mut packer = Packer::new(K, position_bytes(tree));
        let mut rows = 0;
        for index in 0..tree.parts() {
            let part = tree.part(index)?;
            for region in part.regions() {
                packer.add(&part, region);
                if packer.waiting() >= WAVE && packer.pack(false) > room {
                    return Ok(None);
                }
            }
            rows += part.len() as u64;
        }
        if packer.pack(true) > room {
            return Ok(None);
        }
        let arrays = packer.finish(rows);
        let bytes: u64 = arrays.texts.iter().map(|(_, text)| text.len() as u64).sum();
        Ok((bytes <= room).then_some(arrays))
    }

    /// Bytes of a row, unpacked.
    pub(super) fn row_bytes<const K: usize>(tree: &dyn Parts<K>) -> u128 {
        2 + u128::from(tree.kind().bytes()) + K as u128 * u128::from(position_bytes(tree))
    }
}

/// Bytes that the coordinates of regions take.
fn position_bytes<const K: usize>(tree: &dyn Parts<K>) -> u8 {
    let most = tree.plan().levels().iter().flat_map(|level| level.grid).max().expect("there is a level");
    match most {
        0..=0x100 => 1,
        0x101..=0x1_0000 => 2,
        _ => 4,
    }
}

impl Packer {
    fn new(k: usize, position_bytes: u8) -> Self {
        let [level, how, value, cells] = std::array::from_fn(|_| Packed::default());
        Self { level, how, value, cells, position: (0..k).map(|_| Packed::default()).collect(), position_bytes }
    }

    fn add<const K: usize>(&mut self, tree: &Tree<K>, region: TreeRegion<'_, K>) {
        let level = region.level();
        self.level.raw.push(level as u8);
        let brick = region.brick();
        let leaf = if brick.is_some() { LEAF } else { 0 };
        let how = Provenance::ALL.iter().position(|&known| known == region.provenance()).expect("all are listed");
        self.how.raw.push(how as u8 | leaf);
        let coords = tree.plan().levels()[level as usize].coords(region.cells().corner);
        for (position, coord) in self.position.iter_mut().zip(coords) {
            position.raw.extend_from_slice(&coord.to_le_bytes()[..self.position_bytes as usize]);
        }
        let word = region.uniform().unwrap_or(0);
        self.value.raw.extend_from_slice(&word.to_le_bytes()[..tree.kind().bytes() as usize]);
        if let Some(brick) = brick {
            let add = |bytes: &[u8]| {
                self.cells.raw.extend_from_slice(bytes);
                Ok::<_, std::convert::Infallible>(())
            };
            let Ok(()) = tree.bricks().le_bytes(brick, add);
        }
    }

    fn arrays(&mut self) -> impl Iterator<Item = (String, &mut Packed)> {
        let own = [
            ("level".into(), &mut self.level),
            ("how".into(), &mut self.how),
            ("value".into(), &mut self.value),
            ("cells".into(), &mut self.cells),
        ];
        let axes = self.position.iter_mut().enumerate();
        own.into_iter().chain(axes.map(|(j, array)| (format!("position{j}"), array)))
    }

    /// Bytes that are not packed yet.
    fn waiting(&self) -> usize {
        let own = [&self.level, &self.how, &self.value, &self.cells];
        own.into_iter().chain(&self.position).map(|array| array.raw.len()).sum()
    }

    /// Packs what fills pieces, or all of it, and returns how long the texts are then.
    fn pack(&mut self, all: bool) -> u64 {
        let mut arrays: Vec<&mut Packed> = self.arrays().map(|(_, array)| array).collect();
        pack(&mut arrays, all);
        arrays.iter().map(|array| array.packed.len() as u64 * 4 / 3).sum()
    }

    /// The texts, once everything is packed.
    fn finish(mut self, rows: u64) -> Arrays {
        let texts = self.arrays().map(|(name, array)| (name, STANDARD.encode(array.zlib()))).collect();
        Arrays { rows, position: self.position_bytes, texts }
    }
}
