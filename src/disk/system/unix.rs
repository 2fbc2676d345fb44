//! The system's calls on Unix: names are looked up in open folders.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::disk::facts::{EntryFacts, EntryKind, Opening};
use crate::disk::layer::Renaming;

pub(super) type Handle = OwnedFd;

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

pub(super) fn open_folder(path: &Path) -> io::Result<Handle> {
    match rustix::fs::openat(CWD, path, FOLDER, Mode::empty()) {
        // A folder that one may write to and not read serves too: its names are not looked at then.
        #[cfg(any(target_os = "linux", target_os = "android"))]
        Err(Errno::ACCESS) => Ok(rustix::fs::openat(CWD, path, FOLDER | OFlags::PATH, Mode::empty())?),
        opened => Ok(opened?),
    }
}

pub(super) fn sub_folder(folder: &Handle, _: &Path, name: &OsStr) -> io::Result<Handle> {
    Ok(rustix::fs::openat(folder, name, FOLDER | OFlags::NOFOLLOW, Mode::empty())?)
}

pub(super) fn make_folder(folder: &Handle, _: &Path, name: &OsStr, private: bool) -> io::Result<()> {
    let mode = if private { Mode::RWXU } else { Mode::RWXU | Mode::RWXG | Mode::RWXO };
    Ok(rustix::fs::mkdirat(folder, name, mode)?)
}

pub(super) fn open(folder: &Handle, _: &Path, name: &OsStr, how: Opening) -> io::Result<fs::File> {
    let how = match how {
        Opening::New => OFlags::RDWR | OFlags::CREATE | OFlags::EXCL,
        // Opening a pipe would wait for its other end.
        Opening::There => OFlags::RDWR | OFlags::NONBLOCK,
        Opening::Read => OFlags::RDONLY | OFlags::NONBLOCK,
    };
    // A result gets the permissions of any new file.
    let mode = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::WGRP | Mode::ROTH | Mode::WOTH;
    let flags = OFlags::NOFOLLOW | OFlags::CLOEXEC | how;
    Ok(rustix::fs::openat(folder, name, flags, mode)?.into())
}

/// Reads some bytes from a place of a file on.
pub(super) fn read_at(file: &fs::File, offset: u64, bytes: &mut [u8]) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, bytes, offset)
}

pub(super) fn rename(from: (&Handle, &Path, &OsStr), to: (&Handle, &Path, &OsStr), place: Renaming) -> io::Result<()> {
    let plain = || rustix::fs::renameat(from.0, from.2, to.0, to.2);
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    let flagged = |place| {
        use rustix::fs::RenameFlags;
        let flags = if place == Renaming::New { RenameFlags::NOREPLACE } else { RenameFlags::EXCHANGE };
        rustix::fs::renameat_with(from.0, from.2, to.0, to.2, flags)
    };
    #[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
    let flagged = |_| Err(Errno::NOSYS);
    let cannot = |error| matches!(error, Errno::INVAL | Errno::NOSYS | Errno::NOTSUP);
    match place {
        Renaming::Replace => Ok(plain()?),
        Renaming::Exchange => match flagged(place) {
            Err(error) if cannot(error) => Err(io::ErrorKind::Unsupported.into()),
            done => Ok(done?),
        },
        Renaming::New => match flagged(place) {
            Err(error) if cannot(error) => match facts(from.0, from.1, from.2)?.kind {
                EntryKind::Folder => match facts(to.0, to.1, to.2) {
                    // A folder takes the place of an empty folder alone.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(plain()?),
                    Err(error) => Err(error),
                    Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
                },
                _ => {
                    rustix::fs::linkat(from.0, from.2, to.0, to.2, AtFlags::empty())?;
                    Ok(rustix::fs::unlinkat(from.0, from.2, AtFlags::empty())?)
                }
            },
            done => Ok(done?),
        },
    }
}

pub(super) fn remove(within: &Handle, _: &Path, name: &OsStr, folder: bool) -> io::Result<()> {
    let flags = if folder { AtFlags::REMOVEDIR } else { AtFlags::empty() };
    Ok(rustix::fs::unlinkat(within, name, flags)?)
}

pub(super) fn names(folder: &Handle, _: &Path) -> io::Result<Vec<OsString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let name = entry?.file_name().to_bytes().to_owned();
        if !matches!(&name[..], b"." | b"..") {
            names.push(OsStr::from_bytes(&name).to_owned());
        }
    }
    Ok(names)
}

pub(super) fn sync(folder: &Handle) -> io::Result<()> {
    match rustix::fs::fsync(folder) {
        // A folder that may not be read.
        Err(Errno::BADF) => Err(io::ErrorKind::Unsupported.into()),
        done => Ok(done?),
    }
}

/// A name without the dot that it begins with.
pub(super) fn without_dot(name: &OsStr) -> Option<&OsStr> {
    name.as_bytes().strip_prefix(b".").map(OsStr::from_bytes)
}

pub(super) fn facts(folder: &Handle, _: &Path, name: &OsStr) -> io::Result<EntryFacts> {
    Ok(understood(&rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?))
}

pub(super) fn folder_facts(folder: &Handle, _: &Path) -> io::Result<EntryFacts> {
    Ok(understood(&rustix::fs::fstat(folder)?))
}

pub(super) fn file_facts(file: &fs::File) -> io::Result<EntryFacts> {
    Ok(understood(&rustix::fs::fstat(file.as_fd())?))
}

// Systems have these numbers in several widths.
#[allow(clippy::unnecessary_cast, clippy::useless_conversion)]
fn understood(stat: &Stat) -> EntryFacts {
    let kind = match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => EntryKind::Folder,
        FileType::RegularFile => EntryKind::File,
        _ => EntryKind::Other,
    };
    EntryFacts {
        kind,
        identity: (stat.st_dev as u64, stat.st_ino as u64),
        own: stat.st_uid == rustix::process::geteuid().as_raw(),
        open_to_all: Mode::from_raw_mode(stat.st_mode).contains(Mode::WOTH),
        names: stat.st_nlink as u64,
    }
}
