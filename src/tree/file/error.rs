//! What is wrong with a tree in a file.

use std::io;
use std::path::{Path, PathBuf};

use crate::disk::StagingError;
use crate::tree::file::info::Unfit;
use crate::zarr::ZarrError;

/// What is wrong with a tree in a file. The message names the file; what the system or a parser says is in it, and no source, so that
/// whoever prints the chain says it once.
///
/// ```
/// use orthant::Tree;
/// use orthant::ndarray::Array2;
/// use orthant::tree::{TreeError, TreeFileError, TreeInfo};
///
/// # let path = std::env::temp_dir().join(format!("orthant-doc-exists-{}.tree.zarr.zip", std::process::id()));
/// let tree = Tree::<2>::from_array(Array2::<u8>::zeros((40, 60)).view())?;
/// let info = TreeInfo::of(tree.plan());
/// tree.save(&path, &info)?;
/// // A file is not replaced unless you say so.
/// assert!(matches!(tree.save(&path, &info), Err(TreeError::File(TreeFileError::Exists { .. }))));
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TreeFileError {
    /// An array, or the group that it is in.
    #[error("{0}")]
    Array(ZarrError),
    /// The system says no.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What it says.
        error: io::Error,
    },
    /// A name that says nothing of a tree.
    #[error("{}: the name must end in .tree.zarr, for a folder, or in .tree.zarr.zip", path.display())]
    Name {
        /// The file.
        path: PathBuf,
    },
    /// There is one already.
    #[error("{}: exists", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// A folder of something else.
    #[error("{}: a folder that is no tree, which is not overwritten", path.display())]
    Foreign {
        /// The folder.
        path: PathBuf,
    },
    /// A folder beside the tree has the name of the one in which the tree would be made, and is not this user's.
    #[error(
        "{}: {reason}, so no tree is made there; remove it (rm -r '{}'), or choose another name for the tree",
        path.display(), path.display()
    )]
    Untrusted {
        /// The folder.
        path: PathBuf,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// Somebody else writes it.
    #[error("{}: another process is writing it", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// A killed process left the beginning of another tree there.
    #[error(
        "{}: holds finished shards of another tree, whose {key} is {found}, and not {given}; \
         it goes where overwriting is asked for",
        path.display()
    )]
    Left {
        /// The folder.
        path: PathBuf,
        /// What differs.
        key: String,
        /// What is there.
        found: String,
        /// What would be written.
        given: String,
    },
    /// A tree of a later version.
    #[error("{}: version {found} of trees; versions 1 and 2 can be read", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// What it says.
        found: String,
    },
    /// A header whose digest is that of another.
    #[error("{}: the header's digest is {found}, and that of what it says is {expected}", path.display())]
    Digest {
        /// The file.
        path: PathBuf,
        /// What it says.
        found: String,
        /// What it should say.
        expected: String,
    },
    /// A header, or what should become one, that cannot be.
    #[error("{}: {key}: {reason}", path.display())]
    Header {
        /// The file.
        path: PathBuf,
        /// The key.
        key: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// A tree of another number of dimensions.
    #[error("{}: a tree in {found} dimensions, where {k} are asked for", path.display())]
    Dimensions {
        /// The file.
        path: PathBuf,
        /// Its dimensions.
        found: usize,
        /// Those that are asked for.
        k: usize,
    },
    /// A region that cannot be.
    #[error("{}: shard {shard}, row {row}: {reason}", path.display())]
    Row {
        /// The file.
        path: PathBuf,
        /// The shard.
        shard: u64,
        /// The row.
        row: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// A shard that is not what the header says.
    #[error("{}: shard {shard}: {reason}", path.display())]
    Shard {
        /// The file.
        path: PathBuf,
        /// The shard.
        shard: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// A folder of pieces that is none, or a piece of it that is not there.
    #[error("{}: {reason}", path.display())]
    Pieces {
        /// The folder.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A part that is not made of whole shards, or of another tree.
    #[error("{}: {reason}", path.display())]
    Part {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}

impl From<ZarrError> for TreeFileError {
    fn from(error: ZarrError) -> Self {
        Self::Array(error)
    }
}

impl From<StagingError> for TreeFileError {
    fn from(error: StagingError) -> Self {
        match error {
            StagingError::Io { path, error } => Self::Io { path, error },
            StagingError::Exists { path } => Self::Exists { path },
            StagingError::Foreign { path } => Self::Foreign { path },
            StagingError::Busy { path } => Self::Busy { path },
            StagingError::Untrusted { path, reason } => Self::Untrusted { path, reason },
        }
    }
}

impl TreeFileError {
    /// What a header says that cannot be.
    pub(super) fn unfit(path: &Path) -> impl Fn(Unfit) -> Self + use<> {
        let path = path.to_owned();
        move |Unfit { key, reason }| Self::Header { path: path.clone(), key, reason }
    }

    /// What the system says of a file.
    pub(super) fn io(path: &Path) -> impl Fn(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |error| Self::Io { path: path.clone(), error }
    }
}
