//! What the machine has: processor, memory, CUDA driver.

use sysinfo::{CpuRefreshKind, MemoryRefreshKind, RefreshKind, System};

use super::Voice;
use super::args::Backend as Wanted;
use crate::cuda::{Device, DeviceOptions};
use crate::engine::Backend;
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

/// Opens the backend; `auto` takes the CPU where CUDA cannot be used and says why.
pub(super) fn pick(wanted: Wanted, device: usize, voice: Voice) -> Result<Backend, Error> {
    let open = || Device::open(&DeviceOptions::from_env(device)).map_err(|error| error.to_string());
    let backend = match wanted {
        Wanted::Cpu => Ok(Backend::Cpu),
        Wanted::Cuda => Ok(Backend::Cuda(Box::new(Device::open(&DeviceOptions::from_env(device))?))),
        Wanted::Auto => Ok(match open() {
            Ok(device) => Backend::Cuda(Box::new(device)),
            Err(reason) => {
                voice.say(format_args!("orthant: on the CPU, since {reason}"));
                Backend::Cpu
            }
        }),
    };
    if let (true, Ok(Backend::Cuda(device))) = (voice.verbose, &backend) {
        voice.say(format_args!("orthant: on {}", device.describe()));
    }
    backend
}
