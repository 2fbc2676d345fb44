//! `verify`: every curve, scheme, insertion, table and loop, and a coarse sample, against the CPU, to the bit; and pieces that processes
//! make.

use std::path::Path;

use orthant::field::FieldKind;

use crate::binary::{orthant, text};

fn verified(folder: &Path, what: &str) {
    let output = orthant(folder, &format!("verify --backend cuda {what}"), &[]);
    let (out, err) = text(&output);
    assert!(output.status.success() && out.contains(" rows, each over two poisons"), "{out}{err}");
}

/// Every choice, and every field.
pub(super) fn every_choice_once(folder: &Path) {
    verified(folder, "--once");
}

/// The fields take turns.
pub(super) fn every_pair_of_choices_with_some_field(folder: &Path) {
    verified(folder, "--brief");
}

/// Two processes, each of which drives two GPUs.
pub(super) fn pieces_of_processes_are_one_run(folder: &Path) {
    let arguments = "verify kernel --ranks 2 --backend cuda --device 0,1";
    let output = orthant(folder, arguments, &[("STANDIN_DEVICES", "2")]);
    let (out, err) = text(&output);
    assert!(output.status.success() && out.contains("5 runs in pieces by 2 processes"), "{out}{err}");
}

pub(super) fn every_pair_of_choices_with(folder: &Path, field: FieldKind) {
    verified(folder, &format!("--brief {field}"));
}
