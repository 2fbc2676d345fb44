//! A file that was meant, where the one that was named is not there.

use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

/// What is said of a file beside what the system says: the nearest name in its folder, or the folder that is not there.
pub(crate) fn suggestion(path: &Path, error: &Error) -> String {
    // What lies in an archive is named behind a colon.
    let inside = path.to_string_lossy().contains(": ");
    if error.kind() != ErrorKind::NotFound || error.raw_os_error().is_none() || inside {
        return String::new();
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        return format!("; there is no folder {}", folder.display());
    }
    nearest(folder, path).map_or_else(String::new, |near| format!("; did you mean {}?", near.display()))
}

/// The file of a folder that has the same name with another ending, or a name that is spelt nearly like that of `path`.
fn nearest(folder: &Path, path: &Path) -> Option<PathBuf> {
    let parts =
        |name: &str| name.split_once('.').map_or((name.to_owned(), None), |(a, b)| (a.to_owned(), Some(b.to_owned())));
    let name = path.file_name()?.to_str()?;
    let (stem, ending) = parts(name);
    // Of short names every letter tells.
    let most = match stem.chars().count() {
        0..=2 => 0,
        3..=5 => 1,
        _ => 2,
    };
    let far = |whole: &str| {
        let (other, its) = parts(whole);
        let far = strsim::damerau_levenshtein(&stem, &other);
        let whole = strsim::damerau_levenshtein(name, whole);
        (far <= most && !stem.is_empty()).then_some((far, its != ending, whole))
    };
    let names = std::fs::read_dir(folder).ok()?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    // Of those that are equally near the first by name, so that a message is always the same.
    let found = names.filter(|other| other != name).filter_map(|other| Some((far(&other)?, other))).min()?;
    Some(path.with_file_name(found.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_found() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["brain.nii.gz", "brian.txt", "labels.npy", "ab", "t2.tree.zarr"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let said = |name: &str| {
            let path = folder.path().join(name);
            let error = std::fs::File::open(&path).unwrap_err();
            suggestion(&path, &error).replace(&format!("{}/", folder.path().display()), "")
        };
        for (name, says) in [
            ("brain.nii", "; did you mean brain.nii.gz?"),
            ("lables.npy", "; did you mean labels.npy?"),
            ("brian.nii", "; did you mean brian.txt?"),
            ("ac", ""),
            ("scan.las", ""),
            ("a.tree.zarr", ""),
            ("t2.tree.zar", "; did you mean t2.tree.zarr?"),
        ] {
            assert_eq!(said(name), says, "{name}");
        }
        assert!(said("nowhere/brain.nii").starts_with("; there is no folder "));
    }
}
