//! Short tapes by place: a forest of regions, each with the tape that is left of a formula in it.
//!
//! It grows where regions are asked for proofs. Siblings are bounded in one pass, and those of which nothing is proven get
//! tapes of their own from what the pass chose. Cells and regions find the lowest tape that is right for them by their
//! coordinates, so that nobody hands tapes on.
//!
//! A node is divided as whoever asks first divides it: into equal parts along each axis, as levels are. Its tape is right in
//! the region that was asked about, which a rule may have enlarged; a region that sticks out of it takes a tape above.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::field::formula::shorten::ShortTape;
use crate::geometry::Region;

/// How far a forest grows.
#[derive(Debug, Clone, Copy)]
pub(super) struct ForestLimits {
    /// Clauses of a tape that is not worth another.
    pub(super) few_clauses: usize,
    /// Cells on a side of a region that is not divided.
    pub(super) least_side: u32,
    /// The most nodes.
    pub(super) nodes: usize,
    /// The most clauses of all nodes: 64 MiB.
    pub(super) clauses: usize,
}

impl ForestLimits {
    /// Those of a domain in k dimensions.
    pub(super) fn usual(k: usize) -> Self {
        const LEAST: [u32; 8] = [1 << 8, 16, 8, 4, 2, 2, 2, 2];
        Self { few_clauses: 64, least_side: LEAST[k - 1], nodes: 1 << 16, clauses: 1 << 23 }
    }
}

/// The most parts of a node.
const MOST_PARTS: u64 = 1 << 12;

/// The regions of a domain that have tapes of their own.
pub(super) struct FormulaForest<const K: usize> {
    size: [u32; K],
    root: FormulaRegion<K>,
    clauses: usize,
    nodes: AtomicUsize,
    all_clauses: AtomicUsize,
    limits: ForestLimits,
}

/// A region that a tape is right in.
pub(super) struct FormulaRegion<const K: usize> {
    region: Region<K>,
    /// Which part of how many it is, along each axis of the domain.
    place: [[u64; 2]; K],
    /// None: the one above is as short.
    tape: Option<ShortTape>,
    below: OnceLock<FormulaParts<K>>,
}

/// The parts of a region.
struct FormulaParts<const K: usize> {
    /// How many there are along each axis of the domain.
    pieces: [u64; K],
    /// The first one of this region, and how many of it.
    first: [u64; K],
    count: [u64; K],
    nodes: Vec<OnceLock<Box<FormulaRegion<K>>>>,
}

/// What a look-up found.
pub(super) struct FormulaPlace<'a, const K: usize> {
    pub(super) node: &'a FormulaRegion<K>,
    /// The tape; None: the whole one.
    pub(super) tape: Option<&'a ShortTape>,
    /// Cells for which there is no better one.
    pub(super) cells: Region<K>,
}

/// The first cell of part `part` of `pieces` on an axis with n cells.
fn start(part: u64, pieces: u64, n: u32) -> u32 {
    (part * u64::from(n) / pieces) as u32
}

/// The part of `pieces` that holds a cell.
#[inline]
fn part_of(cell: u32, pieces: u64, n: u32) -> u64 {
    ((u64::from(cell) + 1) * pieces - 1) / u64::from(n)
}

/// Into how many parts an axis of n cells divides part `place` of `pieces` of it, so that one of them begins at `corner` and has `extent`
/// cells, or one less.
fn division(n: u32, [place, pieces]: [u64; 2], corner: u32, extent: u32) -> Option<u64> {
    let width = start(place + 1, pieces, n) - start(place, pieces, n);
    let fits = |count: u64| {
        let pieces = pieces * count;
        if count == 0 || pieces > u64::from(n) {
            return false;
        }
        let part = part_of(corner, pieces, n);
        let side = start(part + 1, pieces, n) - start(part, pieces, n);
        start(part, pieces, n) == corner && (side == extent || side + 1 == extent)
    };
    let near = u64::from(width) / u64::from(extent);
    let more = u64::from(width).div_ceil(u64::from(extent.saturating_sub(1).max(1)));
    (near..=more.min(near + 8)).find(|&count| fits(count))
}

/// The number of parts, from the number along each axis. None if a node cannot have so many.
fn number_of(count: &[u64]) -> Option<usize> {
    let all = count.iter().try_fold(1u64, |all, &count| all.checked_mul(count))?;
    (2..=MOST_PARTS).contains(&all).then_some(all as usize)
}

fn longest(sides: &[u32]) -> u32 {
    sides.iter().copied().max().unwrap_or(0)
}

impl<const K: usize> FormulaForest<K> {
    /// A forest over a domain, of a tape with so many clauses.
    pub(super) fn new(size: [u32; K], clauses: usize, limits: ForestLimits) -> Self {
        let root = FormulaRegion {
            region: Region { corner: [0; K], extent: size },
            place: [[0, 1]; K],
            tape: None,
            below: OnceLock::new(),
        };
        Self { size, root, clauses, nodes: AtomicUsize::new(0), all_clauses: AtomicUsize::new(0), limits }
    }

