//! Stdout, and whether it was there when the program began.
//!
//! A shell closes it by `>&-`. Before `main`, Rust's runtime opens the null device in its place, and whatever is written there
//! is lost without an error. From then on nothing tells it from `1<>/dev/null`, which is a choice of the user. So a function
//! that the loader calls before the runtime looks at the descriptor, and remembers what it saw.

use std::io::{Error as IoError, StdoutLock};

use crate::error::Error;

/// What messages call it.
pub(crate) const STDOUT: &str = "stdout";

/// What the loader calls before `main`.
#[cfg(unix)]
mod before_main {
    #![allow(unsafe_code)]

    use std::sync::atomic::{AtomicBool, Ordering};

    static CLOSED: AtomicBool = AtomicBool::new(false);

    extern "C" fn look() {
        // SAFETY: asks for the flags of a descriptor, which may be closed.
        if unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) } == -1 {
            CLOSED.store(true, Ordering::Relaxed);
        }
    }

    // SAFETY: the loader calls what it finds in this section, and `look` needs nothing of Rust's runtime.
    #[used]
    #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
    #[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
    static LOOK: extern "C" fn() = look;

    /// True if stdout was closed.
    pub(super) fn was_closed() -> bool {
        // A mention, so that no linker leaves it out.
        std::hint::black_box(&LOOK);
        CLOSED.load(Ordering::Relaxed)
    }
}

#[cfg(not(unix))]
mod before_main {
    pub(super) fn was_closed() -> bool {
        false
    }
}

/// Refuses to go on where stdout was closed when the program began.
///
/// # Errors
/// [`Error::File`].
pub(crate) fn is_open() -> Result<(), Error> {
    match before_main::was_closed() {
        true => Err(failed(IoError::other("is closed; > FILE or > /dev/null opens it"))),
        false => Ok(()),
    }
}

/// Stdout, for whoever writes more than one text.
///
/// # Errors
/// As [`is_open`].
pub(crate) fn lock() -> Result<StdoutLock<'static>, Error> {
    is_open().map(|()| std::io::stdout().lock())
}

/// An error of writing to it.
pub(crate) fn failed(source: IoError) -> Error {
    Error::File { path: STDOUT.into(), source }
}
