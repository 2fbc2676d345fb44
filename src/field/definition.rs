//! What a field is: labels of cells, and what else it can do.

use crate::cell::WordsMut;
use crate::field::labels::Labels;
use crate::field::twin::DeviceTwin;
use crate::geometry::Region;
use crate::rule::Verdict;

/// Eight bytes that a region hands to its children, beside its code in the OLT: a point range, a tape, a node of a
/// pyramid. Fields that [carry](Carry) pack and unpack it as they like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
#[repr(transparent)]
pub struct Payload(pub u64);

/// A field over the cells of a k-dimensional domain: what a cell is worth.
///
/// A field turns cells into labels and knows nothing of levels, curves or strategies. What it can do beyond saying what its
/// labels are is optional: to evaluate cells here, to evaluate them on a GPU (one of the two), to prove regions, to carry
/// eight bytes from a region to its children. An engine asks once, when it prepares a plan, and refuses in words what it
/// would need and does not find.
///
/// ```
/// use orthant::prelude::*;
/// use orthant::{CellType, Error, WordsMut};
/// use orthant::field::{Evaluate, Labels};
/// struct Height;
/// impl Field<2> for Height {
///     fn labels(&self) -> Labels {
///         Labels::values(CellType::F32)
///     }
///     fn host(&self) -> Option<&dyn Evaluate<2>> {
///         Some(self)
///     }
/// }
/// impl Evaluate<2> for Height {
///     fn evaluate(&self, cells: &[[u32; 2]], labels: WordsMut<'_>) {
///         labels.put(cells.iter().map(|&[x, y]| if x < 40 { f32::NAN } else { y as f32 }));
///     }
/// }
/// let plan = Plan::builder([64; 2]).scheme(Scheme::uniform(2, 2, 4)).rule(RuleKind::Full).build()?;
/// let subdivision = run(&plan, &Height)?;
/// let heights = subdivision.array().unwrap().view::<f32>().unwrap();
/// assert!(heights[[9, 39]].is_nan());
/// assert_eq!(heights[[9, 40]], 9.0);
/// # Ok::<(), Error>(())
/// ```
pub trait Field<const K: usize>: Send + Sync {
    /// What its labels are.
    fn labels(&self) -> Labels;

    /// Its evaluation here; None of a field that exists on a GPU only.
    fn host(&self) -> Option<&dyn Evaluate<K>>;

    /// What it can prove about regions, asked for before any cell is looked at, under rules that ask.
    fn prover(&self) -> Option<&dyn Prove<K>> {
        None
    }

    /// What its regions carry.
    fn carrier(&self) -> Option<&dyn Carry<K>> {
        None
    }

    /// The same field for a GPU; None if there is only this one.
    fn twin(&self) -> Option<DeviceTwin> {
        None
    }

    /// A guess at the box dimension d of the boundary between labels, which sizes the OLT before a run: a level is
    /// expected to subdivide a share r^(d−k) of its regions. Default: a smooth surface, k − 1.
    fn boundary_dimension(&self) -> f64 {
        K as f64 - 1.0
    }
}

impl<const K: usize> std::fmt::Debug for dyn Field<K> + '_ {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Field").field("labels", &self.labels()).finish_non_exhaustive()
    }
}

/// Labels of cells, here.
///
/// Cells are asked for in batches: one virtual call per batch costs nothing, and a batch is what a vectorised inner loop
/// wants to see.
pub trait Evaluate<const K: usize>: Sync {
    /// The labels of `cells`, in their order, as words of the field's type. There are as many words as cells; any cell of
    /// the domain may be asked for, in any order, any number of times, and always has the same bits.
    fn evaluate(&self, cells: &[[u32; K]], labels: WordsMut<'_>);
}

/// Proofs about regions.
pub trait Prove<const K: usize>: Sync {
    /// What is certain of every cell of a region. The payload is the one that the region carries, else the default.
    fn prove(&self, region: &Region<K>, payload: Payload) -> Verdict;
}

/// Payloads, from parent to child.
pub trait Carry<const K: usize>: Sync {
    /// The payload of a region of level 0.
    fn root(&self, region: &Region<K>) -> Payload;

    /// The payloads of the children of a mixed region, in the order of `children`.
    fn split(&self, parent: &Region<K>, payload: Payload, children: &[Region<K>], payloads: &mut [Payload]);
}
