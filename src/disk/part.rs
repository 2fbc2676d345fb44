//! A folder beside a target, in which the target is made.
//!
//! ```text
//! .frog.tree.zarr.part/progress      locked by its writer; a line for each thing that is finished
//! .frog.tree.zarr.part/tree          what becomes frog.tree.zarr: a folder, or
//! .frog.tree.zarr.part/tree.zip      a file
//! .frog.tree.zarr.part/old           what was there before, where two names cannot be exchanged in one step
//! ```
//!
//! What a later process can resume has this name. Anything else is made in `.orthant-RANDOM.part`.
//!
//! The target changes in one step: either it was not there, or both change names. Before that step the progress gets a last
//! line that names what takes the target's place, so that whoever finds the folder knows whether the step was made.

use std::ffi::{OsStr, OsString};
use std::fs::TryLockError;
use std::io::{self, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use crate::disk::file::File;
use crate::disk::folder::{Folder, parent};
use crate::disk::layer::Renaming;
use crate::disk::leftover::{
    Distrust, MEMBERS, OLD, PART, PROGRESS, Placed, Placing, Remains, discard, is_named, trusted,
};
use crate::disk::sweep::sweep;
use crate::disk::temporary::{TRIES, random};

/// How long another process may take to see that it has nothing to sweep here.
const MOMENT: Duration = Duration::from_millis(10);

/// Tries, a [`MOMENT`] apart, of a caller that has other work if a target is busy.
const FEW_TRIES: usize = 3;

/// Why a target cannot be made.
#[derive(Debug)]
pub enum StagingError {
    /// The system says no.
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What it says.
        error: io::Error,
    },
    /// The target is there.
    Exists {
        /// The target.
        path: PathBuf,
    },
    /// The target is there, and is nothing that may be replaced.
    Foreign {
        /// The target.
        path: PathBuf,
    },
    /// Another process makes it.
    Busy {
        /// The target.
        path: PathBuf,
    },
    /// The folder beside the target is not one that this user's orthant made.
    Untrusted {
        /// The folder.
        path: PathBuf,
        /// What is wrong with it.
        reason: &'static str,
    },
}

impl StagingError {
    fn io(path: &Path) -> impl Fn(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |error| Self::Io { path: path.clone(), error }
    }
}

/// What a target may be when it is replaced.
pub type MayReplace<'a> = &'a dyn Fn(&Path) -> bool;

/// A target on its way.
#[derive(Debug)]
pub struct PartFolder {
    /// Where links were followed.
    target: PathBuf,
    beside: Folder,
    name: OsString,
    folder: Folder,
    progress: File,
    /// True if the folder stays when this goes.
    stays: bool,
}

impl PartFolder {
    /// A folder with a random name for a target, which is not there or may be overwritten.
    ///
    /// # Errors
    /// [`StagingError`].
    pub fn new(target: &Path, overwrite: bool, may_replace: MayReplace<'_>) -> Result<Self, StagingError> {
        let (target, beside) = prepared(target, overwrite, may_replace)?;
        for _ in 0..TRIES {
            let name = random(PART);
            if let Ok((folder, progress)) = Self::named(&target, &beside, &name, true)? {
                return Ok(Self { target, beside, name, folder, progress, stays: false });
            }
        }
        Err(StagingError::Busy { path: target })
    }

    /// The folder for a target that a later process can resume, as a former one left it, or a new one. It stays when this is dropped, unless
    /// [`stays`](Self::stays) says otherwise.
    ///
    /// # Errors
    /// [`StagingError`].
    pub fn resumable(target: &Path, overwrite: bool, may_replace: MayReplace<'_>) -> Result<Self, StagingError> {
        Self::locked(prepared(target, overwrite, may_replace)?, TRIES)
    }

