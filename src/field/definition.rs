//! What a field is: labels of cells, and what else it can say.

use crate::field::twin::DeviceTwin;
use crate::geometry::Region;

/// Eight bytes that a region hands to its children, beside its code in the OLT: a point range, a tape, a node of a
/// pyramid. Fields that say [`Field::carries_payload`] pack and unpack it as they like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
#[repr(transparent)]
pub struct Payload(pub u64);

/// What a field can say about a whole region without sampling it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Every cell of the region has this label.
    Uniform(u32),
    /// At least two labels occur.
    Mixed,
    /// Nothing is known: look at the cells.
    Unknown,
}

/// A field over the cells of a k-dimensional domain: what a cell is worth.
///
/// A field turns cells into integer labels and knows nothing of levels, curves or strategies. Labels are integers, so that
/// "uniform" and "equal" are exact on every backend. Cells are asked for in batches: one virtual call per batch costs
/// nothing, and a batch is what a vectorised inner loop wants to see.
pub trait Field<const K: usize>: Sync {
    /// The labels of `cells`, in their order. The slices have equal length; any cell of the domain may be asked for,
    /// in any order, any number of times, and always has the same label.
    ///
    /// A label is at most [`max_label`](Self::max_label).
    fn evaluate(&self, cells: &[[u32; K]], labels: &mut [u32]);

    /// The largest label that can occur; at most `u32::MAX - 1`.
    fn max_label(&self) -> u32;

    /// True if a label is the number of iterations that its cell cost (dwell fields), so that labels add up to work.
    fn labels_count_iterations(&self) -> bool {
        false
    }

    /// A proof about a whole region, asked for before any cell is looked at, under rules that ask.
    fn prove(&self, region: &Region<K>, payload: Payload) -> Verdict {
        let _ = (region, payload);
        Verdict::Unknown
    }

    /// A guess at the box dimension d of the boundary between labels, which sizes the OLT before a run: a level is
    /// expected to subdivide a share r^(d−k) of its regions. Default: a smooth surface, k − 1.
    fn boundary_dimension(&self) -> f64 {
        K as f64 - 1.0
    }

    /// The same field for a GPU; None if there is only this one.
    fn twin(&self) -> Option<DeviceTwin> {
        None
    }

    /// True if there is nothing but the device twin, so that the CPU cannot evaluate it.
    fn is_device_only(&self) -> bool {
        false
    }

    /// True if regions carry a [`Payload`]; then [`root`](Self::root) and [`split`](Self::split) are called.
    fn carries_payload(&self) -> bool {
        false
    }

    /// The payload of a region of level 0.
    fn root(&self, region: &Region<K>) -> Payload {
        let _ = region;
        Payload::default()
    }

    /// The payloads of the children of a mixed region, in the order of `children`.
    fn split(&self, parent: &Region<K>, payload: Payload, children: &[Region<K>], payloads: &mut [Payload]) {
        let _ = (parent, payload, children, payloads);
    }
}
