//! A file of a store, to be read by ranges.

use std::fs::Metadata;
use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use crate::disk::ReadRange;
use crate::memory::zeros;
use crate::zarr::chunk::CHECKSUMS;
use crate::zarr::error::{Fault, ZarrError};

/// A file of a store, to be read by ranges.
#[derive(Debug, Clone)]
pub struct Member {
    pub(super) file: Arc<dyn ReadRange>,
    pub(super) path: PathBuf,
    /// What a zip calls it.
    pub(super) name: Option<String>,
    pub(super) start: u64,
    pub(super) length: u64,
    /// What a zip says of all its bytes.
    pub(super) crc: Option<u32>,
}

impl Member {
    /// Its bytes.
    pub fn len(&self) -> u64 {
        self.length
    }

    /// Where one of its bytes is in the file that errors name.
    pub fn offset(&self, at: u64) -> u64 {
        self.start + at
    }

    /// What the system says of the file that it is, or is in.
    ///
    /// # Errors
    /// If the system says no.
    pub fn metadata(&self) -> io::Result<Metadata> {
        self.file.facts()
    }

    /// The same with a range of its bytes at hand, where reading each part of it would take long.
    ///
    /// # Errors
    /// Whatever keeps them from being read.
    pub(super) fn at_hand(self, range: Range<u64>) -> Result<Self, ZarrError> {
        match self.file.at_hand(self.start + range.start..self.start + range.end) {
            Ok(None) => Ok(self),
            Ok(Some(file)) => Ok(Self { file, ..self }),
            Err(error) => Err(self.wrong(Fault::unread(self.start + range.start)(error))),
        }
    }

    /// An error about it.
    pub fn wrong(&self, fault: Fault) -> ZarrError {
        ZarrError { path: self.path.clone(), member: self.name.clone(), fault }
    }

    /// A range of its bytes.
    ///
    /// # Errors
    /// If it has not as many, or the system says no.
    pub fn read(&self, at: u64, length: u64) -> Result<Vec<u8>, ZarrError> {
        if self.length.checked_sub(length).is_none_or(|last| at > last) {
            let have = self.length.saturating_sub(at);
            return Err(self.wrong(Fault::Short { offset: self.offset(at), have, need: length }));
        }
        let read = || -> Result<Vec<u8>, Fault> {
            let mut bytes = zeros::<u8>(length as usize)?;
            let offset = self.offset(at);
            self.file.read_exact_at(offset, &mut bytes).map_err(Fault::unread(offset))?;
            Ok(bytes)
        };
        read().map_err(|fault| self.wrong(fault))
    }

    /// All its bytes, against what a zip says of them.
    ///
    /// # Errors
    /// As [`read`](Self::read), and if the zip's checksum is another.
    pub fn all(&self) -> Result<Vec<u8>, ZarrError> {
        let bytes = self.read(0, self.length)?;
        match self.crc {
            Some(crc) if CHECKSUMS && crc != crc32fast::hash(&bytes) => {
                Err(self.wrong(Fault::Checksum { offset: self.start, length: self.length }))
            }
            _ => Ok(bytes),
        }
    }
}
