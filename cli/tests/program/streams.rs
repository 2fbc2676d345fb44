//! Stdout and stderr that take nothing.

use std::fs::File;
use std::process::Stdio;

use crate::binary::{command, folder, text};

/// A device that is always full.
fn full() -> Stdio {
    File::options().write(true).open("/dev/full").unwrap().into()
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "needs /dev/full")]
fn what_cannot_be_written_is_a_failure() {
    let folder = folder("full");
    for arguments in [
        "--help",
        "--version",
        "run --help",
        "completions bash",
        "man",
        "info",
        "doctor",
        "run cantor -n 27",
        "bench -a workload=cantor -a n=9 --min-samples 1 --max-samples 1",
        "bench -a workload=cantor -a n=9 --list",
    ] {
        let output = command(&folder, arguments).stdout(full()).output().unwrap();
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments}: {error}");
        assert!(error.contains("stdout: No space left") && !error.contains("panicked"), "{arguments}: {error}");
    }
    // There is nowhere left to say anything, but the exit code stands.
    for (arguments, code) in [("run cantor -n 0", 2), ("run --nonsense", 2), ("run cantor -n 27", 0)] {
        let status = command(&folder, arguments).stdout(Stdio::null()).stderr(full()).status().unwrap();
        assert_eq!(status.code(), Some(code), "{arguments}");
    }
}

#[test]
#[cfg_attr(not(unix), ignore = "needs a shell")]
fn rows_are_not_measured_for_a_closed_stdout() {
    let folder = folder("closed");
    let bench = "bench -a workload=cantor -a backend=cpu -a n=9 --min-samples 1 --max-samples 1";
    for (arguments, end, code) in [
        (bench.to_owned(), ">&-", 2),
        (bench.to_owned(), ">/dev/null", 0),
        (format!("{bench} -o rows.jsonl"), ">&-", 0),
    ] {
        let orthant = command(&folder, &arguments);
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &format!("exec \"$0\" \"$@\" {end}")]).arg(orthant.get_program()).args(orthant.get_args());
        let output = shell.current_dir(&folder).output().unwrap();
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments} {end}: {error}");
        assert_eq!(error.contains("stdout: is closed"), code == 2, "{error}");
    }
}
