//! `orthant tree validate`: every byte of a tree, and its cells against an array.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;

use orthant::Control;
use orthant::tree::{
    Differences, Fault, Parts, Source, TreeError, TreeFile, TreeFileError, TreeJob, TreeSource, ZarrError,
};

use super::memory::MemoryOptions;
use super::numbers::short;
use super::open::{found, store};
use super::span;
use crate::error::Error;
use crate::input::{Input, wrong};
use crate::interrupt::cancels;
use crate::output::tree::is_tree;
use crate::progress::Progress;
use crate::remote::printable;
use crate::voice::{Voice, print};

/// Regions that are shown of those that differ.
pub(super) const SHOWN: usize = 10;

/// Options of `tree validate`.
#[derive(Debug, Args)]
pub(crate) struct ValidateOptions {
    /// The tree: a folder X.tree.zarr, an X.tree.zarr.zip, or the URL of either
    tree: PathBuf,
    /// Compare the cells with those of this array (.npy, .npz, .npz:NAME) or tree
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
    /// Read the files that a header of --against names outside of its own folder
    #[arg(long, requires = "against")]
    follow: bool,
    #[command(flatten)]
    memory: MemoryOptions,
    #[arg(skip)]
    voice: Option<Voice>,
}

/// Checks a tree; exit code 3 if it is damaged, or differs from what it is compared with.
pub(super) fn validate(args: ValidateOptions, voice: Voice) -> Result<(), Error> {
    let store = found(&args.tree)?.map_err(damage)?;
    store.dispatch(ValidateOptions { voice: Some(voice), ..args }).map_err(damage)?
}

/// What is wrong with the tree that is checked: bytes that are not a tree's are what the check looks for.
fn damage(error: TreeError) -> Error {
    match error {
        TreeError::File(
            TreeFileError::Digest { .. }
            | TreeFileError::Header { .. }
            | TreeFileError::Row { .. }
            | TreeFileError::Shard { .. },
        ) => Error::Difference(error.to_string()),
        TreeError::File(TreeFileError::Array(ZarrError { ref fault, .. }))
            if !matches!(fault, Fault::Io(_) | Fault::Unread { .. } | Fault::NoStore | Fault::Memory { .. }) =>
        {
            Error::Difference(error.to_string())
        }
        error => error.into(),
    }
}

impl TreeJob for ValidateOptions {
    type Output = Result<(), Error>;

    fn run<const K: usize>(self, tree: TreeFile<K>) -> Self::Output {
        let tree = self.memory.within(tree)?;
        let parts: &dyn Parts<K> = &tree;
        let voice = self.voice.expect("it was given");
        let cells = tree.plan().domain().cells();
        tree.validate().map_err(damage)?;
        if !voice.quiet {
            print(format_args!("{} regions tile {cells} cells, in order; checksums right\n", tree.len()))?;
        }
        let Some(path) = &self.against else { return Ok(()) };
        let control = Arc::new(Control::default());
        cancels(&control);
        let progress = Progress::start(&control, cells, 1, voice);
        let predicate = tree.info().predicate;
        let nodata = tree.info().nodata;
        let over = |source: &dyn Source<K>| {
            let mapped = predicate.over(source).map_err(|error| about(path, orthant::Error::from(error).into()))?;
            Ok::<_, Error>(parts.compare_within(&predicate, nodata, &mapped, SHOWN, &control))
        };
        let differences = match is_tree(&printable(path)) {
            true => {
                let other = self.memory.within(store(path)?.tree::<K>()?)?;
                let source = TreeSource(&other);
                match other.info().predicate == predicate {
                    true => parts.compare_within(&predicate, nodata, &source, SHOWN, &control),
                    false => over(&source)?,
                }
            }
            false => {
                let input = Input::named(path, self.follow, voice)?;
                let source = input.file.source::<K>().map_err(wrong)?;
                over(&source)?
            }
        };
        drop(progress);
        let differences = differences.map_err(|error| about(path, error))?;
        tell(&tree, &differences, &format!("{} and {}", tree.path().display(), printable(path).display()), voice)
    }
}

/// What keeps a tree from being compared with what lies at a path.
pub(super) fn about(path: &Path, error: TreeError) -> Error {
    match error {
        TreeError::Sizes { .. } | TreeError::CellType { .. } => {
            Error::Input(format!("{}: {error}", printable(path).display()))
        }
        error => error.into(),
    }
}

/// Says where two arrays differ.
///
/// # Errors
/// [`Error::Difference`] if they do.
pub(super) fn tell<const K: usize>(
    tree: &TreeFile<K>,
    found: &Differences<K>,
    names: &str,
    voice: Voice,
) -> Result<(), Error> {
    let kind = tree.kind();
    if !voice.quiet {
        let shown = found.regions.iter().map(|region| {
            let ([own, other], bounds) = (region.first.1.map(|word| kind.text(word)), span::text(&region.bounds));
            let cell = region.first.0.map(|index| index.to_string()).join(",");
            format!("{bounds}: {} cells differ, the first of them {cell}: {own} and {other}\n", region.cells)
        });
        let more = found.count - found.regions.len() as u64;
        let more = if more > 0 { format!("and {more} regions more\n") } else { String::new() };
        // Cells may have other values than the array, where somebody allowed it. Who reads "0 cells differ" thinks that none has.
        let within = match found.within {
            0 => String::new(),
            cells => {
                format!(
                    "{cells} cells have another value, as the predicate allows, by {} at most\n",
                    short(found.greatest)
                )
            }
        };
        print(shown.chain([more, within, format!("{} cells differ\n", found.cells)]).collect::<String>())?;
    }
    match found.cells {
        0 => Ok(()),
        cells => Err(Error::Difference(format!("{names}: {cells} cells differ"))),
    }
}
