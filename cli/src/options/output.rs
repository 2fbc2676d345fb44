//! The options of what a run leaves: pictures, arrays, trees and reports.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::BoolishValueParser;

use super::heading;
use crate::output::HeldAxes;
use crate::output::png::{Gradient, gradient};

/// Options of what a run leaves.
#[derive(Debug, Args)]
#[command(next_help_heading = heading::RESULTS)]
pub(crate) struct OutputOptions {
    /// Write the cells: .png, .npy or -, .tree.zarr
    ///
    /// May be repeated; the variable is a list with commas. A picture shows two axes, of k >= 3 a slice, with y upwards: its last row is index 0. An array has
    /// the shape (.., n_1, n_0), so its first row is index 0. With --keep regions an array is written piece by piece
    /// without being in memory; - is stdout. A tree is a folder, or a single file if the name ends in .tree.zarr.zip.
    /// Where only trees are written, a run of a field keeps regions unless --keep says otherwise.
    #[arg(short, long, value_name = "PATH", env = "ORTHANT_OUTPUT")]
    pub(crate) output: Vec<PathBuf>,
    /// Write the subdivision drawn over the field
    #[arg(long, value_name = "PATH.png", env = "ORTHANT_OVERLAY")]
    pub(crate) overlay: Option<PathBuf>,
    /// Hold an axis for pictures of k >= 3: z=48 and 2=48 are the cell 48, z=90mm and z=0.6 are places; may be repeated [default: the middle]
    #[arg(long, alias = "axis", value_name = "AXIS=INDEX", env = "ORTHANT_SLICE", hide_short_help = true)]
    pub(crate) slice: Vec<HeldAxes>,
    /// The colours of pictures [default: inferno, and greys for sets]
    #[arg(long, value_parser = gradient(), value_name = "NAME", env = "ORTHANT_PALETTE", hide_short_help = true)]
    pub(crate) palette: Option<Gradient>,
    /// Show every N-th cell of both axes in a picture [default: 1, every cell]
    #[arg(long, value_name = "N", env = "ORTHANT_SCALE", hide_short_help = true)]
    pub(crate) scale: Option<NonZeroU32>,
    /// Write the run report; - is stdout
    #[arg(long, value_name = "PATH.json", env = "ORTHANT_REPORT")]
    pub(crate) report: Option<PathBuf>,
    /// The run report on stdout instead of the table
    #[arg(
        long, value_parser = BoolishValueParser::new(), conflicts_with = "report", env = "ORTHANT_JSON",
        hide_short_help = true
    )]
    pub(crate) json: bool,
    /// Overwrite existing outputs
    #[arg(long, value_parser = BoolishValueParser::new(), env = "ORTHANT_FORCE")]
    pub(crate) force: bool,
}

impl OutputOptions {
    /// Where the report goes.
    pub(crate) fn report(&self) -> Option<&Path> {
        if self.json { Some(Path::new("-")) } else { self.report.as_deref() }
    }
}
