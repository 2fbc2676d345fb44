//! `orthant tree lod`: levels of detail.

use std::path::PathBuf;

use clap::Args;

use orthant::tree::{Parts, Representative, TreeFile, TreeJob};
use orthant_formats::export::{ExportError, npy};

use super::listed::refuse;
use super::open::open;
use super::to::ToOptions;
use crate::error::Error;
use crate::options::one_of;
use crate::output::tree::is_tree;
use crate::voice::Voice;

/// Options of `tree lod`.
#[derive(Debug, Args)]
pub(crate) struct LodOptions {
    /// The tree: a folder X.tree.zarr, an X.tree.zarr.zip, or the URL of either
    tree: PathBuf,
    /// The level, whose regions become cells
    #[arg(long)]
    level: u32,
    /// What a region shows of its cells: the value that most have, the first, the least, the greatest
    #[arg(long, value_parser = one_of!(Representative), default_value = "mode")]
    by: Representative,
    #[command(flatten)]
    to: ToOptions,
}

/// Writes a level of detail.
pub(super) fn lod(args: LodOptions, voice: Voice) -> Result<(), Error> {
    let to = ToOptions { voice: Some(voice), of: args.tree.clone(), ..args.to };
    open(&args.tree.clone(), LodOptions { to, ..args })
}

impl TreeJob for LodOptions {
    type Output = Result<(), Error>;

    fn run<const K: usize>(self, tree: TreeFile<K>) -> Self::Output {
        let tree = self.to.memory.within(tree)?;
        refuse(&tree, "levels of detail", "`orthant tree box` and `orthant tree slice` write cells of it")?;
        let parts: &dyn Parts<K> = &tree;
        if is_tree(&self.to.output) {
            self.to.is_free()?;
            let cut = parts.cut(self.level, self.by)?;
            return self.to.save(&cut, tree.info());
        }
        let staged = self.to.stage(&["npy", "tree.zarr", "tree.zarr.zip"])?;
        let cut = parts.cut(self.level, self.by).map_err(|error| Error::from(error).about(&["level"]))?;
        let array = cut.lattice(self.level, self.to.memory.limit())?;
        self.to.write(staged, &mut |out| {
            npy::header(&array.size(), array.cells().kind(), out).map_err(ExportError::Write)?;
            npy::cells(&array, out)
        })
    }
}
