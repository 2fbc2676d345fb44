//! The `orthant` program: one file per subcommand. Data go to stdout, talk goes to stderr.
//!
//! A library beside its binary, so that others (a Python wheel) can carry the same program. The library `orthant` prints
//! nothing, parses no arguments and reads no settings from the environment but where CUDA's parts are: all that is here.

#![deny(unsafe_code)]

mod args;
mod balance;
mod bench;
mod compare;
mod curves;
mod data;
mod demo;
mod energy;
mod error;
mod escape;
mod exit;
#[cfg(any(fuzzing, test))]
#[doc(hidden)]
pub mod fuzzing;
mod help;
mod hint;
mod info;
mod input;
mod interrupt;
mod lazy_options;
mod list_input;
mod machine;
mod measure;
mod memory;
mod model;
mod near;
mod options;
mod output;
mod progress;
mod ranks;
mod remote;
mod report;
mod run;
mod search;
mod shard;
mod shell;
mod statistics;
mod stdout;
mod store;
mod system;
mod threads;
mod tips;
mod tree;
mod utc;
mod variables;
mod verify;
mod voice;

use std::ffi::OsString;
use std::io::{ErrorKind as IoErrorKind, IsTerminal};
use std::process::ExitCode;

use clap::FromArgMatches;
use clap::error::ErrorKind;

use args::{Cli, Colour, Command};
use lazy_options::LazyOptions;
use orthant::field::{FieldKind, OwnField};
use ranks::Rank;
use stdout::STDOUT;
use threads::with_threads;
use variables::Typed;
use voice::{Voice, print, tell, tell_lines};

pub use error::Error;
pub use exit::Exit;
pub use machine::Machine;
pub use memory::Memory;
pub use options::bytes;
pub use remote::open as open_url;

/// As [`main`], with fields of one's own: they run, are verified, measured and reported by their names, as the built-in ones.
pub fn main_with<I: IntoIterator<Item: Into<OsString> + Clone>>(arguments: I, fields: Vec<OwnField>) -> ExitCode {
    if let Err(error) = FieldKind::register(fields) {
        tell(format_args!("orthant: {error}"));
        return Exit::Input.into();
    }
    main(arguments)
}

/// Does what a command line says, the program's name first, and turns errors into messages and exit codes.
pub fn main<I: IntoIterator<Item: Into<OsString> + Clone>>(arguments: I) -> ExitCode {
    end(arguments).into()
}

/// As [`main`], and says how the command ended: for a program that goes on, or that ends by other means than a `main` of Rust's.
pub fn end<I: IntoIterator<Item: Into<OsString> + Clone>>(arguments: I) -> Exit {
    system::outlive_large_files();
    let arguments: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
    let mut command = help::command_of(&arguments);
    let (mut matches, mut gave_way) = Typed { command: &command, arguments: &arguments }.parse();
    if matches.as_ref().is_err_and(|error| !is_help_or_version(error)) {
        // A message may name an option of another command.
        command = help::command();
        (matches, gave_way) = Typed { command: &command, arguments: &arguments }.parse();
    }
    let typed = Typed { command: &command, arguments: &arguments };
    let from_variables = matches.as_ref().map(|matches| typed.set_by_variables(matches)).unwrap_or_default();
    let done = match matches.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => obey(cli, &gave_way),
        Err(error) if is_help_or_version(&error) => {
            stdout::is_open().and_then(|()| error.print().map_err(stdout::failed)).and_then(|()| print(""))
        }
        Err(error) => {
            // If stderr is closed, the exit code still says it.
            let _ = typed.explain(tips::advised(error, &typed)).print();
            return Exit::Input;
        }
    };
    interrupt::undisturbed().over(true);
    match done {
        Ok(()) => Exit::Done,
        // Whoever reads stdout has gone, as with `| head`.
        Err(Error::File { path, source }) if path.as_os_str() == STDOUT && source.kind() == IoErrorKind::BrokenPipe => {
            Exit::Done
        }
        Err(error) => {
            let tell = |text: String| if error.has_lines() { tell_lines(text) } else { tell(text) };
            tell(format!("orthant: {}", typed.in_typed_names(from_variables.explain(&error))));
            error.exit()
        }
    }
}

/// True of help and of the version.
fn is_help_or_version(error: &clap::Error) -> bool {
    matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion)
}

fn obey(cli: Cli, gave_way: &[String]) -> Result<(), Error> {
    let voice = voice(&cli);
    if voice.verbose {
        gave_way.iter().for_each(|line| voice.say(format_args!("orthant: {line}")));
    }
    if let Some(rank) = Rank::here().filter(|_| !cli.each_rank) {
        rank.allows(&cli.command)?;
    }
    memory::spare_address_space();
    interrupt::listen()?;
    interrupt::undisturbed().over(false);
    with_threads(voice, || carry_out(cli.command, voice))?
}

fn carry_out(command: Command, voice: Voice) -> Result<(), Error> {
    match command {
        Command::Run(LazyOptions(args)) => run::run(*args, voice),
        Command::Bench(LazyOptions(args)) => bench::bench(*args, voice),
        Command::Compare(LazyOptions(args)) => compare::compare(*args, voice),
        Command::Report(LazyOptions(args)) => report::report(*args, voice),
        Command::Verify(LazyOptions(args)) => verify::verify(*args, voice),
        Command::Tree(LazyOptions(command)) => tree::tree(*command, voice),
        Command::Curves(LazyOptions(command)) => curves::curves(*command, voice),
        Command::Model(LazyOptions(command)) => model::model(*command, voice),
        Command::Balance(LazyOptions(command)) => balance::balance(*command, voice),
        Command::Shard(LazyOptions(command)) => shard::shard(*command, voice),
        Command::Demo(LazyOptions(args)) => {
            for arguments in args.write(voice)? {
                // Variables are about what the user types.
                let matches = variables::without(help::command()).try_get_matches_from(arguments);
                let read = matches.and_then(|matches| Cli::from_arg_matches(&matches));
                let cli = read.map_err(|error| Error::Input(error.to_string()))?;
                carry_out(cli.command, Voice { quiet: true, ..voice })?;
            }
            args.tell(voice)
        }
        Command::Info => info::info(),
        Command::Doctor => info::doctor(voice),
        Command::Completions { shell } => shell::completions(shell),
        Command::Man => shell::man(),
    }
}

fn voice(cli: &Cli) -> Voice {
    let colour = match cli.color {
        Colour::Always => true,
        Colour::Never => false,
        Colour::Auto => std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty()) && std::io::stdout().is_terminal(),
    };
    Voice { quiet: cli.quiet, verbose: cli.verbose > 0, colour }
}
