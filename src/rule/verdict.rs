//! What a proof comes to.

/// What a field can say about a whole region without sampling it.
///
/// ```
/// use orthant::rule::Verdict;
///
/// /// What is known of the cells first..end of a line that is 1 from cell 100 on.
/// fn of(first: u32, end: u32) -> Verdict {
///     match (first >= 100, end > 100) {
///         (true, _) => Verdict::Uniform(1),
///         (_, true) => Verdict::Mixed,
///         _ => Verdict::Uniform(0),
///     }
/// }
/// assert_eq!([of(0, 100), of(90, 110), of(100, 200)], [Verdict::Uniform(0), Verdict::Mixed, Verdict::Uniform(1)]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Every cell of the region has the label of this word.
    Uniform(u64),
    /// At least two labels occur.
    Mixed,
    /// Nothing is known: look at the cells.
    Unknown,
}
