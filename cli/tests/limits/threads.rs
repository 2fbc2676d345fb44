//! `RLIMIT_NPROC`, as a user without privileges.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output};

use libtest_mimic::Trial;

/// The first of some users, and groups, that no system has: one for each test, since the limit is the user's.
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
    let user = User::new(0);
    // No limit at all, and one that leaves no thread beside the first.
    let (free, none) = (user.runs(None, "--version"), user.runs(Some(1), "run cantor"));
    match (free.map(|output| output.status.success()), none.map(|output| output.status.success())) {
        (Ok(true), Ok(false)) => None,
        (Ok(true), _) => Some("the limit of processes is not heeded here"),
        _ => Some("another user cannot run the program: be root, with a temporary folder that all can enter"),
    }
}

/// Somebody without privileges, and a folder with the program in it, whose own may be closed to others.
struct User {
    number: u32,
    folder: tempfile::TempDir,
}

impl User {
    fn new(number: u32) -> Self {
        let folder = tempfile::Builder::new().prefix("orthant-limits-").tempdir().unwrap();
        std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o777)).unwrap();
        // Another process copies it. Had this one the copy open for writing, a child that the test beside starts could hold it open
        // for a moment longer, and the system executes no file that is open for writing.
        let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_orthant")).arg(folder.path().join("orthant")).status();
        assert!(copied.unwrap().success());
        Self { number: NOBODY + number, folder }
    }

    /// Runs the program with at most so many processes and threads.
    fn runs(&self, limit: Option<u32>, arguments: &str) -> std::io::Result<Output> {
        // Shells call it -u or -p.
        let limit = limit.map_or("true".into(), |most| format!("ulimit -u {most} 2>/dev/null || ulimit -p {most}"));
        let mut command = Command::new("/bin/sh");
        command.current_dir(&self.folder).uid(self.number).gid(self.number);
        command.env_clear().envs([("RAYON_NUM_THREADS", WANTED), ("ORTHANT_BACKEND", "cpu")]);
        command.arg("-c").arg(format!("{limit} && exec ./orthant {arguments}")).output()
    }
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
    let user = User::new(1);
    let run = |limit, name: &str| user.runs(limit, &format!("run mandelbrot -n 128 --report {name}")).unwrap();
    let free = run(None, "free.json");
    assert!(free.status.success(), "{}: {}", free.status, said(&free));
    for limit in [2, 3, 7] {
        let name = format!("{limit}.json");
        let output = run(Some(limit), &name);
        assert_eq!(output.status.code(), Some(0), "{limit}: {}", said(&output));
        assert!(said(&output).contains(&format!("instead of {WANTED}")), "{limit}: {}", said(&output));
        let of = |name: &str| checksum(&user.folder.path().join(name));
        assert_eq!(of(&name), of("free.json"), "{limit}");
    }
    let output = run(Some(1), "none.json");
    assert!(output.status.code() == Some(1) && said(&output).contains("no thread can be started"), "{}", said(&output));
    // Who asks for a number gets it or hears why not.
    let output = user.runs(Some(5), "run mandelbrot --threads 8").unwrap();
    assert!(output.status.code() == Some(1) && said(&output).contains("8 threads cannot be"), "{}", said(&output));
}

fn verify_takes_what_can_be_had() {
    let user = User::new(2);
    for limit in [2, 4, 8] {
        let output = user.runs(Some(limit), "verify cantor --brief").unwrap();
        assert_eq!(output.status.code(), Some(0), "{limit}: {}", said(&output));
        assert_eq!(said(&output).matches("rows of 3 threads").count(), 1, "{limit}: {}", said(&output));
    }
    let free = user.runs(None, "verify cantor --brief").unwrap();
    assert!(free.status.success() && !said(&free).contains("rows of"), "{}", said(&free));
}
