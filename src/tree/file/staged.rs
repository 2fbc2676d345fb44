//! A tree on its way: the folder beside its target in which it is made, and what of it is finished.
//!
//! A shard is finished when its files are on the disk and a line of the progress says so, with their lengths and digests. Whoever
//! writes the same tree of the same data resumes what a killed process left: shards whose files are what their lines say.

use std::ffi::OsString;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

use crate::disk::{File, Folder, PartFolder};
use crate::parallel;
use crate::tree::file::error::TreeFileError;
use crate::tree::file::header::{Attributes, Header, Held};
use crate::tree::file::shards::Array;
use crate::zarr::{ZarrStore, pack_folder};

/// The first line of a progress: what tree it is, and of what.
#[derive(Debug, PartialEq, Serialize)]
struct Beginning<'a> {
    header: &'a Header,
    made_of: Option<&'a str>,
}

/// Another line: a finished shard.
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
    /// Its files, in the order of [`Array::files`]. Lines of 0.1 do not say, and are not read: its shards are written again.
    pub(super) files: Vec<Written>,
}

impl FinishedShard {
    /// A list of the XXH3-64 of what follows, and what is known of the shard.
    fn line(&self) -> String {
        let shard = serde_json::to_string(self).expect("it has names for keys");
        format!("[{},{shard}]\n", xxh3_64(shard.as_bytes()))
    }

    /// What a line says; None if it is not the one that was written.
    fn read(line: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(line).ok()?.trim_end();
        let (digest, shard) = text.strip_prefix('[')?.strip_suffix(']')?.split_once(',')?;
        (digest.parse() == Ok(xxh3_64(shard.as_bytes()))).then(|| serde_json::from_str(shard).ok())?
    }
}

/// What a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Written {
    bytes: u64,
    /// XXH3-64 of them.
    xxh3: u64,
}

/// A writer that knows what it has written.
pub(super) struct Hashed<W> {
    out: W,
    bytes: u64,
    digest: Xxh3Default,
}

impl<W> Hashed<W> {
    pub(super) fn new(out: W) -> Self {
        Self { out, bytes: 0, digest: Xxh3Default::new() }
    }

    pub(super) fn written(&self) -> Written {
        Written { bytes: self.bytes, xxh3: self.digest.digest() }
    }
}

impl<W: Write> Write for Hashed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.bytes += written as u64;
        self.digest.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The folder in which a tree is made.
#[derive(Debug)]
pub(super) struct Staged {
    part: PartFolder,
    /// True if a later process can resume what is finished.
    resumable: bool,
    /// True of the tree of a list, whose shards have one file more.
    listed: bool,
}

impl Staged {
    /// Makes a folder beside `target`, or takes the one that a killed process left, with what is finished of the tree of `header`.
    ///
    /// # Errors
    /// [`TreeFileError::Exists`], [`TreeFileError::Foreign`] and [`TreeFileError::Left`] unless `overwrite`; [`TreeFileError::Busy`];
    /// [`TreeFileError::Untrusted`]; [`TreeFileError::Io`].
    pub(super) fn new(
        target: &Path,
        header: &Header,
        made_of: Option<&str>,
        overwrite: bool,
    ) -> Result<(Self, Vec<FinishedShard>), TreeFileError> {
        let listed = header.is_listed();
        let beginning = serde_json::to_string(&Beginning { header, made_of }).expect("it has names for keys");
        if made_of.is_some() {
            let part = PartFolder::resumable(target, overwrite, &may_replace)?;
            let mut staged = Self { part, resumable: true, listed };
            let found = staged.read(&beginning, overwrite)?;
            return Ok((staged, found));
        }
        if let Some(part) = PartFolder::left(target, overwrite, &may_replace)? {
            Self { part, resumable: false, listed }.read(&beginning, overwrite)?;
        }
        let part = PartFolder::new(target, overwrite, &may_replace)?;
        let mut staged = Self { part, resumable: false, listed };
        staged.part.put(&(beginning + "\n"))?;
        Ok((staged, Vec::new()))
    }

    /// The shards that are finished of this tree. Afterwards the progress says just that.
    fn read(&mut self, beginning: &str, overwrite: bool) -> Result<Vec<FinishedShard>, TreeFileError> {
        let text = self.part.text()?;
        // A line that was not written to its end is none.
        let mut lines = text.split_inclusive(|&byte| byte == b'\n').filter(|line| line.ends_with(b"\n"));
        let first = lines.next().map(<[u8]>::trim_ascii_end);
        let mut finished = Vec::new();
        if first == Some(beginning.as_bytes()) && self.resumable {
            finished = lines.map_while(FinishedShard::read).collect();
            let mut held = parallel::map(finished.len(), &|i| self.holds(&finished[i])).into_iter();
            finished.retain(|_| held.next() == Some(true));
        } else {
            let other = first.and_then(|line| serde_json::from_slice::<Value>(line).ok());
            let kept = other.as_ref().is_some_and(|other| !other["made_of"].is_null()) && lines.next().is_some();
            if let Some(other) = other.filter(|_| kept && !overwrite) {
                return Err(self.left(&other, beginning));
            }
            self.part.clear()?;
        }
        let lines = finished.iter().map(FinishedShard::line);
        let said: String = std::iter::once(beginning.to_owned() + "\n").chain(lines).collect();
        if said.as_bytes() != text {
            self.part.rewrite(&said)?;
        }
        self.part.stays(!finished.is_empty());
        Ok(finished)
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
        TreeFileError::Left { path: self.path(), key, found: found.to_string(), given: given.to_string() }
    }

    /// The folder.
    pub(super) fn path(&self) -> PathBuf {
        self.part.path()
    }

