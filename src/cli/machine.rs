//! What the machine has: processor, memory, CUDA driver.

use sysinfo::{CpuRefreshKind, MemoryRefreshKind, RefreshKind, System};

use super::args::Backend;
use crate::error::Error;

/// A look at the machine; None where the system does not tell.
pub(super) struct Machine {
    pub(super) cpu: String,
    pub(super) threads: usize,
    /// Bytes of memory in all.
    pub(super) memory: Option<u64>,
    /// Bytes that a process can still take, control groups counted.
    pub(super) available: Option<u64>,
}

impl Machine {
    pub(super) fn look() -> Self {
        let kinds = RefreshKind::nothing()
            .with_cpu(CpuRefreshKind::nothing())
            .with_memory(MemoryRefreshKind::nothing().with_ram());
        let system = System::new_with_specifics(kinds).ok();
        let group = system.as_ref().and_then(System::cgroup_limits);
        let least = |whole: Option<u64>, group: Option<u64>| whole.map(|bytes| bytes.min(group.unwrap_or(bytes)));
        let brand = system.as_ref().and_then(|system| Some(system.cpus().first()?.brand().trim().to_owned()));
        Self {
            cpu: brand.filter(|brand| !brand.is_empty()).unwrap_or_else(|| "unknown CPU".into()),
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            memory: least(system.as_ref().map(System::total_memory), group.as_ref().map(|group| group.total_memory)),
            available: least(
                system.as_ref().map(System::available_memory),
                group.as_ref().map(|group| group.free_memory),
            ),
        }
    }

    /// The memory that a run may take unless told otherwise: 80 % of what is available.
    pub(super) fn default_limit(&self) -> Option<u64> {
        self.available.map(|bytes| bytes / 5 * 4)
    }
}

/// Why CUDA cannot be used.
pub(super) const NO_CUDA: &str =
    "this version of orthant has no CUDA backend yet; --backend cpu computes the same values";

/// Picks the backend; the CPU is the only one so far, and `auto` says why.
pub(super) fn pick(backend: Backend, voice: super::Voice) -> Result<(), Error> {
    match backend {
        Backend::Cpu => Ok(()),
        Backend::Auto => {
            if voice.verbose {
                voice.say(format_args!("orthant: backend cpu ({NO_CUDA})"));
            }
            Ok(())
        }
        Backend::Cuda => Err(Error::Unavailable(format!("--backend cuda: {NO_CUDA}"))),
    }
}
