//! Files that a library of others reads: a panic in it is an error of the file.

use std::panic::{self, AssertUnwindSafe};

use crate::input::error::{FilePlace, InputFault};

/// What a reader that may panic finds.
pub(super) fn guarded<T>(read: impl FnOnce() -> Result<T, InputFault>) -> Result<T, InputFault> {
    // The message of a panic would be the program's last words, though it goes on.
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let read = panic::catch_unwind(AssertUnwindSafe(read));
    panic::set_hook(hook);
    read.unwrap_or_else(|_| Err(damaged(0, "damaged: its reader gave up")))
}

/// A file that is damaged from a byte on.
pub(super) fn damaged(byte: u64, what: impl std::fmt::Display) -> InputFault {
    InputFault::Damaged { at: FilePlace::Byte(byte), what: what.to_string() }
}
