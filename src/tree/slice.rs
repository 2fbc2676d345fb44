//! Slices of trees, as trees of fewer dimensions.
//!
//! Every level divides an axis in the same way whatever the other axes are, so that a region of the tree which meets the slice
//! shows there as a region of the same level. Without the held axes there may be more levels below, since a short axis stops
//! all others. What is uniform in the slice is found from the cells up.

use std::io;
use std::ops::ControlFlow;

use crate::backend::{Control, Error};
use crate::cell::CellType;
use crate::curve::CurveKind;
use crate::geometry::{Domain, Region, Scheme};
use crate::plan::Plan;
use crate::rule::RuleKind;
use crate::tree::bottom_up::BottomUp;
use crate::tree::error::TreeError;
use crate::tree::file::TreeInfo;
use crate::tree::parts::Parts;
use crate::tree::provenance::Provenance;
use crate::tree::source::Source;
use crate::tree::stored::Tree;
use crate::tree::tree_source::TreeSource;

/// The cells of a tree in `K` dimensions at an index of some axes: an array of the other `M` axes, in their order.
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
/// let third = TreeSlice::<3, 2>::new(&tree, [None, None, Some(3)])?;
/// let image = third.tree(None, &Control::default())?;
/// assert_eq!(image.plan().domain().size(), [256, 256]);
/// assert_eq!((image.word([29, 29]), image.word([30, 30])), (Some(1), Some(0)));
/// # Ok::<(), orthant::tree::TreeError>(())
/// ```
#[derive(Debug, Clone)]
pub struct TreeSlice<'p, const K: usize, const M: usize> {
    parts: &'p dyn Parts<K>,
    /// The axes that are left, in ascending order.
    axes: [usize; M],
    /// The slice's cells.
    window: Region<K>,
    plan: Plan<M>,
}

impl<'p, const K: usize, const M: usize> TreeSlice<'p, K, M> {
    /// The slice at the index that each held axis has. The axes with None are left.
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
    pub fn new(parts: &'p dyn Parts<K>, held: [Option<u32>; K]) -> Result<Self, TreeError> {
        let mut free = (0..K).filter(|&j| held[j].is_none());
        let axes: [usize; M] = std::array::from_fn(|_| free.next().expect("M axes are left"));
        assert!(free.next().is_none(), "M axes are left");
        let size = parts.plan().domain().size();
        let window = Region {
            corner: held.map(Option::unwrap_or_default),
            extent: std::array::from_fn(|j| if held[j].is_some() { 1 } else { size[j] }),
        };
        window.within(size)?;
        let plan = plan_of(parts.plan(), axes).map_err(TreeError::Run)?;
        Ok(Self { parts, axes, window, plan })
    }

    /// How the slice is divided.
    pub fn plan(&self) -> &Plan<M> {
        &self.plan
    }

    /// What is known of the slice, if `info` is known of the tree. Directions are left out if a held axis has a share in those
    /// of others. The predicate stays, because the slice's cells are the tree's: a tolerance bounds them as before.
    pub fn info(&self, info: &TreeInfo) -> TreeInfo {
        let axes = self.axes.iter().map(|&j| info.axes[j].clone()).collect();
        let directions = info.directions.as_ref().and_then(|directions| self.directions(directions));
        TreeInfo { axes, directions, ..info.clone() }
    }

    /// The directions of the axes that are left. None if they are the space's own, or held axes have a share in them.
    fn directions(&self, all: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
        let held = |j: &usize| !self.axes.contains(j);
        let apart = |j: usize| self.axes.iter().all(|&i| all[i][j] == 0.0 && all[j][i] == 0.0);
        let left: Vec<Vec<f64>> = self.axes.iter().map(|&i| self.axes.iter().map(|&j| all[i][j]).collect()).collect();
        let own = (0..M).all(|i| (0..M).all(|j| left[i][j] == f64::from(u8::from(i == j))));
        ((0..K).filter(held).all(apart) && !own).then_some(left)
    }

    /// Makes the tree, of at most `limit` bytes. `control` watches and cancels it.
    ///
    /// A region is as well [known](Provenance) as the least known region of the tree that it shows.
    ///
    /// # Errors
    /// [`TreeError::Source`] if a part cannot be read; [`TreeError::Run`] if it was interrupted, would exceed the limit, or there
    /// is no memory.
    pub fn tree(&self, limit: Option<u64>, control: &Control) -> Result<Tree<M>, TreeError> {
        let builder = BottomUp::new(&self.plan, self)?.control(control).mem_limit(limit.unwrap_or(u64::MAX));
        let mut tree = builder.tree()?;
        for index in self.parts.meeting(&self.window)? {
            control.check()?;
            let part = self.parts.part(index)?;
            let _ = part.meet(&self.window, &mut |region, shown| {
                // A region of one value shows as one, which is a region of the slice or lies in one.
                let known = region.provenance();
                if known != Provenance::Proved
                    && let Some((row, _)) = tree.searched(self.axes.map(|j| shown.corner[j]))
                {
                    tree.entries.doubt(row, known);
                }
                ControlFlow::Continue(())
            });
        }
        Ok(tree)
    }

    /// A box of the slice among the tree's cells.
    fn across(&self, window: &Region<M>) -> Region<K> {
        let mut all = self.window;
        for (i, &j) in self.axes.iter().enumerate() {
            (all.corner[j], all.extent[j]) = (window.corner[i], window.extent[i]);
        }
        all
    }
}

/// The plan of some axes of another.
fn plan_of<const K: usize, const M: usize>(plan: &Plan<K>, axes: [usize; M]) -> Result<Plan<M>, Error> {
    let (all, Scheme { g, r, b }) = (plan.domain(), *plan.scheme());
    let size = axes.map(|j| all.size()[j]);
    let domain = Domain::new(size, axes.map(|j| all.window()[j]), all.sample())?;
    let mut scheme = Scheme { g: axes.map(|j| g[j]), r: axes.map(|j| r[j]), b: axes.map(|j| b[j]) };
    if scheme.r == [1; M] {
        // Nothing is divided where B is half of what level 0 has.
        let half = |j: usize| u64::from(size[j]).div_ceil(2 * u64::from(scheme.g[j])) as u32;
        (scheme.r, scheme.b) = ([2; M], std::array::from_fn(|j| scheme.b[j].max(half(j))));
    }
    let along = |curve| Plan::new(domain, scheme, curve, RuleKind::Full);
    Ok(along(plan.curve()).or_else(|_| along(CurveKind::Morton))?)
}

impl<const K: usize, const M: usize> Source<M> for TreeSlice<'_, K, M> {
    fn kind(&self) -> CellType {
        self.parts.kind()
    }

    fn size(&self) -> [u32; M] {
        self.plan.domain().size()
    }

    fn read(&self, window: &Region<M>, bytes: &mut [u8]) -> io::Result<()> {
        self.check(window, bytes)?;
        // Axes of one cell change nothing of how the others' cells lie.
        TreeSource(self.parts).read(&self.across(window), bytes)
    }

    fn known(&self, window: &Region<M>) -> io::Result<Option<u64>> {
        TreeSource(self.parts).known(&self.across(window))
    }
}
