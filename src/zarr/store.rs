//! Where files of arrays lie: in a folder, or in a zip in which nothing is compressed.

use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::de::DeserializeOwned;

use crate::disk::{File, Folder};
use crate::memory::zeros;
use crate::zarr::chunk::CHECKSUMS;
use crate::zarr::error::{Fault, ZarrError};
use crate::zarr::json::{compare, read_group};
use crate::zarr::zip::{Directory, Entry, Flaw, audit};

/// The most that a `zarr.json` has.
const MOST_TEXT: u64 = 1 << 26;

/// A folder of files with names, or a zip of them.
#[derive(Debug)]
pub(crate) struct ZarrStore {
    path: PathBuf,
    /// None of a folder.
    zip: Option<(Arc<File>, Directory)>,
}

impl ZarrStore {
    /// A folder, or a zip that is read by ranges.
    ///
    /// # Errors
    /// If it is neither, or the zip is of another kind than the one that [`pack`](crate::zarr::pack) makes.
    pub(crate) fn open(path: &Path) -> Result<Self, ZarrError> {
        Self::with(path, Directory::read)
    }

    /// The same as others write it, who put what has changed behind what was there: of members of one name the last counts.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub(crate) fn rewritten(path: &Path) -> Result<Self, ZarrError> {
        Self::with(path, Directory::read_rewritten)
    }

    fn with(path: &Path, read: fn(&File) -> Result<Directory, Fault>) -> Result<Self, ZarrError> {
        let open = || -> Result<Self, Fault> {
            let metadata = std::fs::metadata(path)?;
            let zip = match metadata.is_dir() {
                true => None,
                false if !metadata.is_file() => return Err(Fault::NoStore),
                false => {
                    let file = File::open(path)?;
                    let directory = read(&file)?;
                    Some((Arc::new(file), directory))
                }
            };
            Ok(Self { path: path.to_owned(), zip })
        };
        open().map_err(|fault| ZarrError { path: path.to_owned(), member: None, fault })
    }

    /// Checks that other programs read the same from a zip, and every byte of its members; a folder passes.
    ///
    /// # Errors
    /// The first member that says two things of itself, has another checksum, or is of a kind that `zipfile` of Python refuses.
    pub(crate) fn audit(&self) -> Result<(), ZarrError> {
        let Some((file, _)) = &self.zip else { return Ok(()) };
        audit(file).map_err(|Flaw { member, fault }| ZarrError { path: self.path.clone(), member, fault })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// True of a folder, whose files are files of the system.
    pub(crate) fn is_folder(&self) -> bool {
        self.zip.is_none()
    }

    /// An error about all of it.
    pub(crate) fn wrong(&self, fault: Fault) -> ZarrError {
        ZarrError { path: self.path.clone(), member: None, fault }
    }

    /// The names of what lies in a folder of it, `/` between folders and none of all of it, in alphabetical order: of a folder on disk
    /// those of other folders alone.
    ///
    /// # Errors
    /// If the system says no.
    pub(crate) fn folders(&self, name: &str) -> Result<Vec<String>, ZarrError> {
        if let Some((_, directory)) = &self.zip {
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
    pub(crate) fn member(&self, name: &str) -> Result<Option<Member>, ZarrError> {
        let Some((file, directory)) = &self.zip else {
            let path = self.path.join(name);
            let open = || -> io::Result<(File, u64)> {
                let file = File::open(&path)?;
                let length = file.metadata()?.len();
                Ok((file, length))
            };
            return match open() {
                Ok((file, length)) => {
                    Ok(Some(Member { file: file.into(), path, name: None, start: 0, length, crc: None }))
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                Err(error) => Err(ZarrError { path, member: None, fault: error.into() }),
            };
        };
        Ok(directory.entry(name).map(|&Entry { start, length, crc, .. }| {
            let (path, name) = (self.path.clone(), Some(name.to_owned()));
            Member { file: file.clone(), path, name, start, length, crc: Some(crc) }
        }))
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
        let member = self.need(name)?;
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
    pub(crate) fn expect(&self, name: &str, text: &str) -> Result<(), ZarrError> {
        let member = self.need(name)?;
        // No more than is needed to say what is wrong.
        let some = member.read(0, member.len().min(text.len() as u64 + 1))?;
        compare(&some, member.start, text).map_err(|fault| member.wrong(fault))
    }
}

/// A file of a store, to be read by ranges.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    file: Arc<File>,
    path: PathBuf,
    /// What a zip calls it.
    name: Option<String>,
    start: u64,
    length: u64,
    /// What a zip says of all its bytes.
    crc: Option<u32>,
}

impl Member {
    /// Its bytes.
    pub(crate) fn len(&self) -> u64 {
        self.length
    }

    /// Where one of its bytes is in the file that errors name.
    pub(crate) fn offset(&self, at: u64) -> u64 {
        self.start + at
    }

    /// What the system says of the file that it is, or is in.
    ///
    /// # Errors
    /// If the system says no.
    pub(crate) fn metadata(&self) -> io::Result<Metadata> {
        self.file.metadata()
    }

    /// An error about it.
    pub(crate) fn wrong(&self, fault: Fault) -> ZarrError {
        ZarrError { path: self.path.clone(), member: self.name.clone(), fault }
    }

    /// A range of its bytes.
    ///
    /// # Errors
    /// If it has not as many, or the system says no.
    pub(crate) fn read(&self, at: u64, length: u64) -> Result<Vec<u8>, ZarrError> {
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
    pub(crate) fn all(&self) -> Result<Vec<u8>, ZarrError> {
        let bytes = self.read(0, self.length)?;
        match self.crc {
            Some(crc) if CHECKSUMS && crc != crc32fast::hash(&bytes) => {
                Err(self.wrong(Fault::Checksum { offset: self.start, length: self.length }))
            }
            _ => Ok(bytes),
        }
    }
}
