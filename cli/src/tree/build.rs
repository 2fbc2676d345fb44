//! `orthant tree build`: a tree of an array in a file, from its cells up.

use std::path::PathBuf;

use clap::Args;
use orthant::Keep;

use super::memory::MemoryOptions;
use crate::error::Error;
use crate::options::{DividedOptions, InputOptions, OutputOptions, ReadingOptions, ThreadsOptions};
use crate::output::tree::is_tree;
use crate::run::{ArrayOptions, subdivide, threads};
use crate::stdout;
use crate::voice::Voice;

/// Options of `tree build`.
#[derive(Debug, Args)]
pub(crate) struct BuildOptions {
    /// The array: .npy, .nii, .nrrd, .tif, .., or raw
    ///
    /// `orthant run array --help` lists the formats under --input.
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
                let (path, file) = (path.display(), file.display());
                format!(
                    "--output {path}: no tree; name a X.tree.zarr or X.tree.zarr.zip, beside which pictures and arrays may be written, or \
                     type `orthant run array --input {file} -o {path}`"
                )
            }
        };
        return Err(Error::Input(reason).about(&["output"]));
    }
    let input = InputOptions::of(&file, reading);
    let (threads, mem_limit) = (threads(&threads_of.0), memory.given());
    subdivide(ArrayOptions { input, divided: divided.0, keep: Keep::Regions, threads, mem_limit, output }, voice)
}
