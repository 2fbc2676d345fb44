//! What a cell holds: bits of 1, 2, 4 or 8 bytes.
//!
//! A *type* says how people read the bits. Engines do not read them: they move *words*, the bits of a cell in the low end of
//! 32 or 64, zeros above. When two words count as equal is not the cell's affair but that of a
//! [predicate](crate::rule::exact).

mod kind;
mod order;
mod words;

pub(crate) use kind::with_type;
pub use kind::{Cell, CellType};
pub use order::{Endian, IndexOrder};
pub(crate) use words::WordVec;
pub use words::{Words, WordsMut};
