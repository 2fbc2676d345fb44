//! Where an array came from.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::cell::{Endian, IndexOrder};
use crate::tree::NotANumber;

/// Where the cells of an array lay.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReadFrom {
    /// The file.
    pub path: PathBuf,
    /// The member of it, if it is an archive.
    pub member: Option<String>,
    /// Which index is the fastest in it.
    pub order: IndexOrder,
    /// Which byte of a cell comes first.
    pub endian: Endian,
    /// Bytes of cells.
    pub bytes: u64,
    /// What was done about cells that are not a number.
    pub nan: NotANumber,
}
