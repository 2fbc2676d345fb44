//! Whatever can be chosen in the library can be chosen here, by the same name everywhere.
//!
//! That tuned schemes are kept for what was chosen is a law beside the store, which alone sees their keys.

use orthant::Computed;
use orthant::backend::{CudaTuning, Kept, Tuning};
use orthant::choice::Choice;

use crate::binary::{command, folder, orthant, report, text};

fn choices() -> impl Iterator<Item = &'static Choice> {
    Computed::CHOICES.iter().chain(Kept::CHOICES).chain(Tuning::CHOICES).chain(CudaTuning::CHOICES)
}

/// The option of `run`: long where its name is a word.
fn option(choice: &Choice) -> String {
    if choice.name.len() == 1 { format!("-{}", choice.name) } else { format!("--{}", choice.name) }
}

#[test]
fn every_choice_is_an_option_and_a_variable() {
    let folder = folder("choices-options");
    for choice in choices() {
        let option = option(choice);
        let variable = format!("ORTHANT_{}", choice.name.to_uppercase().replace('-', "_"));
        let given = command(&folder, &format!("run mandelbrot {option}=nonsense")).output().unwrap();
        let set = command(&folder, "run mandelbrot").env(&variable, "nonsense").output().unwrap();
        for output in [given, set] {
            let message = text(&output.stderr);
            let named = message.contains(&format!("'{option} <")) || message.contains(&format!(" {option} <"));
            assert!(output.status.code() == Some(2) && named && message.contains("nonsense"), "{option}: {message}");
        }
        let help = text(&orthant(&folder, "run --help").stdout);
        let words = help.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(&format!("[env: {variable}]")), "{variable}: {help}");
    }
}

#[test]
fn every_choice_is_an_axis() {
    let folder = folder("choices-axes");
    for choice in choices() {
        let value = match (choice.names)().last() {
            Some(name) => (*name).to_owned(),
            None => {
                let texts = ["2", "16x16", "-1:1,-1:1", "auto"].into_iter();
                texts.into_iter().find(|text| (choice.check)(text).is_ok()).expect("some value fits").to_owned()
            }
        };
        let letter = choice.short.map_or(choice.name.to_owned(), String::from);
        for name in [choice.name, &letter] {
            let list = format!("bench -a workload=mandelbrot -a {name}={value} --list");
            let output = orthant(&folder, &list);
            let listed = text(&output.stdout);
            let wanted = format!(" {letter}={value}");
            assert!(listed.trim_end().ends_with(&wanted), "{list}: {listed}{}", text(&output.stderr));
        }
    }
}

#[test]
fn every_choice_is_in_a_report() {
    let folder = folder("choices-report");
    let report = report(&folder, "mandelbrot -n 64");
    for choice in choices() {
        // The papers' letter for what is an option of more than one letter.
        let key = if choice.name == "dim" { "k".into() } else { choice.name.replace('-', "_") };
        assert!(report.get(&key).is_some(), "{key}: {report}");
    }
}
