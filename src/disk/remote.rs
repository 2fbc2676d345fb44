//! Objects that lie elsewhere: what a client of a server has to do for this crate, which brings none.

use std::fmt::Debug;
use std::io::{self, ErrorKind};
use std::path::Path;

use crate::disk::layer::{Call, through};

/// Objects of a server: those below a name as files are in a folder, or a single one.
///
/// Whoever implements it sees to it that the ranges of an object are those of one state of it. A client tries again what may
/// succeed then, and answers in the end.
///
/// ```
/// use std::io;
/// use std::path::Path;
/// use std::sync::Arc;
///
/// use orthant::disk::Remote;
/// use orthant::ndarray::Array2;
/// use orthant::prelude::*;
/// use orthant::tree::{TreeInfo, TreeStore};
///
/// /// An object in memory.
/// #[derive(Debug)]
/// struct Held(Vec<u8>);
///
/// impl Remote for Held {
///     fn path(&self) -> &Path {
///         Path::new("memory://x.tree.zarr.zip")
///     }
///
///     fn read_at(&self, _name: &str, offset: u64, bytes: &mut [u8]) -> io::Result<Option<u64>> {
///         let rest = self.0.get(offset as usize..).unwrap_or_default();
///         let some = rest.len().min(bytes.len());
///         bytes[..some].copy_from_slice(&rest[..some]);
///         Ok(Some(self.0.len() as u64))
///     }
/// }
///
/// # let path = std::env::temp_dir().join(format!("orthant-doc-remote-{}.tree.zarr.zip", std::process::id()));
/// let tree = Tree::<2>::from_array(Array2::<u16>::zeros((40, 60)).view())?;
/// tree.save(&path, &TreeInfo::of(tree.plan()))?;
/// let held = Held(std::fs::read(&path)?);
/// assert_eq!(TreeStore::open_remote(Arc::new(held))?.tree::<2>()?.tree(None)?, tree);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Remote: Debug + Send + Sync {
    /// What errors call it, without secrets. A name that ends in `.zip` is that of a single object.
    fn path(&self) -> &Path;

    /// Reads an object from `offset` on, as many bytes as it has and `bytes` holds; how many it has in all. None if there is no
    /// such object. The single object has an empty name.
    ///
    /// # Errors
    /// Those of the client. Bytes that may be others than those of the object are one.
    fn read_at(&self, name: &str, offset: u64, bytes: &mut [u8]) -> io::Result<Option<u64>>;
}

/// Why an object cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct RemoteError(String);

impl RemoteError {
    /// An error of this kind, in words that say what to do.
    pub fn of(kind: ErrorKind, words: impl Into<String>) -> io::Error {
        io::Error::new(kind, Self(words.into()))
    }

    /// True if an error says what a server, or the way to it, did.
    pub fn is(error: &io::Error) -> bool {
        error.get_ref().is_some_and(|inner| inner.is::<Self>())
    }
}

/// Reads from a remote object; as all reading it passes the [`Layer`](crate::disk::Layer).
pub(crate) fn fetch(remote: &dyn Remote, name: &str, offset: u64, bytes: &mut [u8]) -> io::Result<Option<u64>> {
    through(Call::Read(remote.path()), || remote.read_at(name, offset, bytes))
}
