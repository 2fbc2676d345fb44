//! The program where the system gives it few threads.
//!
//! `RLIMIT_NPROC` counts all that a user runs and spares root. So the program is run as a user who runs nothing else, which
//! root alone can do; where that cannot be, the tests count as ignored, with the reason.

use std::process::ExitCode;

use libtest_mimic::Arguments;

#[cfg(target_os = "linux")]
mod threads;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    #[cfg(target_os = "linux")]
    let trials = threads::trials();
    #[cfg(not(target_os = "linux"))]
    let trials = Vec::new();
    libtest_mimic::run(&arguments, trials).exit_code()
}
