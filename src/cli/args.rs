//! The command line in types. Names are fixed by the project's contract; every option has an `ORTHANT_*` variable.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};

use super::bench::Bench;
use super::compare::Compare;
use super::curves::Curves;
use super::model::Model;
use super::report::Report;
use crate::curve::CurveKind;
use crate::domain::Sample;
use crate::escape::{Arithmetic, Precision};
use crate::field::CellType;
use crate::how::{AskLoop, DpLaunch, ExploreOrder, Insertion, Keep, ParallelScheme, Stack, Table};
use crate::plan::ExploreRule;
use crate::strategy::StrategyKind;
use crate::workload::WorkloadKind;

/// A value parser over the names of a registry.
macro_rules! one_of {
    ($Kind:ty) => {
        clap::builder::TypedValueParser::map(
            clap::builder::PossibleValuesParser::new(<$Kind>::ALL.iter().map(|kind| kind.name())),
            |name| name.parse::<$Kind>().expect("clap lets only listed names through"),
        )
    };
}
pub(super) use one_of;

/// Adaptive subdivision of k-dimensional domains.
#[derive(Debug, Parser)]
#[command(name = "orthant", version, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Say nothing but errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Say more
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub verbose: u8,
    /// Colour on stderr and in tables (NO_COLOR is respected)
    #[arg(long, global = true, value_enum, default_value = "auto", env = "ORTHANT_COLOR")]
    pub color: Colour,
}

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Colour {
    /// On a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// One run: a table of what happened on every level, and outputs
    Run(Box<Run>),
    /// Run every strategy, scheme, curve and insertion on small cases and compare to the bit
    Verify(Verify),
    /// Measure a sweep: the product of axes over options of `run`, a line of JSON per case
    Bench(Box<Bench>),
    /// Compare two result files of `bench`, case by case
    Compare(Compare),
    /// Result files of `bench` as one page with figures and tables
    Report(Report),
    /// Space-filling curves as orders of regions
    #[command(subcommand)]
    Curves(Curves),
    /// The cost model: what a subdivision should cost, and which {g, r, B} is best
    #[command(subcommand)]
    Model(Model),
    /// What is here: CPU, memory, backends, limits
    Info,
    /// Check the installation and say how to mend what is missing
    Doctor,
    /// Print a completion script
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    Man,
}

/// Where to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Backend {
    /// CUDA if it is there, else the CPU, saying why
    Auto,
    /// The CPU
    Cpu,
    /// CUDA or an error
    Cuda,
}

