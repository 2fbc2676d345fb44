//! Files and folders that orthant makes: every call to the system by which an output comes into being. And what it reads by ranges.
//!
//! [`Folder`] and [`File`] are what the rest of the crate writes with. Names are looked up in an open folder and links are not followed,
//! so that nobody can put something else in the place of what is written. [`Temporary`] is a file that takes its name when it is
//! complete, and [`PartFolder`] a folder that does so and that a later process can resume. [`sweep()`] removes what killed processes left.
//!
//! [`Remote`] is what a client of a server implements, so that trees are read where they lie.
//!
//! Each call passes a [`Layer`], which tests replace: one that fails the n-th call, or that remembers all calls and then shows
//! what a power cut would have left of them.

mod facts;
mod file;
mod folder;
mod layer;
mod leftover;
mod part;
mod read_range;
mod remote;
mod sweep;
#[cfg_attr(unix, path = "system/unix.rs")]
#[cfg_attr(not(unix), path = "system/portable.rs")]
mod system;
mod temporary;

pub use file::File;
pub use folder::{Folder, parent};
pub use layer::{Call, Layer, Renaming, install};
pub use part::{PartFolder, StagingError};
pub use read_range::ReadRange;
pub(crate) use remote::fetch;
pub use remote::{Remote, RemoteError};
pub use sweep::{abandon, sweep};
pub use temporary::Temporary;
