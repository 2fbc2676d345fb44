//! The command line in types.

use clap::builder::BoolishValueParser;
use clap::{ArgAction, Parser, Subcommand, ValueEnum};

use crate::balance::BalanceCommand;
use crate::bench::BenchOptions;
use crate::compare::CompareOptions;
use crate::curves::CurvesCommand;
use crate::demo::DemoOptions;
use crate::lazy_options::LazyOptions;
use crate::model::ModelCommand;
use crate::options::RunOptions;
use crate::report::ReportOptions;
use crate::shard::ShardCommand;
use crate::tree::TreeCommand;
use crate::verify::VerifyOptions;

/// Finds the uniform regions of arrays and of computed fields in 1 to 8 dimensions.
#[derive(Debug, Parser)]
#[command(name = "orthant", version, max_term_width = 100, args_override_self = true, disable_help_flag = true)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Say nothing but errors
    #[arg(
        short, long, global = true, conflicts_with = "verbose", help_heading = GENERAL, display_order = 900,
        hide_short_help = true
    )]
    pub(crate) quiet: bool,
    /// Say more
    #[arg(
        short, long, global = true, action = ArgAction::Count, help_heading = GENERAL, display_order = 901,
        hide_short_help = true
    )]
    pub(crate) verbose: u8,
    /// Colour on stderr and in tables (NO_COLOR is respected)
    #[arg(
        long, global = true, value_enum, default_value = "auto", env = "ORTHANT_COLOR", help_heading = GENERAL,
        display_order = 902, hide_short_help = true
    )]
    pub(crate) color: Colour,
    /// Under mpirun or srun: let every rank do all of the work, as in a sweep whose ranks write other files
    #[arg(
        long, global = true, value_parser = BoolishValueParser::new(), env = "ORTHANT_EACH_RANK", help_heading = GENERAL, display_order = 903, hide_short_help = true
    )]
    pub(crate) each_rank: bool,
    /// Print help; --help shows every option
    #[arg(short, long, global = true, action = ArgAction::Help, help_heading = GENERAL, display_order = 904)]
    help: Option<bool>,
}

/// The heading of what every command has.
const GENERAL: &str = "General";

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Colour {
    /// On a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// A small labelled volume to begin with: writes it, its tree and its page, and says what to try
    Demo(LazyOptions<DemoOptions>),
    /// Make, query, show and convert trees of arrays
    #[command(subcommand)]
    Tree(LazyOptions<TreeCommand>),
    /// Divide a computed field, such as a fractal or a formula: pictures and arrays
    Run(LazyOptions<RunOptions>),
    /// A run that many processes share; if one dies, run it again
    #[command(subcommand)]
    Shard(LazyOptions<ShardCommand>),
    /// Run every pair of choices on small cases and compare to the bit
    Verify(LazyOptions<VerifyOptions>),
    /// Measure a sweep: the product of axes over options of `run`, a line of JSON per case
    Bench(LazyOptions<BenchOptions>),
    /// Compare two result files of `bench`, case by case
    Compare(LazyOptions<CompareOptions>),
    /// Result files of `bench` as one page with figures and tables
    Report(LazyOptions<ReportOptions>),
    /// Space-filling curves as orders of regions
    #[command(subcommand)]
    Curves(LazyOptions<CurvesCommand>),
    /// The cost model: what a subdivision should cost, and which {g, r, B} is best
    #[command(subcommand)]
    Model(LazyOptions<ModelCommand>),
    /// Load balancers: who does which unit of work-items of very different sizes
    #[command(subcommand)]
    Balance(LazyOptions<BalanceCommand>),
    /// What is here: CPU, memory, backends, limits
    Info,
    /// Check the installation and say how to mend what is missing
    ///
    /// Exits with 0 if runs on the CPU work, and with 1 if they do not. A GPU is optional: what is missing of one is a note, and -v says
    /// how to mend it.
    Doctor,
    /// Print a completion script
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    Man,
}
