//! A tree on its way: a folder beside its target, which takes the target's name when the tree is complete.
//!
//! ```text
//! .frog.tree.zarr.part/progress      who writes it (locked), of what, and what shards are finished
//! .frog.tree.zarr.part/tree/         the group, which becomes frog.tree.zarr
//! .frog.tree.zarr.part/tree.zip      or this, frog.tree.zarr.zip
//! .frog.tree.zarr.part/old           what was there before, while the two change places
//! ```
//!
//! A shard is finished when its files are on the disk and a line of the progress says so. What a killed process leaves can
//! therefore be gone on with, by whoever writes the same tree from the same data; the name comes with a rename.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::tree::file::error::TreeFileError;
use crate::tree::file::header::{Attributes, Header, Held};
use crate::tree::file::shards::Array;
use crate::zarr::{ZarrStore, pack};

/// The first line of a progress: what tree it is, and of what.
#[derive(Debug, PartialEq, Serialize)]
struct Beginning<'a> {
    header: &'a Header,
    made_of: Option<&'a str>,
}

/// Another: a finished shard.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct FinishedShard {
    pub(super) shard: u64,
    /// The key behind its last row's, which can lie beyond the shard.
    pub(super) end: u128,
    pub(super) held: Held,
    /// On each level how many of its regions are uniform and how many are leaves.
    pub(super) terminals: Vec<[u64; 2]>,
    /// On each level how many cells the uniform ones have.
    pub(super) filled: Vec<u64>,
}

/// A folder beside a target.
#[derive(Debug)]
pub(super) struct Staged {
    target: PathBuf,
    /// The folder.
    path: PathBuf,
    progress: File,
    /// True if what is finished can be gone on with.
    resumable: bool,
    /// True if the folder stays when this goes.
    stays: bool,
}

impl Staged {
    /// Makes a folder beside `target`, or takes the one that is there, with what is finished of the tree that `header` tells of.
    ///
    /// # Errors
    /// [`TreeFileError::Exists`] and [`TreeFileError::Left`] unless `overwrite`; [`TreeFileError::Busy`]; [`TreeFileError::Io`].
    pub(super) fn new(
        target: &Path,
        header: &Header,
        made_of: Option<&str>,
        overwrite: bool,
    ) -> Result<(Self, Vec<FinishedShard>), TreeFileError> {
        replaceable(target, overwrite)?;
        let name = target.file_name().ok_or_else(|| TreeFileError::Name { path: target.to_owned() })?;
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(".part");
        let path = target.with_file_name(hidden);
        let progress = lock(target, &path)?;
        let mut staged = Self { target: target.to_owned(), path, progress, resumable: made_of.is_some(), stays: true };
        staged.restore()?;
        replaceable(target, overwrite)?;
        let beginning = serde_json::to_string(&Beginning { header, made_of }).expect("it has names for keys");
        let found = staged.read(&beginning, overwrite)?;
        staged.stays = !found.is_empty();
        Ok((staged, found))
    }

    /// Puts what was there before back, if a killed process took it away and put nothing in its place.
    fn restore(&self) -> Result<(), TreeFileError> {
        let old = self.path.join("old");
        if old.symlink_metadata().is_err() {
            return Ok(());
        }
        match self.target.symlink_metadata() {
            Ok(_) => remove(&old),
            Err(_) => fs::rename(&old, &self.target).map_err(TreeFileError::io(&self.target)),
        }
    }