    /// The folder, to make files in it.
    pub(super) fn part(&self) -> &PartFolder {
        &self.part
    }

    /// Writes a file of the group, whole and on the disk.
    ///
    /// # Errors
    /// [`TreeFileError::Io`].
    pub(super) fn file<R>(
        &self,
        name: &str,
        write: impl FnOnce(&mut BufWriter<File>) -> io::Result<R>,
    ) -> Result<R, TreeFileError> {
        Ok(self.part.make(name, write)?)
    }

    /// True if a later process can resume what is finished.
    pub(super) fn is_resumable(&self) -> bool {
        self.resumable
    }

    /// Says that a shard's files are on the disk, if anybody can go on with it.
    ///
    /// # Errors
    /// [`TreeFileError::Io`].
    pub(super) fn finish(&mut self, shard: &FinishedShard) -> Result<(), TreeFileError> {
        if !self.resumable {
            return Ok(());
        }
        self.part.stays(true);
        Ok(self.part.put(&shard.line())?)
    }

    /// True if the files of a finished shard hold what was written. A system that went down can have lost some of it.
    fn holds(&self, finished: &FinishedShard) -> bool {
        self.part.tree().is_ok_and(|tree| matches!(held_by(&tree, finished, self.listed, true), Ok(None)))
    }

    /// Takes a finished shard whose files are in another folder: copies them, and checks every byte.
    ///
    /// # Errors
    /// [`TreeFileError::Io`]; [`TreeFileError::Pieces`] of files that are not what was written.
    pub(super) fn copy(&self, from: &Folder, finished: &FinishedShard) -> Result<(), TreeFileError> {
        let arrays: Vec<Array> = Array::files(&finished.held, self.listed).collect();
        parallel::try_map(arrays.len(), &|i| {
            let name = arrays[i].shard_name(finished.shard);
            let mut file = from.find(&name).map_err(TreeFileError::io(&from.path().join(&name)))?;
            let copied = self.file(&name, |out| {
                let mut out = Hashed::new(out);
                io::copy(&mut file, &mut out)?;
                Ok(out.written())
            })?;
            if Some(&copied) != finished.files.get(i) {
                let reason = format!("{name} is not what was written; `orthant shard status` takes its piece away");
                return Err(TreeFileError::Pieces { path: from.path().to_owned(), reason });
            }
            Ok(())
        })
        .map(drop)
    }

    /// Brings all that was made to the disk, as a zip if it is to be one.
    ///
    /// # Errors
    /// [`TreeFileError::Io`].
    pub(super) fn seal(&self, zip: bool) -> Result<(), TreeFileError> {
        let tree = self.part.tree()?;
        if zip {
            return Ok(self.part.make_zip(|out| pack_folder(&tree, out, u32::MAX).map(drop))?);
        }
        tree.sync_all().map_err(TreeFileError::io(tree.path()))
    }

    /// Lets nothing stay.
    pub(super) fn discard(mut self) {
        self.part.stays(false);
    }

    /// Gives the tree, to which nothing is missing, its name.
    ///
    /// # Errors
    /// [`TreeFileError::Exists`] if something took the name meanwhile, unless `overwrite`; [`TreeFileError::Io`].
    pub(super) fn place(self, zip: bool, overwrite: bool) -> Result<(), TreeFileError> {
        Ok(self.part.place(zip, overwrite, &may_replace)?)
    }
}

/// What is wrong with the files of a finished shard in a folder, of the tree of a list or another; None if nothing is. All bytes are read if it is `thorough`, and else files
/// must be there with their lengths.
///
/// # Errors
/// What the system says of a file that is there and cannot be read.
pub(super) fn held_by(
    folder: &Folder,
    finished: &FinishedShard,
    listed: bool,
    thorough: bool,
) -> io::Result<Option<String>> {
    let arrays: Vec<Array> = Array::files(&finished.held, listed).collect();
    if arrays.len() != finished.files.len() {
        return Ok(Some(format!("{} files, where {} are named", arrays.len(), finished.files.len())));
    }
    for (array, written) in arrays.iter().zip(&finished.files) {
        let name = array.shard_name(finished.shard);
        let found = folder.find(&name).and_then(|file| match thorough {
            true => read_to_end(file),
            false => Ok(Written { bytes: file.metadata()?.len(), ..*written }),
        });
        let found = match found {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Some(format!("{name} is gone"))),
            found => found?,
        };
        if found.bytes != written.bytes {
            return Ok(Some(format!("{name} has {} bytes, and {} were written", found.bytes, written.bytes)));
        }
        if found != *written {
            return Ok(Some(format!("{name} has other bytes than were written")));
        }
    }
    Ok(None)
}

/// What a file holds.
fn read_to_end(mut file: File) -> io::Result<Written> {
    let (mut held, mut bytes) = (Hashed::new(io::sink()), vec![0; 1 << 18]);
    loop {
        match file.read(&mut bytes) {
            Ok(0) => return Ok(held.written()),
            Ok(read) => held.write_all(&bytes[..read])?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// True of a file, and of a folder that is a tree.
fn may_replace(target: &Path) -> bool {
    !target.is_dir() || is_tree(target)
}

/// True if a folder is a group of a tree, whole or not, and there is nothing else in it.
fn is_tree(folder: &Path) -> bool {
    let store = ZarrStore::open(folder).and_then(|store| store.group::<Attributes<serde::de::IgnoredAny>>("zarr.json"));
    let known = |name: &OsString| name == "zarr.json" || Array::ALL.iter().any(|array| name == array.name());
    let names = || Folder::open(folder).and_then(|folder| folder.names());
    store.is_ok() && names().is_ok_and(|names| names.iter().all(known))
}
