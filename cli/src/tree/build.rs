//! `orthant tree build`: a tree of an array in a file, from its cells up.

use std::path::PathBuf;

use clap::Args;
use orthant::Keep;

use super::memory::MemoryOptions;
use crate::error::Error;
use crate::options::{DividedOptions, InputOptions, OutputOptions, ReadingOptions, ThreadsOptions, formats};
use crate::output::has_extension;
use crate::output::tree::is_tree;
use crate::run::{ArrayOptions, subdivide, threads};
use crate::stdout;
use crate::voice::Voice;

/// What the first output is.
const TREE: &str =
    "The tree: a folder X.tree.zarr, or a file X.tree.zarr.zip; may be repeated for a .png or .npy beside it";

/// Options of `tree build`: shared ones as they are read here. What makes values sparse is in the short help.
#[derive(Debug, Args)]
#[command(
    mut_arg("output", |option| option.help(TREE).long_help(TREE)),
    mut_arg("dim", |option| option.hide_short_help(true)),
    mut_arg("domain", |option| option.hide_short_help(true)),
    mut_arg("tolerance", |option| option.hide_short_help(false)),
    mut_arg("threshold", |option| option.hide_short_help(false)),
    mut_arg("iso", |option| option.hide_short_help(false))
)]
pub(crate) struct BuildOptions {
    /// The array: a file or a folder whose format is known, or cells alone
    #[arg(long_help = formats())]
    file: PathBuf,
    #[command(flatten)]
    divided: DividedOptions,
    #[command(flatten)]
    output: OutputOptions,
    #[command(flatten)]
    threads: ThreadsOptions,
    #[command(flatten)]
    memory: MemoryOptions,
    #[command(flatten)]
    reading: ReadingOptions,
}

/// Builds a tree.
pub(super) fn build(args: BuildOptions, voice: Voice) -> Result<(), Error> {
    if !voice.quiet {
        stdout::is_open()?;
    }
    let BuildOptions { file, divided, output, threads: threads_of, memory, reading } = args;
    if !output.output.iter().any(|path| is_tree(path)) {
        let reason = match &output.output[..] {
            [] => format!("--output: name the tree, as in `orthant tree build {} -o X.tree.zarr`", file.display()),
            [path, ..] => {
                let picture = ["png", "npy"].iter().any(|ending| has_extension(path, ending));
                let (path, file) = (path.display(), file.display());
                match picture {
                    true => format!(
                        "--output {path}: this is no tree; name one, too, as in `-o X.tree.zarr`, or type `orthant run array --input {file} -o {path}`"
                    ),
                    false => format!(
                        "--output {path}: the name of a tree ends in .tree.zarr or .tree.zarr.zip, as in `-o {path}.tree.zarr`"
                    ),
                }
            }
        };
        return Err(Error::Input(reason).about(&["output"]));
    }
    let input = InputOptions::of(&file, reading);
    let (threads, mem_limit) = (threads(&threads_of.0), memory.given());
    subdivide(ArrayOptions { input, divided: divided.0, keep: Keep::Regions, threads, mem_limit, output }, voice)
}
