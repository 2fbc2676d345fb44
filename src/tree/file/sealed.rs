//! The end of writing: the header, and the tree's name.

use crate::tree::error::TreeError;
use crate::tree::file::staged::Staged;

/// A complete tree on the disk that does not have its name yet.
///
/// ```
/// use orthant::Tree;
/// use orthant::ndarray::Array2;
/// use orthant::tree::{TreeInfo, TreeTarget};
///
/// # let path = std::env::temp_dir().join(format!("orthant-doc-sealed-{}.tree.zarr.zip", std::process::id()));
/// let tree = Tree::<2>::from_array(Array2::<u8>::zeros((40, 60)).view())?;
/// let mut writer = TreeTarget::new(&path).open(tree.plan(), tree.kind(), &TreeInfo::of(tree.plan()))?;
/// writer.write(&tree)?;
/// let sealed = writer.seal()?;
/// // All bytes are on the disk, and nobody sees them yet.
/// assert!(!path.exists());
/// sealed.place()?;
/// assert!(path.exists());
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct SealedTree {
    pub(super) staged: Staged,
    pub(super) zip: bool,
    pub(super) overwrite: bool,
}

impl SealedTree {
    /// Gives the tree its name, in one step if the file system can exchange names, and brings the name to the disk. It
    /// does nothing else, so a program can hold back signals meanwhile.
    ///
    /// # Errors
    /// [`TreeError::File`] if something took the name meanwhile, or the system says no.
    pub fn place(self) -> Result<(), TreeError> {
        Ok(self.staged.place(self.zip, self.overwrite)?)
    }
}
