//! The `orthant` binary: one file per subcommand. Data go to stdout, talk goes to stderr.
//!
//! This is the only part of the crate that prints, parses or reads the environment.

mod args;
mod bench;
mod compare;
mod curves;
mod info;
mod machine;
mod model;
mod progress;
mod report;
mod run;
mod search;
mod shell;
mod verify;

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

use crate::error::Error;
use args::{Cli, Colour, Command};

/// Parses the command line, does what it says, and turns errors into messages and exit codes.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let help = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            // A closed pipe is the only way this fails, and then nobody is listening.
            let _ = error.print();
            return if help { ExitCode::SUCCESS } else { ExitCode::from(2) };
        }
    };
    let voice = Voice::new(&cli);
    let done = match cli.command {
        Command::Run(args) => run::run(*args, voice),
        Command::Bench(args) => bench::bench(*args, voice),
        Command::Compare(args) => compare::compare(args, voice),
        Command::Report(args) => report::report(args, voice),
        Command::Verify(args) => verify::verify(args, voice),
        Command::Curves(command) => curves::curves(command, voice),
        Command::Model(command) => model::model(command, voice),
        Command::Info => info::info(),
        Command::Doctor => info::doctor(voice),
        Command::Completions { shell } => shell::completions(shell),
        Command::Man => shell::man(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads stdout has gone, as with `| head`.
        Err(Error::File { source, .. }) if source.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("orthant: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}

/// How much is said on stderr, and whether in colour.
#[derive(Debug, Clone, Copy)]
struct Voice {
    quiet: bool,
    verbose: bool,
    colour: bool,
}

impl Voice {
    fn new(cli: &Cli) -> Self {
        let colour = match cli.color {
            Colour::Always => true,
            Colour::Never => false,
            Colour::Auto => {
                std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty()) && std::io::stdout().is_terminal()
            }
        };
        Self { quiet: cli.quiet, verbose: cli.verbose > 0, colour }
    }

    /// One line on stderr, unless quiet.
    fn say(&self, text: impl std::fmt::Display) {
        if !self.quiet {
            eprintln!("{text}");
        }
    }
}

/// Writes data to stdout.
fn print(text: impl std::fmt::Display) -> Result<(), Error> {
    write!(std::io::stdout().lock(), "{text}").map_err(stdout_failed)
}

fn stdout_failed(source: std::io::Error) -> Error {
    Error::File { path: "stdout".into(), source }
}

/// A table without frames, in the style of the report's levels.
fn table(header: &[&str]) -> comfy_table::Table {
    let mut table = comfy_table::Table::new();
    table.load_style(comfy_table::presets::NOTHING).set_header(header);
    table
}

/// Aligns every column but the first to the right.
fn align_right(table: &mut comfy_table::Table) {
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(comfy_table::CellAlignment::Right);
    }
}
