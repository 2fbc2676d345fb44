//! The library's choices as options, in groups.
//!
//! An option of a choice is no list of its own: it is made from the library's [`Choice`], so that a choice which is added
//! there is an option here, an axis of sweeps and part of what a tuned scheme is kept for.

use clap::builder::{PossibleValuesParser, ValueParser};
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use orthant::Computed;
use orthant::backend::{CudaTuning, Kept, Tuning};
use orthant::choice::Choice;

use super::heading;
use super::workload::ByName;
use crate::error::Error;

/// Choices that exist to compare with the papers' codes.
const FOR_THE_PAPERS: [&str; 7] = ["explore-order", "insertion", "dp-launch", "ask-loop", "table", "stack", "cycles"];

/// Choices that are seldom made: with those of CUDA and for the papers they are in the long help alone.
const RARE: [&str; 12] = [
    "explore",
    "prove",
    "sample",
    "curve",
    "precision",
    "arithmetic",
    "value",
    "band",
    "cell",
    "scheme",
    "pass",
    "max-kernels",
];

/// Choices of how cells are computed, which says nothing of an array.
pub(crate) const OF_FIELDS: [&str; 6] = ["explore", "precision", "arithmetic", "dwell", "value", "band"];

/// The option of a choice, under a heading unless it is for the papers.
fn option(choice: &'static Choice, usual: &'static str) -> Arg {
    let names = (choice.names)();
    let mut about = choice.about.trim().to_owned();
    if let (Some(default), false) = ((choice.default)(), about.contains("[default")) {
        about += &format!(" [default: {default}]");
    }
    let heading = if FOR_THE_PAPERS.contains(&choice.name) { heading::PAPERS } else { usual };
    let short = [heading::WHAT, heading::HOW, heading::RESULTS].contains(&heading) && !RARE.contains(&choice.name);
    let parser: ValueParser = match names[..] {
        [] => ValueParser::from(move |text: &str| (choice.check)(text).map(|()| text.to_owned())),
        _ => ByName { values: PossibleValuesParser::new(names), hint: choice.hint }.into(),
    };
    let variable = format!("ORTHANT_{}", choice.name.to_uppercase().replace('-', "_"));
    let mut option = Arg::new(choice.name).help(about).value_parser(parser).env(variable).allow_hyphen_values(true);
    option = option.help_heading(heading).hide_short_help(!short);
    option = if choice.name.len() == 1 {
        option.value_name(choice.name.to_uppercase())
    } else {
        option.long(choice.name).value_name(choice.form.to_uppercase().replace(' ', "_"))
    };
    match choice.short {
        Some(letter) => option.short(letter),
        None => option,
    }
}

/// Options of choices that were given, by name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Given(Vec<(&'static str, String)>);

impl Given {
    fn read(matches: &ArgMatches, choices: impl Iterator<Item = &'static Choice>) -> Self {
        let given = |choice: &Choice| Some((choice.name, matches.get_one::<String>(choice.name)?.clone()));
        Self(choices.filter_map(given).collect())
    }

    /// The text that an option was given.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, text)| text.as_str())
    }

    /// The same, and one more.
    pub(crate) fn with(mut self, name: &'static str, text: &str) -> Self {
        self.0.push((name, text.to_owned()));
        self
    }

    /// The names of what was given.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        self.0.iter().map(|(name, _)| *name).collect()
    }

    /// Sets what was given.
    ///
    /// # Errors
    /// [`Error::Input`] names the option, its value and what is wrong with it.
    pub(crate) fn apply(&self, mut set: impl FnMut(&str, &str) -> Result<(), String>) -> Result<(), Error> {
        self.0.iter().try_for_each(|(name, text)| {
            set(name, text).map_err(|reason| Error::Input(format!("--{name} {text}: {reason}")))
        })
    }
}

/// Declares a group of options from a group of choices.
macro_rules! group {
    ($(#[$doc:meta])* $Group:ident of $choices:expr, under $heading:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Default)]
        pub(crate) struct $Group(pub(crate) Given);

        impl Args for $Group {
            fn augment_args(command: Command) -> Command {
                command.args($choices.map(|choice| option(choice, heading::$heading)))
            }
            fn augment_args_for_update(command: Command) -> Command {
                Self::augment_args(command)
            }
        }

        impl FromArgMatches for $Group {
            fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
                Ok(Self(Given::read(matches, $choices)))
            }
            fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
                Self::from_arg_matches(matches).map(|group| *self = group)
            }
        }
    };
}

group!(
    /// What is computed.
    ComputedOptions of Computed::CHOICES.iter(), under WHAT
);
group!(
    /// What is computed but for {g, r, B}, which are sought.
    SoughtOptions of Computed::CHOICES.iter().filter(|choice| !["g", "r", "B"].contains(&choice.name)), under WHAT
);
group!(
    /// How an array is divided.
    DividedOptions of Computed::CHOICES.iter().filter(|choice| !OF_FIELDS.contains(&choice.name)), under WHAT
);
group!(
    /// On how many threads.
    ThreadsOptions of Tuning::CHOICES.iter().filter(|choice| choice.name == "threads"), under HOW
);
group!(
    /// What is kept.
    KeptOptions of Kept::CHOICES.iter(), under RESULTS
);
group!(
    /// The type of a cell, of what is kept.
    CellOptions of Kept::CHOICES.iter().filter(|choice| choice.name == "cell"), under RESULTS
);
group!(
    /// Tuning on every backend.
    TuningOptions of Tuning::CHOICES.iter(), under HOW
);
group!(
    /// Tuning of a GPU.
    CudaOptions of CudaTuning::CHOICES.iter(), under CUDA
);
