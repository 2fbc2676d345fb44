//! The program over the stand-in.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A path for files of these tests.
pub(super) fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("standin").join(name)
}

/// An empty folder for files of one test.
pub(super) fn empty(name: &str) -> PathBuf {
    let folder = scratch(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Runs the program over the stand-in with `variables` set.
pub(super) fn orthant(folder: &Path, arguments: &str, variables: &[(&str, &str)]) -> Output {
    run(over(folder, env!("CARGO_BIN_EXE_orthant").as_ref()), arguments, variables)
}

/// Set in the environment of these tests' own binary where it is to be the program, with fields of its own.
pub(super) const OWN: &str = "OWN_FIELDS_OF_THE_STANDIN";

/// As [`orthant`], the program with the fields of these tests.
pub(super) fn own(folder: &Path, arguments: &str) -> Output {
    run(over(folder, &std::env::current_exe().unwrap()), arguments, &[(OWN, "1")])
}

fn run(mut command: Command, arguments: &str, variables: &[(&str, &str)]) -> Output {
    command.args(arguments.split_whitespace()).envs(variables.iter().copied()).output().unwrap()
}

/// A program that will find the stand-in.
pub(super) fn over(folder: &Path, program: &Path) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("ORTHANT_") || name.starts_with("STANDIN_")) {
        command.env_remove(name);
    }
    command
        .env("LD_LIBRARY_PATH", folder)
        .env("ORTHANT_NVRTC_DIR", folder)
        .env("ORTHANT_CUDADEVRT", folder.join("libcuda.so.1"))
        // Beside the libraries, of which the cache's keys do not know.
        .env("ORTHANT_CACHE_DIR", folder.join("cache"))
        // What was fitted on this machine is not part of a test.
        .env("ORTHANT_DATA_DIR", folder.join("data"))
        .env("ORTHANT_COLOR", "never");
    command
}

/// What it said: on stdout, and on stderr.
pub(super) fn text(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// The line of a run's table that starts with `key`.
pub(super) fn line(output: &Output, key: &str) -> String {
    let (out, err) = text(output);
    let found = out.lines().find(|line| line.starts_with(key));
    found.unwrap_or_else(|| panic!("no line {key} in {out}{err}")).to_owned()
}
