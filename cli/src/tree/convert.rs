//! `orthant tree convert`: trees as what other programs read.

use std::path::{Path, PathBuf};

use clap::Args;

use orthant::export::{self, Boxes};
use orthant::tree::{Parts, TreeFile, TreeJob, TreeSource};

use super::open::open;
use super::to::ToOptions;
use crate::error::Error;
use crate::output::tree::is_tree;
use crate::output::{expect_extension, has_extension, is_stdout, same_file};
use crate::voice::Voice;

/// Options of `tree convert`.
#[derive(Debug, Args)]
pub(crate) struct ConvertOptions {
    /// The tree: a folder X.tree.zarr, or X.tree.zarr.zip
    tree: PathBuf,
    /// What to write, by its extension: .npy, .vti and .htg for VTK and ParaView, .zarr (dense, a folder), .tree.zarr, .tree.zarr.zip
    #[arg(value_name = "TO")]
    output: PathBuf,
    /// Overwrite an existing output
    #[arg(long)]
    force: bool,
    #[arg(skip)]
    voice: Option<Voice>,
}

/// Writes a tree in another format.
pub(super) fn convert(args: ConvertOptions, voice: Voice) -> Result<(), Error> {
    if !is_tree(&args.output) && !is_stdout(&args.output) {
        expect_extension("TO", &args.output, &["npy", "vti", "htg", "zarr", "tree.zarr", "tree.zarr.zip"])?;
    }
    if same_file(&args.tree, &args.output) {
        return Err(Error::Input(format!("{}: is read, and cannot be written too", args.output.display())));
    }
    open(&args.tree.clone(), ConvertOptions { voice: Some(voice), ..args })
}

impl TreeJob for ConvertOptions {
    type Output = Result<(), Error>;

    fn run<const K: usize>(self, tree: TreeFile<K>) -> Self::Output {
        let Self { output, force, voice, .. } = self;
        let to = ToOptions { output, force, voice };
        let boxes = TreeSource(&tree);
        if is_tree(&to.output) {
            let mut writer = to.writer(tree.plan(), tree.kind(), tree.info())?;
            for part in 0..Parts::parts(&tree) {
                writer.write(&*tree.part(part)?)?;
            }
            writer.finish()?;
        } else if has_extension(&to.output, "zarr") {
            folder(&to.output, to.force, &|folder| export::zarr::write(&boxes, folder))?;
        } else if has_extension(&to.output, "vti") {
            export::vti::check(boxes.domain().size())?;
            return to.write(to.stage(&["vti"])?, &mut |out| export::vti::write(&boxes, out));
        } else if has_extension(&to.output, "htg") {
            export::htg::check(boxes.domain().size())?;
            return to.write(to.stage(&["htg"])?, &mut |out| export::htg::write(&boxes, out));
        } else {
            return to.write(to.stage(&["npy"])?, &mut |out| export::npy::write(&boxes, out));
        }
        to.wrote();
        Ok(())
    }
}

/// Makes a folder as a whole, or none.
fn folder(path: &Path, force: bool, write: &dyn Fn(&Path) -> Result<(), export::ExportError>) -> Result<(), Error> {
    let failed = |source| Error::File { path: path.to_owned(), source };
    let there = path.symlink_metadata().is_ok();
    if there && !force {
        return Err(Error::Exists { path: path.to_owned() });
    }
    // What is replaced is what this command makes, and nothing that a wrong name points to.
    if there && !path.join("zarr.json").is_file() {
        let reason = format!("{}: is no folder of Zarr, and is not replaced", path.display());
        return Err(Error::Input(reason).about(&["force"]));
    }
    let beside = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let temporary = tempfile::Builder::new().prefix(".orthant-").tempdir_in(beside).map_err(failed)?;
    let made = temporary.path().join("made");
    write(&made)?;
    if there {
        std::fs::rename(path, temporary.path().join("replaced")).map_err(failed)?;
    }
    std::fs::rename(&made, path).map_err(failed)
}
