//! Files: one module per format, and the way they come into being.

pub mod chart;
mod folder;
mod held;
pub mod journal;
pub mod legend;
pub mod overlay;
pub mod packed;
mod pixel_rows;
mod place;
pub mod png;
mod slice;
mod staged;
pub mod tree;

pub use folder::expect_folder;
pub use held::{HeldAxes, NamedAxes, SaidOfAxis, held_too_many};
pub use pixel_rows::PixelRows;
pub use place::{AxisPlace, covered};
pub use slice::Slice;
pub use staged::{Staged, distinct, expect_extension, has_extension, is_stdout};
