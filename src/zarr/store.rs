//! Where files of arrays lie: in a folder, or in a zip in which nothing is compressed, of this system or of a server.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::de::DeserializeOwned;

use crate::disk::{File, Folder, ReadRange, Remote, RemoteError};
use crate::parallel;
use crate::zarr::error::{Fault, ZarrError};
use crate::zarr::json::{compare, read_group};
use crate::zarr::member::Member;
use crate::zarr::remote::RemotePlace;
use crate::zarr::zip::{Directory, Entry, Flaw, audit};

/// The most that a `zarr.json` has.
const MOST_TEXT: u64 = 1 << 26;

/// Requests to a server that are under way at once for one shard.
const AT_ONCE: usize = 8;

/// A folder of files with names, or a zip of them.
#[derive(Debug)]
pub struct ZarrStore {
    path: PathBuf,
    place: StorePlace,
}

#[derive(Debug)]
enum StorePlace {
    Folder,
    Zip(Arc<File>, Directory),
    Remote(RemotePlace),
}

impl ZarrStore {
    /// A folder, or a zip that is read by ranges.
    ///
    /// # Errors
    /// If it is neither, or the zip is of another kind than the one that [`pack`](crate::zarr::pack) makes.
    pub fn open(path: &Path) -> Result<Self, ZarrError> {
        Self::with(path, Directory::read)
    }

