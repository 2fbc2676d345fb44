//! A handler of SIGBUS, which the system sends where a mapped byte cannot be had.
//!
//! It is installed when the first file is mapped, and stays. It acts on a fault only if the thread is within [`reading`] and the
//! byte is of the mapping that is read there: it notes the byte, puts a page of zeros for it and for all that follow, and
//! returns, so that the load is repeated and goes on. Every other fault goes to the handler that was there before. It calls
//! nothing but `mmap`, and what it looks at are atomics.
#![allow(unsafe_code)]

use std::io;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering, compiler_fence};

use libc::{c_int, c_void, siginfo_t};

/// Where a mapping lies, and what could not be read of it.
#[derive(Debug)]
pub(super) struct Window {
    start: usize,
    /// In whole pages.
    length: usize,
    page: usize,
    /// The first byte that was missing, or the largest number.
    missing: AtomicUsize,
}

impl Window {
    pub(super) fn new(start: usize, bytes: usize) -> io::Result<Self> {
        let page = page()?;
        Ok(Self { start, length: bytes.next_multiple_of(page), page, missing: AtomicUsize::new(usize::MAX) })
    }

    #[inline]
    pub(super) fn missing(&self) -> Option<u64> {
        let byte = self.missing.load(Ordering::SeqCst);
        (byte != usize::MAX).then_some(byte as u64)
    }

    /// Puts zeros for the page of an address and for all that follow; false if it is none of this mapping, or the system says no.
    fn stand_in(&self, address: usize) -> bool {
        let Some(byte) = address.checked_sub(self.start).filter(|&byte| byte < self.length) else { return false };
        // Said before anybody can read the zeros.
        self.missing.fetch_min(byte, Ordering::SeqCst);
        let first = byte / self.page * self.page;
        let place = self.start + first;
        // SAFETY: pages of a mapping that lives, since a thread reads it; nothing but volatile loads looks at them, which take any
        // value. They go when the mapping goes.
        let put = unsafe {
            libc::mmap(
                ptr::with_exposed_provenance_mut(place),
                self.length - first,
                libc::PROT_READ,
                libc::MAP_PRIVATE | libc::MAP_ANON | libc::MAP_FIXED,
                -1,
                0,
            )
        };
        put.addr() == place
    }
}

/// Bytes of a page.
pub(super) fn page() -> io::Result<usize> {
    // SAFETY: it looks at no memory of ours.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(page).ok().filter(|page| *page > 0).ok_or_else(io::Error::last_os_error)
}

thread_local! {
    /// The mapping that this thread reads.
    static READING: AtomicPtr<Window> = const { AtomicPtr::new(ptr::null_mut()) };
}

/// Calls `read`; what is missing of `window` meanwhile is zeros.
#[inline]
pub(super) fn reading<R>(window: &Window, read: impl FnOnce() -> R) -> R {
    struct Before(*mut Window);
    impl Drop for Before {
        fn drop(&mut self) {
            compiler_fence(Ordering::SeqCst);
            READING.with(|reading| reading.store(self.0, Ordering::Relaxed));
        }
    }
    let _before = Before(READING.with(|reading| reading.swap(ptr::from_ref(window).cast_mut(), Ordering::Relaxed)));
    compiler_fence(Ordering::SeqCst);
    read()
}

/// What was done about the signal before.
static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

/// Installs the handler, once.
///
/// # Errors
/// If the system says no.
pub(super) fn listen() -> io::Result<()> {
    static INSTALLED: OnceLock<Result<(), i32>> = OnceLock::new();
    let install = || {
        let code = || io::Error::last_os_error().raw_os_error().unwrap_or(0);
        // SAFETY: an action of all zeros is one, which the first call overwrites; the second names a function of the type that
        // `SA_SIGINFO` asks for, which does nothing that a handler may not.
        unsafe {
            let mut before: libc::sigaction = std::mem::zeroed();
            if libc::sigaction(libc::SIGBUS, ptr::null(), &mut before) != 0 {
                return Err(code());
            }
            // Known before the handler can be called.
            let _ = BEFORE.set(before);
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_fault as extern "C" fn(c_int, *mut siginfo_t, *mut c_void) as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigemptyset(&mut action.sa_mask);
            if libc::sigaction(libc::SIGBUS, &action, ptr::null_mut()) == 0 { Ok(()) } else { Err(code()) }
        }
    };
    INSTALLED.get_or_init(install).map_err(io::Error::from_raw_os_error)
}

/// Where the number of the last error of this thread is, if that is known of the system.
fn last_error() -> Option<*mut c_int> {
    // SAFETY: it looks at nothing of ours.
    #[cfg(any(target_os = "linux", target_os = "emscripten"))]
    return Some(unsafe { libc::__errno_location() });
    // SAFETY: as above.
    #[cfg(any(target_vendor = "apple", target_os = "freebsd"))]
    return Some(unsafe { libc::__error() });
    #[cfg(not(any(target_os = "linux", target_os = "emscripten", target_vendor = "apple", target_os = "freebsd")))]
    None
}

extern "C" fn on_fault(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // The code that the signal came to may be about to look at it.
    let last = last_error();
    // SAFETY: a number of this thread.
    let before = last.map(|last| unsafe { last.read() });
    act(signal, info, context);
    if let (Some(last), Some(before)) = (last, before) {
        // SAFETY: as above.
        unsafe { last.write(before) };
    }
}

fn act(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    let window = READING.with(|reading| reading.load(Ordering::Relaxed));
    // SAFETY: the system's own; a window that a thread reads lives as long as it reads. A code above 0 is a fault, not a process
    // that sends the signal.
    let ours = unsafe { !window.is_null() && (*info).si_code > 0 && (*window).stand_in((*info).si_addr().addr()) };
    if !ours {
        pass_on(signal, info, context);
    }
}

/// Does what was done about the signal before.
fn pass_on(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    let before = BEFORE.get();
    let handler = before.map_or(libc::SIG_DFL, |before| before.sa_sigaction);
    // SAFETY: what was installed is a function of the type that its flags say. Without one the signal has its usual effect when
    // this handler returns, which is to end the process.
    unsafe {
        if handler == libc::SIG_IGN && (*info).si_code <= 0 {
            // A process sent it, and it was ignored before. A fault cannot be ignored.
        } else if handler == libc::SIG_DFL || handler == libc::SIG_IGN {
            let mut usual: libc::sigaction = std::mem::zeroed();
            usual.sa_sigaction = libc::SIG_DFL;
            libc::sigaction(signal, &usual, ptr::null_mut());
            libc::raise(signal);
        } else if before.is_some_and(|before| before.sa_flags & libc::SA_SIGINFO != 0) {
            let handler: extern "C" fn(c_int, *mut siginfo_t, *mut c_void) = std::mem::transmute(handler);
            handler(signal, info, context);
        } else {
            let handler: extern "C" fn(c_int) = std::mem::transmute(handler);
            handler(signal);
        }
    }
}
