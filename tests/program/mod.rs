//! The binary under test.
#![allow(dead_code)] // not every test file uses all of it

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder of its own for each test.
pub fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// The binary with arguments in a folder, on the CPU.
pub fn command(folder: &Path, arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_orthant"));
    command.args(arguments.split_whitespace()).current_dir(folder);
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("ORTHANT_")) {
        command.env_remove(name);
    }
    // Whatever GPU there is: these tests are about the CPU unless they say otherwise.
    command.env("ORTHANT_BACKEND", "cpu");
    // What was fitted on this machine is not part of a test.
    command.env("ORTHANT_DATA_DIR", folder.join("data"));
    command
}

/// What it answers.
pub fn orthant(folder: &Path, arguments: &str) -> Output {
    command(folder, arguments).output().unwrap()
}

/// Bytes as text.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The names in a folder.
pub fn files(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
