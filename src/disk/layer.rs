//! What stands between orthant and the system: nothing, or what a test puts there.

use std::fmt::Debug;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::OnceLock;

/// What happens to what has a name that something else is to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Renaming {
    /// The name must be free.
    New,
    /// It goes.
    Replace,
    /// Both change names in one step. Not every file system can do that.
    Exchange,
}

/// One call to the system, before it is made.
#[derive(Debug, Clone, Copy)]
pub enum Call<'a> {
    /// Opens a folder.
    OpenFolder(&'a Path),
    /// Reads the names in a folder.
    List(&'a Path),
    /// Makes a folder.
    MakeFolder(&'a Path),
    /// Opens a file that is there.
    Open(&'a Path),
    /// Makes a file; it fails if there is something of that name.
    Create(&'a Path),
    /// Opens a file to append to, which is made if it is not there.
    Append(&'a Path),
    /// Locks a file.
    Lock(&'a Path),
    /// Reads from a file.
    Read(&'a Path),
    /// Writes to a file.
    Write {
        /// The file.
        path: &'a Path,
        /// The first byte.
        at: u64,
        /// What is written there.
        bytes: &'a [u8],
    },
    /// Cuts a file, or makes it longer by zeros.
    Resize {
        /// The file.
        path: &'a Path,
        /// Its new length in bytes.
        length: u64,
    },
    /// Brings the bytes of a file to the disk.
    Sync(&'a Path),
    /// Brings the names in a folder to the disk.
    SyncFolder(&'a Path),
    /// Gives a file or a folder another name.
    Rename {
        /// The old name.
        from: &'a Path,
        /// The new one.
        to: &'a Path,
        /// What happens to what has the new name already.
        place: Renaming,
    },
    /// Removes a file, or an empty folder.
    Remove(&'a Path),
}

/// What every call passes. The system's calls by default.
pub trait Layer: Debug + Sync {
    /// Makes a call by `system`, which takes the most bytes that it may read or write and returns how many it did (0 for other calls).
    ///
    /// # Errors
    /// Those of the system, or its own.
    fn call(&self, call: &Call<'_>, system: &mut dyn FnMut(usize) -> io::Result<usize>) -> io::Result<usize>;
}

static LAYER: OnceLock<&'static dyn Layer> = OnceLock::new();

/// Lets every call of this process pass `layer` from now on. The first layer stays.
pub fn install(layer: &'static dyn Layer) {
    let _ = LAYER.set(layer);
}

/// Makes a call that reads or writes.
pub(super) fn transfer(call: &Call<'_>, system: &mut dyn FnMut(usize) -> io::Result<usize>) -> io::Result<usize> {
    match LAYER.get() {
        Some(layer) => layer.call(call, system),
        None => system(usize::MAX),
    }
}

/// Makes any other call, again if a signal interrupts it.
pub(super) fn through<R>(call: Call<'_>, mut system: impl FnMut() -> io::Result<R>) -> io::Result<R> {
    loop {
        let mut result = None;
        let done = transfer(&call, &mut |_| {
            result = Some(system()?);
            Ok(0)
        });
        match (done, result) {
            (Ok(_), Some(result)) => return Ok(result),
            (Err(error), _) if error.kind() == ErrorKind::Interrupted => {}
            (Err(error), _) => return Err(error),
            (Ok(_), None) => return Err(io::Error::other("the layer made no call")),
        }
    }
}
