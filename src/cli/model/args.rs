//! The options of `orthant model`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::cli::args::{Block, Run, block, one_of};
use crate::model::{Objective, Options, QueryCeil, Surface, TauPolicy, Wave};

/// The commands of the cost model.
#[derive(Debug, Subcommand)]
pub enum Model {
    /// Work, time, tables and kernels of one scheme, or of every combination of lists such as -g 2,4,8
    Predict(Box<Predict>),
    /// The best {g, r, B}, how flat the optimum is, and whether dividing pays at all
    Plan(Box<Plan>),
    /// Fit the constants of the time model to measured runs, and keep them for this device
    Fit(Fit),
    /// Find the fastest {g, r, B} by measuring, in the order in which the model would take them
    Tune(Box<Tune>),
    /// Evaluate the functions of the model on the cases of a JSON file; prints one JSON line per case
    Eval(Eval),
    /// Draw curves of the model
    #[command(subcommand)]
    Plot(Plot),
}

/// Options of `model predict`.
#[derive(Debug, Args)]
pub struct Predict {
    /// Cells per axis: N, N1xN2x.., 2^12
    #[arg(short = 'n', long, value_delimiter = ',', value_parser = axes, default_value = "2^16", env = "ORTHANT_SIZE")]
    pub size: Vec<Axes>,
    /// Dimensions k [default: the axes of --size, else 2]
    #[arg(long, value_name = "K", env = "ORTHANT_DIM")]
    pub dim: Option<usize>,
    /// Initial split per axis
    #[arg(short, value_delimiter = ',', value_parser = axes, default_value = "8", value_name = "G", env = "ORTHANT_G")]
    pub g: Vec<Axes>,
    /// Recurrent split per axis
    #[arg(short, value_delimiter = ',', value_parser = axes, default_value = "2", value_name = "R", env = "ORTHANT_R")]
    pub r: Vec<Axes>,
    /// Stop side in cells
    #[arg(short = 'B', value_delimiter = ',', value_parser = whole, default_value = "64", value_name = "B", env = "ORTHANT_B")]
    pub b: Vec<u64>,
    /// The density that holds on every level
    #[arg(short = 'P', value_delimiter = ',', allow_negative_numbers = true, default_value = "0.7", value_name = "P")]
    pub p: Vec<f64>,
    /// Densities P_0,P_1,.. of the levels instead of -P; each scheme reads as many as it explores levels
    #[arg(long, value_delimiter = ',', allow_negative_numbers = true, value_name = "P_0,P_1,..", conflicts_with_all = ["p", "box_dim"])]
    pub profile: Option<Vec<f64>>,
    /// Box dimension d of the boundary instead of -P: P_0 = g^(d-k), P_i = r^(d-k)
    #[arg(long, value_delimiter = ',', allow_negative_numbers = true, value_name = "D", conflicts_with = "p")]
    pub box_dim: Option<Vec<f64>>,
    /// A, the work of computing a cell over that of writing it
    #[arg(
        short = 'A',
        value_delimiter = ',',
        allow_negative_numbers = true,
        default_value = "16",
        value_name = "A",
        env = "ORTHANT_A"
    )]
    pub a: Vec<f64>,
    /// Lambda: dividing a region costs lambda A
    #[arg(long, value_delimiter = ',', allow_negative_numbers = true, default_value = "100", env = "ORTHANT_LAMBDA")]
    pub lambda: Vec<f64>,
    /// Multiprocessors
    #[arg(long, value_delimiter = ',', value_parser = whole, default_value = "128", env = "ORTHANT_Q")]
    pub q: Vec<u64>,
    /// Cores of a multiprocessor
    #[arg(long, value_delimiter = ',', value_parser = whole, default_value = "64", env = "ORTHANT_C")]
    pub c: Vec<u64>,
    /// Variants of the equations
    #[command(flatten)]
    pub variants: Variants,
    /// What fewer than one level means: one flat pass, the literal exponent, or an error
    #[arg(long, value_parser = one_of!(TauPolicy), default_value = "clamp", env = "ORTHANT_TAU_POLICY")]
    pub tau_policy: TauPolicy,
    /// One JSON line per configuration instead of the table
    #[arg(long)]
    pub json: bool,
}