/// Options of `run`.
#[derive(Debug, Args)]
pub struct Run {
    /// What a cell is worth
    #[arg(value_parser = one_of!(WorkloadKind))]
    pub workload: WorkloadKind,
    /// Dimensions k, for workloads that exist in several
    #[arg(long, env = "ORTHANT_DIM")]
    pub dim: Option<usize>,
    /// Cells per axis: N, N1xN2x.., 2^12
    #[arg(short = 'n', long, value_parser = numbers, env = "ORTHANT_SIZE")]
    pub size: Option<Numbers>,
    /// Initial split per axis: one number or one per axis
    #[arg(short, value_parser = numbers, value_name = "G", env = "ORTHANT_G")]
    pub g: Option<Numbers>,
    /// Recurrent split per axis: one number or one per axis
    #[arg(short, value_parser = numbers, value_name = "R", env = "ORTHANT_R")]
    pub r: Option<Numbers>,
    /// Stop side in cells
    #[arg(short = 'B', value_parser = number, value_name = "B", env = "ORTHANT_B")]
    pub b: Option<u32>,
    /// Let the cost model choose g, r, B, and the scheme if it is not given, from a coarse sample of the field
    #[arg(long, conflicts_with_all = ["g", "r", "b"], env = "ORTHANT_AUTO_SCHEME")]
    pub auto_scheme: bool,
    /// Run so many times after a first time that does not count, and report the median [default: 1, which counts]
    #[arg(long, value_parser = times, value_name = "N", env = "ORTHANT_REPEAT")]
    pub repeat: Option<NonZeroUsize>,
    /// The CUDA source of a `kernel` field
    #[arg(long, value_name = "FILE.cuh", env = "ORTHANT_SOURCE")]
    pub source: Option<PathBuf>,
    /// How a region is found uniform [default: border; digit sets: full]
    #[arg(long, value_parser = one_of!(ExploreRule), env = "ORTHANT_EXPLORE")]
    pub explore: Option<ExploreRule>,
    /// The order in which exploration visits cells
    #[arg(long, value_parser = one_of!(ExploreOrder), default_value = "scattered", env = "ORTHANT_EXPLORE_ORDER")]
    pub explore_order: ExploreOrder,
    /// Where samples lie in their cells [default: corner for k <= 2, else centre]
    #[arg(long, value_parser = one_of!(Sample), env = "ORTHANT_SAMPLE")]
    pub sample: Option<Sample>,
    /// The type of a stored cell
    #[arg(long, value_parser = one_of!(CellType), default_value = "u16", env = "ORTHANT_CELL")]
    pub cell: CellType,
    /// The host program
    #[arg(long, value_parser = one_of!(StrategyKind), default_value = "ask", env = "ORTHANT_STRATEGY")]
    pub strategy: StrategyKind,
    /// Workers per region [default: sbr, or what --auto-scheme finds]
    #[arg(long, value_parser = one_of!(ParallelScheme), env = "ORTHANT_SCHEME")]
    pub scheme: Option<ParallelScheme>,
    /// The order of the OLT
    #[arg(long, value_parser = one_of!(CurveKind), default_value = "morton", env = "ORTHANT_CURVE")]
    pub curve: CurveKind,
    /// How children enter the OLT
    #[arg(long, value_parser = one_of!(Insertion), default_value = "stable", env = "ORTHANT_INSERTION")]
    pub insertion: Insertion,
    /// The type of the iterated numbers
    #[arg(long, value_parser = one_of!(Precision), default_value = "f32", env = "ORTHANT_PRECISION")]
    pub precision: Precision,
    /// Fused multiply-add, or every product and sum rounded
    #[arg(long, value_parser = one_of!(Arithmetic), default_value = "fused", env = "ORTHANT_ARITHMETIC")]
    pub arithmetic: Arithmetic,
    /// Where to run
    #[arg(long, value_enum, default_value = "auto", env = "ORTHANT_BACKEND")]
    pub backend: Backend,
    /// Worker threads [default: all]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..), env = "ORTHANT_THREADS")]
    pub threads: Option<u16>,
    /// Which GPU
    #[arg(long, default_value_t = 0, value_name = "NUMBER", env = "ORTHANT_DEVICE")]
    pub device: usize,
    /// The largest number of tasks (dp) or kernels in flight [default: 128, or what the GPU runs at once]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..), env = "ORTHANT_MAX_KERNELS")]
    pub max_kernels: Option<u32>,
    /// What is launched from the device: a grid per mixed region, per family, or per level (cuda, dp)
    #[arg(long, value_parser = one_of!(DpLaunch), default_value = "region", env = "ORTHANT_DP_LAUNCH")]
    pub dp_launch: DpLaunch,
    /// Launches that may be in flight on the device, at most an eighth of the pending ones [default: --max-kernels] (cuda, dp)
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..), value_name = "N", env = "ORTHANT_DP_BUDGET")]
    pub dp_budget: Option<u32>,
    /// Regions that may wait for credit; beyond them blocks descend in place (cuda, dp)
    #[arg(long, default_value_t = 1 << 20, value_parser = clap::value_parser!(u32).range(..=1 << 26), value_name = "N", env = "ORTHANT_DP_OVERFLOW")]
    pub dp_overflow: u32,
    /// The device's limit of pending launches, at least 8 [default: as it is] (cuda, dp)
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1 << 20), value_name = "N", env = "ORTHANT_PENDING_LAUNCHES")]
    pub pending_launches: Option<u32>,
    /// Threads of a block per axis: X, XxY or XxYxZ, a multiple of 32 in all (cuda)
    #[arg(long, value_parser = block, default_value = "8x8", value_name = "SHAPE", env = "ORTHANT_BLOCK")]
    pub block: Block,
    /// Tables kept from level to level, or the papers' loop that allocates and frees them (cuda, ask)
    #[arg(long, value_parser = one_of!(AskLoop), default_value = "lean", env = "ORTHANT_ASK_LOOP")]
    pub ask_loop: AskLoop,
    /// What the OLT holds per family: a scalar code, or coordinates to compare with (cuda, ask)
    #[arg(long, value_parser = one_of!(Table), default_value = "scalars", env = "ORTHANT_TABLE")]
    pub table: Table,
    /// A stack of 3-D grids in one launch, or one launch per grid (cuda, exhaustive, k >= 4)
    #[arg(long, value_parser = one_of!(Stack), default_value = "folded", env = "ORTHANT_STACK")]
    pub stack: Stack,
    /// The most memory for results and tables: bytes, or 512MiB, 8G [default: 80 % of what is available]
    #[arg(long, value_parser = bytes, value_name = "BYTES", env = "ORTHANT_MEM_LIMIT")]
    pub mem_limit: Option<u64>,
    /// What to keep: the dense array, regions and leaf bricks, or counts only
    #[arg(long, value_parser = one_of!(Keep), default_value = "dense", env = "ORTHANT_KEEP")]
    pub keep: Keep,
    /// Dwell cap D [default: per workload]
    #[arg(long, env = "ORTHANT_DWELL")]
    pub dwell: Option<u32>,
    /// Window per axis: lo:hi,lo:hi,..
    #[arg(long, value_parser = window, value_name = "LO:HI,..", allow_hyphen_values = true, env = "ORTHANT_DOMAIN")]
    pub domain: Option<Window>,
    /// Write the field: .png (2-D or a slice) or .npy; may be repeated
    #[arg(short, long, value_name = "PATH")]
    pub output: Vec<PathBuf>,
    /// Write the subdivision drawn over the field
    #[arg(long, value_name = "PATH.png", env = "ORTHANT_OVERLAY")]
    pub overlay: Option<PathBuf>,
    /// Fix an axis for pictures of k >= 3; may be repeated [default: the middle]
    #[arg(long, value_parser = slice, value_name = "AXIS=INDEX")]
    pub slice: Vec<(usize, u32)>,
    /// Write the run report
    #[arg(long, value_name = "PATH.json", env = "ORTHANT_REPORT")]
    pub report: Option<PathBuf>,
    /// Overwrite existing outputs
    #[arg(long)]
    pub force: bool,
}

