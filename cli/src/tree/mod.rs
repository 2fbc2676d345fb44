//! `orthant tree`: what is asked of trees in files, one file per subcommand.

mod build;
mod cells;
mod convert;
mod diff;
mod info;
mod listed;
mod lod;
mod measured;
mod memory;
pub(crate) mod numbers;
mod open;
mod print;
mod sample;
mod span;
mod stats;
mod to;
mod validate;
mod view;

use clap::Subcommand;

use crate::error::Error;
use crate::remote;
use crate::voice::Voice;

/// The tree commands.
#[derive(Debug, Subcommand)]
pub(crate) enum TreeCommand {
    /// Make a tree of an array in a file
    #[command(override_usage = "orthant tree build [OPTIONS] <FILE> -o <X.tree.zarr>")]
    Build(Box<build::BuildOptions>),
    /// What a tree is: cells, scheme, regions, where it came from
    Info(info::InfoOptions),
    /// The terminal regions along the curve, one per line
    Print(print::PrintOptions),
    /// Check every byte of a tree, and with --against that its cells are those of an array or of another tree
    Validate(validate::ValidateOptions),
    /// The values of cells or points, one per line
    Sample(sample::SampleOptions),
    /// A box of cells as an array
    Box(cells::BoxOptions),
    /// A slice as an array or a tree of fewer axes, or as a picture
    Slice(cells::SliceOptions),
    /// A level of detail: one value for each region of a level, as a small array or as a tree
    Lod(lod::LodOptions),
    /// Of each label its size and place; of measured values range, mean and histogram
    Stats(stats::StatsOptions),
    /// A page to look at a tree: its slices, and its regions as boxes to be turned by hand
    View(view::ViewOptions),
    /// Write a tree as what other programs read, or as a tree of the other kind
    Convert(convert::ConvertOptions),
    /// Where two trees differ, region by region
    Diff(diff::DiffOptions),
}

/// Runs a tree command.
pub(crate) fn tree(command: TreeCommand, voice: Voice) -> Result<(), Error> {
    let done = match command {
        TreeCommand::Build(args) => build::build(*args, voice),
        TreeCommand::Info(args) => info::info(args),
        TreeCommand::Print(args) => print::print(args),
        TreeCommand::Validate(args) => validate::validate(args, voice),
        TreeCommand::Sample(args) => sample::sample(args, voice),
        TreeCommand::Box(args) => cells::a_box(args, voice),
        TreeCommand::Slice(args) => cells::slice(args, voice),
        TreeCommand::Lod(args) => lod::lod(args, voice),
        TreeCommand::Stats(args) => stats::stats(args, voice),
        TreeCommand::View(args) => view::view(args, voice),
        TreeCommand::Convert(args) => convert::convert(args, voice),
        TreeCommand::Diff(args) => diff::diff(args, voice),
    };
    remote::tell(voice);
    done
}
