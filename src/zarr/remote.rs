//! Arrays that a server has: a folder of objects, or one that is a zip.
//!
//! A request takes as long as many thousand bytes, so that what will be needed next comes with what is asked for: a small member as
//! a whole, the end of a zip with its directory. What is larger comes in pieces, several at once.

use std::io::{self, ErrorKind};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use crate::disk::{ReadRange, Remote, RemoteError, fetch};
use crate::memory::zeros;
use crate::parallel;
use crate::zarr::error::{Fault, ZarrError};
use crate::zarr::member::Member;
use crate::zarr::zip::Listing;

/// What is read of the end of a zip, where its directory is.
const END: u64 = 1 << 16;

/// What is read first of an object whose length is not known.
const FIRST: u64 = 1 << 16;

/// A member of a zip that is no longer comes with its header.
const WHOLE: u64 = 1 << 20;

/// What is read of a longer member to see its header.
const HEADER: u64 = 1 << 12;

/// The most that one request asks for.
const PIECE: usize = 1 << 22;

/// Pieces of one range that are under way at once.
const AT_ONCE: usize = 4;

/// Bytes of an object that are here.
#[derive(Debug, Default)]
struct AtHand {
    start: u64,
    bytes: Vec<u8>,
}

impl AtHand {
    /// True if all of a range is here.
    fn has(&self, range: &Range<u64>) -> bool {
        self.start <= range.start && range.end <= self.start + self.bytes.len() as u64
    }

    /// Fills the beginning of `bytes`, which are those from `offset` on, as far as it can.
    fn copy(&self, offset: u64, bytes: &mut [u8]) -> usize {
        let from = offset.checked_sub(self.start).and_then(|from| self.bytes.get(usize::try_from(from).ok()?..));
        let some = from.unwrap_or_default();
        let some = &some[..some.len().min(bytes.len())];
        bytes[..some.len()].copy_from_slice(some);
        some.len()
    }
}

/// An object of which ranges are read.
#[derive(Debug)]
pub(super) struct RemoteFile {
    remote: Arc<dyn Remote>,
    name: String,
    /// As the first answer had it.
    length: u64,
    at_hand: Mutex<AtHand>,
    /// The least that is read beyond what is at hand, and takes its place; 0 if that stays.
    ahead: u64,
}

impl RemoteFile {
    /// Reads a range of the object, which must be as long as it was.
    fn fetch(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let changed = |now: String| {
            let words =
                format!("{now}, and had {} before; it changed while it was read. Run the command again", self.length);
            Err(RemoteError::of(ErrorKind::InvalidData, words))
        };
        match fetch(&*self.remote, &self.name, offset, bytes)? {
            Some(length) if length == self.length => Ok(()),
            Some(length) => changed(format!("has {length} bytes")),
            None => changed("has gone".into()),
        }
    }

    /// The same in pieces, several at once.
    fn fetch_wide(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        let pieces: Vec<Mutex<&mut [u8]>> = bytes.chunks_mut(PIECE).map(Mutex::new).collect();
        let one = |i: usize| {
            // Nobody waits for a lock: a piece has one task.
            let piece = &mut **pieces[i].lock().unwrap_or_else(PoisonError::into_inner);
            self.fetch(offset + (i * PIECE) as u64, piece)
        };
        parallel::try_map_waiting(pieces.len(), AT_ONCE, &one).map(drop)
    }
}

impl ReadRange for RemoteFile {
    fn length(&self) -> io::Result<u64> {
        Ok(self.length)
    }

    fn read_exact_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        let Some(rest) = self.length.checked_sub(offset).filter(|&rest| bytes.len() as u64 <= rest) else {
            return Err(io::Error::new(ErrorKind::UnexpectedEof, "the object ends here"));
        };
        let mut at_hand = self.at_hand.lock().unwrap_or_else(PoisonError::into_inner);
        let had = at_hand.copy(offset, bytes);
        let (offset, rest, bytes) = (offset + had as u64, rest - had as u64, &mut bytes[had..]);
        if bytes.is_empty() {
            return Ok(());
        }
        if bytes.len() as u64 >= self.ahead {
            drop(at_hand);
            return self.fetch_wide(offset, bytes);
        }
        let mut next = zeros::<u8>(self.ahead.min(rest) as usize).map_err(|_| ErrorKind::OutOfMemory)?;
        self.fetch_wide(offset, &mut next)?;
        *at_hand = AtHand { start: offset, bytes: next };
        at_hand.copy(offset, bytes);
        Ok(())
    }

    fn at_hand(&self, range: Range<u64>) -> io::Result<Option<Arc<dyn ReadRange>>> {
        if self.at_hand.lock().unwrap_or_else(PoisonError::into_inner).has(&range) {
            return Ok(None);
        }
        let mut bytes = zeros::<u8>((range.end - range.start) as usize).map_err(|_| ErrorKind::OutOfMemory)?;
        self.read_exact_at(range.start, &mut bytes)?;
        let at_hand = Mutex::new(AtHand { start: range.start, bytes });
        let (remote, name) = (self.remote.clone(), self.name.clone());
        Ok(Some(Arc::new(Self { remote, name, length: self.length, at_hand, ahead: 0 })))
    }
}

