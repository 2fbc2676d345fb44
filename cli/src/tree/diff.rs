//! `orthant tree diff`: where two trees differ.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;

use orthant::Control;
use orthant::tree::{Parts, TreeFile, TreeJob, TreeSource};

use super::memory::MemoryOptions;
use super::open::{open, store};
use super::validate::{SHOWN, about, tell};
use crate::error::Error;
use crate::interrupt::cancels;
use crate::progress::Progress;
use crate::voice::Voice;

/// Options of `tree diff`.
#[derive(Debug, Args)]
pub(crate) struct DiffOptions {
    /// A tree
    tree: PathBuf,
    /// Another one, of as many cells; its scheme, its curve and the type of its file may be others
    other: PathBuf,
    /// Regions that are shown
    #[arg(long, value_name = "REGIONS", default_value_t = SHOWN)]
    most: usize,
    #[command(flatten)]
    memory: MemoryOptions,
    #[arg(skip)]
    voice: Option<Voice>,
}

/// Compares two trees; exit code 3 if they differ.
pub(super) fn diff(args: DiffOptions, voice: Voice) -> Result<(), Error> {
    open(&args.tree.clone(), DiffOptions { voice: Some(voice), ..args })
}

impl TreeJob for DiffOptions {
    type Output = Result<(), Error>;

    fn run<const K: usize>(self, tree: TreeFile<K>) -> Self::Output {
        let tree = self.memory.within(tree)?;
        let voice = self.voice.expect("it was given");
        let other = self.memory.within(store(&self.other)?.tree::<K>()?)?;
        let [one, another] = [tree.info().predicate, other.info().predicate];
        if one != another {
            let (path, other) = (tree.path().display(), other.path().display());
            voice.say(format_args!("orthant: {path} is {one}, {other} is {another}"));
        }
        let control = Arc::new(Control::default());
        cancels(&control);
        let parts: &dyn Parts<K> = &tree;
        let progress = Progress::start(&control, tree.plan().domain().cells(), 1, voice);
        let differences = parts.compare(&TreeSource(&other), self.most, &control);
        drop(progress);
        let differences = differences.map_err(|error| about(&self.other, error))?;
        tell(&tree, &differences, &format!("{} and {}", tree.path().display(), other.path().display()), voice)
    }
}
