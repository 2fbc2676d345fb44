//! The files of the store: one for each kind of entry and device.

use std::fs::File;
use std::path::{Path, PathBuf};

use orthant::Control;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::output::Staged;

/// The version of these files; those of version 2 are read too.
const VERSION: u32 = 3;

/// What a file holds: entries, of which a new one takes the place of an old one for the same thing.
pub(crate) trait Entry: Serialize + DeserializeOwned {
    /// The folder of such files.
    const FOLDER: &'static str;
    /// True if both are about the same thing.
    fn same(&self, other: &Self) -> bool;
    /// The entries of a page of version 2.
    fn of_version_2(text: &str) -> serde_json::Result<Vec<Self>>;
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoreFile<T> {
    version: u32,
    orthant: String,
    backend: String,
    device: String,
    pub(super) entries: Vec<T>,
}

/// The entries about a device, and the file that they are from.
///
/// # Errors
/// [`Error::Input`] if a file is there and cannot be understood.
pub(super) fn entries<T: Entry>(backend: &str, device: &str) -> Result<(Vec<T>, PathBuf), Error> {
    let Some(folder) = folder() else { return Ok(Default::default()) };
    let path = path::<T>(&folder, backend, device);
    Ok((read(&path)?, path))
}

/// Adds entries to the file of a device; says where it is.
///
/// # Errors
/// [`Error::Input`] if there is no folder for it or a file there cannot be understood, [`Error::File`].
pub(crate) fn keep<T: Entry>(backend: &str, device: &str, new: Vec<T>) -> Result<PathBuf, Error> {
    let folder = folder()
        .ok_or_else(|| Error::Input(format!("no folder for what was learnt: set {VARIABLE}, or use --dry-run")))?;
    let path = path::<T>(&folder, backend, device);
    let parent = folder.join(T::FOLDER);
    let failed = |source| failed(&parent, source);
    std::fs::create_dir_all(&parent).map_err(failed)?;
    // Who reads to write again keeps others from doing so meanwhile.
    let lock = File::create(parent.join(".lock")).map_err(failed)?;
    lock.lock().map_err(failed)?;
    let mut entries = read::<T>(&path)?;
    entries.retain(|old| !new.iter().any(|new| new.same(old)));
    entries.extend(new);
    let page = StoreFile {
        version: VERSION,
        orthant: env!("CARGO_PKG_VERSION").to_owned(),
        backend: backend.to_owned(),
        device: device.to_owned(),
        entries,
    };
    Staged::new(&path, true)?.finish(&Control::default(), |out| {
        serde_json::to_writer_pretty(&mut *out, &page)?;
        out.write_all(b"\n")
    })?;
    Ok(path)
}

fn read<T: Entry>(path: &Path) -> Result<Vec<T>, Error> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(failed(path, source)),
    };
    let wrong = |why: String| Error::Input(format!("{}: {why}; remove it, and fit or tune again", path.display()));
    let version: Version = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    let entries = match version.version {
        VERSION => serde_json::from_str::<StoreFile<T>>(&text).map(|page| page.entries),
        2 => T::of_version_2(&text),
        other => return Err(wrong(format!("key 'version' is {other}: this version reads 2 and {VERSION}"))),
    };
    entries.map_err(|error| wrong(error.to_string()))
}

/// The one key that every version has.
#[derive(Deserialize)]
struct Version {
    version: u32,
}

fn path<T: Entry>(folder: &Path, backend: &str, device: &str) -> PathBuf {
    folder.join(T::FOLDER).join(format!("{}.json", key(backend, device)))
}

/// Backend and device as a file's name: letters, digits and dashes.
fn key(backend: &str, device: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let key: String = format!("{backend} {device}").chars().map(plain).collect();
    key.split('-').filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
}

/// The variable of the folder that all of them are in.
const VARIABLE: &str = "ORTHANT_DATA_DIR";

fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// What the system said of a file or a folder here, and who chose the place.
fn failed(path: &Path, source: std::io::Error) -> Error {
    let source = match variable(VARIABLE) {
        Some(folder) => {
            let folder = folder.display();
            std::io::Error::new(
                source.kind(),
                format!("{source} (the folder {folder} is set by the variable {VARIABLE})"),
            )
        }
        None => source,
    };
    Error::File { path: path.to_owned(), source }
}

fn folder() -> Option<PathBuf> {
    variable(VARIABLE).or_else(|| {
        let base = variable("XDG_DATA_HOME").or_else(|| variable("HOME").map(|home| home.join(".local/share")));
        base.map(|base| base.join("orthant"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_plain_names() {
        assert_eq!(key("cuda", "NVIDIA H200"), "cuda-nvidia-h200");
        assert_eq!(key("cpu", "AMD EPYC (Zen 5) @ 2.0 GHz/"), "cpu-amd-epyc-zen-5-2-0-ghz");
    }
}
