//! What the operating system refuses: the exit code that belongs to it, and what the user can do.

use std::io::{Error, ErrorKind};

use crate::exit::Exit;

/// Turns the end of a process that writes a file beyond `ulimit -f` into an error of that write.
pub(crate) fn outlive_large_files() {
    #[cfg(unix)]
    #[allow(unsafe_code)]
    // SAFETY: ignoring a signal runs no code of ours.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
}

/// The exit code of an error of the system about a file.
///
/// A path that cannot be read or written is bad input, since it is found before the work. What runs out during the work is a
/// failed run.
pub(crate) fn exit(error: &Error) -> Exit {
    match error.kind() {
        ErrorKind::OutOfMemory => Exit::Memory,
        ErrorKind::StorageFull | ErrorKind::WriteZero | ErrorKind::FileTooLarge | ErrorKind::QuotaExceeded => {
            Exit::Failed
        }
        // A server, or the way to it.
        ErrorKind::TimedOut | ErrorKind::ConnectionAborted => Exit::Failed,
        // The disk fails.
        _ if error.raw_os_error() == Some(libc::EIO) => Exit::Failed,
        _ if advice(error).is_some() => Exit::Failed,
        _ => Exit::Input,
    }
}

/// An error in words: what the system says, and what can be done about it.
pub(crate) fn words(error: &Error) -> String {
    let text = error.to_string();
    match advice(error) {
        Some(advice) => format!("{text}; {advice}"),
        None => text,
    }
}

/// Why no thread can be started, in words.
pub(crate) fn words_of_thread(error: &Error) -> String {
    #[cfg(unix)]
    if error.raw_os_error() == Some(libc::EAGAIN) {
        use rustix::process::{Resource, getrlimit};
        let now = getrlimit(Resource::Nproc).current.map_or("unlimited".into(), |limit| limit.to_string());
        return format!("{error}; raise `ulimit -u`, now {now}");
    }
    words(error)
}

/// The error of the system that others carry, so that a message names no file that nobody asked for.
pub(crate) fn bare(error: Error) -> Error {
    match number(&error) {
        Some(number) => Error::from_raw_os_error(number),
        None => error.kind().into(),
    }
}

/// The number of an error of the system, if it is one or wraps one: libraries that wrap it keep its text, and not its number.
fn number(error: &Error) -> Option<i32> {
    error.raw_os_error().or_else(|| {
        let text = error.to_string();
        let (_, number) = text.split_once("(os error ")?;
        number.split_once(')')?.0.parse().ok()
    })
}

/// What can be done about a limit of the system that was reached.
#[cfg(unix)]
fn advice(error: &Error) -> Option<String> {
    use rustix::process::{Resource, getrlimit};
    let now = |resource| getrlimit(resource).current.map_or("unlimited".into(), |limit| limit.to_string());
    Some(match number(error)? {
        libc::EMFILE => format!("raise `ulimit -n`, now {}", now(Resource::Nofile)),
        // A pipe or a terminal that another program made so that writes to it do not wait.
        libc::EAGAIN => {
            "it takes no more now, and does not let writers wait: write to a file, or append `| cat`".into()
        }
        libc::ENFILE => "all programs together have too many files open: end some of them".into(),
        libc::EFBIG => format!("raise `ulimit -f`, now {} bytes, or use another file system", now(Resource::Fsize)),
        _ => return None,
    })
}

#[cfg(not(unix))]
fn advice(_: &Error) -> Option<String> {
    None
}
