//! Trees in files: what is written is read again, to the bit, and whatever else is there is said to be wrong.

mod damaged;
pub(super) mod headers;
mod killed;
mod pieces;
mod remote;
mod runs;
mod written;

use std::collections::BTreeMap;
use std::path::Path;

/// Checks that there are the same files in two places, and names those that differ.
fn assert_same(found: &BTreeMap<String, Vec<u8>>, expected: &BTreeMap<String, Vec<u8>>) {
    let names: Vec<_> =
        found.keys().chain(expected.keys()).filter(|&name| found.get(name) != expected.get(name)).collect();
    let lengths = |files: &BTreeMap<String, Vec<u8>>| names.first().map(|&name| files.get(name).map(Vec::len));
    assert!(names.is_empty(), "{names:?}: {:?} bytes, and not {:?}", lengths(found), lengths(expected));
}

/// All files below a path by their names, or the one that it is.
fn files(path: &Path) -> BTreeMap<String, Vec<u8>> {
    fn list(path: &Path, name: String, found: &mut BTreeMap<String, Vec<u8>>) {
        if !path.is_dir() {
            found.insert(name, std::fs::read(path).unwrap());
            return;
        }
        for entry in std::fs::read_dir(path).unwrap() {
            let entry = entry.unwrap();
            list(&entry.path(), format!("{name}/{}", entry.file_name().to_str().unwrap()), found);
        }
    }
    let mut found = BTreeMap::new();
    list(path, String::new(), &mut found);
    found
}
