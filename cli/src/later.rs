//! Options that are put together only if their command is typed.
//!
//! All commands together have hundreds of options, and a start that puts together all of them takes some milliseconds longer.

use std::cell::RefCell;

use clap::{ArgMatches, Args, Command, Error, FromArgMatches, Subcommand};

thread_local! {
    /// What is typed; None: every command is put together.
    static TYPED: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// What `make` puts together with the options of those commands alone whose names are among `words`.
pub(crate) fn only<T>(words: Vec<String>, make: impl FnOnce() -> T) -> T {
    TYPED.set(Some(words));
    let made = make();
    TYPED.set(None);
    made
}

fn is_typed(command: &Command) -> bool {
    TYPED.with_borrow(|typed| typed.as_ref().is_none_or(|words| words.iter().any(|word| word == command.get_name())))
}

/// Options of a command, or the commands below it.
#[derive(Debug)]
pub(crate) struct Later<T>(pub(crate) Box<T>);

impl<T: FromArgMatches> FromArgMatches for Later<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        T::from_arg_matches(matches).map(|options| Self(Box::new(options)))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}

impl<T: Args> Args for Later<T> {
    fn augment_args(command: Command) -> Command {
        if is_typed(&command) { T::augment_args(command) } else { command }
    }

    fn augment_args_for_update(command: Command) -> Command {
        T::augment_args_for_update(command)
    }
}

impl<T: Subcommand> Subcommand for Later<T> {
    fn augment_subcommands(command: Command) -> Command {
        if is_typed(&command) { T::augment_subcommands(command) } else { command }
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        T::augment_subcommands_for_update(command)
    }

    fn has_subcommand(name: &str) -> bool {
        T::has_subcommand(name)
    }
}