    /// The same as others write it, who put what has changed behind what was there: of members of one name the last counts.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn rewritten(path: &Path) -> Result<Self, ZarrError> {
        Self::with(path, Directory::read_rewritten)
    }

    fn with(path: &Path, read: fn(&dyn ReadRange) -> Result<Directory, Fault>) -> Result<Self, ZarrError> {
        let open = || -> Result<Self, Fault> {
            let metadata = std::fs::metadata(path)?;
            let place = match metadata.is_dir() {
                true => StorePlace::Folder,
                false if !metadata.is_file() => return Err(Fault::NoStore),
                false => {
                    let file = File::open(path)?;
                    let directory = read(&file)?;
                    StorePlace::Zip(Arc::new(file), directory)
                }
            };
            Ok(Self { path: path.to_owned(), place })
        };
        open().map_err(|fault| ZarrError { path: path.to_owned(), member: None, fault })
    }

    /// What a server has.
    ///
    /// # Errors
    /// If it does not answer as it should, or has no such zip.
    pub(crate) fn remote(remote: Arc<dyn Remote>) -> Result<Self, ZarrError> {
        let path = remote.path().to_owned();
        match RemotePlace::open(remote) {
            Ok(place) => Ok(Self { path, place: StorePlace::Remote(place) }),
            Err(fault) => Err(ZarrError { path, member: None, fault }),
        }
    }

    /// Does as many tasks that read from it, in their order; if every answer takes long, several at once.
    ///
    /// # Errors
    /// The first in time.
    pub(crate) fn each<T: Send, E: Send>(
        &self,
        tasks: usize,
        task: &(dyn Fn(usize) -> Result<T, E> + Sync),
    ) -> Result<Vec<T>, E> {
        match self.is_remote() {
            true => parallel::try_map_waiting(tasks, AT_ONCE, task),
            false => (0..tasks).map(task).collect(),
        }
    }

    /// Checks that other programs read the same from a zip, and every byte of its members; a folder passes.
    ///
    /// # Errors
    /// The first member that says two things of itself, has another checksum, or is of a kind that `zipfile` of Python refuses.
    pub(crate) fn audit(&self) -> Result<(), ZarrError> {
        let audited = match &self.place {
            StorePlace::Folder => return Ok(()),
            StorePlace::Zip(file, _) => audit(&**file),
            StorePlace::Remote(place) => match place.ahead() {
                Some(file) => audit(&file),
                None => return Ok(()),
            },
        };
        audited.map_err(|Flaw { member, fault }| ZarrError { path: self.path.clone(), member, fault })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// True of a folder, whose files are files of the system.
    pub fn is_folder(&self) -> bool {
        matches!(self.place, StorePlace::Folder)
    }

    /// True of what a server has.
    pub(crate) fn is_remote(&self) -> bool {
        matches!(self.place, StorePlace::Remote(_))
    }

    /// True of a member of a server's zip that does not come as a whole.
    pub(crate) fn is_worth_ranges(&self, name: &str) -> bool {
        matches!(&self.place, StorePlace::Remote(place) if place.is_worth_ranges(name))
    }

    /// The bytes of the zip; None of a folder.
    ///
    /// # Errors
    /// If the system says no.
    pub(crate) fn zip_bytes(&self) -> Result<Option<u64>, ZarrError> {
        match &self.place {
            StorePlace::Folder => Ok(None),
            StorePlace::Zip(file, _) => {
                file.metadata().map(|facts| Some(facts.len())).map_err(|error| self.wrong(error.into()))
            }
            StorePlace::Remote(place) => Ok(place.zip_bytes()),
        }
    }

    /// An error about all of it.
    pub(crate) fn wrong(&self, fault: Fault) -> ZarrError {
        ZarrError { path: self.path.clone(), member: None, fault }
    }

    /// The names of what lies in a folder of it, `/` between folders and none of all of it, in alphabetical order: of a folder on disk
    /// those of other folders alone. Servers have no lists.
    ///
    /// # Errors
    /// If the system says no.
    pub fn folders(&self, name: &str) -> Result<Vec<String>, ZarrError> {
        if self.is_remote() {
            return Err(self.wrong(io::Error::from(io::ErrorKind::Unsupported).into()));
        }
        if let StorePlace::Zip(_, directory) = &self.place {
            let inside = |full: &str| {
                let rest = if name.is_empty() { full } else { full.strip_prefix(name)?.strip_prefix('/')? };
                Some(rest.split_once('/')?.0.to_owned())
            };
            // In the order of all names those of a folder follow each other, if not those of folders whose names begin alike.
            let mut found: Vec<_> = directory.names().filter_map(inside).collect();
            found.sort_unstable();
            found.dedup();
            return Ok(found);
        }
        let path = self.path.join(name);
        let list = || -> io::Result<Vec<String>> {
            let mut found = Vec::new();
            for name in Folder::open(&path)?.names()? {
                if let Ok(name) = name.into_string()
                    && path.join(&name).is_dir()
                {
                    found.push(name);
                }
            }
            found.sort_unstable();
            Ok(found)
        };
        list().map_err(|error| ZarrError { path: path.clone(), member: None, fault: error.into() })
    }

    /// A file by its name, with `/` between folders; None if there is none.
    ///
    /// # Errors
    /// If the system says no.
    pub fn member(&self, name: &str) -> Result<Option<Member>, ZarrError> {
        match &self.place {
            StorePlace::Folder => {
                let path = self.path.join(name);
                let open = || -> io::Result<(File, u64)> {
                    let file = File::open(&path)?;
                    let length = file.metadata()?.len();
                    Ok((file, length))
                };
                match open() {
                    Ok((file, length)) => {
                        Ok(Some(Member { file: Arc::new(file), path, name: None, start: 0, length, crc: None }))
                    }
                    Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                    Err(error) => Err(ZarrError { path, member: None, fault: error.into() }),
                }
            }
            StorePlace::Zip(file, directory) => {
                Ok(directory.entry(name).map(|&Entry { start, length, crc, .. }| {
                    let (path, name) = (self.path.clone(), Some(name.to_owned()));
                    Member { file: file.clone(), path, name, start, length, crc: Some(crc) }
                }))
            }
            StorePlace::Remote(place) => place.member(name),
        }
    }

    /// A file that must be there.
    ///
    /// # Errors
    /// If there is none, or the system says no.
    pub(crate) fn need(&self, name: &str) -> Result<Member, ZarrError> {
        self.member(name)?.ok_or_else(|| self.wrong(Fault::Missing(name.to_owned())))
    }

    /// The attributes of a group, whose `zarr.json` this is.
    ///
    /// # Errors
    /// If there is none, it is larger than such a text is, or says something else.
    pub(crate) fn group<A: DeserializeOwned>(&self, name: &str) -> Result<A, ZarrError> {
        let member = match (self.member(name)?, &self.place) {
            (Some(member), _) => member,
            (None, StorePlace::Remote(_)) => {
                let words = format!(
                    "the server has no {name} there; a tree is a folder X.tree.zarr, or an object X.tree.zarr.zip, whose name the \
                     URL's ends with before any ?"
                );
                return Err(self.wrong(RemoteError::of(io::ErrorKind::NotFound, words).into()));
            }
            (None, _) => return Err(self.wrong(Fault::Missing(name.to_owned()))),
        };
        let text = match member.len() {
            length if length > MOST_TEXT => return Err(member.wrong(Fault::Large { length, most: MOST_TEXT })),
            _ => member.all()?,
        };
        read_group(&text, member.start).map_err(|fault| member.wrong(fault))
    }

    /// Checks that a `zarr.json` is this text.
    ///
    /// # Errors
    /// If there is none, or at the first byte that is another.
    pub fn expect(&self, name: &str, text: &str) -> Result<(), ZarrError> {
        let member = self.need(name)?;
        // No more than is needed to say what is wrong.
        let some = member.read(0, member.len().min(text.len() as u64 + 1))?;
        compare(&some, member.start, text).map_err(|fault| member.wrong(fault))
    }
}