    /// The same for a target that does not exist. It returns [`StagingError::Busy`] soon if another process makes the target.
    ///
    /// # Errors
    /// [`StagingError`]; [`StagingError::Exists`] also if another process finished it while this one asked.
    pub fn unless_busy(target: &Path) -> Result<Self, StagingError> {
        let mut part = Self::locked(prepared(target, false, &|_| false)?, FEW_TRIES)?;
        free(&part.target, false, &|_| false).inspect_err(|_| part.stays = false)?;
        Ok(part)
    }

    fn locked((target, beside): (PathBuf, Folder), tries: usize) -> Result<Self, StagingError> {
        let name = part_name(&target).ok_or_else(|| StagingError::io(&target)(io::ErrorKind::InvalidInput.into()))?;
        // Others hold the lock for a moment to see whether there is anything to sweep.
        for _ in 0..tries {
            match Self::named(&target, &beside, &name, false)? {
                Ok((folder, progress)) => {
                    let mut part = Self { target, beside, name, folder, progress, stays: true };
                    part.recognised()?;
                    return Ok(part);
                }
                Err(Taken) => sleep(MOMENT),
            }
        }
        Err(StagingError::Busy { path: target })
    }

    /// What a former process left of the target that can be resumed; None if there is nothing, or nothing of ours.
    ///
    /// # Errors
    /// [`StagingError::Busy`].
    pub fn left(target: &Path, overwrite: bool, may_replace: MayReplace<'_>) -> Result<Option<Self>, StagingError> {
        let (followed, beside) = prepared(target, overwrite, may_replace)?;
        let there = part_name(&followed).is_some_and(|name| trusted(&beside, &name).is_ok());
        if there { Self::resumable(target, overwrite, may_replace).map(Some) } else { Ok(None) }
    }

    /// True if another process makes the target now, as far as locks tell.
    pub fn is_busy(target: &Path) -> bool {
        let held = || {
            let folder = Folder::open(parent(target)).ok()?.folder(&part_name(target)?).ok()?;
            let progress = folder.file(PROGRESS.as_ref()).ok()?;
            let held = matches!(progress.try_lock(), Err(TryLockError::WouldBlock));
            if !held {
                progress.unlock();
            }
            Some(held)
        };
        held().unwrap_or(false)
    }

