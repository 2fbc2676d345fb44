//! Headings of the help, in the order in which they are shown.

pub(crate) const WHAT: &str = "What is computed";
pub(crate) const HOW: &str = "How";
pub(crate) const RESULTS: &str = "Results";
pub(crate) const ARRAY: &str = "Arrays (run array)";
pub(crate) const POINTS: &str = "Points (run points)";
pub(crate) const CUDA: &str = "CUDA";
pub(crate) const PAPERS: &str = "To compare with the papers";
