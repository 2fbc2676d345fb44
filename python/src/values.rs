//! Values of options, as texts that are read one by one.

use crate::error::Failure;
use crate::options::{Given, spelt};

/// What is wrong with a value, with the option's name before it.
pub(crate) fn wrong(name: &str, value: &str, reason: impl std::fmt::Display) -> Failure {
    Failure::Value(format!("{} {value}: {reason}", spelt(name)))
}

/// Takes an option out and reads it.
pub(crate) fn take<T>(
    given: &mut Given,
    name: &str,
    read: impl Fn(&str) -> Result<T, String>,
) -> Result<Option<T>, Failure> {
    let value = given.remove(name);
    value.map(|value| read(&value).map_err(|reason| wrong(name, &value, reason))).transpose()
}

pub(crate) fn parsed<T: std::str::FromStr<Err: std::fmt::Display>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: T::Err| error.to_string())
}

pub(crate) fn whole(text: &str) -> Result<u64, String> {
    orthant::choice::number(text, 0..=u64::MAX)
}

/// Names of columns, which commas are between.
pub(crate) fn columns(names: &str) -> Vec<String> {
    names.split(',').map(|name| name.trim().to_owned()).collect()
}

/// True if cells are labels. Pictures alone differ by it, which Python draws.
pub(crate) fn are_labels(text: &str) -> Result<bool, String> {
    match text {
        "labels" => Ok(true),
        "values" => Ok(false),
        _ => Err("expected one of labels, values".into()),
    }
}

pub(crate) fn yes_or_no(text: &str) -> Result<bool, String> {
    match text {
        "yes" | "true" => Ok(true),
        "no" | "false" => Ok(false),
        other => Err(format!("'{other}' is neither True nor False")),
    }
}
