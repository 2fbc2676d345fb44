//! What is wrong with an array in chunks.

use std::io;
use std::path::PathBuf;

use crate::bytes::Bytes;
use crate::disk::RemoteError;

/// What is wrong with an array in chunks, and where: the message names the file, a zip's member, and the byte.
#[derive(Debug, thiserror::Error)]
#[error("{}: {}{fault}", path.display(), member.as_ref().map(|name| format!("{name}: ")).unwrap_or_default())]
pub struct ZarrError {
    /// The file, or the zip.
    pub path: PathBuf,
    /// The member, in a zip.
    pub member: Option<String>,
    /// What is wrong with it, which the message says: it is no source, so that whoever prints the chain says it once.
    pub fault: Fault,
}

/// What is wrong. Offsets count from the beginning of the file, of the zip if it is in one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The system says no, or what a server does keeps its object from being read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A byte that the system does not give: of a disk that fails, or of a file that was cut meanwhile.
    #[error("byte {offset}: cannot be read: {error}")]
    Unread {
        /// The byte.
        offset: u64,
        /// What the system says.
        error: io::Error,
    },
    /// Something is needed that is not there.
    #[error("there is no {0}")]
    Missing(String),
    /// Neither a folder nor a zip.
    #[error("neither a folder nor a zip, which ends in PK and 20 bytes")]
    NoStore,
    /// A file that ends too soon.
    #[error("byte {offset}: {have} bytes from here on, where {need} are needed")]
    Short {
        /// From where on.
        offset: u64,
        /// Bytes that are there.
        have: u64,
        /// Bytes that there should be.
        need: u64,
    },
    /// Bytes that are not those that were written.
    #[error("byte {offset}: the {length} bytes from here on are not those that were written, by their checksum")]
    Checksum {
        /// The first of them.
        offset: u64,
        /// How many.
        length: u64,
    },
    /// A shard's index that leaves bytes out, or has some twice.
    #[error(
        "byte {offset}: the index of the shard has chunk {chunk} at {start}, {length} bytes; it should begin at {next}"
    )]
    Index {
        /// Where the index says so.
        offset: u64,
        /// Which chunk, or as many as there are of the end.
        chunk: u64,
        /// Where in the shard it is said to begin.
        start: u64,
        /// Bytes it is said to have.
        length: u64,
        /// Where the one before it ends.
        next: u64,
    },
    /// A chunk that does not decompress to what it should be.
    #[error("byte {offset}: a chunk of {need} bytes does not decompress: {reason}")]
    Frame {
        /// Where it begins.
        offset: u64,
        /// Bytes of a chunk.
        need: u64,
        /// What the decoder says.
        reason: String,
    },
    /// Text that is no JSON, or not what a group says.
    #[error("byte {offset}: {reason}")]
    Json {
        /// Where.
        offset: u64,
        /// What the parser says.
        reason: String,
    },
    /// Text that is not what the array's metadata must be.
    #[error("byte {offset}: '{found}', where '{expected}' must be")]
    Metadata {
        /// Where the first difference is.
        offset: u64,
        /// What there is.
        found: String,
        /// What there must be.
        expected: String,
    },
    /// A file of text that is too large to be one.
    #[error("{} of metadata; at most {} can be", Bytes((*length).into()), Bytes((*most).into()))]
    Large {
        /// Its bytes.
        length: u64,
        /// The most.
        most: u64,
    },
    /// A zip of another kind than those that can be read.
    #[error("byte {offset}: {reason}")]
    Zip {
        /// Where.
        offset: u64,
        /// What is wrong, and what would be allowed.
        reason: &'static str,
    },
    /// There is no memory.
    #[error("there is no memory for {}", Bytes(*bytes))]
    Memory {
        /// How much was asked for.
        bytes: u128,
    },
}

impl Fault {
    /// Bytes that the system does not read, or that a server does not give.
    pub(super) fn unread(offset: u64) -> impl Fn(io::Error) -> Self {
        move |error| match RemoteError::is(&error) {
            true => Self::Io(error),
            false => Self::Unread { offset, error },
        }
    }
}

impl From<crate::memory::Refused> for Fault {
    fn from(refused: crate::memory::Refused) -> Self {
        Self::Memory { bytes: refused.bytes }
    }
}
