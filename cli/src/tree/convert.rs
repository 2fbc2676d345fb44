//! `orthant tree convert`: trees as what other programs read.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use clap::Args;

use orthant::disk::{Folder, PartFolder, StagingError};
use orthant::tree::{Parts, TreeFile, TreeJob, TreeSource};
use orthant_formats::export::{self, ExportFormat};

use super::listed::{fits, refuse};
use super::memory::MemoryOptions;
use super::open::open;
use super::to::ToOptions;
use crate::error::Error;
use crate::interrupt::undisturbed;
use crate::output::tree::is_tree;
use crate::output::{expect_extension, expect_folder, has_extension, is_stdout};
use crate::system::bare;
use crate::voice::Voice;

/// Options of `tree convert`.
#[derive(Debug, Args)]
pub(crate) struct ConvertOptions {
    /// The tree: a folder X.tree.zarr, an X.tree.zarr.zip, or the URL of either
    tree: PathBuf,
    /// What to write, by its extension: .npy; .vti, .htg, .vtu and .vtkhdf for VTK and ParaView; .nvdb for renderers; .zarr (dense, a folder), .tree.zarr, .tree.zarr.zip; - is .npy on stdout
    #[arg(value_name = "TO")]
    output: PathBuf,
    /// Overwrite an existing output
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    memory: MemoryOptions,
    #[arg(skip)]
    voice: Option<Voice>,
}

/// Writes a tree in another format.
pub(super) fn convert(args: ConvertOptions, voice: Voice) -> Result<(), Error> {
    if !is_tree(&args.output) && !is_stdout(&args.output) {
        let formats = ExportFormat::ALL.iter().map(|format| format.name());
        let allowed: Vec<_> = formats.chain(["zarr", "tree.zarr", "tree.zarr.zip"]).collect();
        expect_extension("TO", &args.output, &allowed)?;
    }
    open(&args.tree.clone(), ConvertOptions { voice: Some(voice), ..args })
}

impl TreeJob for ConvertOptions {
    type Output = Result<(), Error>;

    fn run<const K: usize>(self, tree: TreeFile<K>) -> Self::Output {
        let tree = self.memory.within(tree)?;
        let Self { tree: of, output, force, memory, voice } = self;
        let to = ToOptions { output, force, memory, voice, of };
        to.is_no_input()?;
        let boxes = TreeSource(&tree);
        if is_tree(&to.output) {
            let mut writer = to.writer(&tree, tree.info())?;
            for part in 0..Parts::parts(&tree) {
                writer.write(&*tree.part(part)?)?;
            }
            writer.place()?;
        } else if has_extension(&to.output, "zarr") {
            fits(&tree, &tree.plan().domain().size())?;
            folder(&to.output, to.force, &|folder| export::zarr::write_into(&boxes, folder))?;
        } else {
            let format = format(&to.output).unwrap_or(ExportFormat::Npy);
            if format == ExportFormat::Vtu {
                refuse(&tree, "bricks, which .vtu is made of", "`orthant tree convert` writes .vti and .htg of it")?;
            }
            fits(&tree, &tree.plan().domain().size())?;
            format.check(tree.plan().domain().size(), tree.kind())?;
            return to.write(to.stage(&[format.name()])?, &mut |out| format.write(&tree, out));
        }
        to.wrote();
        Ok(())
    }
}

/// The format of one file that a path names.
fn format(path: &Path) -> Option<ExportFormat> {
    ExportFormat::ALL.iter().copied().find(|format| has_extension(path, format.name()))
}

/// Makes a folder as a whole, or none.
fn folder(path: &Path, force: bool, write: &dyn Fn(&Folder) -> Result<(), export::ExportError>) -> Result<(), Error> {
    let failed = |error| match error {
        StagingError::Exists { path } => Error::Exists { path },
        StagingError::Foreign { path } => {
            let reason = format!("{}: is no folder that this command makes, and is not replaced", path.display());
            Error::Input(reason).about(&["force"])
        }
        // Its errors would name a folder that nobody asked for.
        StagingError::Io { error, .. } => Error::File { path: path.to_owned(), source: bare(error) },
        StagingError::Busy { path } | StagingError::Untrusted { path, .. } => {
            Error::File { path, source: ErrorKind::AlreadyExists.into() }
        }
    };
    expect_folder(path)?;
    let mut part = PartFolder::new(path, force, &is_dense).map_err(failed)?;
    undisturbed().temporary(part.path());
    part.put("{\"orthant\":\"tree convert\"}\n").map_err(failed)?;
    write(&part.tree().map_err(failed)?)?;
    let _ending = undisturbed();
    part.place(false, force, &is_dense).map_err(failed)
}

/// True if a folder is a group of arrays, and there is nothing else in it.
fn is_dense(folder: &Path) -> bool {
    let array = |name: &OsString| name == "zarr.json" || folder.join(name).join("zarr.json").is_file();
    let names = || Folder::open(folder).and_then(|folder| folder.names());
    folder.join("value").is_dir() && names().is_ok_and(|names| names.iter().all(array))
}