    /// The shards that are finished of this tree. From here on lines are added to the progress, which says just that.
    fn read(&mut self, beginning: &str, overwrite: bool) -> Result<Vec<FinishedShard>, TreeFileError> {
        let failed = TreeFileError::io(&self.path);
        let mut text = Vec::new();
        self.progress.read_to_end(&mut text).map_err(&failed)?;
        // One that was not written to its end is none.
        let mut lines = text.split_inclusive(|&byte| byte == b'\n').filter(|line| line.ends_with(b"\n"));
        let first = lines.next().map(<[u8]>::trim_ascii_end);
        let mut finished = Vec::new();
        if first == Some(beginning.as_bytes()) && self.resumable {
            let lines = lines.map_while(|line| serde_json::from_slice::<FinishedShard>(line).ok());
            finished.extend(lines.filter(|finished| self.has(finished)));
        } else {
            let other = first.and_then(|line| serde_json::from_slice::<Value>(line).ok());
            let kept = other.as_ref().is_some_and(|other| !other["made_of"].is_null()) && lines.next().is_some();
            if let Some(other) = other.filter(|_| kept && !overwrite) {
                return Err(self.left(&other, beginning));
            }
            self.forget()?;
            remove(&self.tree())?;
        }
        let lines = finished.iter().map(|finished| serde_json::to_string(finished).expect("it has names for keys"));
        let said: String = std::iter::once(beginning.to_owned()).chain(lines).map(|line| line + "\n").collect();
        // A shard whose files were lost is not finished, not even when they are there again and not whole.
        if said.as_bytes() != text {
            self.forget()?;
            self.put(&said)?;
        }
        fs::create_dir_all(self.tree()).map_err(&failed)?;
        Ok(finished)
    }

    /// Empties the progress.
    fn forget(&mut self) -> Result<(), TreeFileError> {
        let forgotten = self.progress.set_len(0).and_then(|()| self.progress.rewind());
        forgotten.map_err(TreeFileError::io(&self.path))
    }

    /// Adds lines to the progress.
    fn put(&mut self, lines: &str) -> Result<(), TreeFileError> {
        let put = self.progress.write_all(lines.as_bytes()).and_then(|()| self.progress.sync_data());
        put.map_err(TreeFileError::io(&self.path))
    }

    /// What differs between the tree that was begun here and the one to be.
    fn left(&self, other: &Value, beginning: &str) -> TreeFileError {
        let mine: Value = serde_json::from_str(beginning).expect("it was just written");
        let keys =
            |value: &Value| value["header"].as_object().map(|keys| keys.keys().cloned().collect()).unwrap_or_default();
        let (ours, theirs): (Vec<String>, Vec<String>) = (keys(&mine), keys(other));
        let header = ours.into_iter().chain(theirs).find(|key| mine["header"][key] != other["header"][key]);
        let (key, found, given) = match &header {
            Some(key) => (key.clone(), &other["header"][key], &mine["header"][key]),
            None => ("source".to_owned(), &other["made_of"], &mine["made_of"]),
        };
        TreeFileError::Left { path: self.path.clone(), key, found: found.to_string(), given: given.to_string() }
    }

    /// The folder.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The folder of the group.
    pub(super) fn tree(&self) -> PathBuf {
        self.path.join("tree")
    }