    /// A folder of this name with its locked progress.
    fn named(
        target: &Path,
        beside: &Folder,
        name: &OsStr,
        fresh: bool,
    ) -> Result<Result<(Folder, File), Taken>, StagingError> {
        let path = beside.path().join(name);
        match beside.make_folder(name, true) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && fresh => return Ok(Err(Taken)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            // The error would name a folder that nobody asked for.
            Err(error) => return Err(StagingError::io(target)(error)),
        }
        let folder = match trusted(beside, name) {
            Ok(folder) => folder,
            Err(Distrust::Gone) => return Ok(Err(Taken)),
            Err(Distrust::Io(error)) => return Err(StagingError::io(&path)(error)),
            Err(Distrust::Because(reason)) => return Err(StagingError::Untrusted { path, reason }),
        };
        let progress = match folder.create(PROGRESS.as_ref()) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => folder.file(PROGRESS.as_ref()),
            made => made,
        };
        let progress = match progress {
            // Whoever swept the folder took it away.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Err(Taken)),
            progress => progress.map_err(StagingError::io(&path))?,
        };
        match progress.try_lock() {
            Ok(()) if is_named(&folder, PROGRESS.as_ref(), &progress) => Ok(Ok((folder, progress))),
            Ok(()) | Err(TryLockError::WouldBlock) => Ok(Err(Taken)),
            // Where files cannot be locked nobody is kept out.
            Err(TryLockError::Error(_)) => Ok(Ok((folder, progress))),
        }
    }

    /// Checks that the folder is new, or that orthant wrote its progress.
    fn recognised(&mut self) -> Result<(), StagingError> {
        let failed = StagingError::io(&self.path());
        let known = Remains::read(&mut self.progress).map_err(&failed)?.ours
            || self.folder.names().map_err(&failed)? == [OsStr::new(PROGRESS)];
        self.progress.rewind().map_err(failed)?;
        match known {
            true => Ok(()),
            false => Err(StagingError::Untrusted {
                path: self.path(),
                reason: "its file 'progress' is none that orthant wrote",
            }),
        }
    }

    /// The folder.
    pub fn path(&self) -> PathBuf {
        self.beside.path().join(&self.name)
    }

    /// All that the progress holds. Lines are added behind it.
    ///
    /// # Errors
    /// [`StagingError::Io`].
    pub fn text(&mut self) -> Result<Vec<u8>, StagingError> {
        let mut text = Vec::new();
        self.progress.read_to_end(&mut text).map_err(StagingError::io(self.progress.path()))?;
        Ok(text)
    }

    /// Adds lines to the progress, and brings them to the disk.
    ///
    /// # Errors
    /// [`StagingError::Io`].
    pub fn put(&mut self, lines: &str) -> Result<(), StagingError> {
        let put = self.progress.write_all(lines.as_bytes()).and_then(|()| self.progress.sync());
        put.map_err(StagingError::io(self.progress.path()))
    }

    /// Removes what was made.
    ///
    /// # Errors
    /// [`StagingError::Io`].
    pub fn clear(&mut self) -> Result<(), StagingError> {
        let failed = StagingError::io(&self.path());
        MEMBERS.iter().try_for_each(|name| self.folder.remove_all(name.as_ref())).map_err(failed)
    }

    /// Replaces what the progress holds. A process that is killed meanwhile leaves the new lines, and behind them what is no line.
    ///
    /// # Errors
    /// [`StagingError::Io`].
    pub fn rewrite(&mut self, lines: &str) -> Result<(), StagingError> {
        let mut rewrite = || -> io::Result<()> {
            self.progress.rewind()?;
            self.progress.write_all(lines.as_bytes())?;
            self.progress.resize(lines.len() as u64)?;
            self.progress.sync()
        };
        rewrite().map_err(StagingError::io(&self.path()))
    }

    /// If true, the folder stays when this goes: there is something to resume.
    pub fn stays(&mut self, stays: bool) {
        self.stays = stays;
    }

    /// The folder `tree` in it, which is made if it is not there.
    ///
    /// # Errors
    /// [`StagingError::Io`].
    pub fn tree(&self) -> Result<Folder, StagingError> {
        self.folder.folder_or_new(MEMBERS[0].as_ref()).map_err(StagingError::io(&self.path()))
    }

    /// Opens a file of `tree` to read it, by a name with `/` between folders.
    ///
    /// # Errors
    /// What the system says.
    pub fn file(&self, name: &str) -> io::Result<File> {
        self.folder.folder(MEMBERS[0].as_ref())?.find(name)
    }

    /// Makes a file of `tree`, whole and on the disk, by a name with `/` between folders.
    ///
    /// # Errors
    /// [`StagingError::Io`].
    pub fn make<R>(
        &self,
        name: &str,
        write: impl FnOnce(&mut BufWriter<File>) -> io::Result<R>,
    ) -> Result<R, StagingError> {
        let made = self.folder.make(&format!("{}/{name}", MEMBERS[0]), write);
        made.map_err(StagingError::io(&self.path().join(MEMBERS[0]).join(name)))
    }

    /// Makes the file `tree.zip`, whole and on the disk.
    ///
    /// # Errors
    /// [`StagingError::Io`].
    pub fn make_zip<R>(&self, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<R>) -> Result<R, StagingError> {
        self.folder.make(MEMBERS[1], write).map_err(StagingError::io(&self.path().join(MEMBERS[1])))
    }

    /// Gives what was made the target's name: the zip, or else the folder, all of whose files are on the disk.
    ///
    /// # Errors
    /// [`StagingError::Exists`] if something took the name meanwhile, unless `overwrite`; [`StagingError::Io`].
    pub fn place(mut self, zip: bool, overwrite: bool, may_replace: MayReplace<'_>) -> Result<(), StagingError> {
        let made = OsStr::new(MEMBERS[usize::from(zip)]);
        let failed = StagingError::io(&self.target);
        free(&self.target, overwrite, may_replace)?;
        let target = self.target.file_name().expect("it was checked").to_owned();
        let there = self.folder.facts(made).ok_or_else(|| failed(io::ErrorKind::NotFound.into()))?;
        let (device, file) = there.identity;
        let line = serde_json::to_string(&Placing { placing: Placed { target: target.clone(), device, file } });
        self.put(&(line.expect("it has names for keys") + "\n"))?;
        let mut done = self.folder.rename(made, &self.beside, &target, Renaming::New);
        if overwrite && done.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::AlreadyExists) {
            done = self.folder.rename(made, &self.beside, &target, Renaming::Exchange);
            if done.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::Unsupported) {
                done = self.in_two_steps(made, &target);
            }
        }
        done.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => StagingError::Exists { path: self.target.clone() },
            _ => failed(error),
        })?;
        // Before the folder goes, in which the old target may lie.
        self.beside.sync().inspect_err(|_| self.stays = true).map_err(failed)?;
        self.stays = false;
        Ok(())
    }

    /// Between the two steps there is no target. What was there before comes back by [`sweep()`], whatever happens.
    fn in_two_steps(&self, made: &OsStr, target: &OsStr) -> io::Result<()> {
        self.folder.remove_all(OLD.as_ref())?;
        self.beside.rename(target, &self.folder, OLD.as_ref(), Renaming::Replace)?;
        self.folder.rename(made, &self.beside, target, Renaming::New).map_err(|error| {
            match self.folder.rename(OLD.as_ref(), &self.beside, target, Renaming::New) {
                Ok(()) => error,
                Err(_) => {
                    let old = self.path().join(OLD);
                    let reason =
                        format!("{error}; the old one is {}, and the next command puts it back", old.display());
                    io::Error::new(error.kind(), reason)
                }
            }
        })
    }
}