/// Options of `model plan`.
#[derive(Debug, Args)]
pub struct Plan {
    /// Cells per axis: N, N1xN2x.., 2^12
    #[arg(short = 'n', long, value_delimiter = ',', value_parser = axes, default_value = "2^16", env = "ORTHANT_SIZE")]
    pub size: Vec<Axes>,
    /// Dimensions k [default: the axes of --size, else 2]
    #[arg(long, value_name = "K", env = "ORTHANT_DIM")]
    pub dim: Option<usize>,
    /// What is to be least
    #[arg(long, value_delimiter = ',', value_parser = one_of!(Objective), default_value = "work,sbr,mbr", env = "ORTHANT_OBJECTIVE")]
    pub objective: Vec<Objective>,
    /// Where g, r and B are sought
    #[command(flatten)]
    pub space: SearchSpace,
    /// Density and costs
    #[command(flatten)]
    pub setting: Setting,
    /// One JSON line per search instead of the table
    #[arg(long)]
    pub json: bool,
}

/// What `model plot` draws.
#[derive(Debug, Subcommand)]
pub enum Plot {
    /// The work reduction and the best {g, r, B} against n: the ASK paper's Figure 3, from its equations
    Fig3(Picture),
    /// The speedups of SBR and MBR and the best {g, r, B} against n: the ASK paper's Figure 4, from its equations
    Fig4(Picture),
    /// The cost over pairs of g, r and B
    Landscape(Box<Landscape>),
}

/// Where a picture goes.
#[derive(Debug, Args)]
pub struct Picture {
    /// The picture
    #[arg(short, long, value_name = "PATH.svg")]
    pub output: PathBuf,
    /// Overwrite an existing output
    #[arg(long)]
    pub force: bool,
}

/// Options of `model plot landscape`.
#[derive(Debug, Args)]
pub struct Landscape {
    /// Where the picture goes
    #[command(flatten)]
    pub picture: Picture,
    /// Cells per axis: N, N1xN2x.., 2^12
    #[arg(short = 'n', long, value_parser = axes, default_value = "2^16", env = "ORTHANT_SIZE")]
    pub size: Axes,
    /// Dimensions k [default: the axes of --size, else 2]
    #[arg(long, value_name = "K", env = "ORTHANT_DIM")]
    pub dim: Option<usize>,
    /// The cost that is shown
    #[arg(long, value_parser = one_of!(Objective), default_value = "sbr", env = "ORTHANT_OBJECTIVE")]
    pub objective: Objective,
    /// Where g, r and B are taken from
    #[command(flatten)]
    pub space: SearchSpace,
    /// Density and costs
    #[command(flatten)]
    pub setting: Setting,
}

/// The schemes that a search tries.
#[derive(Debug, Args)]
pub struct SearchSpace {
    /// Initial splits to try; one number pins it
    #[arg(short, value_delimiter = ',', value_parser = whole, default_value = POWERS, value_name = "G")]
    pub g: Vec<u64>,
    /// Recurrent splits to try; one number pins it
    #[arg(short, value_delimiter = ',', value_parser = whole, default_value = POWERS, value_name = "R")]
    pub r: Vec<u64>,
    /// Stop sides to try; one number pins it
    #[arg(short = 'B', value_delimiter = ',', value_parser = whole, default_value = POWERS, value_name = "B")]
    pub b: Vec<u64>,
}

/// The paper's search space.
const POWERS: &str = "2,4,8,16,32,64,128,256,512,1024";

/// Density, costs and machine of a search.
#[derive(Debug, Args)]
pub struct Setting {
    /// A density that is the same on every level, whatever g and r
    #[arg(short = 'P', allow_negative_numbers = true, value_name = "P")]
    pub p: Option<f64>,
    /// Box dimension d of the boundary: P_0 = g^(d-k), P_i = r^(d-k) [default: the d that makes P = 0.7 at r = 2]
    #[arg(long, allow_negative_numbers = true, value_name = "D", conflicts_with = "p")]
    pub box_dim: Option<f64>,
    /// A, the work of computing a cell over that of writing it
    #[arg(short = 'A', allow_negative_numbers = true, default_value_t = 16.0, value_name = "A", env = "ORTHANT_A")]
    pub a: f64,
    /// Lambda: dividing a region costs lambda A
    #[arg(long, allow_negative_numbers = true, default_value_t = 100.0, env = "ORTHANT_LAMBDA")]
    pub lambda: f64,
    /// Multiprocessors
    #[arg(long, value_parser = whole, default_value = "128", env = "ORTHANT_Q")]
    pub q: u64,
    /// Cores of a multiprocessor
    #[arg(long, value_parser = whole, default_value = "64", env = "ORTHANT_C")]
    pub c: u64,
    /// Variants of the equations
    #[command(flatten)]
    pub variants: Variants,
}

