//! Trees in files before their dimension is a type.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::cell::CellType;
use crate::disk::{Folder, Remote, parent, sweep};
use crate::tree::error::TreeError;
use crate::tree::file::error::TreeFileError;
use crate::tree::file::header::{Attributes, Header, HeaderFault};
use crate::tree::file::info::TreeInfo;
use crate::tree::file::pieces::PieceFolder;
use crate::zarr::ZarrStore;

/// A tree in a file whose number of dimensions is not known yet. Its header was read, and is valid.
///
/// ```
/// use orthant::ndarray::Array2;
/// use orthant::prelude::*;
/// use orthant::tree::{TreeInfo, TreeStore};
///
/// # let path = std::env::temp_dir().join(format!("orthant-doc-store-{}.tree.zarr.zip", std::process::id()));
/// let tree = Tree::<2>::from_array(Array2::<u16>::zeros((40, 60)).view())?;
/// tree.save(&path, &TreeInfo::of(tree.plan()))?;
/// // A file says how many dimensions it has.
/// let store = TreeStore::open(&path)?;
/// assert_eq!((store.dimensions(), store.size()), (2, &[60, 40][..]));
/// assert_eq!(store.tree::<2>()?.tree(None)?, tree);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct TreeStore {
    pub(super) store: ZarrStore,
    pub(super) header: Header,
    pub(super) info: TreeInfo,
    /// The shard behind each piece, if the tree is a folder of pieces.
    pub(super) pieces: Option<Vec<u64>>,
}

impl TreeStore {
    /// Opens a folder, a zip in which nothing is compressed, or a folder of pieces that are all finished.
    ///
    /// # Errors
    /// [`TreeError::File`] names the file and the byte, or the key of the header, and what is wrong there.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, TreeError> {
        let path = path.as_ref();
        if !path.exists() {
            // A process that was killed while it replaced the tree may have left the old one.
            let _ = Folder::open(parent(path)).map(|beside| sweep(&beside));
        }
        if PieceFolder::is(path) {
            return Ok(Self::of_pieces(PieceFolder::open(path)?)?);
        }
        Ok(Self::read(ZarrStore::open(path).map_err(TreeFileError::from)?)?)
    }

    /// Opens a tree that a server has: a folder of objects, or a zip in which nothing is compressed.
    ///
    /// Ranges are read that an answer needs, several at once, and checked as those of a file are.
    ///
    /// # Errors
    /// As [`open`](Self::open), and what the server or its client says.
    pub fn open_remote(remote: Arc<dyn Remote>) -> Result<Self, TreeError> {
        Ok(Self::read(ZarrStore::remote(remote).map_err(TreeFileError::from)?)?)
    }

    fn read(store: ZarrStore) -> Result<Self, TreeFileError> {
        let Attributes { orthant_tree } = store.group::<Attributes<Map<String, Value>>>("zarr.json")?;
        let path = store.path();
        let name = || path.to_owned();
        let header = Header::read(orthant_tree).map_err(|fault| match fault {
            HeaderFault::Version(found) => TreeFileError::Version { path: name(), found },
            HeaderFault::Digest { found, expected } => TreeFileError::Digest { path: name(), found, expected },
            HeaderFault::Keys(reason) => TreeFileError::Header { path: name(), key: "orthant_tree", reason },
        })?;
        let info = header.info().map_err(TreeFileError::unfit(path))?;
        Ok(Self { store, header, info, pieces: None })
    }

    fn of_pieces(pieces: PieceFolder) -> Result<Self, TreeFileError> {
        let (path, header) = (pieces.path(), pieces.header()?);
        let info = header.info().map_err(TreeFileError::unfit(path))?;
        Ok(Self { store: ZarrStore::open(path)?, header, info, pieces: Some(pieces.plan.shards) })
    }

    /// The number of dimensions.
    pub fn dimensions(&self) -> usize {
        self.header.size.len()
    }

    /// Cells per axis, axis 0 first.
    pub fn size(&self) -> &[u32] {
        &self.header.size
    }

    /// The type of a cell.
    pub fn kind(&self) -> CellType {
        self.header.cell
    }

    /// What is known of the tree beside its regions.
    pub fn info(&self) -> &TreeInfo {
        &self.info
    }
}
