//! Options from the environment: every option of `run` has a variable, and errors say where a value came from.

use std::borrow::Cow;
use std::ffi::OsString;

use clap::builder::Resettable;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};

use crate::error::Error;

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

/// The command, and those below it, with options that no variable sets.
pub(crate) fn without(command: Command) -> Command {
    command.mut_args(|option| option.env(Resettable::Reset)).mut_subcommands(without)
}

/// The command, and those below it, with the options of a variable changed.
fn with_variable(command: Command, variable: &str, change: &dyn Fn(Arg) -> Arg) -> Command {
    let is = |option: &Arg| option.get_env().is_some_and(|name| name == variable);
    let command = command.mut_args(|option| if is(&option) { change(option) } else { option });
    command.mut_subcommands(|below| with_variable(below, variable, change))
}

/// Variables that set an option that may be repeated, and were read as one value.
fn unsplit(command: &Command, matches: &ArgMatches) -> Vec<String> {
    let list = |option: &&Arg| {
        matches!(option.get_action(), ArgAction::Append)
            && option.get_value_delimiter().is_none()
            && matches.value_source(option.get_id().as_str()) == Some(ValueSource::EnvVariable)
    };
    let variable = |option: &Arg| option.get_env().map(|name| name.to_string_lossy().into_owned());
    let here = command.get_arguments().filter(list).filter_map(variable);
    let below = matches.subcommand().and_then(|(name, matches)| Some(unsplit(command.find_subcommand(name)?, matches)));
    here.chain(below.into_iter().flatten()).collect()
}

/// What was typed, and what could have been.
pub(crate) struct Typed<'a> {
    pub(crate) command: &'a Command,
    pub(crate) arguments: &'a [OsString],
}

