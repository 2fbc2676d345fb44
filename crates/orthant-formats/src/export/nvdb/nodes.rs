//! The domain cut into nodes and tiles.

use crate::export::boxes::Boxes;
use crate::export::error::ExportError;
use crate::export::nvdb::active::{Active, joined, of_word};
use crate::export::nvdb::layout::Values;
use crate::export::nvdb::leaf::VdbLeaf;
use crate::export::read_box::ReadBox;
use orthant::geometry::Region;
use orthant::parallel;
use orthant::per_axis;

/// Cells along a leaf, a lower and an upper node.
pub(super) const SIDES: [u32; 3] = [8, 128, 4096];

/// Children along a lower and an upper node.
pub(super) const CHILDREN: [u32; 2] = [16, 32];

/// What lies in a place of a node.
#[derive(Debug, Clone, Copy)]
pub(super) enum VdbEntry {
    /// A box of one value.
    Tile(u64),
    /// A node, by its number among those of its height.
    Child(usize),
}

/// A lower or an upper node; entries with the last axis fastest.
#[derive(Debug)]
pub(super) struct VdbNode {
    pub(super) entries: Vec<VdbEntry>,
    pub(super) active: Option<Active>,
}

/// All nodes of a domain.
#[derive(Debug, Default)]
pub(super) struct VdbNodes {
    /// What the root has, by the first cell of each.
    pub(super) root: Vec<([u32; 3], VdbEntry)>,
    pub(super) upper: Vec<VdbNode>,
    pub(super) lower: Vec<VdbNode>,
    pub(super) leaves: Vec<VdbLeaf>,
    /// Active tiles of lower nodes, upper nodes and the root.
    pub(super) tiles: [u64; 3],
    /// Active cells, in tiles too.
    pub(super) cells: u64,
    pub(super) active: Option<Active>,
}

/// What cuts cells.
pub(super) struct VdbCutter<'b, const K: usize> {
    boxes: &'b dyn Boxes<K>,
    values: Values,
    size: [u32; 3],
}

/// A lower node on its own, whose children are counted from 0; or a tile in its place.
enum Lower {
    Tile(u64),
    Node(VdbNode, Vec<VdbLeaf>),
}

impl<'b, const K: usize> VdbCutter<'b, K> {
    /// Of a domain of three axes.
    pub(super) fn new(boxes: &'b dyn Boxes<K>, values: Values) -> Self {
        Self { boxes, values, size: per_axis::each(|j| boxes.size()[j]) }
    }

    /// The part of a box that lies in the domain, and whether it is all of it.
    fn clip(&self, corner: [u32; 3], side: u32) -> Option<(Region<3>, bool)> {
        let extent: [u32; 3] = per_axis::each(|j| self.size[j].saturating_sub(corner[j]).min(side));
        (!extent.contains(&0)).then(|| (Region { corner, extent }, extent == [side; 3]))
    }

    fn region(part: &Region<3>) -> Region<K> {
        Region { corner: per_axis::each(|j| part.corner[j]), extent: per_axis::each(|j| part.extent[j]) }
    }

    /// The value of a tile in place of a box, if that is known without looking at cells.
    fn tile(&self, corner: [u32; 3], side: u32) -> Result<Option<u64>, ExportError> {
        let Some((part, whole)) = self.clip(corner, side) else { return Ok(Some(0)) };
        let known = self.boxes.known(&Self::region(&part)).map_err(ExportError::Read)?;
        Ok(known.filter(|&word| whole || word == 0))
    }

    fn lower(&self, corner: [u32; 3]) -> Result<Lower, ExportError> {
        if let Some(word) = self.tile(corner, SIDES[1])? {
            return Ok(Lower::Tile(word));
        }
        let (part, _) = self.clip(corner, SIDES[1]).expect("what is not there is a tile");
        let read = ReadBox::of(self.boxes, Self::region(&part))?;
        let word = |cell: [u32; 3]| read.word(per_axis::each(|j| cell[j]));
        let (mut entries, mut leaves, mut active) = (Vec::with_capacity(4096), Vec::new(), None);
        for number in 0..CHILDREN[0].pow(3) {
            let corner = child(corner, number, CHILDREN[0], SIDES[0]);
            let leaf = self.leaf(corner, word);
            let (entry, here) = match leaf {
                Ok(leaf) => {
                    let here = Some(leaf.active);
                    leaves.push(leaf);
                    (VdbEntry::Child(leaves.len() - 1), here)
                }
                Err(word) => (VdbEntry::Tile(word), Active::tile(corner, SIDES[0], word, self.values)),
            };
            entries.push(entry);
            active = Active::join(active, here, self.values);
        }
        match active {
            None => Ok(Lower::Tile(0)),
            active => Ok(Lower::Node(VdbNode { entries, active }, leaves)),
        }
    }

