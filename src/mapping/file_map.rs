//! A file in the address space.

use std::fs::File;
use std::io;
use std::ops::Range;

use memmap2::{MmapOptions, MmapRaw};

#[cfg(unix)]
use crate::mapping::fault;

/// A file in the address space, to be read.
#[derive(Debug)]
pub struct FileMap {
    map: MmapRaw,
    #[cfg(unix)]
    window: fault::Window,
}

impl FileMap {
    /// All bytes of a file.
    ///
    /// # Errors
    /// If the system says no.
    pub fn new(file: &File) -> io::Result<Self> {
        #[cfg(unix)]
        fault::listen()?;
        let map = MmapOptions::new().map_raw_read_only(file)?;
        Ok(Self {
            #[cfg(unix)]
            window: fault::Window::new(map.as_ptr().addr(), map.len())?,
            map,
        })
    }

    /// How many bytes the file had.
    pub fn len(&self) -> usize {
        self.map.len()
    }

    /// Where they lie.
    pub(super) fn start(&self) -> *const u8 {
        self.map.as_ptr()
    }

    /// Calls `read`, which reads bytes of this mapping and of no other, on this thread alone. Whoever calls looks at
    /// [`missing`](Self::missing) before anything is made of what was read.
    #[inline]
    pub fn reading<R>(&self, read: impl FnOnce() -> R) -> R {
        #[cfg(unix)]
        return fault::reading(&self.window, read);
        #[cfg(not(unix))]
        read()
    }

    /// The first byte that could not be read, if there was one. From then on the bytes from its page on may be zeros.
    #[inline]
    pub fn missing(&self) -> Option<u64> {
        #[cfg(unix)]
        return self.window.missing();
        #[cfg(not(unix))]
        None
    }

    /// Says that these bytes are read next, so that they can be brought meanwhile.
    pub fn will_need(&self, range: Range<usize>) {
        #[cfg(unix)]
        {
            let (start, end) = (range.start.min(self.len()), range.end.min(self.len()));
            // Advice: what is not followed is brought when it is read.
            let _ = self.map.advise_range(memmap2::Advice::WillNeed, start, end - start);
        }
        #[cfg(not(unix))]
        let _ = range;
    }
}