impl Typed<'_> {
    /// What was typed with what variables add, and a line for each that had to give way: what is typed wins over a
    /// variable that cannot go with it. A variable of an option that may be repeated is split at commas, which a path that
    /// is typed may have.
    pub(crate) fn parse(&self) -> (Result<ArgMatches, clap::Error>, Vec<String>) {
        let mut command = self.command.clone();
        let (mut gone, mut said) = (Vec::new(), Vec::new());
        loop {
            let parsed = command.clone().try_get_matches_from(self.arguments);
            let given_way = parsed.as_ref().err().and_then(|error| self.gives_way(error));
            match given_way.filter(|(variable, _)| !gone.contains(variable)) {
                Some((variable, typed)) => {
                    command = with_variable(command, &variable, &|option| option.env(Resettable::Reset));
                    said.push(format!("the variable {variable} gives way to {typed}, which was typed"));
                    gone.push(variable);
                }
                None => {
                    let lists = parsed.as_ref().map_or(Vec::new(), |matches| unsplit(&command, matches));
                    if lists.is_empty() {
                        return (parsed, said);
                    }
                    let split = |option: Arg| option.value_delimiter(',');
                    command = lists.iter().fold(command, |command, list| with_variable(command, list, &split));
                }
            }
        }
    }

    /// Of a conflict between something typed and a variable the variable, and what was typed.
    fn gives_way(&self, error: &clap::Error) -> Option<(String, String)> {
        if error.kind() != ErrorKind::ArgumentConflict {
            return None;
        }
        let options = |kind| match error.get(kind) {
            Some(ContextValue::String(text)) => vec![text.clone()],
            Some(ContextValue::Strings(texts)) => texts.clone(),
            _ => Vec::new(),
        };
        let flag = |text: &String| text.split(' ').next().unwrap_or_default().to_owned();
        let invalid: Vec<_> = options(ContextKind::InvalidArg).iter().map(flag).collect();
        let prior: Vec<_> = options(ContextKind::PriorArg).iter().map(flag).collect();
        let typed = |flags: &[String]| flags.iter().find(|flag| self.variable(flag).is_none()).cloned();
        let variable = |flags: &[String]| flags.iter().find_map(|flag| self.variable(flag));
        let pair = |these: &[String], those: &[String]| Some((variable(these)?, typed(those)?));
        pair(&invalid, &prior).or_else(|| pair(&prior, &invalid))
    }

    /// What was typed behind the program's name.
    pub(crate) fn words(&self) -> impl Iterator<Item = Cow<'_, str>> {
        self.arguments.iter().skip(1).map(|word| word.to_string_lossy())
    }

    /// The command that was typed, as deep as there is one.
    pub(crate) fn below(&self) -> &Command {
        self.words().fold(self.command, |command, word| command.find_subcommand(&*word).unwrap_or(command))
    }

    /// The text with the names of options that were typed: an option has several, and a message knows one.
    pub(crate) fn in_typed_names(&self, mut text: String) -> String {
        let typed = |name: &str| {
            self.words().any(|word| word.strip_prefix("--").is_some_and(|word| word.split('=').next() == Some(name)))
        };
        for option in self.below().get_arguments() {
            let Some(name) = option.get_long().filter(|name| !typed(name)) else { continue };
            let other = option.get_all_aliases().into_iter().flatten().find(|other| typed(other));
            let Some(other) = other else { continue };
            let long = format!("--{name}");
            let ends = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '-');
            let mut pieces = text.split(&*long);
            let mut renamed = pieces.next().unwrap_or_default().to_owned();
            for piece in pieces {
                renamed += if ends(piece) { "--" } else { &*long };
                renamed += if ends(piece) { other } else { "" };
                renamed += piece;
            }
            text = renamed;
        }
        text
    }

    /// The variable that set the option `flag`; None if it was typed or not set.
    fn variable(&self, flag: &str) -> Option<String> {
        let (words, command) = (|| self.words(), self.below());
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
            None => self.in_typed_names(text.clone()),
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

    /// Options that variables set, of what was parsed.
    pub(crate) fn set_by_variables(&self, matches: &ArgMatches) -> FromVariables {
        let (mut command, mut matches) = (self.command, matches);
        while let Some((below, deeper)) =
            matches.subcommand().and_then(|(name, deeper)| Some((command.find_subcommand(name)?, deeper)))
        {
            (command, matches) = (below, deeper);
        }
        let set = |option: &Arg| {
            let id = option.get_id().as_str();
            if matches.value_source(id) != Some(ValueSource::EnvVariable) {
                return None;
            }
            let (name, flag) = match (option.get_long(), option.get_short()) {
                (Some(name), _) => (name.to_owned(), format!("--{name}")),
                (None, letter) => (letter?.to_string(), format!("-{}", letter?)),
            };
            let variable = option.get_env()?.to_string_lossy().into_owned();
            let values = matches.get_raw(id).into_iter().flatten().map(OsString::from).collect();
            Some(FromVariable { name, flag, variable, values })
        };
        FromVariables(command.get_arguments().filter_map(set).collect())
    }
}

/// Options that variables set.
#[derive(Default)]
pub(crate) struct FromVariables(Vec<FromVariable>);

struct FromVariable {
    /// The option's, without dashes.
    name: String,
    flag: String,
    variable: String,
    values: Vec<OsString>,
}

impl FromVariables {
    /// The error's message with the variable of every option that it follows from, or whose file it is about.
    pub(crate) fn explain(&self, error: &Error) -> String {
        let (options, path) = (error.options(), error.path());
        let follows = |set: &&FromVariable| {
            options.contains(&set.name.as_str())
                || path.is_some_and(|path| set.values.iter().any(|value| value == path))
        };
        let set = |set: &FromVariable| format!("{} is set by the variable {}", set.flag, set.variable);
        match self.0.iter().filter(follows).map(set).collect::<Vec<_>>() {
            found if found.is_empty() => error.to_string(),
            found => format!("{error} ({})", found.join(", ")),
        }
    }
}
