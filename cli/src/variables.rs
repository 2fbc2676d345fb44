//! Options from the environment: every option of `run` has a variable, and errors say where a value came from.

use std::ffi::OsString;

use clap::builder::Resettable;
use clap::error::{ContextKind, ContextValue};
use clap::{Arg, Command};

/// The option with its variable in the long help alone. An empty variable counts as none, and so does a flag's no.
pub(crate) fn show(option: Arg) -> Arg {
    let Some(variable) = option.get_env().map(|name| name.to_string_lossy().into_owned()) else { return option };
    let about = option.get_long_help().or(option.get_help()).map(ToString::to_string).unwrap_or_default();
    let option = option.long_help(format!("{about} [env: {variable}]")).hide_env(true);
    match std::env::var_os(&variable) {
        Some(value) if value.is_empty() => option.env(Resettable::Reset),
        Some(value) if !option.get_action().takes_values() && is_no(&value) => option.env(Resettable::Reset),
        _ => option,
    }
}

fn is_no(value: &OsString) -> bool {
    ["0", "n", "no", "f", "false", "off"].iter().any(|no| value.eq_ignore_ascii_case(no))
}

/// What was typed, and what could have been.
pub(crate) struct Typed<'a> {
    pub(crate) command: &'a Command,
    pub(crate) arguments: &'a [OsString],
}

impl Typed<'_> {
    /// The variable that set the option `flag`; None if it was typed or not set.
    fn variable(&self, flag: &str) -> Option<String> {
        let words = || self.arguments.iter().skip(1).map(|word| word.to_string_lossy());
        let command = words().fold(self.command, |command, word| command.find_subcommand(&*word).unwrap_or(command));
        let long = |option: &Arg| option.get_long().map(|name| format!("--{name}"));
        let short = |option: &Arg| option.get_short().map(|letter| format!("-{letter}"));
        let mut options = command.get_arguments();
        let option =
            options.find(|option| long(option).as_deref() == Some(flag) || short(option).as_deref() == Some(flag))?;
        let typed = |word: &str| {
            long(option).is_some_and(|long| word.split('=').next() == Some(&long))
                || short(option).is_some_and(|short| word.starts_with(&short))
        };
        let variable = option.get_env()?.to_string_lossy().into_owned();
        let set = std::env::var_os(&variable).is_some_and(|value| !value.is_empty());
        (set && !words().any(|word| typed(&word))).then_some(variable)
    }

    /// An error of the parser that names the variables behind options.
    pub(crate) fn explain(&self, mut error: clap::Error) -> clap::Error {
        let named = |text: &String| match self.variable(text.split(' ').next().unwrap_or_default()) {
            Some(variable) => format!("{text}' from the variable '{variable}"),
            None => text.clone(),
        };
        for kind in [ContextKind::InvalidArg, ContextKind::PriorArg] {
            let value = match error.get(kind) {
                Some(ContextValue::String(text)) => ContextValue::String(named(text)),
                Some(ContextValue::Strings(texts)) => ContextValue::Strings(texts.iter().map(named).collect()),
                _ => continue,
            };
            error.insert(kind, value);
        }
        error
    }

    /// A message that begins with an option, with the variable that set it.
    pub(crate) fn name_in(&self, message: String) -> String {
        match self.variable(message.split([' ', ':']).next().unwrap_or_default()) {
            Some(variable) => format!("{message} (set by the variable {variable})"),
            None => message,
        }
    }
}
