//! The options of `orthant model`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use orthant::choice::number;
use orthant::field::FieldKind;
use orthant_lab::model::{Objective, Options, QueryCeil, Surface, TauPolicy, Wave};

use crate::options::{FormulaOptions, HowOptions, InputOptions, SoughtOptions, block, one_of, seconds, workload};

/// The commands of the cost model.
#[derive(Debug, Subcommand)]
pub(crate) enum ModelCommand {
    /// Work, time, tables and kernels of one scheme, or of every combination of lists such as -g 2,4,8
    Predict(Box<PredictOptions>),
    /// The best {g, r, B}, how flat the optimum is, and whether dividing pays at all
    Plan(Box<PlanOptions>),
    /// Fit the constants of the time model to measured runs, and keep them for this device
    Fit(FitOptions),
    /// Find the fastest {g, r, B} by measuring, in the order in which the model would take them
    Tune(Box<TuneOptions>),
    /// Draw curves of the model
    #[command(subcommand)]
    Plot(PlotCommand),
}

/// Options of `model predict`.
#[derive(Debug, Args)]
pub(crate) struct PredictOptions {
    /// Cells per axis: N, N1xN2x.., 2^12
    #[arg(short = 'n', long, value_delimiter = ',', value_parser = axes, default_value = "2^16", env = "ORTHANT_SIZE")]
    pub(crate) size: Vec<Axes>,
    /// Dimensions k [default: the axes of --size, else 2]
    #[arg(long, value_name = "K", env = "ORTHANT_DIM")]
    pub(crate) dim: Option<usize>,
    /// Initial split per axis
    #[arg(short, value_delimiter = ',', value_parser = axes, default_value = "8", value_name = "G", env = "ORTHANT_G")]
    pub(crate) g: Vec<Axes>,
    /// Recurrent split per axis
    #[arg(short, value_delimiter = ',', value_parser = axes, default_value = "2", value_name = "R", env = "ORTHANT_R")]
    pub(crate) r: Vec<Axes>,
    /// Stop side per axis in cells
    #[arg(short = 'B', value_delimiter = ',', value_parser = axes, default_value = "64", value_name = "B", env = "ORTHANT_B")]
    pub(crate) b: Vec<Axes>,
    /// The density that holds on every level
    #[arg(short = 'P', value_delimiter = ',', allow_negative_numbers = true, default_value = "0.7", value_name = "P")]
    pub(crate) p: Vec<f64>,
    /// Densities P_0,P_1,.. of the levels instead of -P; each scheme reads as many as it explores levels
    #[arg(long, value_delimiter = ',', allow_negative_numbers = true, value_name = "P_0,P_1,..", conflicts_with_all = ["p", "box_dim"])]
    pub(crate) profile: Option<Vec<f64>>,
    /// Box dimension d of the boundary instead of -P: P_0 = g^(d-k), P_i = r^(d-k) where all axes are split alike
    #[arg(long, value_delimiter = ',', allow_negative_numbers = true, value_name = "D", conflicts_with = "p")]
    pub(crate) box_dim: Option<Vec<f64>>,
    /// A, the work of computing a cell over that of writing it
    #[arg(
        short = 'A',
        value_delimiter = ',',
        allow_negative_numbers = true,
        default_value = "16",
        value_name = "A",
        env = "ORTHANT_A"
    )]
    pub(crate) a: Vec<f64>,
    /// Lambda: dividing a region costs lambda A
    #[arg(long, value_delimiter = ',', allow_negative_numbers = true, default_value = "100", env = "ORTHANT_LAMBDA")]
    pub(crate) lambda: Vec<f64>,
    /// Multiprocessors
    #[arg(long, value_delimiter = ',', value_parser = whole, default_value = "128", env = "ORTHANT_Q")]
    pub(crate) q: Vec<u64>,
    /// Cores of a multiprocessor
    #[arg(long, value_delimiter = ',', value_parser = whole, default_value = "64", env = "ORTHANT_C")]
    pub(crate) c: Vec<u64>,
    /// Variants of the equations
    #[command(flatten)]
    pub(crate) variants: Variants,
    /// What fewer than one level means: one flat pass, the literal exponent, or an error
    #[arg(long, value_parser = one_of!(TauPolicy), default_value = "clamp", env = "ORTHANT_TAU_POLICY")]
    pub(crate) tau_policy: TauPolicy,
    /// One JSON line per configuration instead of the table
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `model plan`.
#[derive(Debug, Args)]
pub(crate) struct PlanOptions {
    /// Cells per axis: N, N1xN2x.., 2^12
    #[arg(short = 'n', long, value_delimiter = ',', value_parser = axes, default_value = "2^16", env = "ORTHANT_SIZE")]
    pub(crate) size: Vec<Axes>,
    /// Dimensions k [default: the axes of --size, else 2]
    #[arg(long, value_name = "K", env = "ORTHANT_DIM")]
    pub(crate) dim: Option<usize>,
    /// What is to be least
    #[arg(long, value_delimiter = ',', value_parser = one_of!(Objective), default_value = "work,sbr,mbr", env = "ORTHANT_OBJECTIVE")]
    pub(crate) objective: Vec<Objective>,
    /// Where g, r and B are sought
    #[command(flatten)]
    pub(crate) space: SearchSpace,
    /// Density and costs
    #[command(flatten)]
    pub(crate) question: Question,
    /// One JSON line per search instead of the table
    #[arg(long)]
    pub(crate) json: bool,
}

