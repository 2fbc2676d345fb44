//! What a run leaves behind.

mod array;
mod bricks;
mod canvas;
mod cells;
mod checksum;
mod counts;
mod keep;
mod limit;
mod picture;
mod storage;
mod subdivision;
mod terminal;

#[cfg(feature = "cuda")]
pub(crate) use array::Checksum;
pub use array::DenseArray;
#[doc(hidden)]
pub use bricks::Bricks;
pub(crate) use bricks::gather;
pub(crate) use canvas::Canvas;
pub use cells::Cells;
pub(crate) use cells::{Bits, Width, each_width};
pub use checksum::RegionsChecksum;
pub(crate) use checksum::append_le;
pub use counts::{Launches, LevelCounts, LevelKernels, LevelStats, RunCounts, Times};
pub use keep::Keep;
pub use limit::{MemoryError, Stored, dense_fits};
#[doc(hidden)]
pub use picture::paint_row;
pub(crate) use storage::Storage;
pub use subdivision::{MaterialiseError, Subdivision};
pub use terminal::{Content, Terminal};
