//! `.tree.zarr`, `.tree.zarr.zip`: the tree itself, by the library's writer.

use std::path::Path;
use std::sync::Arc;

use orthant::tree::{TreeInfo, TreeTarget, TreeWriter};
use orthant::{CellType, Control, Plan};

use crate::error::Error;
use crate::interrupt::undisturbed;
use crate::remote::refuse_output;
use crate::voice::Voice;

/// True if a path is that of a tree.
pub fn is_tree(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    name.ends_with(".tree.zarr") || name.ends_with(".tree.zarr.zip")
}

/// What a tree is made of.
pub struct MadeOf {
    /// What is known of it beside its regions.
    pub info: TreeInfo,
    /// What tells it from all other data, if a tree of it can be gone on with.
    pub exactly: Option<String>,
}

/// Opens a tree to be written, or to be gone on with, and says so.
///
/// # Errors
/// As [`TreeTarget::open`].
pub fn open<const K: usize>(
    path: &Path,
    force: bool,
    (plan, kind): (&Plan<K>, CellType),
    made_of: MadeOf,
    (control, voice): (&Arc<Control>, Voice),
) -> Result<TreeWriter<K>, Error> {
    refuse_output(path)?;
    let target = TreeTarget::new(path).overwrite(force);
    let resumable = made_of.exactly.is_some();
    let target = made_of.exactly.into_iter().fold(target, TreeTarget::made_of);
    let writer = target.open(plan, kind, &made_of.info)?.control(control.clone());
    if !resumable {
        undisturbed().temporary(writer.staged());
    }
    if writer.done() > 0 {
        let (path, done, shards) = (path.display(), writer.done(), writer.shards());
        voice.say(format_args!("orthant: {path}: {done} of {shards} shards are there, and are gone on with"));
    }
    Ok(writer)
}

/// Says what an interrupted run left of a tree, and how the rest is made.
pub fn left<const K: usize>(writer: &TreeWriter<K>, path: &Path, error: &Error, voice: Voice) {
    if error.signal().is_some() && writer.done() > 0 {
        let (path, done, shards) = (path.display(), writer.done(), writer.shards());
        voice.say(format_args!(
            "orthant: {path}: {done} of {shards} shards are finished. Run the same command to make the others"
        ));
    }
}

/// Gives a tree its name, and says so.
///
/// # Errors
/// As [`TreeWriter::finish`].
pub fn finish<const K: usize>(writer: TreeWriter<K>, path: &Path, voice: Voice) -> Result<(), Error> {
    place(writer)?;
    voice.say(format_args!("orthant: wrote {}", path.display()));
    Ok(())
}

/// Gives a tree its name. No signal ends the program in the midst of that.
///
/// # Errors
/// As [`TreeWriter::finish`].
pub fn place<const K: usize>(writer: TreeWriter<K>) -> Result<(), Error> {
    let sealed = writer.seal()?;
    let _ending = undisturbed();
    Ok(sealed.place()?)
}