/// What `model plot` draws.
#[derive(Debug, Subcommand)]
pub(crate) enum PlotCommand {
    /// The work reduction and the best {g, r, B} against n, and the work reduction over P: the ASK paper's Figure 3, from its equations
    Fig3(Picture),
    /// The speedups of SBR and MBR against n, g, r and B for several lambda, q and c: the ASK paper's Figure 4, from its equations
    Fig4(SpeedupOptions),
    /// The cost over pairs of g, r and B
    Landscape(Box<LandscapeOptions>),
}

/// Options of `model plot fig4`.
#[derive(Debug, Args)]
pub(crate) struct SpeedupOptions {
    #[command(flatten)]
    pub(crate) picture: Picture,
    /// Rows of `bench`: the best speedup over exhaustive that they have is drawn beside the equations
    #[arg(long, value_name = "ROWS.jsonl")]
    pub(crate) measured: Option<PathBuf>,
}

/// Where a picture goes.
#[derive(Debug, Args)]
pub(crate) struct Picture {
    /// The picture
    #[arg(short, long, value_name = "PATH.svg")]
    pub(crate) output: PathBuf,
    /// Overwrite an existing output
    #[arg(long)]
    pub(crate) force: bool,
}

/// Options of `model plot landscape`.
#[derive(Debug, Args)]
pub(crate) struct LandscapeOptions {
    /// Where the picture goes
    #[command(flatten)]
    pub(crate) picture: Picture,
    /// Cells per axis: N, N1xN2x.., 2^12
    #[arg(short = 'n', long, value_parser = axes, default_value = "2^16", env = "ORTHANT_SIZE")]
    pub(crate) size: Axes,
    /// Dimensions k [default: the axes of --size, else 2]
    #[arg(long, value_name = "K", env = "ORTHANT_DIM")]
    pub(crate) dim: Option<usize>,
    /// The cost that is shown
    #[arg(long, value_parser = one_of!(Objective), default_value = "sbr", env = "ORTHANT_OBJECTIVE")]
    pub(crate) objective: Objective,
    /// Where g, r and B are taken from
    #[command(flatten)]
    pub(crate) space: SearchSpace,
    /// Density and costs
    #[command(flatten)]
    pub(crate) question: Question,
}

/// The schemes that a search tries.
#[derive(Debug, Args)]
pub(crate) struct SearchSpace {
    /// Initial splits to try; one number pins it
    #[arg(short, value_delimiter = ',', value_parser = whole, default_value = POWERS, value_name = "G")]
    pub(crate) g: Vec<u64>,
    /// Recurrent splits to try; one number pins it
    #[arg(short, value_delimiter = ',', value_parser = whole, default_value = POWERS, value_name = "R")]
    pub(crate) r: Vec<u64>,
    /// Stop sides to try; one number pins it
    #[arg(short = 'B', value_delimiter = ',', value_parser = whole, default_value = POWERS, value_name = "B")]
    pub(crate) b: Vec<u64>,
}

/// The paper's search space.
const POWERS: &str = "2,4,8,16,32,64,128,256,512,1024";

