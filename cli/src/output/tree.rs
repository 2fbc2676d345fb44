//! `.tree.zarr`, `.tree.zarr.zip`: the tree itself, by the library's writer. One for `s3://` is made here, and goes there when it is whole.

use std::fs::{DirEntry, Metadata};
use std::io;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use orthant::tree::{TreeError, TreeInfo, TreeTarget, TreeWriter};
use orthant::{Bytes, CellType, Control, Plan};
use tempfile::TempDir;

use super::folder::expect_folder;
use crate::error::Error;
use crate::interrupt::undisturbed;
use crate::remote::{Upload, refuse_output};
use crate::system::bare;
use crate::voice::{Voice, tell};

/// True if a path is that of a tree.
pub fn is_tree(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    name.ends_with(".tree.zarr") || name.ends_with(".tree.zarr.zip")
}

/// The name that a tree would have instead of a path that is none of a tree.
pub fn tree_name(path: &Path) -> String {
    let text = path.display().to_string();
    let lower = text.to_ascii_lowercase();
    let zip = if lower.ends_with(".zip") { ".zip" } else { "" };
    let mut end = text.len() - zip.len();
    for ending in [".zarr", ".zar", ".tree"] {
        if lower[..end].ends_with(ending) {
            end -= ending.len();
        }
    }
    format!("{}.tree.zarr{zip}", &text[..end])
}

/// What a tree is made of.
pub struct MadeOf {
    /// What is known of it beside its regions.
    pub info: TreeInfo,
    /// What tells it from all other data, if a tree of it can be gone on with.
    pub exactly: Option<String>,
}

/// A tree on its way.
#[derive(Debug)]
pub struct TreeOutput<const K: usize> {
    writer: TreeWriter<K>,
    control: Arc<Control>,
    upload: Option<(Upload, TempDir)>,
}

impl<const K: usize> Deref for TreeOutput<K> {
    type Target = TreeWriter<K>;

    fn deref(&self) -> &TreeWriter<K> {
        &self.writer
    }
}

impl<const K: usize> DerefMut for TreeOutput<K> {
    fn deref_mut(&mut self) -> &mut TreeWriter<K> {
        &mut self.writer
    }
}

impl<const K: usize> TreeOutput<K> {
    /// A tree for a path, or for `s3://`: then `make` makes it in a folder for temporary files.
    ///
    /// # Errors
    /// [`Error::Exists`] if there is one, and `force` is off; those of `make`, and what a server says.
    pub fn new(
        path: &Path,
        force: bool,
        control: &Arc<Control>,
        make: impl FnOnce(TreeTarget) -> Result<TreeWriter<K>, TreeError>,
    ) -> Result<Self, Error> {
        refuse_output(path)?;
        let control = control.clone();
        let Some(upload) = Upload::of(path, force)? else {
            expect_folder(path)?;
            let writer = make(TreeTarget::new(path).overwrite(force))?;
            return Ok(Self { writer: writer.control(control.clone()), control, upload: None });
        };
        let folder = tempfile::Builder::new().prefix("orthant-upload-").tempdir();
        let folder = folder.map_err(|error| Error::File { path: std::env::temp_dir(), source: bare(error) })?;
        undisturbed().temporary(folder.path().to_owned());
        let writer = make(TreeTarget::new(folder.path().join(upload.name())))?;
        Ok(Self { writer: writer.control(control.clone()), control, upload: Some((upload, folder)) })
    }

    /// Gives the tree up, and what is there of it.
    pub fn discard(self) {
        self.writer.discard();
    }

    /// Gives the tree its name. No signal ends the program in the midst of that.
    ///
    /// # Errors
    /// As [`TreeWriter::finish`]; what a server says.
    pub fn place(self) -> Result<(), Error> {
        let Self { writer, control, upload } = self;
        let sealed = writer.seal()?;
        {
            let _ending = undisturbed();
            sealed.place()?;
        }
        match upload {
            None => Ok(()),
            Some((upload, folder)) => send(&upload, folder, &control),
        }
    }
}

/// Sends a tree that is whole. If that fails, it stays here, so that nothing has to be computed again.
fn send(upload: &Upload, folder: TempDir, control: &Control) -> Result<(), Error> {
    let stage: PathBuf = folder.path().join(upload.name());
    let (here, there) = (stage.display(), upload.printable().display());
    let kept = format!("the whole tree is in {here}; `orthant tree convert {here} {there}` uploads it");
    {
        let mut ending = undisturbed();
        ending.keep(folder.path());
        ending.words(format!("interrupted while the tree was uploaded; {kept}"));
    }
    let sent = upload.send(&stage, control);
    undisturbed().words(String::new());
    sent.inspect_err(|_| {
        let _ = folder.keep();
        tell(format_args!("orthant: {kept}"));
    })
}

/// Opens the trees of a run, each with its path. Says how much of a tree is there already.
///
/// # Errors
/// As [`TreeOutput::new`].
pub fn open_all<const K: usize>(
    paths: &[PathBuf],
    force: bool,
    plan: &Plan<K>,
    kind: CellType,
    made_of: &dyn Fn() -> MadeOf,
    control: &Arc<Control>,
    voice: Voice,
) -> Result<Vec<(TreeOutput<K>, PathBuf)>, Error> {
    let one = |path: &PathBuf| Ok((open(path, force, plan, kind, made_of(), control, voice)?, path.clone()));
    paths.iter().map(one).collect()
}

fn open<const K: usize>(
    path: &Path,
    force: bool,
    plan: &Plan<K>,
    kind: CellType,
    made_of: MadeOf,
    control: &Arc<Control>,
    voice: Voice,
) -> Result<TreeOutput<K>, Error> {
    let resumable = made_of.exactly.is_some();
    let writer = TreeOutput::new(path, force, control, |target| {
        made_of.exactly.into_iter().fold(target, TreeTarget::made_of).open(plan, kind, &made_of.info)
    })?;
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
pub fn left<const K: usize>(writer: &TreeOutput<K>, path: &Path, error: &Error, voice: Voice) {
    if error.signal().is_some() && writer.done() > 0 && writer.upload.is_none() {
        let (path, done, shards) = (path.display(), writer.done(), writer.shards());
        voice.say(format_args!(
            "orthant: {path}: {done} of {shards} shards are finished. Run the same command to make the others"
        ));
    }
}

/// Gives a tree its name, and says so.
///
/// # Errors
/// As [`TreeOutput::place`].
pub fn finish<const K: usize>(writer: TreeOutput<K>, path: &Path, voice: Voice) -> Result<(), Error> {
    writer.place()?;
    // What was uploaded is not here.
    let bytes = bytes_of(path).map_or_else(|_| String::new(), |bytes| format!(", {}", Bytes(bytes.into())));
    voice.say(format_args!("orthant: wrote {}{bytes}", path.display()));
    Ok(())
}

/// The bytes of a file, or of all files in a folder; what others put there as links is not of it.
pub fn bytes_of(path: &Path) -> io::Result<u64> {
    fn of(path: &Path, facts: &Metadata) -> io::Result<u64> {
        if !facts.is_dir() {
            return Ok(if facts.is_file() { facts.len() } else { 0 });
        }
        let entry = |entry: io::Result<DirEntry>| entry.and_then(|entry| of(&entry.path(), &entry.metadata()?));
        path.read_dir()?.map(entry).sum()
    }
    of(path, &path.metadata()?)
}
