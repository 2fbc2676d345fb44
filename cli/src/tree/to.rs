//! Where the answer of a tree goes.

use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;

use orthant::tree::{Parts, TreeInfo};
use orthant::{Control, Tree};
use orthant_formats::export::ExportError;

use super::memory::MemoryOptions;
use crate::error::Error;
use crate::interrupt::{cancels, undisturbed};
use crate::output::tree::TreeOutput;
use crate::output::{Staged, distinct, expect_extension, is_stdout};
use crate::voice::Voice;

/// Where cells go.
#[derive(Debug, Args)]
pub(super) struct ToOptions {
    /// The file: .npy, or - for that on stdout; of a slice .png, too; of a slice or a level a tree (.tree.zarr)
    #[arg(short, long, value_name = "PATH")]
    pub(super) output: PathBuf,
    /// Overwrite an existing file
    #[arg(long)]
    pub(super) force: bool,
    #[command(flatten)]
    pub(super) memory: MemoryOptions,
    #[arg(skip)]
    pub(super) voice: Option<Voice>,
    /// The tree that is read.
    #[arg(skip)]
    pub(super) of: PathBuf,
}

impl ToOptions {
    /// The file, before any work.
    pub(super) fn stage(&self, allowed: &[&str]) -> Result<Staged, Error> {
        if !is_stdout(&self.output) {
            expect_extension("--output", &self.output, allowed)?;
        }
        self.is_no_input()?;
        Staged::new(&self.output, self.force)
    }

    /// Refuses to write over the tree that is read, or into its folder.
    pub(super) fn is_no_input(&self) -> Result<(), Error> {
        distinct([&*self.output], std::slice::from_ref(&self.of))?;
        let tree = self.of.canonicalize().ok().filter(|tree| tree.is_dir());
        let folder =
            self.output.parent().filter(|_| !is_stdout(&self.output)).and_then(|folder| folder.canonicalize().ok());
        match tree.zip(folder) {
            Some((tree, folder)) if folder.starts_with(&tree) => {
                let (output, of) = (self.output.display(), self.of.display());
                Err(Error::Input(format!("{output}: lies in {of}, which is read")))
            }
            _ => Ok(()),
        }
    }

    /// Refuses to write over what is there, before any work.
    pub(super) fn is_free(&self) -> Result<(), Error> {
        self.is_no_input()?;
        match !self.force && self.output.symlink_metadata().is_ok() {
            true => Err(Error::Exists { path: self.output.clone() }),
            false => Ok(()),
        }
    }

    /// Writes it, and says so.
    pub(super) fn write(
        &self,
        staged: Staged,
        write: &mut dyn FnMut(&mut dyn Write) -> Result<(), ExportError>,
    ) -> Result<(), Error> {
        let control = Arc::new(Control::default());
        cancels(&control);
        let mut refused = None;
        let written = staged.finish(&control, |out| {
            write(out).map_err(|error| match error {
                ExportError::Write(error) => error,
                error => {
                    refused = Some(error);
                    ErrorKind::Other.into()
                }
            })
        });
        match (refused, written) {
            (Some(error @ ExportError::Memory { .. }), Err(failed)) if failed.signal().is_none() => {
                let reason = format!("{error}; .npy, .vti and .zarr are written piece by piece");
                let source = std::io::Error::new(ErrorKind::OutOfMemory, reason);
                return Err(Error::File { path: self.output.clone(), source });
            }
            (Some(error), Err(failed)) if failed.signal().is_none() => return Err(error.into()),
            (_, written) => written?,
        }
        self.wrote();
        Ok(())
    }

    /// Says what was written.
    pub(super) fn wrote(&self) {
        if let (false, Some(voice)) = (is_stdout(&self.output), self.voice) {
            voice.say(format_args!("orthant: wrote {}", self.output.display()));
        }
    }

    /// Opens it for a tree.
    pub(super) fn writer<const K: usize>(&self, parts: &dyn Parts<K>, info: &TreeInfo) -> Result<TreeOutput<K>, Error> {
        self.is_no_input()?;
        let control = Arc::new(Control::default());
        cancels(&control);
        let writer = TreeOutput::new(&self.output, self.force, &control, |target| {
            target.like(parts).open(parts.plan(), parts.kind(), info)
        })?;
        undisturbed().temporary(writer.staged());
        Ok(writer)
    }

    /// Saves a tree, and says so.
    pub(super) fn save<const K: usize>(&self, tree: &Tree<K>, info: &TreeInfo) -> Result<(), Error> {
        let mut writer = self.writer(tree, info)?;
        writer.write(tree)?;
        writer.place()?;
        self.wrote();
        Ok(())
    }
}
