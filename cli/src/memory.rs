//! Memory that runs out is an answer, not a crash.
//!
//! What is large is checked against a limit before it is allocated, and refused with its figure; so is what the library asks
//! for and the system refuses. What is small, and there all the same is no room for, ends the program here, with the exit code
//! for memory and no temporary files.

#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};

use crate::interrupt::exhausted;
use orthant::memory::bears_refusal;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
use orthant::threads::is_room;

/// The system's memory, to be a binary's `#[global_allocator]`: it answers with nothing only where the library can bear it.
#[derive(Debug)]
pub struct Memory;

fn found(block: *mut u8, bytes: usize) -> *mut u8 {
    if block.is_null() && !bears_refusal() {
        exhausted(bytes);
    }
    block
}

/// Prepares for a limited address space. Threads share what they allocate from: else each reserves 64 MiB, used or not. The stack of the
/// main thread takes now what it will need: the system lets it grow into pages that are free, and ends the process without a word where
/// none are left.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn spare_address_space() {
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: the first call writes the limit into what it is given, the second one sets a number of the allocator's.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_AS, &mut limit) != 0 || limit.rlim_cur == libc::RLIM_INFINITY {
            return;
        }
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
    // The last frame reaches below the end.
    let room = STACK + (64 << 10);
    if !is_room(room) {
        exhausted(room);
    }
    let here = 0u8;
    grow_stack((&raw const here).wrapping_sub(STACK));
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn spare_address_space() {}

/// Bytes of stack for the main thread. Of all commands `verify` was seen to need most, 196 KiB.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const STACK: usize = 768 << 10;

/// Touches the stack down to an address. A frame has more than its page where nothing is optimised.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[inline(never)]
fn grow_stack(end: *const u8) {
    let page = std::hint::black_box([1u8; 4096]);
    if page.as_ptr() > end {
        grow_stack(end);
    }
    // What is used after the call keeps the compiler from turning it into a loop.
    std::hint::black_box(&page);
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
