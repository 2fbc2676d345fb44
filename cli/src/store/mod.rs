//! What was learnt about a device, kept between runs: fits and tuned schemes, one JSON file per device.
//!
//! The folder is `$ORTHANT_DATA_DIR`, else `$XDG_DATA_HOME/orthant`, else `~/.local/share/orthant`. A file is written beside
//! its place and renamed, so that it is always whole; a version that this program does not know is an error, not a guess.

mod file;
mod fitted;
mod tuned;

pub(crate) use file::keep;
pub(crate) use fitted::{Constants, Fitted, HeldOut, Setting, fitted};
pub(crate) use tuned::{Asked, Tuned, tuned};
