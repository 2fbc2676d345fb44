//! What is computed in pieces, as the plan keeps it: whoever makes a piece needs the folder and nothing that was typed before.

use std::path::absolute;
use std::sync::Arc;

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use orthant::backend::Kept;
use orthant::field::FieldKind;
use orthant::{Computed, Keep, Plan, Request};
use serde::{Deserialize, Serialize};

use crate::data::{WholeArray, read_for};
use crate::error::Error;
use crate::options::{Given, HowOptions, InputOptions, in_a_byte};
use crate::variables;
use crate::voice::Voice;

/// What is computed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct PlannedRun {
    pub(crate) workload: String,
    /// The choices that were made, by name.
    pub(crate) computed: Vec<(String, String)>,
    /// The type of a cell, if it was chosen.
    pub(crate) cell: Option<String>,
    /// The text of a formula or of a kernel.
    pub(crate) source: Option<String>,
    /// The options of the data, as they are typed.
    pub(crate) input: Vec<String>,
}

/// A run that can start: what is computed, and the array that is divided, if it is one.
pub(crate) struct ReadRun {
    pub(crate) request: Request,
    pub(crate) array: Option<WholeArray>,
}

impl PlannedRun {
    /// Reads all data, and makes the request, with `how` to carry it out.
    ///
    /// # Errors
    /// [`Error`] names the option, or the file and what is wrong there.
    pub(crate) fn read(&self, how: &HowOptions, limit: Option<u64>, voice: Voice) -> Result<ReadRun, Error> {
        let workload: FieldKind = self.workload.parse()?;
        let computed = known(&self.computed, Computed::CHOICES.iter().map(|choice| choice.name))?;
        how.divides()?;
        let mut request = how.request(workload, &computed, limit)?;
        let cell = self.cell.iter().map(|cell| ("cell".to_owned(), cell.clone())).collect::<Vec<_>>();
        let kept = known(&cell, Kept::CHOICES.iter().map(|choice| choice.name))?;
        kept.apply(|name, text| request.how.kept.set(name, text))?;
        let mut request = in_a_byte(request, self.cell.as_deref());
        request.source = self.source.as_deref().map(Arc::from);
        request.how = request.how.keep(Keep::Regions);
        let command = variables::without(InputOptions::augment_args(Command::new("input").no_binary_name(true)));
        let matches = command.try_get_matches_from(&self.input);
        let input = matches.and_then(|matches| InputOptions::from_arg_matches(&matches));
        let input = input.map_err(|error| Error::Input(error.to_string()))?;
        let array = read_for(&input, &mut request, voice)?;
        Ok(ReadRun { request, array })
    }
}

/// All that decides the cells of a run, in words.
///
/// # Errors
/// [`Error`] if the request cannot be carried out.
pub(crate) fn made_of<const K: usize>(request: &Request, plan: &Plan<K>) -> Result<String, Error> {
    let computation = serde_json::to_string(&request.computation(plan));
    computation.map_err(|error| Error::System(format!("the plan cannot be written: {error}")))
}

/// Choices by the names that this program knows.
fn known(given: &[(String, String)], names: impl Iterator<Item = &'static str> + Clone) -> Result<Given, Error> {
    given.iter().try_fold(Given::default(), |all, (name, text)| {
        let known = names.clone().find(|known| known == name);
        let known =
            known.ok_or_else(|| Error::Input(format!("the plan names the option --{name}, which is not known")))?;
        Ok(all.with(known, text))
    })
}

/// The options of data as they were typed, or set by variables. Files are named so that they are found from everywhere.
#[derive(Debug, Clone, Default)]
pub(super) struct TypedInput(pub(super) Vec<String>);

impl Args for TypedInput {
    fn augment_args(command: Command) -> Command {
        command
    }
    fn augment_args_for_update(command: Command) -> Command {
        command
    }
}

impl FromArgMatches for TypedInput {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut typed = Vec::new();
        for option in InputOptions::augment_args(Command::new("input")).get_arguments() {
            let (id, long) = (option.get_id().as_str(), option.get_long().unwrap_or_default());
            let given = [Some(ValueSource::CommandLine), Some(ValueSource::EnvVariable)];
            if !given.contains(&matches.value_source(id)) {
                continue;
            }
            if !option.get_action().takes_values() {
                typed.extend(matches.get_flag(id).then(|| format!("--{long}")));
                continue;
            }
            for value in matches.get_raw(id).into_iter().flatten() {
                let path = ["input", "label_table"].contains(&id).then(|| absolute(value).ok()).flatten();
                let value = path.as_ref().map_or(value, |path| path.as_os_str());
                let Some(value) = value.to_str() else {
                    let reason = format!("--{long} {}: a plan keeps names that are UTF-8 alone\n", value.display());
                    return Err(clap::Error::raw(ErrorKind::InvalidUtf8, reason));
                };
                typed.push(format!("--{long}={value}"));
            }
        }
        Ok(Self(typed))
    }
    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        Self::from_arg_matches(matches).map(|typed| *self = typed)
    }
}
