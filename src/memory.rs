//! Memory of a size that comes from input, asked for so that a refusal is an answer.
//!
//! What is as large as a domain, a table or a list of results comes from here; what is small, or of a size that the program
//! knows, comes as everywhere in Rust, and ends the process where there is none. A global allocator that puts an end of its own
//! to that asks [`bears_refusal`] first.

use std::alloc::{Layout, alloc_zeroed};
use std::cell::Cell;
use std::sync::atomic::{AtomicU32, AtomicU64};

thread_local! {
    static BEARS_REFUSAL: Cell<bool> = const { Cell::new(false) };
}

/// True while this thread asks for memory and can go on without: for global allocators that do not answer with nothing.
pub fn bears_refusal() -> bool {
    BEARS_REFUSAL.try_with(Cell::get).unwrap_or(false)
}

/// Asks for memory that may be refused.
fn asking<R>(ask: impl FnOnce() -> R) -> R {
    BEARS_REFUSAL.set(true);
    let answer = ask();
    BEARS_REFUSAL.set(false);
    answer
}

/// So many bytes in a row were asked for, and there are none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[doc(hidden)]
pub struct Refused {
    /// That many.
    pub bytes: u128,
}

fn refused<T>(len: usize) -> Refused {
    Refused { bytes: len as u128 * size_of::<T>() as u128 }
}

/// A type of which all bytes zero are a value.
///
/// # Safety
/// They are, and the type has bytes.
#[allow(unsafe_code)]
#[doc(hidden)]
pub unsafe trait Zero {}

macro_rules! zero {
    ($($T:ty),+) => { $(
        // SAFETY: an integer, or one behind atomic accesses.
        #[allow(unsafe_code)]
        unsafe impl Zero for $T {}
    )+ };
}
zero!(u8, u16, u32, u64, AtomicU32, AtomicU64);

/// So many zeros; the system gives a page of them when it is first touched.
#[inline(never)]
#[doc(hidden)]
pub fn zeros<T: Zero>(len: usize) -> Result<Vec<T>, Refused> {
    let layout = Layout::array::<T>(len).map_err(|_| refused::<T>(len))?;
    if len == 0 {
        return Ok(Vec::new());
    }
    // SAFETY: the layout has bytes, since the type has some.
    #[allow(unsafe_code)]
    let block = asking(|| unsafe { alloc_zeroed(layout) }).cast::<T>();
    if block.is_null() {
        return Err(refused::<T>(len));
    }
    // SAFETY: a block of the global allocator with the layout of `len` elements, all of them values since they are zero.
    #[allow(unsafe_code)]
    Ok(unsafe { Vec::from_raw_parts(block, len, len) })
}

/// Gives memory back to the system that was freed and that the allocator keeps, where the allocator can.
#[allow(unsafe_code)]
pub(crate) fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: the call touches nothing that is in use.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// So many copies of a value.
#[inline(never)]
#[doc(hidden)]
pub fn copies<T: Copy>(value: T, len: usize) -> Result<Vec<T>, Refused> {
    let mut list = Vec::new();
    asking(|| list.try_reserve_exact(len)).map_err(|_| refused::<T>(len))?;
    list.resize(len, value);
    Ok(list)
}

/// Makes room for so many elements more.
#[inline]
#[doc(hidden)]
pub fn reserve<T>(list: &mut Vec<T>, more: usize) -> Result<(), Refused> {
    if list.capacity() - list.len() >= more { Ok(()) } else { grow(list, more) }
}

/// Not copied to every place that asks, of which there are hundreds.
#[inline(never)]
fn grow<T>(list: &mut Vec<T>, more: usize) -> Result<(), Refused> {
    asking(|| list.try_reserve(more)).map_err(|_| refused::<T>(list.len().saturating_add(more)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_an_answer() {
        // More than any address space, and more than a layout can say.
        for len in [1 << 55, usize::MAX / 4, usize::MAX] {
            let expected = Refused { bytes: len as u128 * 8 };
            assert_eq!(zeros::<u64>(len).unwrap_err(), expected);
            assert_eq!(copies(7u64, len).unwrap_err(), expected);
            assert_eq!(reserve(&mut Vec::<u64>::new(), len).unwrap_err(), expected);
            assert!(!bears_refusal());
        }
        assert!(asking(bears_refusal));
        let mut list = zeros::<u16>(70_000).unwrap();
        assert!(list.len() == 70_000 && list.iter().all(|&cell| cell == 0));
        reserve(&mut list, 7).unwrap();
        assert!(list.capacity() >= 70_007);
        assert_eq!((zeros::<u32>(0).unwrap().len(), copies(3u8, 2).unwrap()), (0, vec![3, 3]));
    }
}
