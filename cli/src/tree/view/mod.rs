//! `orthant tree view`: a tree as one page that needs nothing else, to be looked at and turned by hand.
//!
//! The page is made of the files in `assets/view`, and holds the tree's rows as packed arrays. What does not fit is left out
//! by level of detail, and said.

mod arrays;
mod detail;
mod page;

use std::path::PathBuf;

use clap::Args;

use orthant::Bytes;
use orthant::tree::{Representative, TreeFile, TreeJob};
use orthant_formats::export::ExportError;

use super::listed::refuse;
use super::memory::MemoryOptions;
use super::open::open;
use super::to::ToOptions;
use crate::error::Error;
use crate::options::{bytes, one_of};
use crate::voice::Voice;
use detail::Detail;
use page::TreePage;

/// Options of `tree view`.
#[derive(Debug, Args)]
pub(crate) struct ViewOptions {
    /// The tree: a folder X.tree.zarr, an X.tree.zarr.zip, or the URL of either
    tree: PathBuf,
    /// The page: .html, or - for stdout
    #[arg(short, long, value_name = "PATH.html")]
    output: PathBuf,
    /// The most bytes of the page. What does not fit is shown by a level that does: bytes, or 512K, 20M
    #[arg(long, value_parser = bytes, value_name = "BYTES", default_value = "5000000")]
    max_size: u64,
    /// What a region shows of its cells where they do not fit: the value that most have, the first, the least, the greatest
    #[arg(long, value_parser = one_of!(Representative), default_value = "mode")]
    by: Representative,
    /// What the page is called [default: what the tree was made of]
    #[arg(long)]
    title: Option<String>,
    /// Overwrite an existing file
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    memory: MemoryOptions,
    #[arg(skip)]
    voice: Option<Voice>,
}

/// Writes the page.
pub(super) fn view(args: ViewOptions, voice: Voice) -> Result<(), Error> {
    open(&args.tree.clone(), ViewOptions { voice: Some(voice), ..args })
}

impl TreeJob for ViewOptions {
    type Output = Result<(), Error>;

    fn run<const K: usize>(self, tree: TreeFile<K>) -> Self::Output {
        let tree = self.memory.within(tree)?;
        refuse(
            &tree,
            "bricks, which a page shows",
            "`orthant tree slice` draws a picture, and `orthant tree stats` counts",
        )?;
        let Self { tree: of, output, max_size, by, title, force, memory, voice } = self;
        let to = ToOptions { output, force, memory, voice, of };
        let staged = to.stage(&["html"])?;
        let page = TreePage::of(&tree, title);
        let bare = page.html(None)?.len() as u64;
        let Some(room) = max_size.checked_sub(bare).filter(|&room| room > 0) else {
            return Err(Error::Input(format!("--max-size {max_size}: a page without any region has {bare} bytes")));
        };
        let html = |detail: &Detail| {
            let html = page.html(Some((detail, detail.left_out(&tree))))?;
            Ok((html.len() as u64 <= max_size).then_some(html))
        };
        let (detail, html) = detail::fit(&tree, by, room, &html)?.ok_or_else(|| {
            let most = Bytes(max_size.into());
            Error::Input(format!("--max-size {max_size}: not even the regions of level 0 fit into a page of {most}"))
        })?;
        if let (Some(left_out), Some(voice)) = (detail.left_out(&tree), voice) {
            voice.say(format_args!("orthant: {left_out}; a larger --max-size shows more"));
        }
        to.write(staged, &mut |out| out.write_all(html.as_bytes()).map_err(ExportError::Write))
    }
}
