//! Where the files of a process lie.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The folder: the one that `ORTHANT_FUZZ_FOLDER` names, or one in memory if the system has some, unless it was set before.
pub static PLACE: OnceLock<PathBuf> = OnceLock::new();

pub fn place() -> &'static Path {
    PLACE.get_or_init(|| {
        let named = std::env::var_os("ORTHANT_FUZZ_FOLDER").map(PathBuf::from);
        let place = named.unwrap_or_else(|| {
            let memory = Path::new("/dev/shm");
            let above = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
            above.join(format!("orthant-fuzz-{}", std::process::id()))
        });
        fs::create_dir_all(&place).expect("a folder can be made");
        place
    })
}

/// A file in it.
pub fn put(name: &str, bytes: &[u8]) -> PathBuf {
    let path = place().join(name);
    fs::write(&path, bytes).expect("a file can be written");
    path
}

/// A file for what is unpacked.
pub fn room() -> std::io::Result<File> {
    File::options().create(true).truncate(true).read(true).write(true).open(place().join("room"))
}