    /// How many nodes it has below the whole domain.
    #[cfg(test)]
    pub(super) fn nodes(&self) -> usize {
        self.nodes.load(Ordering::Relaxed)
    }

    /// The lowest place whose tape is right in all of a region.
    pub(super) fn find(&self, region: &Region<K>) -> FormulaPlace<'_, K> {
        let mut found = FormulaPlace { node: &self.root, tape: None, cells: self.root.region };
        while let Some(parts) = found.node.below.get() {
            let (index, place) = parts.of(region.corner, self.size);
            match parts.nodes[index].get() {
                Some(node) if node.region.contains(region) => {
                    found = FormulaPlace { node, tape: node.tape.as_ref().or(found.tape), cells: node.region };
                }
                other => {
                    // Cells of the part, and of no other one.
                    let part = self.region(place);
                    found.cells = if other.is_none() { part } else { *region };
                    break;
                }
            }
        }
        found
    }

    /// The cells of parts of the domain.
    fn region(&self, place: [[u64; 2]; K]) -> Region<K> {
        let mut region = Region { corner: [0; K], extent: [0; K] };
        for j in 0..K {
            let [part, pieces] = place[j];
            region.corner[j] = start(part, pieces, self.size[j]);
            region.extent[j] = start(part + 1, pieces, self.size[j]) - region.corner[j];
        }
        region
    }

    /// True if nodes below one with this tape are worth their memory.
    fn grows(&self, place: &FormulaPlace<'_, K>) -> bool {
        let clauses = place.tape.map_or(self.clauses, |tape| tape.clauses.len());
        let limits = &self.limits;
        clauses > limits.few_clauses
            // An enlarged region has a layer more.
            && longest(&place.node.region.extent) > limits.least_side + 1
            && self.nodes.load(Ordering::Relaxed) < limits.nodes
            && self.all_clauses.load(Ordering::Relaxed) < limits.clauses
    }

    /// Which of some regions, none of which a lower place holds, are to have tapes of their own below a place.
    pub(super) fn wants(&self, place: &FormulaPlace<'_, K>, regions: &[Region<K>]) -> u16 {
        if !self.grows(place) {
            return 0;
        }
        let mut wanted = 0;
        for (lane, region) in regions.iter().enumerate() {
            let parts = match place.node.below.get() {
                Some(parts) => parts,
                None => match self.parts(place.node, region) {
                    Some(parts) => place.node.below.get_or_init(|| parts),
                    None => continue,
                },
            };
            let (index, part) = parts.of(region.corner, self.size);
            let part = self.region(part);
            let fits = part.corner == region.corner && region.contains(&part) && parts.nodes[index].get().is_none();
            wanted |= u16::from(fits) << lane;
        }
        wanted
    }

    /// The division of a node in which `region`, or all but its upper layer of cells, is a part.
    fn parts(&self, node: &FormulaRegion<K>, region: &Region<K>) -> Option<FormulaParts<K>> {
        let mut parts = FormulaParts { pieces: [0; K], first: [0; K], count: [0; K], nodes: Vec::new() };
        for j in 0..K {
            let [place, pieces] = node.place[j];
            let count = division(self.size[j], node.place[j], region.corner[j], region.extent[j])?;
            (parts.pieces[j], parts.first[j], parts.count[j]) = (pieces * count, place * count, count);
        }
        let mut nodes = Vec::new();
        nodes.resize_with(number_of(&parts.count)?, OnceLock::new);
        parts.nodes = nodes;
        Some(parts)
    }

    /// Gives a region that [`wants`](Self::wants) named its tape; None: it is the one of `place`.
    pub(super) fn grow(&self, place: &FormulaPlace<'_, K>, region: &Region<K>, tape: Option<ShortTape>) {
        let parts = place.node.below.get().expect("a region is wanted where there are parts");
        let (index, part) = parts.of(region.corner, self.size);
        let clauses = tape.as_ref().map_or(0, |tape| tape.clauses.len());
        let node = FormulaRegion { region: *region, place: part, tape, below: OnceLock::new() };
        // Another thread may have been faster.
        if parts.nodes[index].set(Box::new(node)).is_ok() {
            self.nodes.fetch_add(1, Ordering::Relaxed);
            self.all_clauses.fetch_add(clauses, Ordering::Relaxed);
        }
    }
}

impl<const K: usize> FormulaParts<K> {
    /// The part that holds a cell of the region: its number here, and which part of the domain it is.
    #[inline]
    fn of(&self, cell: [u32; K], size: [u32; K]) -> (usize, [[u64; 2]; K]) {
        let (mut index, mut place) = (0, [[0; 2]; K]);
        for j in (0..K).rev() {
            let part = part_of(cell[j], self.pieces[j], size[j]);
            // A cell of the layer above an enlarged region is in the last part.
            let inside = (part - self.first[j]).min(self.count[j] - 1);
            index = index * self.count[j] + inside;
            place[j] = [part, self.pieces[j]];
        }
        (index as usize, place)
    }
}
