//! What a curve tells a GPU.

/// What a curve needs on a GPU to decode the codes of one level; K ≤ 8 axes in the first places of eight.
#[derive(Debug, Clone, Copy, Default)]
pub struct DeviceCurve<'a> {
    /// The twin's name among the kernels.
    pub header: &'static str,
    /// True if `sides` and `positions` are binary logarithms.
    pub binary: bool,
    /// True if there is one tree.
    pub single_tree: bool,
    /// Trees per axis.
    pub trees: [u32; 8],
    /// Regions of a tree per axis.
    pub sides: [u32; 8],
    /// Regions of a tree.
    pub positions: u64,
    /// Leading binary levels of a tree.
    pub leading: u32,
    /// The start state of every tree; may be empty.
    pub starts: &'a [u16],
}
