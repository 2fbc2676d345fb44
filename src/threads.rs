//! Threads that start where memory is short: what a system gives none of is an answer, not the end of the process.

use std::io;
use std::sync::mpsc::channel;
use std::thread::{Builder, JoinHandle, Scope};

use rayon::ThreadBuilder;

/// A thread's stack as the standard library makes it, and what it asks for before it can say that there is none.
const STARTING: usize = (2 << 20) + (256 << 10);

/// True if there is room for a stack of so many bytes at this moment. The allocator is not asked: what it keeps of memory that was freed
/// it has room in, and no stack can lie there.
#[cfg(unix)]
#[allow(unsafe_code)]
pub fn is_room(bytes: usize) -> bool {
    let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: pages of their own, which nobody has heard of when they go.
    unsafe {
        let pages = libc::mmap(std::ptr::null_mut(), bytes, access, kind, -1, 0);
        pages != libc::MAP_FAILED && libc::munmap(pages, bytes) == 0
    }
}

/// True: only where it can be asked is there an answer.
#[cfg(not(unix))]
pub fn is_room(_: usize) -> bool {
    true
}

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

/// The same of a thread that ends with a scope.
///
/// # Errors
/// As [`start`].
pub(crate) fn start_scoped<'scope>(
    scope: &'scope Scope<'scope, '_>,
    body: impl FnOnce() + Send + 'scope,
) -> io::Result<()> {
    if !is_room(STARTING) {
        return Err(io::ErrorKind::OutOfMemory.into());
    }
    let (up, is_up) = channel();
    Builder::new().spawn_scoped(scope, move || {
        // The message is the first memory that it asks for.
        let _ = up.send(());
        body();
    })?;
    let _ = is_up.recv();
    Ok(())
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
