//! Where the number of dimensions of a tree in a file becomes a type.

use crate::dimension::with_dimensions;
use crate::tree::error::TreeError;
use crate::tree::file::error::TreeFileError;
use crate::tree::file::reader::TreeFile;
use crate::tree::file::store::TreeStore;

/// Work on a tree whose number of dimensions is known only when the file is open: a closure that is generic over K.
///
/// ```
/// use orthant::Tree;
/// use orthant::ndarray::Array3;
/// use orthant::tree::{TreeFile, TreeInfo, TreeJob, TreeStore};
///
/// /// Counts cells, whatever the number of dimensions.
/// struct Cells;
/// impl TreeJob for Cells {
///     type Output = u128;
///     fn run<const K: usize>(self, tree: TreeFile<K>) -> u128 {
///         tree.plan().domain().cells()
///     }
/// }
/// # let path = std::env::temp_dir().join(format!("orthant-doc-job-{}.tree.zarr.zip", std::process::id()));
/// let tree = Tree::<3>::from_array(Array3::<u8>::zeros((2, 3, 5)).view())?;
/// tree.save(&path, &TreeInfo::of(tree.plan()))?;
/// assert_eq!(TreeStore::open(&path)?.dispatch(Cells)?, 30);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait TreeJob {
    /// The result of the work.
    type Output;

    /// Does the work in K dimensions.
    fn run<const K: usize>(self, tree: TreeFile<K>) -> Self::Output;
}

impl TreeStore {
    /// Does something with the tree in as many dimensions as it has.
    ///
    /// # Errors
    /// As [`tree`](Self::tree).
    pub fn dispatch<J: TreeJob>(self, job: J) -> Result<J::Output, TreeError> {
        let found = self.dimensions();
        with_dimensions!(found, K => Ok(job.run(self.tree::<K>()?)), else {
            let reason = format!("{found} axes; between 1 and {} can be", crate::MAX_DIM);
            Err(TreeFileError::Header { path: self.store.path().to_owned(), key: "size", reason }.into())
        })
    }
}