/// Variants of the equations.
#[derive(Debug, Clone, Copy, Args)]
pub struct Variants {
    /// Cells of a border: 2k faces, or each cell once
    #[arg(long, value_parser = one_of!(Surface), default_value = "faces", env = "ORTHANT_SURFACE")]
    pub surface: Surface,
    /// The query's ceiling: A ceil(sigma/c) or ceil(A sigma/c)
    #[arg(long, value_parser = one_of!(QueryCeil), default_value = "outside", env = "ORTHANT_QUERY_CEIL")]
    pub query_ceil: QueryCeil,
    /// Waves of all regions times their share, as printed, or of the regions that are there
    #[arg(long, value_parser = one_of!(Wave), default_value = "full", env = "ORTHANT_WAVE")]
    pub wave: Wave,
}

impl Variants {
    pub(super) fn options(self, tau_policy: TauPolicy) -> Options {
        Options { surface: self.surface, query_ceil: self.query_ceil, wave: self.wave, tau_policy }
    }
}

/// Options of `model fit`.
#[derive(Debug, Args)]
pub struct Fit {
    /// Run reports or rows of `bench`: a JSON object per file, or several one after the other
    #[arg(required = true, value_name = "FILES")]
    pub reports: Vec<PathBuf>,
    /// Test on the runs of this size, fitting the others [default: the largest]
    #[arg(long, value_parser = whole, value_name = "N")]
    pub hold_out: Option<u64>,
    /// Print, but do not keep anything
    #[arg(long)]
    pub dry_run: bool,
    /// One JSON line per fit instead of the tables
    #[arg(long)]
    pub json: bool,
}

/// Options of `model tune`: those of `run`, but -g, -r, -B and outputs.
#[derive(Debug, Args)]
pub struct Tune {
    /// What is run
    #[command(flatten)]
    pub run: Run,
    /// Block shapes to try [default: some for the dimension] (cuda)
    #[arg(long, value_delimiter = ',', value_parser = block, value_name = "SHAPES")]
    pub blocks: Vec<Block>,
    /// Stop after so many candidates without a gain of 1 %
    #[arg(long, default_value_t = 24, value_parser = clap::value_parser!(u32).range(1..), value_name = "N")]
    pub patience: u32,
    /// Measure every candidate
    #[arg(long, conflicts_with = "patience")]
    pub all: bool,
    /// Print, but do not keep anything
    #[arg(long)]
    pub dry_run: bool,
    /// One JSON object instead of the table
    #[arg(long)]
    pub json: bool,
}

/// Options of `model eval`.
#[derive(Debug, Args)]
pub struct Eval {
    /// A list of cases, or an object with such a list under 'cases'
    #[arg(value_name = "CASES.json")]
    pub cases: PathBuf,
}

/// One number for all axes, or one per axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axes(pub Vec<u64>);

impl std::fmt::Display for Axes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let numbers: Vec<_> = self.0.iter().map(u64::to_string).collect();
        f.write_str(&numbers.join("x"))
    }
}

/// `N`, `a^b`, below 2^64.
fn whole(text: &str) -> Result<u64, String> {
    let number =
        |text: &str| text.trim().parse::<u64>().map_err(|_| format!("'{text}' is not a whole number below 2^64"));
    match text.split_once('^') {
        Some((base, exponent)) => {
            let power =
                u32::try_from(number(exponent)?).ok().and_then(|exponent| number(base).ok()?.checked_pow(exponent));
            power.ok_or_else(|| format!("'{text}' is not below 2^64"))
        }
        None => number(text),
    }
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
