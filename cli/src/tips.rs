//! What to type instead, under an error of the parser.

use std::borrow::Cow;

use clap::Command;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use orthant::field::FieldKind;

use crate::options::what_reads;
use crate::variables::Typed;

/// The error with tips, where it is plain what was meant by what was typed.
pub(crate) fn advised(mut error: clap::Error, typed: &Typed<'_>) -> clap::Error {
    let (all, command) = (typed.command, typed.below());
    let words: Vec<_> = typed.words().map(Cow::into_owned).collect();
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        _ => String::new(),
    };
    let (option, word) = (text(ContextKind::InvalidArg), text(ContextKind::InvalidSubcommand));
    let tips = match error.kind() {
        ErrorKind::InvalidSubcommand => instead_of_command(&word, all, std::ptr::eq(all, command)),
        ErrorKind::UnknownArgument => instead_of_option(&option, command, &words).into_iter().collect(),
        ErrorKind::InvalidValue if command.get_name() == "run" && option == "<WORKLOAD>" => {
            vec!["a set without a name here is run by its formula, as in `orthant run formula 'x^2 + y^2 < 1'`".into()]
        }
        ErrorKind::ValueValidation if command.get_name() == "build" && option.starts_with("--slice") => {
            vec!["a slice of a tree that is there is `orthant tree slice X.tree.zarr --axis z=48`".into()]
        }
        _ => Vec::new(),
    };
    if !tips.is_empty() {
        let tips = tips.into_iter().map(StyledStr::from).collect();
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    }
    error
}

/// What is typed with a file, with a field, or for a command of another one. A word that is spelt nearly like one is looked for at the
/// `top` only: below, clap itself knows what is near.
fn instead_of_command(word: &str, all: &Command, top: bool) -> Vec<String> {
    if let Some((what, commands)) = what_reads(word) {
        return vec![format!("{word} is {what}; {commands}")];
    }
    if FieldKind::all().any(|field| field.name() == word) {
        return vec![format!("a field is divided by `orthant run {word}`")];
    }
    let within = |most: usize| {
        let mut found = Vec::new();
        for group in all.get_subcommands() {
            let near = |name: &&str| strsim::damerau_levenshtein(name, word) <= most;
            let names = group.get_subcommands().map(Command::get_name).filter(near);
            found.extend(names.map(|name| format!("there is `orthant {} {name}`", group.get_name())));
        }
        found
    };
    let same = within(0);
    if same.is_empty() && top { within(1) } else { same }
}

/// The option of the other case, or how a text is given that begins with a minus.
fn instead_of_option(option: &str, command: &Command, words: &[String]) -> Option<String> {
    let letter = option.strip_prefix('-').and_then(|rest| rest.chars().next()).filter(|&letter| letter != '-')?;
    let has_dim = command.get_arguments().any(|known| known.get_long() == Some("dim"));
    if has_dim && option.eq_ignore_ascii_case("-k") {
        return Some("k, the number of dimensions, is '--dim'".into());
    }
    let other = if letter.is_lowercase() { letter.to_ascii_uppercase() } else { letter.to_ascii_lowercase() };
    let known = command.get_arguments().find(|known| known.get_short() == Some(other));
    let whole = words.iter().find(|word| word.starts_with(option) && word.len() > 2);
    match (whole, known) {
        (Some(text), _) if words.iter().any(|word| word == "formula") => {
            Some(format!("a text that begins with a minus comes after --, as in `orthant run formula -- '{text}'`"))
        }
        (_, Some(known)) => {
            let about = known.get_help().map(|help| format!(": {help}")).unwrap_or_default();
            Some(format!("there is '-{other}'{about}"))
        }
        _ => None,
    }
}
