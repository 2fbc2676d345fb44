//! Where a measurement comes from: program, command, machine, date.

use std::ffi::OsStr;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sysinfo::{CpuRefreshKind, RefreshKind, System};

use crate::machine::Machine;
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

/// A time as 2026-11-21T10:57:03Z.
fn utc(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Days to a date of the Gregorian calendar, counted from 1 March of the year 0 in eras of 400 years (Hinnant,
    // "chrono-compatible low-level date algorithms").
    let day = days + 719_468;
    let (era, of_era) = (day / 146_097, day % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + 400 * era + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3600, second % 3600 / 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn folders_of_a_machine_are_left_out() {
        for (argument, said) in [("/somewhere/bin/orthant", "orthant"), ("./orthant", "./orthant"), ("-o", "-o")] {
            assert_eq!(named(argument.as_ref()), said);
        }
    }

    #[test]
    fn dates() {
        let at = |seconds| utc(UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(at(0), "1970-01-01T00:00:00Z");
        assert_eq!(at(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(at(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(at(1_735_689_599), "2024-12-31T23:59:59Z");
    }
}
