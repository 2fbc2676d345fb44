//! What a proof comes to.

/// What a field can say about a whole region without sampling it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Every cell of the region has the label of this word.
    Uniform(u64),
    /// At least two labels occur.
    Mixed,
    /// Nothing is known: look at the cells.
    Unknown,
}
