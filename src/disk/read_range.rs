//! What ranges are read of: a file of the system, or an object that lies elsewhere.

use std::fmt::Debug;
use std::fs::Metadata;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use crate::disk::file::File;

/// Bytes at places, to be read by several threads.
pub trait ReadRange: Debug + Send + Sync {
    /// How many there are.
    ///
    /// # Errors
    /// What the system or the server says.
    fn length(&self) -> io::Result<u64>;

    /// Fills `bytes` from a place on.
    ///
    /// # Errors
    /// What the system or the server says; `UnexpectedEof` if there are fewer.
    fn read_exact_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()>;

    /// The same with a range at hand, if reading it piece by piece would take long.
    ///
    /// # Errors
    /// What the server says.
    fn at_hand(&self, _: Range<u64>) -> io::Result<Option<Arc<dyn ReadRange>>> {
        Ok(None)
    }

    /// What the system knows of a file of its own.
    ///
    /// # Errors
    /// `Unsupported` if it is none; what the system says.
    fn facts(&self) -> io::Result<Metadata> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

impl ReadRange for File {
    fn length(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn read_exact_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.read_exact_at(offset, bytes)
    }

    fn facts(&self) -> io::Result<Metadata> {
        self.metadata()
    }
}
