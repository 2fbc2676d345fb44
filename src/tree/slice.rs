//! Slices of trees, as trees of fewer dimensions.
//!
//! Every level divides an axis in the same way whatever the other axes are, so that a region of the tree which meets the slice
//! shows there as a region of the same level. Without the held axes there may be more levels below, since a short axis stops
//! all others. What is uniform in the slice is found from the cells up.
//!
//! A slice knows the tree without its number of dimensions: code that is generic over both numbers would be compiled 64 times.

use std::io;
use std::ops::ControlFlow;

use crate::backend::{Control, Error};
use crate::cell::CellType;
use crate::curve::CurveKind;
use crate::dimension::here;
use crate::geometry::{Domain, Region, Sample, Scheme};
use crate::memory::reserve;
use crate::per_axis;
use crate::plan::Plan;
use crate::rule::RuleKind;
use crate::tree::bottom_up::BottomUp;
use crate::tree::error::TreeError;
use crate::tree::file::TreeInfo;
use crate::tree::list::CellList;
use crate::tree::parts::Parts;
use crate::tree::provenance::Provenance;
use crate::tree::source::Source;
use crate::tree::stored::Tree;
use crate::tree::tree_source::TreeSource;

/// The cells of a tree at an index of some axes: an array of the other `M` axes, in their order.
///
/// It is a [`Source`], which reads a part of the tree when somebody asks for cells of it. No dense array is made.
///
/// ```
/// use orthant::ndarray::Array3;
/// use orthant::prelude::*;
/// use orthant::tree::TreeSlice;
/// use orthant::Control;
///
/// // Twenty images of 256 x 256, one after the other. A square grows.
/// let film = Array3::from_shape_fn((20, 256, 256), |(t, y, x)| u8::from(x.max(y) < 10 * t));
/// let tree = Tree::<3>::from_array(film.view())?;
/// // The third, as a tree in two dimensions.
/// let third = TreeSlice::<2>::new(&tree, [None, None, Some(3)])?;
/// let image = third.tree(None, &Control::default())?;
/// assert_eq!(image.plan().domain().size(), [256, 256]);
/// assert_eq!((image.word([29, 29]), image.word([30, 30])), (Some(1), Some(0)));
/// # Ok::<(), orthant::tree::TreeError>(())
/// ```
#[derive(Debug)]
pub struct TreeSlice<'p, const M: usize> {
    of: Box<dyn Sliced + 'p>,
    plan: Plan<M>,
}

impl<'p, const M: usize> TreeSlice<'p, M> {
    /// The slice of a tree in `K` dimensions at the index that each held axis has. The axes with None are left.
    ///
    /// Its [plan](Self::plan) has the tree's domain, g, r and B without the held axes, the tree's curve if that serves them,
    /// else Morton's, and rule `full`. If only held axes were split, r is 2 and B leaves one level.
    ///
    /// # Errors
    /// [`TreeError::Window`] if an index is beyond its axis; [`TreeError::Run`] if there are more levels without the held axes
    /// than codes have room for.
    ///
    /// # Panics
    /// If other than `M` axes are left.
    pub fn new<const K: usize>(parts: &'p dyn Parts<K>, held: [Option<u32>; K]) -> Result<Self, TreeError> {
        let made = here!(fn(&dyn Parts<K>, [Option<u32>; K]) -> Result<Box<dyn Sliced + '_>, TreeError> = |parts, held| HeldAxesOf::made(parts, held));
        Self::of(made(parts, held)?)
    }

    fn of(of: Box<dyn Sliced + 'p>) -> Result<Self, TreeError> {
        let plan = of.axes().plan().map_err(TreeError::Run)?;
        Ok(Self { of, plan })
    }

    /// How the slice is divided.
    pub fn plan(&self) -> &Plan<M> {
        &self.plan
    }

    /// What is known of the slice, if `info` is known of the tree. Directions are left out if a held axis has a share in those
    /// of others. The predicate stays, because the slice's cells are the tree's: a tolerance bounds them as before.
    pub fn info(&self, info: &TreeInfo) -> TreeInfo {
        let left = &self.of.axes().left;
        let axes = left.iter().map(|&j| info.axes[j].clone()).collect();
        let directions = info.directions.as_ref().and_then(|directions| directions_of(left, directions));
        TreeInfo { axes, directions, ..info.clone() }
    }

    /// Makes the tree, of at most `limit` bytes. `control` watches and cancels it.
    ///
    /// A region is as well [known](Provenance) as the least known region of the tree that it shows.
    ///
    /// # Errors
    /// [`TreeError::Source`] if a part cannot be read; [`TreeError::Run`] if it was interrupted, would exceed the limit, or there
    /// is no memory.
    pub fn tree(&self, limit: Option<u64>, control: &Control) -> Result<Tree<M>, TreeError> {
        if let Some(listed) = self.of.listed()? {
            return self.of_list(&listed, limit, control);
        }
        let builder = BottomUp::new(&self.plan, self)?.control(control).mem_limit(limit.unwrap_or(u64::MAX));
        let mut tree = builder.tree()?;
        self.of.doubts(control, &mut |corner, known| {
            // A region of one value shows as one, which is a region of the slice or lies in one.
            if let Some((row, _)) = tree.searched(per_axis::each(|j| corner[j])) {
                tree.entries.doubt(row, known);
            }
        })?;
        Ok(tree)
    }
}

impl<const M: usize> TreeSlice<'_, M> {
    /// The slice of the tree of a list is a list.
    fn of_list(&self, listed: &SlicedList, limit: Option<u64>, control: &Control) -> Result<Tree<M>, TreeError> {
        let list = CellList::new(&self.plan, self.of.kind())?.background(listed.background).most(listed.most);
        let mut list = list.mem_limit(limit.unwrap_or(u64::MAX));
        list.reserve(listed.words.len())?;
        for (cell, &word) in listed.cells.as_chunks::<M>().0.iter().zip(&listed.words) {
            list.push(*cell, word)?;
        }
        list.sorted(control)?.tree()
    }
}