/// Density, costs and machine of a search.
#[derive(Debug, Args)]
pub(crate) struct Question {
    /// A density that is the same on every level, whatever g and r
    #[arg(short = 'P', allow_negative_numbers = true, value_name = "P")]
    pub(crate) p: Option<f64>,
    /// Box dimension d of the boundary: P_0 = g^(d-k), P_i = r^(d-k) [default: the d that makes P = 0.7 at r = 2]
    #[arg(long, allow_negative_numbers = true, value_name = "D", conflicts_with = "p")]
    pub(crate) box_dim: Option<f64>,
    /// A, the work of computing a cell over that of writing it
    #[arg(short = 'A', allow_negative_numbers = true, default_value_t = 16.0, value_name = "A", env = "ORTHANT_A")]
    pub(crate) a: f64,
    /// Lambda: dividing a region costs lambda A
    #[arg(long, allow_negative_numbers = true, default_value_t = 100.0, env = "ORTHANT_LAMBDA")]
    pub(crate) lambda: f64,
    /// Multiprocessors
    #[arg(long, value_parser = whole, default_value = "128", env = "ORTHANT_Q")]
    pub(crate) q: u64,
    /// Cores of a multiprocessor
    #[arg(long, value_parser = whole, default_value = "64", env = "ORTHANT_C")]
    pub(crate) c: u64,
    /// Variants of the equations
    #[command(flatten)]
    pub(crate) variants: Variants,
}

/// Variants of the equations.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Variants {
    /// Cells of a border: 2k faces, or each cell once
    #[arg(long, value_parser = one_of!(Surface), default_value = "faces", env = "ORTHANT_SURFACE")]
    pub(crate) surface: Surface,
    /// The query's ceiling: A ceil(sigma/c) or ceil(A sigma/c)
    #[arg(long, value_parser = one_of!(QueryCeil), default_value = "outside", env = "ORTHANT_QUERY_CEIL")]
    pub(crate) query_ceil: QueryCeil,
    /// Waves of all regions times their share, as printed, or of the regions that are there
    #[arg(long, value_parser = one_of!(Wave), default_value = "full", env = "ORTHANT_WAVE")]
    pub(crate) wave: Wave,
}

impl Variants {
    pub(super) fn options(self, tau_policy: TauPolicy) -> Options {
        Options { surface: self.surface, query_ceil: self.query_ceil, wave: self.wave, tau_policy }
    }
}

/// Options of `model fit`.
#[derive(Debug, Args)]
pub(crate) struct FitOptions {
    /// Run reports or rows of `bench`: a JSON object per file, or several one after the other
    #[arg(required = true, value_name = "FILES")]
    pub(crate) reports: Vec<PathBuf>,
    /// Test on the runs of this size, fitting the others [default: the largest]
    #[arg(long, value_parser = whole, value_name = "N")]
    pub(crate) hold_out: Option<u64>,
    /// Print, but do not keep anything
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// One JSON line per fit instead of the tables
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `model tune`: those of `run`, but what it seeks and outputs.
#[derive(Debug, Args)]
pub(crate) struct TuneOptions {
    /// What a cell is worth
    #[arg(value_parser = workload())]
    pub(crate) workload: FieldKind,
    #[command(flatten)]
    pub(crate) computed: SoughtOptions,
    #[command(flatten)]
    pub(crate) formula: FormulaOptions,
    #[command(flatten)]
    pub(crate) how: HowOptions,
    #[command(flatten)]
    pub(crate) input: InputOptions,
    /// Block shapes to try [default: some for the dimension] (cuda)
    #[arg(long, value_delimiter = ',', value_parser = block, value_name = "SHAPES")]
    pub(crate) blocks: Vec<[u32; 3]>,
    /// Stop after so many candidates without a gain of 1 %
    #[arg(long, default_value_t = 24, value_parser = clap::value_parser!(u32).range(1..), value_name = "N")]
    pub(crate) patience: u32,
    /// Measure every candidate
    #[arg(long, conflicts_with = "patience")]
    pub(crate) all: bool,
    /// Begin with no other candidate after so many seconds; what was left out is said [default: no limit]
    #[arg(long, value_parser = seconds, value_name = "SECONDS")]
    pub(crate) budget: Option<Duration>,
    /// Print, but do not keep anything
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// One JSON object instead of the table
    #[arg(long)]
    pub(crate) json: bool,
}

/// One number for all axes, or one per axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Axes(pub(crate) Vec<u64>);

impl std::fmt::Display for Axes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&orthant::per_axis::text(&self.0))
    }
}

/// `N`, `a^b`, below 2^64.
fn whole(text: &str) -> Result<u64, String> {
    number(text, 0..=u64::MAX)
}

/// `N`, `N1xN2x..`, each as [`whole`].
fn axes(text: &str) -> Result<Axes, String> {
    text.split(['x', 'X']).map(whole).collect::<Result<_, _>>().map(Axes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_go_beyond_32_bits() {
        assert_eq!(axes("2^55x3"), Ok(Axes(vec![1 << 55, 3])));
        assert_eq!(Axes(vec![4, 2]).to_string(), "4x2");
        for wrong in ["", "x", "3x", "2^64", "-1", "1.5", "2^^2", "a^2", "2^-1"] {
            assert!(axes(wrong).is_err(), "{wrong}");
        }
    }
}
