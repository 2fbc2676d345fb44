//! `orthant tree build`: a tree of an array in a file, from its cells up, of points, or of a mesh.

use std::path::PathBuf;

use clap::Args;
use orthant::choice::number;
use orthant::field::DataValue;
use orthant::{Computed, Keep};
use orthant_formats::input::{MeshFormat, PointsFormat};

use super::memory::MemoryOptions;
use crate::error::Error;
use crate::options::{DividedOptions, InputOptions, OutputOptions, ReadingOptions, ThreadsOptions, formats, one_of};
use crate::output::has_extension;
use crate::output::tree::{is_tree, tree_name};
use crate::run::{ArrayOptions, building, list_tree, mesh_tree, points_tree, subdivide, threads};
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
    /// The array: a file or a folder whose format is known, or cells alone; or the file of a mesh or of points
    #[arg(long_help = formats())]
    file: PathBuf,
    #[command(flatten)]
    divided: DividedOptions,
    /// What a cell is worth: of a mesh 1 inside of it, 1 at its surface, or the distance from it, negative inside; of points 1 if it holds some, their number, or the min, max or mean of --attribute [default: inside, occupied]
    #[arg(long, value_parser = one_of!(DataValue), value_name = "VALUE", env = "ORTHANT_VALUE", hide_short_help = true)]
    value: Option<DataValue>,
    /// How far from a mesh --value distance is measured, in edges of cells; farther cells have that distance [default: 3]
    #[arg(long, value_parser = |text: &str| number(text, 1..=1000), value_name = "N", env = "ORTHANT_BAND", hide_short_help = true)]
    band: Option<u64>,
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
    let BuildOptions { file, divided, value, band, output, threads: threads_of, memory, reading } = args;
    let are_points = reading.points.takes(&file);
    let is_list = !are_points && reading.points.lists(&file);
    let is_mesh = !are_points && !is_list && MeshFormat::of(&file).is_some();
    let (threads, mem_limit) = (threads(&threads_of.0), memory.given());
    if is_list && value.is_none() && band.is_none() {
        let input = InputOptions::of(&file, reading);
        let args = ArrayOptions { input, divided: divided.0, keep: Keep::Regions, threads, mem_limit, output };
        if args.output.output.is_empty() {
            let mut computed = Computed::default();
            args.divided.apply(|name, text| computed.set(name, text))?;
            let reason = format!("--output: name the tree, as in `{}`", building(&args, &computed));
            return Err(Error::Input(reason).about(&["output"]));
        }
        return list_tree(args, voice);
    }
    if !output.output.iter().any(|path| is_tree(path)) {
        let reason = match &output.output[..] {
            [] => format!("--output: name the tree, as in `orthant tree build {} -o X.tree.zarr`", file.display()),
            [path, ..] => {
                let picture = ["png", "npy"].iter().any(|ending| has_extension(path, ending));
                let (tree, path, file, what) = (
                    tree_name(path),
                    path.display(),
                    file.display(),
                    if is_mesh {
                        "mesh"
                    } else if are_points {
                        "points"
                    } else {
                        "array"
                    },
                );
                match picture {
                    true => format!(
                        "--output {path}: this is no tree; name one, too, as in `-o X.tree.zarr`, or type `orthant run {what} --input {file} -o {path}`"
                    ),
                    false => format!(
                        "--output {path}: the name of a tree ends in .tree.zarr or .tree.zarr.zip, as in `-o {tree}`"
                    ),
                }
            }
        };
        return Err(Error::Input(reason).about(&["output"]));
    }
    let input = InputOptions::of(&file, reading);
    let args = ArrayOptions { input, divided: divided.0, keep: Keep::Regions, threads, mem_limit, output };
    if are_points && band.is_none() {
        return points_tree(args, value, voice);
    }
    if is_mesh {
        return mesh_tree(args, value, band, voice);
    }
    if let Some(band) = band {
        let reason = format!("--band {band}: of a mesh ({}) with --value distance; leave out", MeshFormat::endings());
        return Err(Error::Input(reason).about(&["band"]));
    }
    if let Some(value) = value {
        let reason = format!(
            "--value {value}: of a mesh ({}) or of points ({}); leave out for an array or a list of cells",
            MeshFormat::endings(),
            PointsFormat::endings()
        );
        return Err(Error::Input(reason));
    }
    subdivide(args, voice)
}
