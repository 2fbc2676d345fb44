//! The rows of a tree as arrays that a page holds: packed by zlib, which browsers unpack, and written as base64.

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;

use orthant::Tree;
use orthant::tree::{Parts, Provenance, TreeRegion};

use crate::error::Error;

/// Added to a row's provenance if it is a leaf.
const LEAF: u8 = 128;

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
    level: ZlibEncoder<Vec<u8>>,
    how: ZlibEncoder<Vec<u8>>,
    value: ZlibEncoder<Vec<u8>>,
    cells: ZlibEncoder<Vec<u8>>,
    position: Vec<ZlibEncoder<Vec<u8>>>,
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
                packer.add(&part, region).map_err(refused)?;
                if packer.text_bytes() > room {
                    return Ok(None);
                }
            }
            rows += part.len() as u64;
        }
        let arrays = packer.finish(rows).map_err(refused)?;
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
        let packer = || ZlibEncoder::new(Vec::new(), Compression::best());
        let [level, how, value, cells] = std::array::from_fn(|_| packer());
        Self { level, how, value, cells, position: (0..k).map(|_| packer()).collect(), position_bytes }
    }

    fn add<const K: usize>(&mut self, tree: &Tree<K>, region: TreeRegion<'_, K>) -> std::io::Result<()> {
        let level = region.level();
        self.level.write_all(&[level as u8])?;
        let brick = region.brick();
        let leaf = if brick.is_some() { LEAF } else { 0 };
        let how = Provenance::ALL.iter().position(|&known| known == region.provenance()).expect("all are listed");
        self.how.write_all(&[how as u8 | leaf])?;
        let coords = tree.plan().levels()[level as usize].coords(region.cells().corner);
        for (packer, coord) in self.position.iter_mut().zip(coords) {
            packer.write_all(&coord.to_le_bytes()[..self.position_bytes as usize])?;
        }
        let word = region.uniform().unwrap_or(0);
        self.value.write_all(&word.to_le_bytes()[..tree.kind().bytes() as usize])?;
        match brick {
            Some(brick) => tree.bricks().le_bytes(brick, |bytes| self.cells.write_all(bytes)),
            None => Ok(()),
        }
    }

    fn packers(&mut self) -> impl Iterator<Item = (String, &mut ZlibEncoder<Vec<u8>>)> {
        let own = [
            ("level".into(), &mut self.level),
            ("how".into(), &mut self.how),
            ("value".into(), &mut self.value),
            ("cells".into(), &mut self.cells),
        ];
        let axes = self.position.iter_mut().enumerate();
        own.into_iter().chain(axes.map(|(j, packer)| (format!("position{j}"), packer)))
    }

    /// What has been packed so far, as base64.
    fn text_bytes(&mut self) -> u64 {
        self.packers().map(|(_, packer)| packer.get_ref().len() as u64 * 4 / 3).sum()
    }

    fn finish(mut self, rows: u64) -> std::io::Result<Arrays> {
        let text = |(name, packer): (String, &mut ZlibEncoder<Vec<u8>>)| {
            packer.try_finish()?;
            Ok((name, base64(packer.get_ref())))
        };
        let texts = self.packers().map(text).collect::<std::io::Result<_>>()?;
        Ok(Arrays { rows, position: self.position_bytes, texts })
    }
}

/// Bytes as RFC 4648 writes them.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits = group.iter().chain([&0; 3]).take(3).fold(0, |bits, &byte| bits << 8 | u32::from(byte));
        for digit in 0..4 {
            let at = (bits >> (18 - 6 * digit)) & 63;
            text.push(if digit > group.len() { '=' } else { DIGITS[at as usize].into() });
        }
    }
    text
}

fn refused(error: std::io::Error) -> Error {
    Error::System(format!("packing the page: {error}"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn base64_is_that_of_the_rfc() {
        let known =
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE=")];
        for (bytes, text) in known {
            assert_eq!(super::base64(bytes.as_bytes()), text);
        }
        assert_eq!(super::base64(&[0xfb, 0xff, 0xbf]), "+/+/");
    }
}
