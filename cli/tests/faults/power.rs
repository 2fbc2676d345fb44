//! What a power cut leaves of the calls before it.
//!
//! Names change in the order of the calls, as on a file system with a journal: up to the cut, or up to the last time that a folder was
//! synced. The bytes of a file are there as of its last sync. What was written since is lost, zeros, or torn.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::layer::Done;
use super::snapshot::Files;

/// What is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// Names and bytes since they were last synced.
    All,
    /// Bytes since they were last synced.
    Bytes,
    /// The same, but files are as long as they were.
    Zeros,
    /// Half of the last write.
    Torn,
}

impl Loss {
    pub const ALL: [Self; 4] = [Self::All, Self::Bytes, Self::Zeros, Self::Torn];
}

#[derive(Debug, Clone)]
enum Change {
    Write(u64, Vec<u8>),
    Resize(u64),
}

#[derive(Debug, Default)]
struct Node {
    folder: bool,
    synced: Vec<u8>,
    pending: Vec<Change>,
    /// Device and number in the recorded run, where they are known.
    identity: Option<(u64, u64)>,
}

fn apply(bytes: &mut Vec<u8>, change: &Change, zeros: bool) {
    match change {
        Change::Resize(length) => bytes.resize(*length as usize, 0),
        Change::Write(at, new) => {
            let (at, end) = (*at as usize, *at as usize + new.len());
            bytes.resize(bytes.len().max(end), 0);
            if !zeros {
                bytes[at..end].copy_from_slice(new);
            }
        }
    }
}

impl Node {
    fn sync(&mut self) {
        for change in std::mem::take(&mut self.pending) {
            apply(&mut self.synced, &change, false);
        }
    }

    fn bytes(&self, loss: Loss) -> Vec<u8> {
        let mut bytes = self.synced.clone();
        let last = self.pending.len().saturating_sub(1);
        for (number, change) in self.pending.iter().enumerate() {
            match (loss, change) {
                (Loss::All | Loss::Bytes, _) => {}
                (Loss::Zeros, change) => apply(&mut bytes, change, true),
                (Loss::Torn, Change::Write(at, new)) if number == last => {
                    apply(&mut bytes, &Change::Write(*at, new[..new.len() / 2].to_vec()), false);
                }
                (Loss::Torn, change) => apply(&mut bytes, change, false),
            }
        }
        bytes
    }
}

type Names = BTreeMap<PathBuf, usize>;

/// Moves a name and all below it.
fn moved(names: &mut Names, from: &Path, to: &Path) {
    let below: Vec<PathBuf> = names.keys().filter(|name| name.starts_with(from)).cloned().collect();
    for name in below {
        let node = names.remove(&name).unwrap();
        let rest = name.strip_prefix(from).unwrap();
        names.insert(if rest.as_os_str().is_empty() { to.to_owned() } else { to.join(rest) }, node);
    }
}

/// Fills an empty folder with what is left of it after these calls, which began with `before`.
pub fn cut(before: &Files, log: &[Done], loss: Loss, folder: &Path) {
    let mut nodes: Vec<Node> = Vec::new();
    let mut names = Names::new();
    for (name, bytes) in before {
        nodes.push(Node { folder: bytes.is_none(), synced: bytes.clone().unwrap_or_default(), ..Node::default() });
        names.insert(name.into(), nodes.len() - 1);
    }
    let mut synced = names.clone();
    for done in log {
        match done {
            Done::MakeFolder(path) | Done::Create(path) => {
                nodes.push(Node { folder: matches!(done, Done::MakeFolder(_)), ..Node::default() });
                names.insert(path.clone(), nodes.len() - 1);
            }
            Done::Write { path, at, bytes } => {
                nodes[names[path]].pending.push(Change::Write(*at, bytes.clone()));
            }
            Done::Resize { path, length } => nodes[names[path]].pending.push(Change::Resize(*length)),
            Done::Sync(path) => nodes[names[path]].sync(),
            Done::SyncFolder => synced.clone_from(&names),
            Done::Rename { from, to, exchange, identity } => {
                nodes[names[from]].identity = Some(*identity);
                let aside = Path::new("aside");
                if *exchange {
                    moved(&mut names, to, aside);
                } else {
                    names.remove(to);
                }
                moved(&mut names, from, to);
                moved(&mut names, aside, from);
            }
            Done::Remove(path) => {
                names.remove(path);
            }
        }
    }
    // What gets its name after the cut is known too: a progress names it before.
    let names = if loss == Loss::All { synced } else { names };
    for (name, &node) in &names {
        let (path, node) = (folder.join(name), &nodes[node]);
        if node.folder {
            fs::create_dir_all(path).unwrap();
        } else {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, node.bytes(loss)).unwrap();
        }
    }
    renumber(&nodes, &names, folder);
}

/// A progress names what takes the target's place by device and number, which are others here.
fn renumber(nodes: &[Node], names: &Names, folder: &Path) {
    let text = |(device, file): (u64, u64)| format!("\"device\":{device},\"file\":{file}");
    for name in names.keys().filter(|name| name.ends_with("progress")) {
        let path = folder.join(name);
        let mut said = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
        let mut known = false;
        for (name, &node) in names {
            let facts = folder.join(name).symlink_metadata().unwrap();
            if let Some(identity) = nodes[node].identity.filter(|&identity| said.contains(&text(identity))) {
                known = true;
                said = said.replace(&text(identity), &text((facts.dev(), facts.ino())));
            }
        }
        // A number of the recorded run may be that of something else here.
        if !known {
            said = said.replace("\"device\":", "\"device\":9");
        }
        fs::write(path, said).unwrap();
    }
}