/// The listed cells of a slice, by the axes that are left.
struct SlicedList {
    background: u64,
    most: u64,
    /// Coordinates, cell after cell.
    cells: Vec<u32>,
    words: Vec<u64>,
}

impl<const M: usize> Source<M> for TreeSlice<'_, M> {
    fn kind(&self) -> CellType {
        self.of.kind()
    }

    fn size(&self) -> [u32; M] {
        self.plan.domain().size()
    }

    fn read(&self, window: &Region<M>, bytes: &mut [u8]) -> io::Result<()> {
        self.check(window, bytes)?;
        self.of.read(&window.corner, &window.extent, bytes)
    }

    fn known(&self, window: &Region<M>) -> io::Result<Option<u64>> {
        self.of.known(&window.corner, &window.extent)
    }
}

/// A tree and its held axes, whatever its number of dimensions is. Boxes are those of the axes that are left.
trait Sliced: Sync + std::fmt::Debug {
    fn axes(&self) -> &LeftAxes;

    fn kind(&self) -> CellType;

    fn read(&self, corner: &[u32], extent: &[u32], bytes: &mut [u8]) -> io::Result<()>;

    fn known(&self, corner: &[u32], extent: &[u32]) -> io::Result<Option<u64>>;

    /// The listed cells, of the tree of a list.
    fn listed(&self) -> Result<Option<SlicedList>, TreeError>;

    /// The first cell in the slice of each region that is not proven, and what is known of it.
    fn doubts(&self, control: &Control, each: &mut dyn FnMut(&[u32], Provenance)) -> Result<(), TreeError>;
}

/// The axes that are left, and what a tree's plan says of them.
#[derive(Debug)]
struct LeftAxes {
    /// Their numbers in the tree, in ascending order.
    left: Vec<usize>,
    size: Vec<u32>,
    window: Vec<[f64; 2]>,
    sample: Sample,
    g: Vec<u32>,
    r: Vec<u32>,
    b: Vec<u32>,
    curve: CurveKind,
}

impl LeftAxes {
    fn of<const K: usize>(plan: &Plan<K>, left: Vec<usize>) -> Self {
        let (domain, Scheme { g, r, b }) = (plan.domain(), *plan.scheme());
        let (size, window) = (domain.size(), domain.window());
        Self {
            size: of_axes(&left, &size),
            window: of_axes(&left, &window),
            sample: domain.sample(),
            g: of_axes(&left, &g),
            r: of_axes(&left, &r),
            b: of_axes(&left, &b),
            curve: plan.curve(),
            left,
        }
    }

    /// The plan of these axes alone.
    fn plan<const M: usize>(&self) -> Result<Plan<M>, Error> {
        assert_eq!(self.left.len(), M, "M axes are left");
        let of = |all: &[u32]| -> [u32; M] { per_axis::each(|j| all[j]) };
        let domain = Domain::new(of(&self.size), per_axis::each(|j| self.window[j]), self.sample)?;
        let mut scheme = Scheme { g: of(&self.g), r: of(&self.r), b: of(&self.b) };
        if scheme.r == [1; M] {
            // Nothing is divided where B is half of what level 0 has.
            let half = |j: usize| u64::from(self.size[j]).div_ceil(2 * u64::from(scheme.g[j])) as u32;
            (scheme.r, scheme.b) = ([2; M], per_axis::each(|j| scheme.b[j].max(half(j))));
        }
        let along = |curve| Plan::new(domain, scheme, curve, RuleKind::Full);
        Ok(along(self.curve).or_else(|_| along(CurveKind::Morton))?)
    }
}

