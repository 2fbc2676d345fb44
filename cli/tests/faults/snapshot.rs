//! A folder's files and what is in them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Each file's bytes by its name, with `/` between folders; None of a folder.
pub type Files = BTreeMap<String, Option<Vec<u8>>>;

pub fn take(folder: &Path) -> Files {
    fn add(folder: &Path, above: &str, files: &mut Files) {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{above}{}", entry.file_name().to_str().unwrap());
            if entry.file_type().unwrap().is_dir() {
                add(&entry.path(), &format!("{name}/"), files);
                files.insert(name, None);
            } else {
                files.insert(name, Some(fs::read(entry.path()).unwrap()));
            }
        }
    }
    let mut files = Files::new();
    add(folder, "", &mut files);
    files
}

/// Makes a folder hold just these.
pub fn restore(folder: &Path, files: &Files) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.unwrap();
    }
    for (name, bytes) in files {
        match bytes {
            None => fs::create_dir_all(folder.join(name)).unwrap(),
            Some(bytes) => {
                fs::create_dir_all(folder.join(name).parent().unwrap()).unwrap();
                fs::write(folder.join(name), bytes).unwrap();
            }
        }
    }
}

/// True if there are files, and all their lines are whole: rows or a report, which hold times and are never twice the same. Behind the
/// rows of a sweep there may be the beginning of another, which `--resume` drops.
pub fn is_whole_text(files: &Files) -> bool {
    let whole = |(name, bytes): (&String, &Option<Vec<u8>>)| {
        let bytes = bytes.as_deref().unwrap_or_default();
        let (lines, rest) = bytes.split_at(bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1));
        let is_line = |line: &[u8]| serde_json::from_slice::<serde_json::Value>(line).is_ok();
        let rows = name.ends_with(".jsonl");
        (rows || rest.is_empty() && !lines.is_empty())
            && lines.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).all(is_line)
    };
    !files.is_empty() && files.iter().all(whole)
}
