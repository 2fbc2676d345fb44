//! What a field is: labels of cells, and what else it can do.

use crate::cell::WordsMut;
use crate::field::error::FieldError;
use crate::field::labels::Labels;
use crate::field::twin::DeviceTwin;
use crate::geometry::Region;
use crate::rule::Verdict;

/// Eight bytes that a region hands to its children: a range of points, a tape, a node of a pyramid. They lie beside the
/// region's code in the OLT, the table of regions that are examined next. A field that [carries](Carry) them packs and
/// unpacks them as it likes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
#[repr(transparent)]
pub struct Payload(pub u64);

/// What each cell of a k-dimensional domain is worth: its label.
///
/// A field knows nothing of levels, curves or strategies. It says what its labels are, and evaluates cells on the CPU,
/// on a GPU, or on both. All else is optional: it can prove regions, and it can carry eight bytes from a region to its
/// children. An engine asks once, when it prepares a plan. If something it needs is missing, the error says what.
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

    /// Its evaluation on the CPU; None if it exists on a GPU only.
    fn host(&self) -> Option<&dyn Evaluate<K>>;

    /// Its proofs about regions. Rules that ask for proofs use them before any cell is looked at.
    fn prover(&self) -> Option<&dyn Prove<K>> {
        None
    }

    /// Its payloads, if its regions carry any.
    fn carrier(&self) -> Option<&dyn Carry<K>> {
        None
    }

    /// The same field for a GPU; None if it exists on the CPU only.
    fn twin(&self) -> Option<DeviceTwin> {
        None
    }

    /// A guess at the box dimension d of the boundary between labels. It sizes the OLT, the table of regions that are
    /// examined next: a level should divide a share r^(d−k) of its regions. The default is k − 1, a smooth surface.
    fn boundary_dimension(&self) -> f64 {
        K as f64 - 1.0
    }

    /// How many regions of a level hold more than one value, at most, if the field knows. A list of cells knows: no level has more of them
    /// than the list has cells. It bounds what [`boundary_dimension`](Self::boundary_dimension) guesses. The default is None.
    fn most_mixed(&self) -> Option<u64> {
        None
    }
}

impl<const K: usize> std::fmt::Debug for dyn Field<K> + '_ {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Field").field("labels", &self.labels()).finish_non_exhaustive()
    }
}

/// Labels of cells on the CPU.
///
/// An engine asks for a batch of cells at a time. A batch costs one virtual call, and it suits a vectorised inner loop.
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
    /// Does what has to be done once before cells are evaluated, such as sorting points. Backends call it when they prepare a plan that needs
    /// it, so that no run's time has it. There is nothing to do by default.
    fn ready(&self) {}

    /// Writes the labels of `cells`, in their order, as words of the field's type. There are as many words as cells. An
    /// engine may ask for any cell of the domain, in any order and any number of times; the answer always has the same
    /// bits.
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
    /// What is certain of all cells of a region. `payload` is the one that the region carries, else the default.
    fn prove(&self, region: &Region<K>, payload: Payload) -> Verdict;

    /// The proofs of one run, all of which are about regions in `window`: what many of them look up is found here, once. It is part of
    /// the time of a run. None if there is nothing to be found, so that these proofs are asked themselves.
    ///
    /// # Errors
    /// [`FieldError::Memory`] if there is none for it.
    fn survey(&self, window: &Region<K>) -> Result<Option<Box<dyn Prove<K> + '_>>, FieldError> {
        let _ = window;
        Ok(None)
    }

    /// How many regions are cheapest to prove in one call of [`prove_all`](Self::prove_all); 1 if one is as cheap as another.
    fn siblings(&self) -> usize {
        1
    }

    /// What is certain of each of some regions of one level. Children of the same parent come one after another. The
    /// verdicts are those of [`prove`](Self::prove), whatever else is in the call; there are as many as regions.
    ///
    /// ```
    /// use orthant::field::{Payload, Prove};
    /// use orthant::geometry::Region;
    /// use orthant::rule::Verdict;
    ///
    /// struct Zero;
    /// impl Prove<1> for Zero {
    ///     fn prove(&self, region: &Region<1>, _: Payload) -> Verdict {
    ///         if region.corner[0] < 8 { Verdict::Uniform(0) } else { Verdict::Unknown }
    ///     }
    /// }
    /// let regions = [0, 8].map(|first| Region { corner: [first], extent: [8] });
    /// let mut verdicts = [Verdict::Mixed; 2];
    /// Zero.prove_all(&regions, &[Payload::default(); 2], &mut verdicts);
    /// assert_eq!(verdicts, [Verdict::Uniform(0), Verdict::Unknown]);
    /// ```
    ///
    /// # Panics
    /// If there are fewer regions or payloads than verdicts.
    fn prove_all(&self, regions: &[Region<K>], payloads: &[Payload], verdicts: &mut [Verdict]) {
        let (regions, payloads) = (&regions[..verdicts.len()], &payloads[..verdicts.len()]);
        for i in 0..verdicts.len() {
            verdicts[i] = self.prove(&regions[i], payloads[i]);
        }
    }
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
