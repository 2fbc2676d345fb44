//! The end of writing: the header, and the tree's name.

use std::io::Write;
use std::path::PathBuf;

use crate::cell::CellType;
use crate::tree::error::TreeError;
use crate::tree::file::error::TreeFileError;
use crate::tree::file::header::{Attributes, Header, Held};
use crate::tree::file::shards::{Array, Shards};
use crate::tree::file::staged::Staged;
use crate::zarr;

/// What was written of a tree, whatever its number of axes is.
pub(super) struct WrittenTree {
    pub(super) path: PathBuf,
    pub(super) zip: bool,
    pub(super) overwrite: bool,
    pub(super) axes: usize,
    pub(super) kind: CellType,
    pub(super) header: Header,
    pub(super) shards: Shards,
    /// What each shard holds that is finished.
    pub(super) done: Vec<Option<Held>>,
    pub(super) terminals: Vec<[u64; 2]>,
    pub(super) staged: Staged,
}

impl WrittenTree {
    /// Writes the header, and brings all of the tree to the disk.
    pub(super) fn seal(self) -> Result<SealedTree, TreeError> {
        let Self { path, zip, overwrite, axes, kind, header, shards, done, terminals, staged } = self;
        let Some(held) = done.iter().copied().collect::<Option<Vec<Held>>>() else {
            let shard = done.iter().position(Option::is_none).expect("one is missing") as u64;
            let missing = done.iter().filter(|held| held.is_none()).count();
            let reason = format!("not written yet, as {missing} of {} are", shards.count);
            return Err(TreeFileError::Shard { path, shard, reason }.into());
        };
        for &array in Array::of_tree(shards.are_listed()) {
            let text = shards.metadata(array, axes, kind).text();
            staged.file(&array.metadata_name(), |file| file.write_all(text.as_bytes()))?;
        }
        let text = zarr::group(&Attributes { orthant_tree: header.with(&held, terminals) });
        staged.file("zarr.json", |file| file.write_all(text.as_bytes()))?;
        staged.seal(zip)?;
        Ok(SealedTree { staged, zip, overwrite })
    }
}

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
    staged: Staged,
    zip: bool,
    overwrite: bool,
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
