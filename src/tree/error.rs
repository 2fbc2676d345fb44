//! What is wrong with what a tree is made of, or asked.

use std::io;

use crate::backend::Error;
use crate::cell::CellType;
use crate::geometry::WindowError;
use crate::list::ListError;
use crate::memory::Refused;
use crate::points::PointsError;
use crate::result::{MemoryError, Stored};
use crate::rule::RuleKind;
use crate::tree::file::TreeFileError;

/// What is wrong with what a tree is made of, or asked. The message says what, which value, and what would be allowed.
///
/// ```
/// use orthant::Tree;
/// use orthant::geometry::Region;
/// use orthant::ndarray::Array2;
/// use orthant::tree::TreeError;
///
/// let tree = Tree::<2>::from_array(Array2::<u8>::zeros((40, 60)).view())?;
/// let window = Region { corner: [0, 0], extent: [2, 2] };
/// // Four cells do not fit three, and are not u16.
/// assert!(matches!(tree.read(&window, &mut [0u8; 3]), Err(TreeError::Buffer { .. })));
/// assert!(matches!(tree.read(&window, &mut [0u16; 4]), Err(TreeError::CellType { .. })));
/// # Ok::<(), TreeError>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TreeError {
    /// The making was interrupted or ran out of memory, or what is needed was not kept.
    #[error(transparent)]
    Run(#[from] Error),
    /// Points that no tree can be made of.
    #[error(transparent)]
    Points(#[from] PointsError),
    /// A list that no tree can be made of, or what the tree of one does not answer.
    #[error(transparent)]
    List(#[from] ListError),
    /// A tree in a file.
    #[error(transparent)]
    File(#[from] TreeFileError),
    /// A source that could not be read. The message says why: the cause is not said again by whoever prints the chain.
    #[error("the source: {0}")]
    Source(io::Error),
    /// A source of another size than the plan's domain.
    #[error("the source has {found} cells on axis {axis}, and the domain of the plan {domain}")]
    Size {
        /// The axis.
        axis: usize,
        /// Cells of the domain.
        domain: u32,
        /// Cells of the source.
        found: u32,
    },
    /// A plan whose rule looks at some cells only.
    #[error("rule {0}: a tree that is made of cells looks at all of them, which is rule full")]
    Rule(RuleKind),
    /// Regions that leave cells out, or cover some twice.
    #[error(
        "the regions do not tile what the tree covers: {found} of them have {cells} of its {total} cells, or some overlap"
    )]
    Tiling {
        /// Regions.
        found: usize,
        /// Their cells.
        cells: u128,
        /// Cells of the domain, or of a part of it.
        total: u128,
    },
    /// A code that a level does not have.
    #[error("code {code} on level {level}, whose codes are 0 to {last}")]
    Code {
        /// The level.
        level: u32,
        /// The code.
        code: u128,
        /// The last there is.
        last: u64,
    },
    /// A run of codes from a larger one to a smaller, or to itself.
    #[error("the codes {start}..{end}: a run of codes ends after it starts")]
    Codes {
        /// Its first code.
        start: u128,
        /// The code after its last.
        end: u128,
    },
    /// A region that a partial tree does not hold as a whole.
    #[error("level {level}: the region of code {code} reaches beyond the part of the domain that the tree covers")]
    Beyond {
        /// The level.
        level: u32,
        /// The region's code.
        code: u64,
    },
    /// Cells of two types.
    #[error("cells of type {given}, where those of the tree are {kind}")]
    CellType {
        /// The type that was given or asked for.
        given: CellType,
        /// The tree's.
        kind: CellType,
    },
    /// A level that the plan does not have.
    #[error("level {level}: the tree has levels 0 to {deepest}")]
    Level {
        /// The level.
        level: u32,
        /// The deepest.
        deepest: u32,
    },
    /// A tree that goes below a level, or has leaves, where one value per region of the level is asked for.
    #[error("level {level}: the tree has leaves, or regions below it; cut it at that level first")]
    Below {
        /// The level.
        level: u32,
    },
    /// Trees or arrays of two sizes, where they are compared.
    #[error("{other:?} cells, where the tree has {own:?}; only what has the same cells can be compared")]
    Sizes {
        /// Cells of the tree per axis.
        own: Vec<u32>,
        /// Those of the other.
        other: Vec<u32>,
    },
    /// A region whose field proves another value than the tree has.
    #[error(
        "the region of code {code} on level {level} has the word {found:#x}, and the field proves {proven:#x}: the tree is of another field"
    )]
    Disproved {
        /// The level.
        level: u32,
        /// The region's code.
        code: u64,
        /// The word that the tree has.
        found: u64,
        /// The word of the proof.
        proven: u64,
    },
    /// A box that is empty, or not in the domain.
    #[error(transparent)]
    Window(#[from] WindowError),
    /// An axis that the tree does not have.
    #[error("axis {axis}: the tree has axes 0 to {}", k - 1)]
    Axis {
        /// The axis.
        axis: usize,
        /// Axes of the tree.
        k: usize,
    },
    /// A buffer of another size than what it is for.
    #[error("a buffer of {given} cells for a box of {needed}")]
    Buffer {
        /// Cells of the buffer.
        given: usize,
        /// Cells of the box.
        needed: u128,
    },
    /// More labels than the caller wants to have counted.
    #[error("more than {most} labels occur; that many were to be counted at most")]
    Labels {
        /// The most.
        most: usize,
    },
}

impl From<io::Error> for TreeError {
    fn from(error: io::Error) -> Self {
        Self::Source(error)
    }
}

impl From<MemoryError> for TreeError {
    fn from(error: MemoryError) -> Self {
        Self::Run(error.into())
    }
}

/// What a tree asks memory for is regions and bricks.
impl From<Refused> for TreeError {
    fn from(refused: Refused) -> Self {
        MemoryError::refused(Stored::Terminals)(refused).into()
    }
}
