//! What is kept of a run.

use crate::registry::registry;

registry! {
    /// What a run keeps.
    pub enum Keep("keep") {
        /// The dense array of labels and the terminal regions.
        Dense = "dense",
        /// The terminal regions and the cells of the leaves, but no dense array.
        Regions = "regions",
        /// Counts only: leaves are counted, not evaluated.
        Counts = "counts",
    }
}