/// What a server has.
#[derive(Debug)]
pub(super) struct RemotePlace {
    remote: Arc<dyn Remote>,
    /// The length of a zip, and what is in it; None of a folder.
    zip: Option<(u64, Listing)>,
}

impl RemotePlace {
    /// Reads what is in a zip; of a folder nothing.
    pub(super) fn open(remote: Arc<dyn Remote>) -> Result<Self, Fault> {
        let is_zip = remote.path().extension().is_some_and(|extension| extension.eq_ignore_ascii_case("zip"));
        if !is_zip {
            return Ok(Self { remote, zip: None });
        }
        let Some(length) = fetch(&*remote, "", 0, &mut [0])? else {
            let words = "the server has no such object (404)";
            return Err(RemoteError::of(ErrorKind::NotFound, words).into());
        };
        let end = Self::file(&remote, "", length, AtHand::default(), 0);
        let start = length.saturating_sub(END);
        let mut bytes = zeros::<u8>((length - start) as usize)?;
        end.fetch(start, &mut bytes)?;
        let end = Self::file(&remote, "", length, AtHand { start, bytes }, 0);
        let listing = Listing::read(&end)?;
        Ok(Self { remote, zip: Some((length, listing)) })
    }

    fn file(remote: &Arc<dyn Remote>, name: &str, length: u64, at_hand: AtHand, ahead: u64) -> RemoteFile {
        RemoteFile { remote: remote.clone(), name: name.to_owned(), length, at_hand: Mutex::new(at_hand), ahead }
    }

    /// The bytes of a zip.
    pub(super) fn zip_bytes(&self) -> Option<u64> {
        self.zip.as_ref().map(|(length, _)| *length)
    }

    /// True of a member of a zip that does not come as a whole.
    pub(super) fn is_worth_ranges(&self, name: &str) -> bool {
        let span = self.zip.as_ref().and_then(|(_, listing)| listing.span(name));
        span.is_some_and(|span| span.end - span.start > WHOLE)
    }

    /// A zip to be read from its beginning to its end.
    pub(super) fn ahead(&self) -> Option<RemoteFile> {
        self.zip_bytes().map(|length| Self::file(&self.remote, "", length, AtHand::default(), PIECE as u64))
    }

    /// A member; None if there is none.
    pub(super) fn member(&self, name: &str) -> Result<Option<Member>, ZarrError> {
        match &self.zip {
            Some((length, listing)) => {
                let wrong = |fault| ZarrError { path: self.path(), member: Some(name.to_owned()), fault };
                self.in_zip(name, *length, listing).map_err(wrong)
            }
            None => {
                let wrong = |fault| ZarrError { path: self.path().join(name), member: None, fault };
                self.in_folder(name).map_err(wrong)
            }
        }
    }

    fn path(&self) -> PathBuf {
        self.remote.path().to_owned()
    }

    fn in_zip(&self, name: &str, length: u64, listing: &Listing) -> Result<Option<Member>, Fault> {
        let Some(span) = listing.span(name) else { return Ok(None) };
        let some = match span.end - span.start {
            all if all <= WHOLE => all,
            _ => HEADER,
        };
        let mut bytes = zeros::<u8>(some as usize)?;
        Self::file(&self.remote, "", length, AtHand::default(), 0).fetch(span.start, &mut bytes)?;
        let file = Self::file(&self.remote, "", length, AtHand { start: span.start, bytes }, 0);
        let Some(entry) = listing.entry(name, &file)? else { return Ok(None) };
        let (path, name) = (self.path(), Some(name.to_owned()));
        let (start, length, crc) = (entry.start, entry.length, Some(entry.crc));
        Ok(Some(Member { file: Arc::new(file), path, name, start, length, crc }))
    }

    fn in_folder(&self, name: &str) -> Result<Option<Member>, Fault> {
        let mut bytes = zeros::<u8>(FIRST as usize)?;
        let Some(length) = fetch(&*self.remote, name, 0, &mut bytes)? else { return Ok(None) };
        bytes.truncate(length.min(FIRST) as usize);
        let file = Self::file(&self.remote, name, length, AtHand { start: 0, bytes }, 0);
        let path = self.path().join(name);
        Ok(Some(Member { file: Arc::new(file), path, name: None, start: 0, length, crc: None }))
    }
}
