//! What the system knows of what has a name.

/// What something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryKind {
    Folder,
    File,
    Other,
}

/// What the system knows of a file or a folder.
#[derive(Debug, Clone, Copy)]
pub(super) struct EntryFacts {
    pub(super) kind: EntryKind,
    /// Device and number: two names of one file have the same.
    pub(super) identity: (u64, u64),
    /// True if it is of the user whose process this is.
    pub(super) own: bool,
    /// True if any user may write to it.
    pub(super) open_to_all: bool,
    /// The number of its names, of a file.
    pub(super) names: u64,
}

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opening {
    /// It must not be there.
    New,
    /// It must be there.
    There,
    /// It must be there, and is not written to.
    Read,
}
