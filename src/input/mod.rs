//! Arrays in files, read where they lie.

mod error;
mod file;
mod layout;
mod npy;
mod npz;
mod numbers;

pub use crate::tree::NotANumber;
pub use error::{InputError, Wrong};
pub use file::{ArrayFile, FileSource};
pub use layout::{Endian, IndexOrder, Layout};
pub use numbers::Numbers;
