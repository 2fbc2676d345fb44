//! Trees in files, as the guide's [page](crate::guide::tree) describes them: a group of seven arrays as Zarr v3 has them, in a folder
//! or in a zip.

mod columns;
mod error;
mod header;
mod info;
mod reader;
mod shards;
mod staged;
mod streamed;
mod writer;

pub use crate::zarr::{Fault, ZarrError};
pub use error::TreeFileError;
pub use info::{Nan, Predicate, TreeAxis, TreeInfo, TreeLabel};
pub use reader::{TreeFile, TreeJob, TreeStore};
pub use writer::{TreeTarget, TreeWriter};
