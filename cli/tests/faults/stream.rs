//! What this process writes to stdout or to stderr.

use std::fs::{self, File};
use std::io::{self, Write};

use super::place;

#[derive(Debug, Clone, Copy)]
pub enum Stream {
    Stdout,
    Stderr,
}

impl Stream {
    /// Calls `run`, and what the process writes to the stream meanwhile.
    pub fn caught<R>(self, run: impl FnOnce() -> R) -> (R, Vec<u8>) {
        let folder = place();
        let path = folder.path().join("caught");
        let flush = || io::stdout().flush().unwrap();
        flush();
        let before = match self {
            Self::Stdout => rustix::io::dup(io::stdout()),
            Self::Stderr => rustix::io::dup(io::stderr()),
        };
        let (file, before) = (File::create(&path).unwrap(), before.unwrap());
        let put = |to: &dyn rustix::fd::AsFd| match self {
            Self::Stdout => rustix::stdio::dup2_stdout(to.as_fd()).unwrap(),
            Self::Stderr => rustix::stdio::dup2_stderr(to.as_fd()).unwrap(),
        };
        put(&file);
        let result = run();
        flush();
        put(&before);
        (result, fs::read(path).unwrap())
    }
}
