//! What is wrong with a list of cells.

/// What is wrong with a list of cells. The message says which cell, and what is allowed.
///
/// ```
/// use orthant::prelude::*;
/// use orthant::tree::{CellList, ListError};
/// use orthant::CellType;
///
/// let plan = Plan::builder([1 << 20; 3]).scheme(Scheme::uniform(1, 2, 2)).rule(RuleKind::Full).build()?;
/// let mut list = CellList::new(&plan, CellType::U8)?;
/// let error = list.push([0, 1 << 20, 0], 7).unwrap_err();
/// assert_eq!(error, ListError::Outside { axis: 1, coordinate: 1 << 20, size: 1 << 20 });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ListError {
    /// A domain without cells, or with 2^64 cells and more.
    #[error(
        "a domain of {size} cells: a strategy divides from 1 to 2^64 - 1 of them; `tree build`, and `run array` without --strategy, divide more"
    )]
    Cells {
        /// Cells per axis, axis 0 first.
        size: String,
    },
    /// A cell that has more or fewer coordinates than the domain has axes.
    #[error("a cell of {found} coordinates, in a domain of {axes} axes")]
    Axes {
        /// Coordinates of the cell.
        found: usize,
        /// Axes of the domain.
        axes: usize,
    },
    /// A cell outside of the domain.
    #[error("coordinate {coordinate} on axis {axis}, which has {size} cells: it can be 0 to {}", size - 1)]
    Outside {
        /// The axis.
        axis: usize,
        /// The coordinate.
        coordinate: u32,
        /// Cells of the axis.
        size: u32,
    },
    /// A cell that is listed twice.
    #[error("cell ({cell}) is listed twice, with the values {} and {}; a cell has one value", values[0], values[1])]
    Twice {
        /// The cell, axis 0 first.
        cell: String,
        /// The two values.
        values: [String; 2],
    },
    /// More cells than a tree of a list can count.
    #[error(
        "a domain of {size} cells: the regions of the last level have more than 2^64 cells, or sums over all cells more than 128 bits"
    )]
    TooLarge {
        /// Cells per axis, axis 0 first.
        size: String,
    },
    /// More entries than memory holds, or than it may hold.
    #[error("the list needs {need} bytes of memory, which is more than there is, or than the limit allows")]
    Memory {
        /// Bytes of the list.
        need: u128,
    },
    /// Whoever reads the list was told to end.
    #[error("interrupted")]
    Interrupted,
    /// A question that a tree of a list does not answer.
    #[error("{what} of the tree of a list: leaves of a list lie on several levels, and have no bricks; {instead}")]
    Unanswered {
        /// What was asked for.
        what: &'static str,
        /// What there is instead.
        instead: &'static str,
    },
}

impl ListError {
    /// That there are no levels of detail.
    pub(crate) const LEVELS: Self = Self::Unanswered {
        what: "a level of detail",
        instead: "a box of cells can be read, and all labels or values can be counted",
    };
}
