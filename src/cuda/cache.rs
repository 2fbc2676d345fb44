//! Compiled kernels on disk.
//!
//! A file is named by the hash of everything that went into it and starts with a checksum of what follows, so that a
//! torn or foreign file is simply compiled again. Files come into being under another name and are renamed, so two
//! processes may write the same one.

use std::io::Write;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

const MAGIC: &[u8; 8] = b"orthant1";

/// A folder of compiled kernels; none if there is nowhere to put them.
#[derive(Debug, Clone)]
pub(super) struct Cache {
    folder: Option<PathBuf>,
}

impl Cache {
    pub(super) fn new(folder: Option<PathBuf>) -> Self {
        Self { folder }
    }

    /// `ORTHANT_CACHE_DIR`, else the user's cache folder.
    pub(super) fn default_folder() -> Option<PathBuf> {
        let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        variable("ORTHANT_CACHE_DIR").or_else(|| {
            let base = variable("XDG_CACHE_HOME").or_else(|| variable("HOME").map(|home| home.join(".cache")));
            base.map(|base| base.join("orthant"))
        })
    }

    /// The image under `key`, or what `make` makes, which is then kept.
    pub(super) fn get<E>(&self, key: &Key, make: impl FnOnce() -> Result<Vec<u8>, E>) -> Result<Vec<u8>, E> {
        match self.path(key).and_then(|path| read(&path)) {
            Some(image) => Ok(image),
            None => self.renew(key, make),
        }
    }

    /// What `make` makes, kept in place of what there was.
    pub(super) fn renew<E>(&self, key: &Key, make: impl FnOnce() -> Result<Vec<u8>, E>) -> Result<Vec<u8>, E> {
        let image = make()?;
        if let (Some(folder), Some(path)) = (&self.folder, self.path(key)) {
            // A cache that cannot be written costs time, not results; `doctor` says so.
            let _ = write(folder, &path, &image);
        }
        Ok(image)
    }

    fn path(&self, key: &Key) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(format!("{:032x}.cubin", key.0)))
    }
}

/// True if files can be created in `folder`, which is made if need be.
pub(super) fn is_writable(folder: &Path) -> bool {
    std::fs::create_dir_all(folder).is_ok() && tempfile::NamedTempFile::new_in(folder).is_ok()
}

/// The hash of all that an image depends on.
pub(super) struct Key(u128);

impl Key {
    pub(super) fn new<'a>(parts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut hash = Xxh3::new();
        for part in parts {
            // Lengths keep neighbours apart.
            hash.update(&part.len().to_le_bytes());
            hash.update(part.as_bytes());
        }
        Self(hash.digest128())
    }

    pub(super) fn hash(&self) -> u128 {
        self.0
    }
}

fn read(path: &Path) -> Option<Vec<u8>> {
    let mut file = std::fs::read(path).ok()?;
    let (head, image) = file.split_at_checked(16)?;
    let sound = &head[..8] == MAGIC && head[8..] == xxh3_64(image).to_le_bytes();
    sound.then(|| file.split_off(16))
}

fn write(folder: &Path, path: &Path, image: &[u8]) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(MAGIC)?;
    file.write_all(&xxh3_64(image).to_le_bytes())?;
    file.write_all(image)?;
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    #[test]
    fn torn_files_are_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(Some(folder.path().join("new")));
        let key = Key::new(["a", "bc"]);
        let make = |image: &'static [u8]| cache.get(&key, || Ok::<_, Infallible>(image.to_vec())).unwrap();
        assert_eq!(make(b"first"), b"first");
        assert_eq!(make(b"second"), b"first");
        let path = std::fs::read_dir(folder.path().join("new")).unwrap().next().unwrap().unwrap().path();
        for damage in [&b""[..], b"orthant1", b"orthant1........firsx"] {
            std::fs::write(&path, damage).unwrap();
            assert_eq!(make(b"third"), b"third");
            assert_eq!(make(b"fourth"), b"third");
        }
        assert_ne!(Key::new(["ab", "c"]).0, key.0);
        assert_eq!(Cache::new(None).get(&key, || Ok::<_, Infallible>(vec![7])).unwrap(), [7]);
    }
}
