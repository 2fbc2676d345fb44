//! Memory that runs out is an answer, not a crash.
//!
//! What is large is checked against a limit before it is allocated, and refused with its figure; so is what the library asks
//! for and the system refuses. What is small, and there all the same is no room for, ends the program here, with the exit code
//! for memory and no temporary files.

#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};

use crate::interrupt::exhausted;
use orthant::memory::bears_refusal;

/// The system's memory, to be a binary's `#[global_allocator]`: it answers with nothing only where the library can bear it.
#[derive(Debug)]
pub struct Memory;

fn found(block: *mut u8, bytes: usize) -> *mut u8 {
    if block.is_null() && !bears_refusal() {
        exhausted(bytes);
    }
    block
}

/// Where the address space is limited, threads share what they allocate from: else each reserves 64 MiB of it, used or not.
pub(crate) fn spare_address_space() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: the first call writes the limit into what it is given, the second one sets a number of the allocator's.
    unsafe {
        let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
        if libc::getrlimit(libc::RLIMIT_AS, &mut limit) == 0 && limit.rlim_cur != libc::RLIM_INFINITY {
            libc::mallopt(libc::M_ARENA_MAX, 1);
        }
    }
}

// SAFETY: every call is the system's own.
unsafe impl GlobalAlloc for Memory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        found(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        found(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // SAFETY: the caller's promise.
        found(unsafe { System.realloc(block, layout, bytes) }, bytes)
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(block, layout) }
    }
}
