//! The system's calls elsewhere: by paths, and everybody is trusted.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::disk::facts::{EntryFacts, EntryKind, Opening};
use crate::disk::layer::Renaming;

pub(super) type Handle = PathBuf;

pub(super) fn open_folder(path: &Path) -> io::Result<Handle> {
    match fs::metadata(path)?.is_dir() {
        true => Ok(path.to_owned()),
        false => Err(io::ErrorKind::NotADirectory.into()),
    }
}

pub(super) fn sub_folder(_: &Handle, path: &Path, _: &OsStr) -> io::Result<Handle> {
    match path.symlink_metadata()?.is_dir() {
        true => Ok(path.to_owned()),
        false => Err(io::ErrorKind::NotADirectory.into()),
    }
}

pub(super) fn make_folder(_: &Handle, path: &Path, _: &OsStr, _private: bool) -> io::Result<()> {
    fs::create_dir(path)
}

pub(super) fn open(_: &Handle, path: &Path, _: &OsStr, how: Opening) -> io::Result<fs::File> {
    fs::OpenOptions::new().read(true).write(how != Opening::Read).create_new(how == Opening::New).open(path)
}

/// Reads some bytes from a place of a file on.
#[cfg(windows)]
pub(super) fn read_at(file: &fs::File, offset: u64, bytes: &mut [u8]) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, bytes, offset)
}

pub(super) fn rename(from: (&Handle, &Path, &OsStr), to: (&Handle, &Path, &OsStr), place: Renaming) -> io::Result<()> {
    match place {
        Renaming::Exchange => Err(io::ErrorKind::Unsupported.into()),
        Renaming::New if to.1.symlink_metadata().is_ok() => Err(io::ErrorKind::AlreadyExists.into()),
        Renaming::New | Renaming::Replace => fs::rename(from.1, to.1),
    }
}

pub(super) fn remove(_: &Handle, path: &Path, _: &OsStr, folder: bool) -> io::Result<()> {
    if folder { fs::remove_dir(path) } else { fs::remove_file(path) }
}

pub(super) fn names(_: &Handle, path: &Path) -> io::Result<Vec<OsString>> {
    fs::read_dir(path)?.map(|entry| Ok(entry?.file_name())).collect()
}

pub(super) fn sync(_: &Handle) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// A name without the dot that it begins with.
pub(super) fn without_dot(name: &OsStr) -> Option<&OsStr> {
    name.to_str()?.strip_prefix('.').map(OsStr::new)
}

pub(super) fn facts(_: &Handle, path: &Path, _: &OsStr) -> io::Result<EntryFacts> {
    Ok(understood(&path.symlink_metadata()?))
}

pub(super) fn folder_facts(_: &Handle, path: &Path) -> io::Result<EntryFacts> {
    Ok(understood(&path.metadata()?))
}

pub(super) fn file_facts(file: &fs::File) -> io::Result<EntryFacts> {
    Ok(understood(&file.metadata()?))
}

fn understood(facts: &fs::Metadata) -> EntryFacts {
    let kind = match facts {
        facts if facts.is_dir() => EntryKind::Folder,
        facts if facts.is_file() => EntryKind::File,
        _ => EntryKind::Other,
    };
    EntryFacts { kind, identity: (0, 0), own: true, open_to_all: false, names: 1 }
}
