//! Trees in files, as the guide's [page](crate::guide::tree) describes them: a group of seven arrays as Zarr v3 has them, in a folder
//! or in a zip.

mod columns;
mod digested;
mod dispatch;
mod error;
mod from_run;
mod header;
mod info;
mod listed;
mod making;
mod partial;
mod piece;
mod pieces;
mod read_list;
mod reader;
mod recent;
mod sealed;
mod shard_files;
mod shards;
mod staged;
mod store;
mod stored_part;
mod stored_shards;
mod streamed;
mod validate;
mod whole;
mod writer;
mod written_tree;

pub use crate::zarr::{Fault, ZarrError};
pub use dispatch::TreeJob;
pub use error::TreeFileError;
pub use from_run::write_run;
pub use info::{Scale, TreeAxis, TreeInfo, TreeLabel};
pub use piece::{PieceClaim, PieceState, PieceWork};
pub use pieces::{PieceFolder, PieceRequest};
pub use reader::TreeFile;
pub use sealed::SealedTree;
pub use store::TreeStore;
pub use writer::{TreeTarget, TreeWriter};
