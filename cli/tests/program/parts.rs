//! Folders in which trees are made: whose they are, what is resumed, and what is swept.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::binary::{command, files, folder, text};

const FIELD: &str = "run mandelbrot -n 64 -g 2 -B 4 -o a.tree.zarr";

/// Exit code and stderr of a command.
fn done(folder: &Path, arguments: &str) -> (Option<i32>, String) {
    let output = command(folder, arguments).output().unwrap();
    (output.status.code(), text(&output.stderr))
}

/// An array of 64 x 64 cells, and the command that makes a tree of it.
fn array(folder: &Path) -> &'static str {
    fs::write(folder.join("x.raw"), (0..4096u32).map(|cell| u8::from(cell % 64 > 40)).collect::<Vec<_>>()).unwrap();
    "run array --input x.raw --dtype u8 -n 64x64 -g 2 -B 4 -o a.tree.zarr"
}

/// A link in the place of what is written leads nowhere.
#[test]
fn a_link_in_the_place_of_a_part_destroys_nothing() {
    let folder = folder("part-links");
    let thesis = folder.join("thesis");
    fs::write(&thesis, "years of work").unwrap();
    let part = folder.join(".a.tree.zarr.part");
    fs::create_dir(&part).unwrap();
    symlink("../thesis", part.join("progress")).unwrap();
    // What nobody resumes is made elsewhere.
    assert_eq!(done(&folder, FIELD).0, Some(0));
    fs::remove_dir_all(folder.join("a.tree.zarr")).unwrap();
    // What can be resumed is made there, or nowhere.
    let array = array(&folder);
    let (code, said) = done(&folder, array);
    assert!(code == Some(2) && said.contains("'progress' is a link") && said.contains("rm -r '"), "{code:?} {said}");
    assert_eq!(fs::read_to_string(&thesis).unwrap(), "years of work");
    // A second name of a file is as bad as a link, and a pipe would wait for ever.
    fs::remove_file(part.join("progress")).unwrap();
    fs::hard_link(&thesis, part.join("progress")).unwrap();
    let (code, said) = done(&folder, array);
    assert!(code == Some(2) && said.contains("another name elsewhere"), "{code:?} {said}");
    fs::remove_file(part.join("progress")).unwrap();
    assert!(Command::new("mkfifo").arg(part.join("progress")).status().unwrap().success());
    let (code, said) = done(&folder, array);
    assert!(code == Some(2) && said.contains("or no file"), "{code:?} {said}");
    assert_eq!(fs::read_to_string(&thesis).unwrap(), "years of work");
    // The folder itself is a link.
    fs::remove_dir_all(&part).unwrap();
    fs::create_dir_all(folder.join("project/tree")).unwrap();
    fs::write(folder.join("project/tree/notes"), "mine").unwrap();
    symlink("project", &part).unwrap();
    assert_eq!(done(&folder, FIELD).0, Some(0));
    fs::remove_dir_all(folder.join("a.tree.zarr")).unwrap();
    let (code, said) = done(&folder, array);
    assert!(code == Some(2) && said.contains("is no folder"), "{code:?} {said}");
    assert_eq!(fs::read_to_string(folder.join("project/tree/notes")).unwrap(), "mine");
    // A folder that any user may write to.
    fs::remove_file(&part).unwrap();
    fs::create_dir(&part).unwrap();
    fs::set_permissions(&part, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    let (code, said) = done(&folder, array);
    assert!(code == Some(2) && said.contains("can be written by all users"), "{code:?} {said}");
}

/// Another user's folder, in a folder that all may write to.
#[test]
fn another_users_part_is_refused() {
    let folder = folder("part-owner");
    let part = folder.join(".a.tree.zarr.part");
    fs::create_dir(&part).unwrap();
    if std::os::unix::fs::chown(&part, Some(65534), None).is_err() {
        println!("SKIPPED: only root can give a folder to another user");
        return;
    }
    let (code, said) = done(&folder, array(&folder));
    assert!(code == Some(2) && said.contains("belongs to another user"), "{code:?} {said}");
    assert!(part.exists());
}

/// `--force` follows a link to a tree as it follows one to a file.
#[test]
fn a_tree_behind_a_link_is_replaced_where_it_is() {
    let folder = folder("part-target-link");
    fs::create_dir(folder.join("data")).unwrap();
    assert_eq!(done(&folder, "run mandelbrot -n 32 -g 2 -B 4 -o data/a.tree.zarr").0, Some(0));
    symlink("data/a.tree.zarr", folder.join("link.tree.zarr")).unwrap();
    assert_eq!(done(&folder, "run mandelbrot -n 64 -g 2 -B 4 -o link.tree.zarr").0, Some(2));
    assert_eq!(done(&folder, "run mandelbrot -n 64 -g 2 -B 4 -o link.tree.zarr --force").0, Some(0));
    assert!(folder.join("link.tree.zarr").symlink_metadata().unwrap().is_symlink());
    let info = command(&folder, "tree info data/a.tree.zarr").output().unwrap();
    assert!(text(&info.stdout).contains("64"), "{}", text(&info.stdout));
    assert_eq!(files(&folder.join("data")), ["a.tree.zarr"]);
    symlink("nowhere", folder.join("broken.tree.zarr")).unwrap();
    let (code, said) = done(&folder, "run mandelbrot -n 64 -o broken.tree.zarr --force");
    assert!(code == Some(2) && said.contains("is a link to something that is not there"), "{code:?} {said}");
}

/// What killed processes left, whatever their outputs were called, goes with the next output in the folder; what somebody holds, what is
/// not of this kind and what can be resumed stays.
#[test]
fn leftovers_are_swept() {
    let folder = folder("part-swept");
    let part = |name: &str, lines: &str| -> PathBuf {
        let part = folder.join(name);
        fs::create_dir_all(part.join("tree/level")).unwrap();
        fs::write(part.join("tree/level/zarr.json"), "{}").unwrap();
        fs::write(part.join("progress"), lines).unwrap();
        part
    };
    part(".orthant-0123456789abcdef.part", "{\"header\":{},\"made_of\":null}\n");
    part(".b.tree.zarr.part", "{\"header\":{},\"made_of\":\"cells\"}\n");
    fs::create_dir(folder.join(".orthant-00.part")).unwrap();
    fs::write(folder.join(".orthant-00.tmp"), "half").unwrap();
    let resumable = part(".c.tree.zarr.part", "{\"header\":{},\"made_of\":\"cells\"}\n{\"shard\":0}\n");
    let held = part(".orthant-11.part", "{\"orthant\":\"tree convert\"}\n");
    let lock = fs::File::open(held.join("progress")).unwrap();
    lock.lock().unwrap();
    // What others have of such a name, and what was never written by orthant.
    let thesis = part(".q.zarr.part", "my notes\n");
    let silent = part(".p.tree.zarr.part", "");
    let upper = part(".U.TREE.ZARR.part", "{\"header\":{},\"made_of\":\"cells\"}\n");
    let foreign = folder.join(".download.part");
    fs::create_dir(&foreign).unwrap();
    assert_eq!(done(&folder, "run mandelbrot -n 16 -o z.npy").0, Some(0));
    assert_eq!(
        files(&folder),
        [".c.tree.zarr.part", ".download.part", ".orthant-11.part", ".p.tree.zarr.part", ".q.zarr.part", "z.npy"]
    );
    assert!(resumable.join("tree/level/zarr.json").exists());
    assert!(thesis.join("tree/level/zarr.json").exists() && silent.join("tree").exists() && !upper.exists());
    let (code, said) = done(&folder, &array(&folder).replace("a.tree", "p.tree"));
    assert!(code == Some(2) && said.contains("none that orthant wrote"), "{code:?} {said}");
    fs::remove_file(folder.join("x.raw")).unwrap();
    drop(lock);
    assert_eq!(done(&folder, "run mandelbrot -n 16 -o z.npy --force").0, Some(0));
    assert_eq!(files(&folder), [".c.tree.zarr.part", ".download.part", ".p.tree.zarr.part", ".q.zarr.part", "z.npy"]);
}

/// Killed while a tree had no name: any command that looks for it, or writes beside it, gives it back.
#[test]
fn the_old_tree_comes_back() {
    for next in ["tree info a.tree.zarr", "run mandelbrot -n 16 -o z.npy"] {
        let folder = folder("part-old");
        assert_eq!(done(&folder, FIELD).0, Some(0));
        let part = folder.join(".orthant-22.part");
        fs::create_dir(&part).unwrap();
        let placing =
            r#"{"placing":{"target":{"Unix":[97,46,116,114,101,101,46,122,97,114,114]},"device":1,"file":1}}"#;
        fs::write(part.join("progress"), format!("{{\"orthant\":\"tree convert\"}}\n{placing}\n")).unwrap();
        fs::rename(folder.join("a.tree.zarr"), part.join("old")).unwrap();
        assert_eq!(done(&folder, next).0, Some(0), "{next}");
        assert_eq!(done(&folder, "tree validate a.tree.zarr").0, Some(0), "{next}");
        assert!(!part.exists(), "{next}");
    }
}
