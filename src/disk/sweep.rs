//! What killed processes left goes when the next one writes to the same folder.
//!
//! A living process holds a lock on what it makes. What nobody holds is removed if it is this user's, has the name that orthant gives, and
//! is nothing that can be resumed. Where files cannot be locked nothing is removed.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use crate::disk::facts::EntryKind;
use crate::disk::folder::{Folder, parent};
use crate::disk::leftover::{MEMBERS, OLD, PART, PREFIX, PROGRESS, Remains, discard, is_named, restore, trusted};
use crate::disk::system::without_dot;

/// How the names of temporary files end.
pub(super) const TEMPORARY: &str = ".tmp";

/// Removes what killed processes left in a folder, and gives back what a target was before if its new content did not come. That it
/// does not succeed is no reason to do nothing else.
pub fn sweep(beside: &Folder) {
    for name in beside.names().unwrap_or_default() {
        let text = name.to_string_lossy();
        if text.starts_with(PREFIX) && text.ends_with(TEMPORARY) {
            sweep_file(beside, &name);
        } else if text.starts_with(PREFIX) && text.ends_with(PART) || target_of(&name).is_some() {
            sweep_part(beside, &name);
        }
    }
}

/// The name of the target of a folder that can be resumed, if that is its name.
fn target_of(name: &OsStr) -> Option<OsString> {
    let target = Path::new(without_dot(name)?);
    let extension = |path: &Path, extension: &str| path.extension().is_some_and(|e| e.eq_ignore_ascii_case(extension));
    let name = target.file_stem().filter(|_| extension(target, "part"))?;
    let stem = Path::new(name);
    let zipped = extension(stem, "zip") && stem.file_stem().is_some_and(|stem| extension(Path::new(stem), "zarr"));
    (extension(stem, "zarr") || zipped).then(|| name.to_owned())
}

fn sweep_file(beside: &Folder, name: &OsStr) {
    let ours = beside.facts(name).is_some_and(|facts| facts.kind == EntryKind::File && facts.own);
    let Some(file) = ours.then(|| beside.file(name).ok()).flatten() else { return };
    if file.try_lock().is_ok() && is_named(beside, name, &file) {
        let _ = beside.remove(name);
    }
}

fn sweep_part(beside: &Folder, name: &OsStr) {
    let Ok(folder) = trusted(beside, name) else { return };
    let Ok(mut progress) = folder.file(PROGRESS.as_ref()) else {
        // It is empty, or stays.
        let _ = beside.remove(name);
        return;
    };
    if progress.try_lock().is_err() || !is_named(&folder, PROGRESS.as_ref(), &progress) {
        return;
    }
    let Ok(found) = Remains::read(&mut progress) else { return };
    if !found.ours {
        // The first line did not come to its end, or somebody else has such a name.
        let alone = folder.names().is_ok_and(|names| names == [OsStr::new(PROGRESS)]);
        if alone && !found.lines {
            discard((beside, name), &folder, OsStr::new(""));
        }
        return;
    }
    let resumable = target_of(name);
    let Some(target) = found.placing.as_ref().map(|placing| placing.target.clone()).or(resumable.clone()) else {
        return discard((beside, name), &folder, OsStr::new(""));
    };
    restore(beside, &folder, &target);
    let there = beside.facts(&target);
    let placed =
        found.placing.zip(there).is_some_and(|(placing, there)| there.identity == (placing.device, placing.file));
    if resumable.is_none() || placed || !found.finished {
        discard((beside, name), &folder, &target);
    } else if there.is_some() {
        let _ = folder.remove_all(OLD.as_ref());
    }
}

/// Removes what this process makes, which is about to end: a file, or a folder of the kind that [`PartFolder`](crate::disk::PartFolder) makes.
/// Other threads may still write there; what they make meanwhile is left to the next [`sweep()`].
pub fn abandon(path: &Path) {
    let (Ok(beside), Some(name)) = (Folder::open(parent(path)), path.file_name()) else { return };
    match beside.facts(name).map(|facts| facts.kind) {
        Some(EntryKind::Folder) => {
            let Ok(folder) = trusted(&beside, name) else { return };
            let Ok(mut progress) = folder.file(PROGRESS.as_ref()) else {
                let _ = beside.remove(name);
                return;
            };
            let placing = Remains::read(&mut progress).ok().and_then(|found| found.placing);
            let target = placing.map(|placing| placing.target).or(target_of(name)).unwrap_or_default();
            for _ in 0..3 {
                discard((&beside, name), &folder, &target);
                if MEMBERS.iter().all(|member| !folder.has(member.as_ref())) {
                    break;
                }
            }
        }
        Some(_) => {
            let _ = beside.remove(name);
        }
        None => {}
    }
}