/// Options of `verify`.
#[derive(Debug, Args)]
pub struct Verify {
    /// Only this workload
    #[arg(value_parser = one_of!(WorkloadKind))]
    pub workload: Option<WorkloadKind>,
    /// One block shape per curve instead of all (cuda)
    #[arg(long)]
    pub brief: bool,
    /// Where to run
    #[arg(long, value_enum, default_value = "auto", env = "ORTHANT_BACKEND")]
    pub backend: Backend,
    /// Which GPU
    #[arg(long, default_value_t = 0, value_name = "NUMBER", env = "ORTHANT_DEVICE")]
    pub device: usize,
}

/// One number, or one per axis. A type of its own because clap reads a plain Vec as a repeated option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Numbers(pub Vec<u32>);

/// Threads of a block per axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block(pub [u32; 3]);

/// Intervals, one per axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Window(pub Vec<[f64; 2]>);

/// `N`, `a^b`.
pub(super) fn number(text: &str) -> Result<u32, String> {
    let whole =
        |text: &str| text.trim().parse::<u32>().map_err(|_| format!("'{text}' is not a whole number below 2^32"));
    match text.split_once('^') {
        Some((base, exponent)) => {
            whole(base)?.checked_pow(whole(exponent)?).ok_or_else(|| format!("'{text}' is not below 2^32"))
        }
        None => whole(text),
    }
}

/// `N`, `N1xN2x..`, each as [`number`].
pub(super) fn numbers(text: &str) -> Result<Numbers, String> {
    text.split(['x', 'X']).map(number).collect::<Result<_, _>>().map(Numbers)
}

