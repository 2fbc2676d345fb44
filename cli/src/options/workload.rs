//! What is run, by its name, and what to type where the name is a file's.

use std::ffi::OsStr;
use std::fmt::Display;
use std::path::Path;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Command};
use orthant::field::FieldKind;
use orthant_formats::input::{Format, MeshFormat, PointsFormat};

use crate::output::tree::is_tree;

/// The value parser of what is run.
pub(crate) fn field_or_array() -> impl TypedValueParser<Value = FieldKind> {
    let values = PossibleValuesParser::new(FieldKind::all().map(FieldKind::name));
    ByName { values, hint: a_file_instead }.map(|name| name.parse().expect("only names of fields are let through"))
}

/// What to type if a file is named where a field is expected.
fn a_file_instead(name: &str) -> Option<String> {
    what_reads(name).map(|(what, commands)| format!("{what}, not a field; {commands}"))
}

/// What a file is by its name, and the commands that read it; None if nothing says that it is a file.
pub(crate) fn what_reads(name: &str) -> Option<(&'static str, String)> {
    let path = Path::new(name);
    if is_tree(path) {
        return Some(("a tree", format!("`orthant tree info {name}` says what is in it")));
    }
    let (what, pronoun, workload) = if PointsFormat::is_points(path) {
        ("points", "them", "points")
    } else if MeshFormat::of(path).is_some() {
        ("a mesh", "it", "mesh")
    } else if Format::of(path).is_some() || path.exists() {
        ("a file", "it", "array")
    } else {
        return None;
    };
    let commands = format!(
        "`orthant tree build {name} -o X.tree.zarr` makes a tree of {pronoun}, and `orthant run {workload} --input {name}` \
         divides {pronoun} without one"
    );
    Some((what, commands))
}

/// The parser of a choice by name, with a hint for a text that is none of the names.
#[derive(Clone)]
pub(super) struct ByName<H> {
    pub(super) values: PossibleValuesParser,
    pub(super) hint: fn(&str) -> Option<H>,
}

impl<H: Display + Clone + Send + Sync + 'static> TypedValueParser for ByName<H> {
    type Value = String;

    fn parse_ref(&self, command: &Command, option: Option<&Arg>, text: &OsStr) -> Result<String, clap::Error> {
        let hint = self.hint;
        let no_name = move |text: &str| hint(text).map_or(Ok(()), |hint| Err(hint.to_string()));
        no_name.parse_ref(command, option, text)?;
        self.values.parse_ref(command, option, text)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        self.values.possible_values()
    }
}
