//! `orthant shard merge`: one tree of all pieces.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use orthant::tree::PieceFolder;
use orthant::{Control, with_dimensions};

use super::status::FoundPieces;
use crate::error::Error;
use crate::interrupt::cancels;
use crate::output::tree::{self, TreeOutput};
use crate::voice::Voice;

/// Options of `shard merge`.
#[derive(Debug, Args)]
pub(crate) struct MergeOptions {
    /// The folder that `orthant shard plan` made, all of whose pieces are finished
    folder: PathBuf,
    /// The tree: a folder X.tree.zarr, or a file X.tree.zarr.zip
    #[arg(short, long, value_name = "X.tree.zarr")]
    output: PathBuf,
    /// Overwrite an existing tree
    #[arg(long)]
    force: bool,
}

/// Puts pieces together. Every byte is checked while it is copied, and the pieces stay.
pub(super) fn merge(args: MergeOptions, voice: Voice) -> Result<(), Error> {
    let pieces = PieceFolder::open(&args.folder)?;
    FoundPieces::of(&pieces, 0..pieces.len(), false)?.complete(&pieces, false)?;
    let control = Arc::new(Control::default());
    cancels(&control);
    with_dimensions!(pieces.dimensions(), K => {
        let writer = TreeOutput::new(&args.output, args.force, &control, |target| {
            pieces.merge::<K>(&target.made_of(pieces.digest()), &control)
        })?;
        tree::finish(writer, &args.output, voice)
    }, else unreachable!("a plan has 1 to 8 dimensions"))
}
