//! How much memory a command on a tree may take.

use clap::Args;

use orthant::Bytes;
use orthant::tree::TreeFile;

use crate::error::Error;
use crate::machine::Machine;
use crate::options::bytes;

/// The share of the limit that shards may take which were read and may be needed again.
const KEPT: u64 = 4;

/// The most that they take with up to 16 threads. With 64 MiB the shards that a layer of 1024^3 cells runs through did
/// not fit, and each was read again for the next layer: a conversion took 2.5 times as long.
const MOST_KEPT: u64 = 256 << 20;

/// What they take at most for each thread, where there are more.
const KEPT_BY_THREAD: u64 = 16 << 20;

/// The limit of memory.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(super) struct MemoryOptions {
    /// The most memory for regions and cells: bytes, or 512MiB, 8G [default: 80 % of what is available]
    #[arg(long, value_parser = bytes, value_name = "BYTES", env = "ORTHANT_MEM_LIMIT")]
    mem_limit: Option<u64>,
}

impl MemoryOptions {
    /// The limit that was given.
    pub(super) fn given(self) -> Option<u64> {
        self.mem_limit
    }

    /// The limit in bytes; None where the system does not tell what is available.
    pub(super) fn limit(self) -> Option<u64> {
        self.mem_limit.or_else(|| Machine::look().default_limit())
    }

    /// A tree that stays within the limit while it is read shard by shard.
    ///
    /// # Errors
    /// [`Error::Memory`] if its largest shard alone does not fit.
    pub(super) fn within<const K: usize>(self, tree: TreeFile<K>) -> Result<TreeFile<K>, Error> {
        let Some(limit) = self.limit() else { return Ok(tree) };
        let need = tree.largest_shard();
        if need > limit {
            let (path, need, most) = (tree.path().display(), Bytes(need.into()), Bytes(limit.into()));
            let reason = format!(
                "--mem-limit: {path}: the largest shard takes {need}, more than the limit of {most}; give a larger --mem-limit"
            );
            return Err(Error::Memory(reason).about(&["mem-limit"]));
        }
        let most = MOST_KEPT.max(KEPT_BY_THREAD * rayon::current_num_threads() as u64);
        Ok(tree.keep(most.min(limit / KEPT)))
    }
}
