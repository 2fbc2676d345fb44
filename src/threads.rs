//! Threads that start where memory is short: what a system gives none of is an answer, not the end of the process.

use std::io;
use std::sync::mpsc::channel;
use std::thread::{Builder, JoinHandle};

use rayon::ThreadBuilder;

use crate::memory::is_room;

/// A thread's stack as the standard library makes it, and what it asks for before it can say that there is none.
const STARTING: usize = (2 << 20) + (256 << 10);

/// Starts a thread, and returns once it has what it needs: one that finds no memory for its signal stack ends the process, so that there
/// has to be room for more than its stack; and the allocator reserves far more for a moment when a thread first asks for some, so that
/// two must not start at once.
///
/// # Errors
/// [`io::ErrorKind::OutOfMemory`] where there is no room; those of the system.
pub fn start(thread: Builder, body: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    if !is_room(STARTING) {
        return Err(io::ErrorKind::OutOfMemory.into());
    }
    let (up, is_up) = channel();
    let started = thread.spawn(move || {
        // The message is the first memory that it asks for.
        let _ = up.send(());
        body();
    })?;
    let _ = is_up.recv();
    Ok(started)
}

/// Starts one of rayon's, of the usual stack: a handler for [`spawn_handler`](rayon::ThreadPoolBuilder::spawn_handler).
///
/// # Errors
/// As [`start`].
pub fn worker(thread: ThreadBuilder) -> io::Result<()> {
    let mut builder = Builder::new();
    if let Some(name) = thread.name() {
        builder = builder.name(name.to_owned());
    }
    start(builder, || thread.run()).map(drop)
}
