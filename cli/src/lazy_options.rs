//! Options that are built only if their command is typed.
//!
//! All commands together have hundreds of options, and a start that builds all of them takes some milliseconds longer. clap's own
//! `Command::defer` builds options while it reads them, and the program changes them before: examples, variables of the environment.

use std::cell::RefCell;

use clap::{ArgMatches, Args, Command, Error, FromArgMatches, Subcommand};

thread_local! {
    /// The words that were typed; None: the options of every command are built.
    static TYPED: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// Runs `make` with the options of those commands alone whose names are among the words. Commands have no other names.
pub(crate) fn of_words<T>(words: Vec<String>, make: impl FnOnce() -> T) -> T {
    struct Over;
    impl Drop for Over {
        fn drop(&mut self) {
            TYPED.set(None);
        }
    }
    let _over = Over;
    TYPED.set(Some(words));
    make()
}

fn is_typed(command: &Command) -> bool {
    TYPED.with_borrow(|typed| typed.as_ref().is_none_or(|words| words.iter().any(|word| word == command.get_name())))
}

/// Options of a command, or the commands below it.
#[derive(Debug)]
pub(crate) struct LazyOptions<T>(pub(crate) Box<T>);

impl<T: FromArgMatches> FromArgMatches for LazyOptions<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        T::from_arg_matches(matches).map(|options| Self(Box::new(options)))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}

impl<T: Args> Args for LazyOptions<T> {
    fn augment_args(command: Command) -> Command {
        if is_typed(&command) { T::augment_args(command) } else { command }
    }

    fn augment_args_for_update(command: Command) -> Command {
        if is_typed(&command) { T::augment_args_for_update(command) } else { command }
    }
}

impl<T: Subcommand> Subcommand for LazyOptions<T> {
    fn augment_subcommands(command: Command) -> Command {
        if is_typed(&command) { T::augment_subcommands(command) } else { command }
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        if is_typed(&command) { T::augment_subcommands_for_update(command) } else { command }
    }

    fn has_subcommand(name: &str) -> bool {
        T::has_subcommand(name)
    }
}
