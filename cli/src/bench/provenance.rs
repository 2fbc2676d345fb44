//! Where a measurement comes from: program, command, machine, date.

use std::ffi::OsStr;
use std::path::Path;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use sysinfo::{CpuRefreshKind, RefreshKind, System};

use crate::machine::Machine;
use crate::utc::utc;
use orthant::backend::DeviceFacts;

/// What one must know to take a measurement again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Provenance {
    /// The version of the program.
    pub(crate) orthant: String,
    /// The command that measured; of absolute paths the names, since folders are a machine's own.
    pub(crate) command: Vec<String>,
    /// When, in UTC (RFC 3339).
    pub(crate) date: String,
    pub(crate) host: Option<String>,
    pub(crate) os: Option<String>,
    pub(crate) cpu: String,
    pub(crate) threads: usize,
    /// The clock when the sweep began, where the system tells.
    pub(crate) cpu_mhz: Option<u64>,
    /// Bytes of memory.
    pub(crate) memory: Option<u64>,
    /// The GPU, for what ran on one.
    pub(crate) gpu: Option<DeviceFacts>,
}

impl Provenance {
    /// Of what this process measures on the CPU.
    pub(crate) fn look(machine: &Machine) -> Self {
        let kinds = RefreshKind::nothing().with_cpu(CpuRefreshKind::nothing().with_frequency());
        let clock = System::new_with_specifics(kinds).ok().and_then(|system| Some(system.cpus().first()?.frequency()));
        Self {
            orthant: env!("CARGO_PKG_VERSION").into(),
            command: std::env::args_os().map(|argument| named(&argument)).collect(),
            date: utc(SystemTime::now()),
            host: System::host_name().ok(),
            os: System::long_os_version().ok(),
            cpu: machine.cpu.clone(),
            threads: machine.threads,
            cpu_mhz: clock.filter(|&clock| clock > 0),
            memory: machine.memory,
            gpu: None,
        }
    }

    /// Of what it measures now, on a GPU if one is given.
    pub(crate) fn now(&self, gpu: Option<DeviceFacts>) -> Self {
        Self { date: utc(SystemTime::now()), gpu, ..self.clone() }
    }
}

/// An argument as it was typed, or the name of an absolute path.
fn named(argument: &OsStr) -> String {
    let path = Path::new(argument);
    let name = path.file_name().filter(|_| path.is_absolute());
    name.unwrap_or(argument).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_a_machine_are_left_out() {
        for (argument, said) in [("/somewhere/bin/orthant", "orthant"), ("./orthant", "./orthant"), ("-o", "-o")] {
            assert_eq!(named(argument.as_ref()), said);
        }
    }
}