    /// A leaf, or the value of a tile.
    fn leaf(&self, corner: [u32; 3], word: impl Fn([u32; 3]) -> u64) -> Result<VdbLeaf, u64> {
        let (part, whole) = self.clip(corner, SIDES[0]).ok_or(0u64)?;
        let mut words = [0; 512];
        let (mut low, mut high, mut range) = (corner.map(|c| c + SIDES[0]), corner, None);
        for cell in part.cells() {
            let place = (0..3).fold(0, |place, j| place << 3 | (cell[j] - corner[j]) as usize);
            words[place] = word(cell);
            if words[place] != 0 {
                low = per_axis::each(|j| low[j].min(cell[j]));
                high = per_axis::each(|j| high[j].max(cell[j]));
                range = joined(range, of_word(words[place], self.values), self.values);
            }
        }
        let none = words.iter().all(|&word| word == 0);
        if none || (whole && words.iter().all(|&word| word == words[0])) {
            return Err(words[0]);
        }
        Ok(VdbLeaf::new(self.values, &words, Active { low, high, range }))
    }
}

/// The first cell of a child.
fn child(corner: [u32; 3], number: u32, children: u32, side: u32) -> [u32; 3] {
    let at = [number / (children * children), number / children % children, number % children];
    // Saturates beyond all domains.
    per_axis::each(|j| corner[j].saturating_add(at[j] * side))
}

impl VdbNodes {
    /// Cuts all cells.
    pub(super) fn of<const K: usize>(cutter: &VdbCutter<'_, K>) -> Result<Self, ExportError> {
        let mut nodes = Self::default();
        let uppers = Region { corner: [0; 3], extent: cutter.size.map(|n| n.div_ceil(SIDES[2])) };
        // By their keys, in which the first axis counts most.
        let mut corners: Vec<[u32; 3]> = uppers.cells().map(|at| at.map(|p| p * SIDES[2])).collect();
        corners.sort_unstable();
        for corner in corners {
            match cutter.tile(corner, SIDES[2])? {
                Some(0) => {}
                Some(word) => {
                    nodes.root.push((corner, VdbEntry::Tile(word)));
                    nodes.tiles[2] += 1;
                    nodes.cells += u64::from(SIDES[2]).pow(3);
                    nodes.active =
                        Active::join(nodes.active, Active::tile(corner, SIDES[2], word, cutter.values), cutter.values);
                }
                None => nodes.upper(cutter, corner)?,
            }
        }
        Ok(nodes)
    }

    fn upper<const K: usize>(&mut self, cutter: &VdbCutter<'_, K>, corner: [u32; 3]) -> Result<(), ExportError> {
        let lower = |number| cutter.lower(child(corner, number as u32, CHILDREN[1], SIDES[1]));
        let lowers = parallel::try_map(CHILDREN[1].pow(3) as usize, &lower)?;
        let (mut entries, mut active) = (Vec::with_capacity(lowers.len()), None);
        for (number, lower) in lowers.into_iter().enumerate() {
            let (entry, here) = match lower {
                Lower::Tile(word) => {
                    let corner = child(corner, number as u32, CHILDREN[1], SIDES[1]);
                    self.tiles[1] += u64::from(word != 0);
                    self.cells += u64::from(word != 0) * u64::from(SIDES[1]).pow(3);
                    (VdbEntry::Tile(word), Active::tile(corner, SIDES[1], word, cutter.values))
                }
                Lower::Node(node, leaves) => (VdbEntry::Child(self.lower.len()), self.append(node, leaves)),
            };
            entries.push(entry);
            active = Active::join(active, here, cutter.values);
        }
        if active.is_some() {
            self.root.push((corner, VdbEntry::Child(self.upper.len())));
            self.upper.push(VdbNode { entries, active });
            self.active = Active::join(self.active, active, cutter.values);
        }
        Ok(())
    }

    fn append(&mut self, mut node: VdbNode, leaves: Vec<VdbLeaf>) -> Option<Active> {
        for entry in &mut node.entries {
            match entry {
                VdbEntry::Child(number) => *number += self.leaves.len(),
                VdbEntry::Tile(0) => {}
                VdbEntry::Tile(_) => {
                    self.tiles[0] += 1;
                    self.cells += u64::from(SIDES[0]).pow(3);
                }
            }
        }
        self.cells += leaves.iter().map(|leaf| leaf.cells).sum::<u64>();
        self.leaves.extend(leaves);
        let active = node.active;
        self.lower.push(node);
        active
    }
}
