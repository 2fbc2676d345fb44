//! One block of the domain cut in halves, down to boxes of one value.

use crate::export::boxes::Boxes;
use crate::export::error::ExportError;
use crate::export::read_box::ReadBox;
use orthant::CellType;
use orthant::geometry::Region;
use orthant::per_axis;
use orthant::rule::exact;

/// The side from which on cells are read; larger boxes are asked whether they have one value.
const READ: u64 = 64;

/// The vertices of a block, depth by depth.
#[derive(Default)]
pub(super) struct HyperTree {
    /// The first has one vertex; those of others lie in the order of their parents.
    pub(super) depths: Vec<VertexRow>,
}

/// The vertices of a depth.
#[derive(Default)]
pub(super) struct VertexRow {
    /// True of those that have children.
    pub(super) divided: Vec<bool>,
    /// True of those that lie beyond the domain.
    pub(super) masked: Vec<bool>,
    /// Their values.
    pub(super) words: Vec<u64>,
}

impl VertexRow {
    fn push(&mut self, vertex: Vertex) {
        self.divided.push(vertex.divided);
        self.masked.push(vertex.word.is_none());
        self.words.push(vertex.word.unwrap_or(0));
    }

    fn truncate(&mut self, len: usize) {
        self.divided.truncate(len);
        self.masked.truncate(len);
        self.words.truncate(len);
    }
}

/// What is known of a vertex when its children are.
#[derive(Clone, Copy)]
struct Vertex {
    divided: bool,
    /// The least value of its cells; None if it has none.
    word: Option<u64>,
}

impl HyperTree {
    /// The block of `side` cells along each axis whose first cell is `corner`.
    pub(super) fn of<const K: usize>(boxes: &dyn Boxes<K>, corner: [u64; K], side: u64) -> Result<Self, ExportError> {
        let mut tree = Self::default();
        let domain = boxes.domain().region();
        let root = Cutter { boxes, domain, kind: boxes.kind() }.cut(&mut tree, 0, corner, side, None)?;
        tree.at(0).push(root);
        Ok(tree)
    }

    fn at(&mut self, depth: usize) -> &mut VertexRow {
        while self.depths.len() <= depth {
            self.depths.push(VertexRow::default());
        }
        &mut self.depths[depth]
    }
}

struct Cutter<'b, const K: usize> {
    boxes: &'b dyn Boxes<K>,
    domain: Region<K>,
    kind: CellType,
}

impl<const K: usize> Cutter<'_, K> {
    /// The vertex of a box, whose descendants are appended below `depth`, and which its caller appends.
    fn cut(
        &self,
        tree: &mut HyperTree,
        depth: usize,
        corner: [u64; K],
        side: u64,
        read: Option<&ReadBox<K>>,
    ) -> Result<Vertex, ExportError> {
        let size = self.domain.extent;
        if (0..K).any(|j| corner[j] >= size[j].into()) {
            return Ok(Vertex { divided: false, word: None });
        }
        let extent: [u32; K] = per_axis::each(|j| side.min(u64::from(size[j]) - corner[j]) as u32);
        let part = Region { corner: per_axis::each(|j| corner[j] as u32), extent };
        let whole = extent.iter().all(|&n| u64::from(n) == side);
        let own;
        let read = match read {
            Some(read) => Some(read),
            None => {
                let uniform = || self.boxes.known(&part).map_err(ExportError::Read);
                if let Some(word) = if whole { uniform()? } else { None } {
                    return Ok(Vertex { divided: false, word: Some(word) });
                }
                own = if side <= READ { Some(ReadBox::of(self.boxes, part)?) } else { None };
                own.as_ref()
            }
        };
        if side == 1 {
            let word = read.map(|read| read.word(part.corner));
            return Ok(Vertex { divided: false, word });
        }
        let half = side / 2;
        let start = tree.at(depth + 1).words.len();
        let mut least: Option<u64> = None;
        let mut same = whole;
        for child in 0..1usize << K {
            let corner = per_axis::each(|j| corner[j] + (child as u64 >> j & 1) * half);
            let vertex = self.cut(tree, depth + 1, corner, half, read)?;
            tree.at(depth + 1).push(vertex);
            if let Some(word) = vertex.word {
                let first = *least.get_or_insert(word);
                let key = |word| exact::key(self.kind, word);
                same &= !vertex.divided && key(first) == key(word);
                if self.kind.rank(key(word)) < self.kind.rank(key(first)) {
                    least = Some(word);
                }
            }
        }
        if same {
            tree.at(depth + 1).truncate(start);
        }
        Ok(Vertex { divided: !same, word: least })
    }
}
