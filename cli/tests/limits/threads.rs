//! `RLIMIT_NPROC`, as a user without privileges.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output};

use libtest_mimic::Trial;

/// A user, and a group, that no system has.
const NOBODY: u32 = 54_321;

/// Threads that the program wants.
const WANTED: &str = "16";

/// The tests, ignored where they cannot run.
pub(crate) fn trials() -> Vec<Trial> {
    let lacking = lacking();
    let tests: [(&str, fn()); 2] = [
        ("threads::runs_take_what_can_be_had", runs_take_what_can_be_had),
        ("threads::verify_takes_what_can_be_had", verify_takes_what_can_be_had),
    ];
    let trial = |(name, test): (&str, fn())| {
        let trial = Trial::test(name, move || {
            test();
            Ok(())
        });
        match &lacking {
            Some(reason) => trial.with_kind(*reason).with_ignored_flag(true),
            None => trial,
        }
    };
    tests.into_iter().map(trial).collect()
}

/// What is missing here, if anything is.
fn lacking() -> Option<&'static str> {
    let folder = home("probe");
    // No limit at all, and one that leaves no thread beside the first.
    let (free, none) = (limited(&folder, None, "--version"), limited(&folder, Some(1), "run cantor"));
    match (free.map(|output| output.status.success()), none.map(|output| output.status.success())) {
        (Ok(true), Ok(false)) => None,
        (Ok(true), _) => Some("the limit of processes is not heeded here"),
        _ => Some("another user cannot run the program: be root, with a temporary folder that all can enter"),
    }
}

/// A folder of that user's, with the program in it: its own may be closed to others.
fn home(name: &str) -> tempfile::TempDir {
    let folder = tempfile::Builder::new().prefix(&format!("orthant-limits-{name}-")).tempdir().unwrap();
    std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o777)).unwrap();
    std::fs::copy(env!("CARGO_BIN_EXE_orthant"), folder.path().join("orthant")).unwrap();
    folder
}

/// Runs the program as a user who may have so many processes and threads.
fn limited(folder: &tempfile::TempDir, limit: Option<u32>, arguments: &str) -> std::io::Result<Output> {
    // Shells call it -u or -p.
    let limit = limit.map_or("true".into(), |most| format!("ulimit -u {most} 2>/dev/null || ulimit -p {most}"));
    let mut command = Command::new("/bin/sh");
    command.current_dir(folder).env_clear().envs([("RAYON_NUM_THREADS", WANTED), ("ORTHANT_BACKEND", "cpu")]);
    command.arg("-c").arg(format!("{limit} && exec ./orthant {arguments}")).uid(NOBODY).gid(NOBODY).output()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The checksum that a run reports.
fn checksum(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    text.split('"').find(|word| word.starts_with("xxh3:")).unwrap().to_owned()
}

fn runs_take_what_can_be_had() {
    let folder = home("run");
    let run = |limit, name: &str| limited(&folder, limit, &format!("run mandelbrot -n 128 --report {name}")).unwrap();
    assert!(run(None, "free.json").status.success());
    for limit in [2, 3, 7] {
        let name = format!("{limit}.json");
        let output = run(Some(limit), &name);
        assert_eq!(output.status.code(), Some(0), "{limit}: {}", said(&output));
        assert!(said(&output).contains(&format!("instead of {WANTED}")), "{limit}: {}", said(&output));
        let of = |name: &str| checksum(&folder.path().join(name));
        assert_eq!(of(&name), of("free.json"), "{limit}");
    }
    let output = run(Some(1), "none.json");
    assert!(output.status.code() == Some(1) && said(&output).contains("no thread can be started"), "{}", said(&output));
    // Who asks for a number gets it or hears why not.
    let output = limited(&folder, Some(5), "run mandelbrot --threads 8").unwrap();
    assert!(output.status.code() == Some(1) && said(&output).contains("8 threads cannot be"), "{}", said(&output));
}

fn verify_takes_what_can_be_had() {
    let folder = home("verify");
    for limit in [2, 4, 8] {
        let output = limited(&folder, Some(limit), "verify cantor --brief").unwrap();
        assert_eq!(output.status.code(), Some(0), "{limit}: {}", said(&output));
        assert_eq!(said(&output).matches("rows of 3 threads").count(), 1, "{limit}: {}", said(&output));
    }
    let free = limited(&folder, None, "verify cantor --brief").unwrap();
    assert!(free.status.success() && !said(&free).contains("rows of"), "{}", said(&free));
}
