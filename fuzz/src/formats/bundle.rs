//! A folder of files as one input: for each file the length of its name, its name, the length of what it holds in two bytes, and that.

use std::fs;
use std::path::{Component, Path, PathBuf};

use super::place::place;

/// Makes the folder; None if bytes are none.
pub fn unpack(name: &str, mut bytes: &[u8]) -> Option<PathBuf> {
    let folder = place().join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder).expect("a folder can be made");
    while let Some((&length, rest)) = bytes.split_first() {
        let (name, rest) = rest.split_at_checked(length.into())?;
        let (length, rest) = rest.split_first_chunk::<2>()?;
        let (held, rest) = rest.split_at_checked(u16::from_le_bytes(*length).into())?;
        bytes = rest;
        let name = Path::new(std::str::from_utf8(name).ok()?);
        let plain = name.components().all(|part| matches!(part, Component::Normal(_)));
        if !plain || name.as_os_str().is_empty() {
            return None;
        }
        let path = folder.join(name);
        // Names that are both a file and a folder, too long, or with a NUL.
        fs::create_dir_all(path.parent()?).ok()?;
        fs::write(&path, held).ok()?;
    }
    Some(folder)
}

/// The input of such a folder.
pub fn pack(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let file = |(name, held): &(String, Vec<u8>)| {
        let length = u16::try_from(held.len()).expect("a small file").to_le_bytes();
        [&[name.len() as u8], name.as_bytes(), &length, held].concat()
    };
    files.iter().flat_map(file).collect()
}
