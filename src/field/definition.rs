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
///
/// ```
/// use orthant::WordsMut;
/// use orthant::field::Evaluate;
///
/// struct Sum;
/// impl Evaluate<2> for Sum {
///     fn evaluate(&self, cells: &[[u32; 2]], labels: WordsMut<'_>) {
///         labels.put(cells.iter().map(|[x, y]| x + y));
///     }
/// }
/// let mut words = [0; 2];
/// Sum.evaluate(&[[1, 2], [3, 4]], WordsMut::Narrow(&mut words));
/// assert_eq!(words, [3, 7]);
/// ```
pub trait Evaluate<const K: usize>: Sync {
    /// The labels of `cells`, in their order, as words of the field's type. There are as many words as cells; any cell of
    /// the domain may be asked for, in any order, any number of times, and always has the same bits.
    fn evaluate(&self, cells: &[[u32; K]], labels: WordsMut<'_>);
}

/// Proofs about whole regions. The rules `full` and `certified` ask for them. Under other rules a run asks if its
/// [`How`](crate::How) says so.
///
/// ```
/// use orthant::field::{Payload, Prove};
/// use orthant::geometry::Region;
/// use orthant::rule::Verdict;
///
/// /// 1 in the cells below a limit.
/// struct Below(u32);
/// impl Prove<1> for Below {
///     fn prove(&self, region: &Region<1>, _: Payload) -> Verdict {
///         let first = region.corner[0];
///         match (first + region.extent[0] <= self.0, first >= self.0) {
///             (true, _) => Verdict::Uniform(1),
///             (_, true) => Verdict::Uniform(0),
///             _ => Verdict::Mixed,
///         }
///     }
/// }
/// let verdict = |first: u32| Below(20).prove(&Region { corner: [first], extent: [8] }, Payload::default());
/// assert_eq!([8, 16, 24].map(verdict), [Verdict::Uniform(1), Verdict::Mixed, Verdict::Uniform(0)]);
/// ```
pub trait Prove<const K: usize>: Sync {
    /// What is certain of every cell of a region. The payload is the one that the region carries, else the default.
    fn prove(&self, region: &Region<K>, payload: Payload) -> Verdict;
}

/// Payloads that regions hand to their children.
///
/// ```
/// use orthant::field::{Carry, Payload};
/// use orthant::geometry::Region;
///
/// /// Every region knows how many divisions it is below level 0.
/// struct Depth;
/// impl Carry<1> for Depth {
///     fn root(&self, _: &Region<1>) -> Payload {
///         Payload(0)
///     }
///     fn split(&self, _: &Region<1>, payload: Payload, _: &[Region<1>], payloads: &mut [Payload]) {
///         payloads.fill(Payload(payload.0 + 1));
///     }
/// }
/// let [whole, left, right] = [(0, 8), (0, 4), (4, 4)].map(|(first, n)| Region { corner: [first], extent: [n] });
/// let mut below = [Payload::default(); 2];
/// Depth.split(&whole, Depth.root(&whole), &[left, right], &mut below);
/// assert_eq!(below, [Payload(1); 2]);
/// ```
pub trait Carry<const K: usize>: Sync {
    /// The payload of a region of level 0.
    fn root(&self, region: &Region<K>) -> Payload;

    /// The payloads of the children of a mixed region, in the order of `children`.
    fn split(&self, parent: &Region<K>, payload: Payload, children: &[Region<K>], payloads: &mut [Payload]);
}
