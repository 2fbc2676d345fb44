//! What commands do about trees of lists, whose domains can be too large for any array.

use orthant::Bytes;
use orthant::tree::TreeFile;

use crate::error::Error;

/// The most bytes of an array that is written of a part of such a tree.
const MOST: u128 = 1 << 40;

/// Refuses what needs bricks or levels, and names what does not.
///
/// # Errors
/// [`Error::Input`] of the tree of a list.
pub(super) fn refuse<const K: usize>(tree: &TreeFile<K>, what: &str, instead: &str) -> Result<(), Error> {
    match tree.is_listed() {
        false => Ok(()),
        true => {
            let path = tree.path().display();
            Err(Error::Input(format!("{path}: the tree of a list of cells has no {what}; {instead}")))
        }
    }
}

/// Refuses an array of so many cells per axis, if it is one that no disk holds.
///
/// # Errors
/// [`Error::Input`] with the bytes.
pub(super) fn fits<const K: usize>(tree: &TreeFile<K>, extent: &[u32]) -> Result<(), Error> {
    let bytes = extent.iter().fold(tree.kind().bytes().into(), |bytes: u128, &n| bytes.saturating_mul(n.into()));
    match tree.is_listed() && bytes > MOST {
        false => Ok(()),
        true => {
            let path = tree.path().display();
            let (bytes, most) = (Bytes(bytes), Bytes(MOST));
            let reason = format!("{path}: an array of these cells has {bytes}, and {most} can be written");
            Err(Error::Input(format!(
                "{reason}; name fewer cells, as in `orthant tree box {path} 0:64,0:64,.. -o box.npy`"
            )))
        }
    }
}