    /// Writes a file of the group, whole and on the disk.
    ///
    /// # Errors
    /// [`TreeFileError::Io`].
    pub(super) fn file(
        &self,
        name: &str,
        write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> Result<(), TreeFileError> {
        let path = self.tree().join(name);
        let made = || -> io::Result<()> {
            fs::create_dir_all(path.parent().expect("it lies in the group"))?;
            let mut writer = BufWriter::with_capacity(1 << 18, File::create(&path)?);
            write(&mut writer)?;
            writer.flush()?;
            writer.get_ref().sync_data()
        };
        made().map_err(TreeFileError::io(&path))
    }

    /// Says that a shard's files are on the disk.
    ///
    /// # Errors
    /// [`TreeFileError::Io`].
    pub(super) fn finish(&mut self, shard: &FinishedShard) -> Result<(), TreeFileError> {
        self.stays = self.resumable;
        self.put(&(serde_json::to_string(shard).expect("it has names for keys") + "\n"))
    }

    /// True if all files of a finished shard are there, which they are unless the system went down.
    fn has(&self, finished: &FinishedShard) -> bool {
        let there = |array: &Array| self.tree().join(array.shard_name(finished.shard)).is_file();
        Array::ALL.iter().filter(|&&array| array != Array::Cells || finished.held.cells > 0).all(there)
    }

    /// Lets nothing stay.
    pub(super) fn discard(mut self) {
        self.stays = false;
    }

    /// Gives the tree, to which nothing is missing, its name.
    ///
    /// # Errors
    /// [`TreeFileError::Exists`] if something took the name meanwhile, unless `overwrite`; [`TreeFileError::Io`].
    pub(super) fn complete(mut self, zip: bool, overwrite: bool) -> Result<(), TreeFileError> {
        let mut made = self.tree();
        if zip {
            made = self.path.join("tree.zip");
            let packed = || -> io::Result<()> {
                let mut writer = pack(&self.tree(), BufWriter::with_capacity(1 << 18, File::create(&made)?))?;
                writer.flush()?;
                writer.get_ref().sync_all()
            };
            packed().map_err(TreeFileError::io(&made))?;
        } else {
            sync_folders(&made).map_err(TreeFileError::io(&made))?;
        }
        let failed = TreeFileError::io(&self.target);
        replaceable(&self.target, overwrite)?;
        if self.target.symlink_metadata().is_ok() {
            fs::rename(&self.target, self.path.join("old")).map_err(&failed)?;
        }
        fs::rename(&made, &self.target).map_err(|error| {
            // What was there has its name again.
            let _ = fs::rename(self.path.join("old"), &self.target);
            failed(error)
        })?;
        let above = self.path.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // Not every system can sync a folder, and the tree is complete whether its name is on the disk or not.
        let _ = File::open(above).and_then(|folder| folder.sync_all());
        self.stays = false;
        Ok(())
    }
}

impl Drop for Staged {
    /// What can be gone on with stays, and all else goes.
    fn drop(&mut self) {
        if !self.stays {
            // First what would be gone on with: a process can be killed here, too.
            let _ = self.forget();
            let _ = fs::remove_dir_all(&self.path);
        }
        // The file stays open in processes that are just being made.
        let _ = self.progress.unlock();
    }
}

/// Checks that a target is not there, or can be replaced: a folder only if it is a tree.
fn replaceable(target: &Path, overwrite: bool) -> Result<(), TreeFileError> {
    let path = || target.to_owned();
    match target.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(TreeFileError::io(target)(error)),
        Ok(_) if !overwrite => Err(TreeFileError::Exists { path: path() }),
        Ok(_) if target.is_dir() && !is_tree(target) => Err(TreeFileError::Foreign { path: path() }),
        Ok(_) => Ok(()),
    }
}

/// True if a folder is a group of a tree, whole or not, and there is nothing else in it.
fn is_tree(folder: &Path) -> bool {
    let store = ZarrStore::open(folder).and_then(|store| store.group::<Attributes<serde::de::IgnoredAny>>("zarr.json"));
    let known = |entry: io::Result<fs::DirEntry>| {
        let name = entry.map(|entry| entry.file_name()).unwrap_or_default();
        name == "zarr.json" || Array::ALL.iter().any(|array| name == array.name())
    };
    store.is_ok() && fs::read_dir(folder).is_ok_and(|mut entries| entries.all(known))
}

/// Makes the folder of a target, if it is not there, and locks the progress in it.
fn lock(target: &Path, path: &Path) -> Result<File, TreeFileError> {
    let failed = TreeFileError::io(path);
    loop {
        match fs::create_dir(path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                // The error would name a folder that nobody asked for.
                return Err(TreeFileError::io(target)(error));
            }
            Ok(()) | Err(_) => {}
        }
        let name = path.join("progress");
        let open = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&name);
        let progress = match open {
            // Whoever finished took the folder with him.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            open => open.map_err(&failed)?,
        };
        match progress.try_lock() {
            Ok(()) if is_named(&progress, &name) => return Ok(progress),
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(TreeFileError::Busy { path: target.to_owned() }),
            // Where files cannot be locked nobody is kept out.
            Err(TryLockError::Error(_)) => return Ok(progress),
        }
    }
}

/// True if a file has this name still, which somebody may have removed before it was locked.
#[cfg(unix)]
fn is_named(file: &File, name: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let number = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    file.metadata().map(number).ok() == fs::metadata(name).map(number).ok()
}

/// As above; what is open cannot be removed there.
#[cfg(not(unix))]
fn is_named(_: &File, name: &Path) -> bool {
    name.is_file()
}

/// Removes a file, or a folder with all that is in it, if it is there.
fn remove(path: &Path) -> Result<(), TreeFileError> {
    let removed = match path.symlink_metadata() {
        Ok(facts) if facts.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(_) => Ok(()),
    };
    removed.map_err(TreeFileError::io(path))
}

/// Brings the names of all files in a folder to the disk.
fn sync_folders(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sync_folders(&entry.path())?;
        }
    }
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}