/// A number of at least 1.
fn times(text: &str) -> Result<NonZeroUsize, String> {
    NonZeroUsize::new(number(text)? as usize).ok_or_else(|| "at least 1 is needed".into())
}

/// `X`, `XxY` or `XxYxZ`: whole warps, at most 1024 threads.
pub(super) fn block(text: &str) -> Result<Block, String> {
    let sides = numbers(text)?.0;
    if sides.len() > 3 {
        return Err("a block has at most three axes".into());
    }
    let mut block = [1; 3];
    block[..sides.len()].copy_from_slice(&sides);
    match block.iter().try_fold(1u32, |threads, &side| threads.checked_mul(side)) {
        Some(threads) if (32..=1024).contains(&threads) && threads.is_multiple_of(32) => Ok(Block(block)),
        _ => Err("the threads of a block must be a multiple of 32 between 32 and 1024".into()),
    }
}

/// `lo:hi,lo:hi,..`.
fn window(text: &str) -> Result<Window, String> {
    let interval = |text: &str| {
        let (lo, hi) = text.split_once(':').ok_or_else(|| format!("'{text}' is not an interval lo:hi"))?;
        let end = |text: &str| text.trim().parse::<f64>().map_err(|_| format!("'{text}' is not a number"));
        Ok::<_, String>([end(lo)?, end(hi)?])
    };
    text.split(',').map(interval).collect::<Result<_, _>>().map(Window)
}

/// `axis=index`.
fn slice(text: &str) -> Result<(usize, u32), String> {
    let (axis, index) = text.split_once('=').ok_or_else(|| format!("'{text}' is not axis=index, as in 2=128"))?;
    let axis = axis.trim().parse().map_err(|_| format!("'{axis}' is not an axis number"))?;
    Ok((axis, number(index)?))
}

/// A number of bytes, with an optional unit: K, M, G, T (binary), iB or B after it.
fn bytes(text: &str) -> Result<u64, String> {
    let wrong = || format!("'{text}' is not a number of bytes such as 1073741824, 512MiB or 8G");
    let lower = text.trim().to_ascii_lowercase();
    let bare = lower.trim_end_matches('b').trim_end_matches('i');
    let (digits, shift) = match bare.char_indices().last() {
        Some((at, 'k')) => (&bare[..at], 10),
        Some((at, 'm')) => (&bare[..at], 20),
        Some((at, 'g')) => (&bare[..at], 30),
        Some((at, 't')) => (&bare[..at], 40),
        _ => (bare, 0),
    };
    let value: u64 = digits.trim().parse().map_err(|_| wrong())?;
    value.checked_mul(1 << shift).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn numbers_powers_and_units() {
        assert_eq!(numbers("2^12"), Ok(Numbers(vec![4096])));
        assert_eq!(numbers("64x2^5X7"), Ok(Numbers(vec![64, 32, 7])));
        for wrong in ["", "x", "3x", "2^32", "-1", "1.5", "2^^2", "4294967296"] {
            assert!(numbers(wrong).is_err(), "{wrong}");
        }
        assert_eq!(bytes("512MiB"), Ok(512 << 20));
        assert_eq!(bytes("8G"), Ok(8 << 30));
        assert_eq!(bytes("7"), Ok(7));
        assert!(bytes("99999999999T").is_err() && bytes("G").is_err() && bytes("").is_err() && bytes("8x").is_err());
        assert_eq!(window("-1.5:.5,-1:1"), Ok(Window(vec![[-1.5, 0.5], [-1.0, 1.0]])));
        assert!(window("1").is_err() && window("a:1").is_err());
        assert_eq!(block("16x16"), Ok(Block([16, 16, 1])));
        assert_eq!(block("8x4x2"), Ok(Block([8, 4, 2])));
        assert!(["", "16", "33", "2x2x2x8", "64x32", "2^16x2^16x32", "0x32"].iter().all(|shape| block(shape).is_err()));
        assert_eq!(slice("2=2^3"), Ok((2, 8)));
        assert!(slice("2").is_err() && slice("x=1").is_err());
    }
}
