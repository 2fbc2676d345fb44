//! The folder in which a target is made, as a process may find it: its own, or what a killed one left.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::disk::facts::EntryKind;
use crate::disk::file::File;
use crate::disk::folder::Folder;
use crate::disk::layer::Renaming;

/// How names begin that nobody comes back to.
pub(super) const PREFIX: &str = ".orthant-";

/// How the names of such folders end.
pub(super) const PART: &str = ".part";

/// The file of lines.
pub(super) const PROGRESS: &str = "progress";

/// What else can be in such a folder. Nothing else is ever removed from it.
pub(super) const MEMBERS: [&str; 2] = ["tree", "tree.zip"];

/// What the target was before.
pub(super) const OLD: &str = "old";

/// The last line of a progress: what takes the target's place.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Placing {
    pub(super) placing: Placed,
}

/// The target's name, and the identity of what gets it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Placed {
    pub(super) target: OsString,
    pub(super) device: u64,
    pub(super) file: u64,
}

/// What a progress says.
pub(super) struct Remains {
    /// True if there is a whole line.
    pub(super) lines: bool,
    /// True if orthant wrote it.
    pub(super) ours: bool,
    /// True if a later process can resume something.
    pub(super) finished: bool,
    pub(super) placing: Option<Placed>,
}

impl Remains {
    pub(super) fn read(progress: &mut File) -> io::Result<Self> {
        let mut text = Vec::new();
        progress.read_to_end(&mut text)?;
        // A line that was not written to its end is none.
        let lines = text.split_inclusive(|&byte| byte == b'\n').filter(|line| line.ends_with(b"\n"));
        let lines: Vec<&[u8]> = lines.collect();
        let first = lines.first().and_then(|line| serde_json::from_slice::<Value>(line).ok());
        let known = |first: &Value| first.get("header").is_some() || first.get("orthant").is_some();
        let ours = first.as_ref().is_some_and(known);
        let resumable = first.is_some_and(|first| !first["made_of"].is_null());
        let placing = lines.last().and_then(|line| serde_json::from_slice::<Placing>(line).ok());
        let more = lines.len() > 1 + usize::from(placing.is_some());
        Ok(Self {
            lines: !lines.is_empty(),
            ours,
            finished: resumable && more,
            placing: placing.map(|placing| placing.placing),
        })
    }
}

/// Why a folder is not taken.
pub(super) enum Distrust {
    Gone,
    Io(io::Error),
    Because(&'static str),
}

/// Opens a folder of this name if it is one that this user's orthant made.
pub(super) fn trusted(beside: &Folder, name: &OsStr) -> Result<Folder, Distrust> {
    let facts = beside.facts(name).ok_or(Distrust::Gone)?;
    if facts.kind != EntryKind::Folder {
        return Err(Distrust::Because("is no folder"));
    }
    let folder = beside.folder(name).map_err(Distrust::Io)?;
    let facts = folder.own_facts().map_err(Distrust::Io)?;
    if !facts.own {
        return Err(Distrust::Because("belongs to another user"));
    }
    if facts.open_to_all {
        return Err(Distrust::Because("can be written by all users"));
    }
    match folder.facts(PROGRESS.as_ref()) {
        Some(facts) if facts.kind != EntryKind::File => {
            Err(Distrust::Because("its file 'progress' is a link, or no file"))
        }
        Some(facts) if !facts.own => Err(Distrust::Because("its file 'progress' belongs to another user")),
        Some(facts) if facts.names != 1 => Err(Distrust::Because("its file 'progress' has another name elsewhere")),
        _ => Ok(folder),
    }
}

/// Removes a folder whose progress is locked, or whose process ends. What the target was before comes back first. A process can be
/// killed here too: the progress goes last, and whoever resumes looks whether the shards are there that it names.
pub(super) fn discard(named: (&Folder, &OsStr), folder: &Folder, target: &OsStr) {
    let (beside, name) = named;
    restore(beside, folder, target);
    for member in MEMBERS {
        let _ = folder.remove_all(member.as_ref());
    }
    if beside.has(target) {
        let _ = folder.remove_all(OLD.as_ref());
    }
    // Without a progress nobody would know what the rest is.
    if !MEMBERS.iter().chain([&OLD]).any(|member| folder.has(member.as_ref())) {
        let _ = folder.remove(PROGRESS.as_ref());
        let _ = beside.remove(name);
    }
}

/// Gives what the target was before its name back, if nothing has it.
pub(super) fn restore(beside: &Folder, folder: &Folder, target: &OsStr) {
    if folder.has(OLD.as_ref()) && !beside.has(target) {
        let _ = folder.rename(OLD.as_ref(), beside, target, Renaming::New);
    }
}

/// True if a file still has the name by which it was opened.
pub(super) fn is_named(folder: &Folder, name: &OsStr, file: &File) -> bool {
    let identity = file.facts().map(|facts| facts.identity);
    folder.facts(name).zip(identity.ok()).is_some_and(|(found, own)| found.identity == own)
}
