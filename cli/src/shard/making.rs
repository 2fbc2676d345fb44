//! What the threads of a process share that make pieces.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use orthant::field::Field;
use orthant::tree::PieceFolder;
use orthant::{Control, How, Plan};

use crate::voice::Voice;

/// The run that all pieces are of.
pub(super) struct Making<'m, const K: usize> {
    pub(super) pieces: &'m PieceFolder,
    pub(super) plan: &'m Plan<K>,
    pub(super) field: &'m dyn Field<K>,
    pub(super) how: &'m How,
    pub(super) control: &'m Arc<Control>,
    /// True when a piece could not be written.
    pub(super) stop: AtomicBool,
    pub(super) voice: Voice,
}