/// Of numbers per axis those of some axes.
fn of_axes<T: Copy>(axes: &[usize], all: &[T]) -> Vec<T> {
    axes.iter().map(|&j| all[j]).collect()
}

/// A tree at an index of some axes.
#[derive(Debug)]
struct HeldAxesOf<'p, const K: usize> {
    parts: &'p dyn Parts<K>,
    axes: LeftAxes,
    /// The slice's cells.
    window: Region<K>,
}

impl<'p, const K: usize> HeldAxesOf<'p, K> {
    fn made(parts: &'p dyn Parts<K>, held: [Option<u32>; K]) -> Result<Box<dyn Sliced + 'p>, TreeError> {
        let size = parts.plan().domain().size();
        let mut window = Region { corner: [0; K], extent: size };
        let mut left = Vec::new();
        for j in 0..K {
            match held[j] {
                Some(index) => (window.corner[j], window.extent[j]) = (index, 1),
                None => left.push(j),
            }
        }
        window.within(size)?;
        Ok(Box::new(Self { parts, axes: LeftAxes::of(parts.plan(), left), window }))
    }

    /// A box of the slice among the tree's cells.
    fn across(&self, corner: &[u32], extent: &[u32]) -> Region<K> {
        let mut all = self.window;
        for (i, &j) in self.axes.left.iter().enumerate() {
            (all.corner[j], all.extent[j]) = (corner[i], extent[i]);
        }
        all
    }
}

impl<const K: usize> Sliced for HeldAxesOf<'_, K> {
    fn axes(&self) -> &LeftAxes {
        &self.axes
    }

    fn kind(&self) -> CellType {
        self.parts.kind()
    }

    fn read(&self, corner: &[u32], extent: &[u32], bytes: &mut [u8]) -> io::Result<()> {
        // Axes of one cell change nothing of how the others' cells lie.
        TreeSource(self.parts).read(&self.across(corner, extent), bytes)
    }

    fn known(&self, corner: &[u32], extent: &[u32]) -> io::Result<Option<u64>> {
        TreeSource(self.parts).known(&self.across(corner, extent))
    }

    fn listed(&self) -> Result<Option<SlicedList>, TreeError> {
        let Some(layout) = self.parts.list_layout() else { return Ok(None) };
        let found = TreeSource(self.parts).scattered(&self.window).map_err(TreeError::Source)?;
        let (mut cells, mut words) = (Vec::new(), Vec::new());
        let entries = found.map(|found| found.cells).unwrap_or_default();
        reserve(&mut cells, entries.len() * self.axes.left.len())?;
        reserve(&mut words, entries.len())?;
        for (cell, word) in entries {
            for &j in &self.axes.left {
                cells.push(cell[j]);
            }
            words.push(word);
        }
        Ok(Some(SlicedList { background: layout.background(), most: layout.most(), cells, words }))
    }

    fn doubts(&self, control: &Control, each: &mut dyn FnMut(&[u32], Provenance)) -> Result<(), TreeError> {
        let mut corner = vec![0; self.axes.left.len()];
        for index in self.parts.meeting(&self.window)? {
            control.check()?;
            let part = self.parts.part(index)?;
            let _ = part.meet(&self.window, &mut |region, shown| {
                let known = region.provenance();
                if known != Provenance::Proved {
                    for (i, &j) in self.axes.left.iter().enumerate() {
                        corner[i] = shown.corner[j];
                    }
                    each(&corner, known);
                }
                ControlFlow::Continue(())
            });
        }
        Ok(())
    }
}

/// The directions of the axes that are left. None if they are the space's own, or held axes have a share in them.
fn directions_of(left: &[usize], all: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
    let apart = |j: usize| left.iter().all(|&i| all[i][j] == 0.0 && all[j][i] == 0.0);
    let theirs: Vec<Vec<f64>> = left.iter().map(|&i| left.iter().map(|&j| all[i][j]).collect()).collect();
    let own = theirs
        .iter()
        .enumerate()
        .all(|(i, row)| row.iter().enumerate().all(|(j, &x)| x == f64::from(u8::from(i == j))));
    let mut held = (0..all.len()).filter(|j| !left.contains(j));
    (held.all(apart) && !own).then_some(theirs)
}
