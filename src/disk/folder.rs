//! An open folder. Names are looked up in it, whatever becomes of the path that led to it.

use std::ffi::{OsStr, OsString};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::disk::facts::{EntryFacts, EntryKind, Opening};
use crate::disk::file::{File, NOT_REGULAR};
use crate::disk::layer::{Call, Renaming, through};
use crate::disk::system::{self, Handle};
use crate::parallel;

/// Bytes that are written by one call.
const BUFFER: usize = 1 << 18;

/// An open folder.
#[derive(Debug)]
pub struct Folder {
    handle: Handle,
    path: PathBuf,
}

/// The folder that a path lies in.
pub fn parent(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

impl Folder {
    /// Opens a folder that the user named: links are followed.
    ///
    /// # Errors
    /// What the system says.
    pub fn open(path: &Path) -> io::Result<Self> {
        let handle = through(Call::OpenFolder(path), || system::open_folder(path))?;
        Ok(Self { handle, path: path.to_owned() })
    }

    /// Opens a folder that the user named, which is made if it is not there, as are those that it lies in.
    ///
    /// # Errors
    /// What the system says.
    pub fn open_or_new(path: &Path) -> io::Result<Self> {
        match Self::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let name = path.file_name().ok_or(error)?;
                Self::open_or_new(parent(path))?.folder_or_new(name)?;
                Self::open(path)
            }
            opened => opened,
        }
    }

    /// Its name when it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A folder in it, which must be one and no link.
    ///
    /// # Errors
    /// What the system says.
    pub fn folder(&self, name: &OsStr) -> io::Result<Self> {
        let path = self.path.join(name);
        let handle = through(Call::OpenFolder(&path), || system::sub_folder(&self.handle, &path, name))?;
        Ok(Self { handle, path })
    }

    /// Makes a folder in it, that others may not look into if it is `private`.
    ///
    /// # Errors
    /// What the system says; `AlreadyExists` if there is something of that name.
    pub fn make_folder(&self, name: &OsStr, private: bool) -> io::Result<()> {
        let path = self.path.join(name);
        through(Call::MakeFolder(&path), || system::make_folder(&self.handle, &path, name, private))
    }

    /// A folder in it, which is made if it is not there.
    ///
    /// # Errors
    /// What the system says.
    pub fn folder_or_new(&self, name: &OsStr) -> io::Result<Self> {
        match self.make_folder(name, false) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => self.folder(name),
        }
    }

    /// Makes a file, to write and to read.
    ///
    /// # Errors
    /// What the system says; `AlreadyExists` if there is something of that name.
    pub fn create(&self, name: &OsStr) -> io::Result<File> {
        let path = self.path.join(name);
        let file = through(Call::Create(&path), || system::open(&self.handle, &path, name, Opening::New))?;
        Ok(File::new(file, path))
    }

    /// Opens a regular file, to read and to write: no link, no pipe, no device.
    ///
    /// # Errors
    /// What the system says; `InvalidInput` if it is something else.
    pub fn file(&self, name: &OsStr) -> io::Result<File> {
        self.regular(name, Opening::There)
    }

    fn regular(&self, name: &OsStr, how: Opening) -> io::Result<File> {
        let path = self.path.join(name);
        let file = through(Call::Open(&path), || system::open(&self.handle, &path, name, how))?;
        match file.metadata()?.is_file() {
            true => Ok(File::new(file, path)),
            false => Err(io::Error::new(io::ErrorKind::InvalidInput, NOT_REGULAR)),
        }
    }

    /// Makes a file by a name with `/` between folders, which are made if they are not there: whole and on the disk. What had the name
    /// goes first: it could be another name of a file elsewhere.
    ///
    /// # Errors
    /// What the system says.
    pub fn make<R>(&self, name: &str, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<R>) -> io::Result<R> {
        if let Some((folder, rest)) = name.split_once('/') {
            return self.folder_or_new(folder.as_ref())?.make(rest, write);
        }
        self.remove_all(name.as_ref())?;
        let mut writer = BufWriter::with_capacity(BUFFER, self.create(name.as_ref())?);
        let result = write(&mut writer)?;
        writer.flush()?;
        writer.get_ref().sync()?;
        Ok(result)
    }

    /// Opens a file to read it, by a name with `/` between folders, none of which is a link.
    ///
    /// # Errors
    /// What the system says.
    pub fn find(&self, name: &str) -> io::Result<File> {
        match name.split_once('/') {
            Some((folder, rest)) => self.folder(folder.as_ref())?.find(rest),
            None => self.regular(name.as_ref(), Opening::Read),
        }
    }

    /// Gives something in it a name in a folder of the same file system.
    ///
    /// # Errors
    /// What the system says; `AlreadyExists`; `Unsupported` if the file system cannot exchange names.
    pub fn rename(&self, name: &OsStr, to: &Self, new: &OsStr, place: Renaming) -> io::Result<()> {
        let paths = (self.path.join(name), to.path.join(new));
        let call = Call::Rename { from: &paths.0, to: &paths.1, place };
        through(call, || system::rename((&self.handle, &paths.0, name), (&to.handle, &paths.1, new), place))
    }

    /// Removes a file, or an empty folder.
    ///
    /// # Errors
    /// What the system says.
    pub fn remove(&self, name: &OsStr) -> io::Result<()> {
        let path = self.path.join(name);
        let folder = system::facts(&self.handle, &path, name)?.kind == EntryKind::Folder;
        through(Call::Remove(&path), || system::remove(&self.handle, &path, name, folder))
    }

    /// Removes a file by a name with `/` between folders.
    ///
    /// # Errors
    /// What the system says.
    pub fn remove_named(&self, name: &str) -> io::Result<()> {
        match name.split_once('/') {
            Some((folder, rest)) => self.folder(folder.as_ref())?.remove_named(rest),
            None => self.remove(name.as_ref()),
        }
    }

    /// Removes a file, or a folder with all that is in it; links in it go, and nothing that they lead to. Nothing of that name is fine.
    ///
    /// # Errors
    /// What the system says.
    pub fn remove_all(&self, name: &OsStr) -> io::Result<()> {
        match self.facts(name) {
            None => return Ok(()),
            Some(facts) if facts.kind == EntryKind::Folder => {
                let folder = self.folder(name)?;
                for name in folder.names()? {
                    folder.remove_all(&name)?;
                }
            }
            Some(_) => {}
        }
        self.remove(name)
    }

    /// The names in it.
    ///
    /// # Errors
    /// What the system says.
    pub fn names(&self) -> io::Result<Vec<OsString>> {
        through(Call::List(&self.path), || system::names(&self.handle, &self.path))
    }

    /// Brings its names to the disk. Not every system can.
    ///
    /// # Errors
    /// What the system says, but for folders that it never syncs.
    pub fn sync(&self) -> io::Result<()> {
        match through(Call::SyncFolder(&self.path), || system::sync(&self.handle)) {
            Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
            done => done,
        }
    }

    /// Brings its names and those in all folders below it to the disk. Threads share that: a tree has a folder for each file of a shard.
    ///
    /// # Errors
    /// What the system says.
    pub fn sync_all(&self) -> io::Result<()> {
        let names = self.names()?;
        parallel::try_each(names.len(), &|i| {
            let is_folder = self.facts(&names[i]).is_some_and(|facts| facts.kind == EntryKind::Folder);
            if is_folder { self.folder(&names[i])?.sync_all() } else { Ok(()) }
        })?;
        self.sync()
    }

    /// The names of all files in it and in folders below it, with `/` between folders.
    ///
    /// # Errors
    /// What the system says; if there is something else, or a name that is no text.
    pub fn files(&self) -> io::Result<Vec<String>> {
        let mut files = Vec::new();
        for name in self.names()? {
            let wrong = |what: &str| io::Error::other(format!("{}: {what}", self.path.join(&name).display()));
            let text = name.to_str().ok_or_else(|| wrong("a name that is no text"))?;
            match self.facts(&name).map(|facts| facts.kind) {
                Some(EntryKind::Folder) => {
                    files.extend(self.folder(&name)?.files()?.into_iter().map(|file| format!("{text}/{file}")));
                }
                Some(EntryKind::File) => files.push(text.to_owned()),
                _ => return Err(wrong("neither a folder nor a regular file")),
            }
        }
        Ok(files)
    }

    /// What has a name in it, a link itself and not what it leads to; None if nothing has.
    pub(super) fn facts(&self, name: &OsStr) -> Option<EntryFacts> {
        system::facts(&self.handle, &self.path.join(name), name).ok()
    }

    /// What the folder itself is.
    pub(super) fn own_facts(&self) -> io::Result<EntryFacts> {
        system::folder_facts(&self.handle, &self.path)
    }

    /// True if there is something of that name, be it a link to nothing.
    pub fn has(&self, name: &OsStr) -> bool {
        self.facts(name).is_some()
    }
}