impl Drop for PartFolder {
    /// What can be resumed stays, and all else goes.
    fn drop(&mut self) {
        if !self.stays {
            let target = self.target.file_name().unwrap_or_default();
            discard((&self.beside, &self.name), &self.folder, target);
        }
        self.progress.unlock();
    }
}

/// Another process has the folder, or just had it.
struct Taken;

/// The name of the folder for a target that can be resumed.
fn part_name(target: &Path) -> Option<OsString> {
    let mut name = OsString::from(".");
    name.push(target.file_name()?);
    name.push(PART);
    Some(name)
}

/// The target where links were followed, and the folder that it lies in, from which leftovers were removed.
fn prepared(target: &Path, overwrite: bool, may_replace: MayReplace<'_>) -> Result<(PathBuf, Folder), StagingError> {
    let failed = StagingError::io(target);
    let followed = match target.symlink_metadata() {
        Ok(facts) if facts.is_symlink() => target
            .canonicalize()
            .map_err(|error| failed(io::Error::new(error.kind(), "is a link to something that is not there")))?,
        _ => target.to_owned(),
    };
    if followed.file_name().is_none() {
        return Err(failed(io::ErrorKind::InvalidInput.into()));
    }
    let beside = Folder::open(parent(&followed)).map_err(failed)?;
    sweep(&beside);
    free(&followed, overwrite, may_replace)?;
    Ok((followed, beside))
}

/// Checks that a target is not there, or may be replaced.
fn free(target: &Path, overwrite: bool, may_replace: MayReplace<'_>) -> Result<(), StagingError> {
    let path = || target.to_owned();
    match target.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(StagingError::io(target)(error)),
        Ok(_) if !overwrite => Err(StagingError::Exists { path: path() }),
        Ok(_) if !may_replace(target) => Err(StagingError::Foreign { path: path() }),
        Ok(_) => Ok(()),
    }
}
