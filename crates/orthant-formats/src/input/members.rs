//! Which files an array is read from, and whether they are still what they were.

use std::fmt;
use std::fs::Metadata;
use std::io;
use std::path::{Component, Path, PathBuf};

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::input::error::{InputError, InputFault};
use orthant::disk::parent;

/// What the system says of a file: which file it is, its length, and when it changed.
///
/// On Unix that is device, inode, length, the time of the last write and the time of the last change. Programs can set the former
/// time back, and not the latter. A folder changes whenever something is put beside what is read, so of a folder it is device and
/// inode alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileState([u64; 7]);

impl FileState {
    #[cfg(unix)]
    pub(super) fn of(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        let place = [metadata.dev(), metadata.ino()];
        if metadata.is_dir() {
            return Self([place[0], place[1], 0, 0, 0, 0, 0]);
        }
        let times = [metadata.mtime(), metadata.mtime_nsec(), metadata.ctime(), metadata.ctime_nsec()];
        let [written, written_ns, changed, changed_ns] = times.map(i64::cast_unsigned);
        Self([place[0], place[1], metadata.len(), written, written_ns, changed, changed_ns])
    }

    #[cfg(not(unix))]
    pub(super) fn of(metadata: &Metadata) -> Self {
        use std::time::{SystemTime, UNIX_EPOCH};
        if metadata.is_dir() {
            return Self([0; 7]);
        }
        let since = |time: io::Result<SystemTime>| {
            let since = time.ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
            [since.as_secs(), since.subsec_nanos().into()]
        };
        let ([written, written_ns], [made, made_ns]) = (since(metadata.modified()), since(metadata.created()));
        Self([0, 0, metadata.len(), written, written_ns, made, made_ns])
    }

    /// That of the file at a path; None if there is none.
    fn at(path: &Path) -> io::Result<Option<Self>> {
        match path.metadata() {
            Ok(metadata) => Ok(Some(Self::of(&metadata))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Calls a function with every path.
pub(super) type EachPath =
    dyn Fn(&mut dyn FnMut(&Path) -> Result<(), InputError>) -> Result<(), InputError> + Send + Sync;

/// What is done with a path, and what it is by now.
type See<'s> = dyn FnMut(&Path, Option<FileState>) -> Result<(), InputError> + 's;

/// The files of an array beside the one that is named.
#[derive(Default)]
pub(super) struct Members {
    /// Those that are known by name.
    pub(super) files: Vec<PathBuf>,
    /// Headers, and what they were when they were read.
    pub(super) headers: Vec<(PathBuf, FileState)>,
    /// Those that follow from a header and of which there may be millions, whether they are there or not.
    pub(super) chunks: Option<Box<EachPath>>,
}

impl From<Vec<PathBuf>> for Members {
    fn from(files: Vec<PathBuf>) -> Self {
        Self { files, ..Self::default() }
    }
}

impl fmt::Debug for Members {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Members").field("files", &self.files).field("chunks", &self.chunks.is_some()).finish()
    }
}

/// What tells the data of an array from all others, and from itself after a file of it was written to.
///
/// It follows from the name of every file that is read, and from what the system says of it: on Unix device, inode, length, and the
/// times of the last write and the last change; elsewhere length and times. A file that is renamed, linked or copied is
/// another. Two writes within one tick of the file system's clock, some milliseconds, cannot be told apart.
///
/// ```
/// use orthant_formats::input::ArrayFile;
///
/// # let path = std::env::temp_dir().join(format!("orthant-doc-identity-{}.nrrd", std::process::id()));
/// let header = b"NRRD0004\ntype: uint8\ndimension: 1\nsizes: 3\nencoding: raw\n\n";
/// std::fs::write(&path, [&header[..], &[1, 2, 3]].concat())?;
/// let open = || ArrayFile::open(&path, None, |_| tempfile::tempfile());
/// let before = open()?.identity();
/// assert_eq!(open()?.identity(), before);
/// // The file was written to: a tree that was begun of it cannot be resumed.
/// std::fs::write(&path, [&header[..], &[1, 2, 3, 4]].concat())?;
/// assert_ne!(open()?.identity(), before);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    files: u64,
    digest: u128,
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { files, digest } = self;
        write!(f, "{files} {}, {digest:032x}", if *files == 1 { "file" } else { "files" })
    }
}

/// The files of an array, and what they were before its cells were read.
#[derive(Debug)]
pub(super) struct Snapshot {
    path: PathBuf,
    members: Members,
    /// A hash of the state of each, in order.
    states: Vec<u64>,
    identity: Identity,
}

impl Snapshot {
    /// Looks at every file. `before` is what the named one was when its header was about to be read.
    ///
    /// # Errors
    /// [`InputFault::Changed`] names a file whose header is another by now; or the system says no.
    pub(super) fn take(path: &Path, before: Option<FileState>, members: Members) -> Result<Self, InputError> {
        let (path, identity) = (path.to_owned(), Identity { files: 0, digest: 0 });
        let mut own = Self { path, members, states: Vec::new(), identity };
        let named = before.map(|before| (&own.path, before));
        let read = named.into_iter().chain(own.members.headers.iter().map(|(path, state)| (path, *state)));
        for (path, before) in read {
            let at = |wrong| InputError { path: path.clone(), wrong };
            if FileState::at(path).map_err(|error| at(error.into()))? != Some(before) {
                return Err(at(InputFault::Changed));
            }
        }
        let (mut states, mut files, mut digest) = (Vec::new(), 0, Xxh3::new());
        own.each(&mut |path, state| {
            let hash = hash(state);
            // One file can be typed in several ways.
            let name = path.strip_prefix(parent(&own.path)).unwrap_or(path).components();
            let name: PathBuf = name.filter(|part| *part != Component::CurDir).collect();
            let name = name.as_os_str().as_encoded_bytes();
            for part in [&(name.len() as u64).to_le_bytes()[..], name, &hash.to_le_bytes()] {
                digest.update(part);
            }
            files += u64::from(state.is_some());
            states.push(hash);
            Ok(())
        })?;
        own.states = states;
        own.identity = Identity { files, digest: digest.digest128() };
        Ok(own)
    }

    /// Every file, and what it is by now; None if it is not there.
    fn each(&self, see: &mut See<'_>) -> Result<(), InputError> {
        let mut look = |path: &Path| {
            let state = FileState::at(path);
            see(path, state.map_err(|error| InputError { path: path.to_owned(), wrong: error.into() })?)
        };
        look(&self.path)?;
        self.members.files.iter().try_for_each(|path| look(path))?;
        self.members.headers.iter().try_for_each(|(path, _)| look(path))?;
        self.members.chunks.as_ref().map_or(Ok(()), |chunks| chunks(&mut look))
    }

    /// Looks again.
    ///
    /// # Errors
    /// [`InputFault::Changed`] names the first file that is another by now, came or went; or the system says no.
    pub(super) fn unchanged(&self) -> Result<(), InputError> {
        let mut states = self.states.iter();
        self.each(&mut |path, state| match states.next() {
            Some(&before) if before == hash(state) => Ok(()),
            _ => Err(InputError { path: path.to_owned(), wrong: InputFault::Changed }),
        })
    }

    pub(super) fn identity(&self) -> Identity {
        self.identity
    }

    /// The files beside the named one that are known by name.
    pub(super) fn files(&self) -> &[PathBuf] {
        &self.members.files
    }
}

fn hash(state: Option<FileState>) -> u64 {
    state.map_or(0, |FileState(words)| xxh3_64(&words.map(u64::to_le_bytes).concat()))
}
