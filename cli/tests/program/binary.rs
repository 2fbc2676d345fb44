//! The binary under test.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// A folder of its own for each test.
pub(super) fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// A folder of its own in memory, where there is such a folder: pieces bring every file to the disk, which takes longer than all else.
pub(super) fn folder_in_memory() -> TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap()
}

/// The binary with arguments in a folder, on the CPU.
pub(super) fn command(folder: &Path, arguments: &str) -> Command {
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
pub(super) fn orthant(folder: &Path, arguments: &str) -> Output {
    command(folder, arguments).output().unwrap()
}

/// Bytes as text.
pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The names in a folder.
pub(super) fn files(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A file of JSON.
pub(super) fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// What a binary that must succeed prints, as lines of JSON.
pub(super) fn lines(folder: &Path, arguments: &str) -> Vec<Value> {
    let output = orthant(folder, arguments);
    assert!(output.status.success(), "{arguments}: {}", text(&output.stderr));
    text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A run's report.
pub(super) fn report(folder: &Path, arguments: &str) -> Value {
    lines(folder, &format!("run -q {arguments} --report last.json --force"));
    json(&folder.join("last.json"))
}

/// The rows of a result file of `bench`.
pub(super) fn rows(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'), "{} has a torn line", path.display());
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A path in the repository.
pub(super) fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

/// The sweeps of the repository.
pub(super) fn sweeps() -> Vec<PathBuf> {
    let folder = repository("benches/sweeps");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}
