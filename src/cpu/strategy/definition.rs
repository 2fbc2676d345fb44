//! What a strategy is on the CPU.

use crate::backend::Error;
use crate::cpu::work::Work;
use crate::result::{Launches, LevelStats};

/// A host program: the order in which regions are explored, settled and divided. It knows no threads and no field; it calls
/// the verbs of [`Work`].
pub(crate) trait Strategy<const K: usize>: Sync {
    /// Settles every cell of the domain.
    fn run(&self, work: &Work<'_, K>) -> Result<(Vec<LevelStats<K>>, Launches), Error>;
}
