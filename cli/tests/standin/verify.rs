//! `verify`: every curve, scheme, insertion, table and loop, and a coarse sample, against the CPU, to the bit.

use std::path::Path;

use orthant::field::FieldKind;

use crate::binary::{orthant, text};

fn verified(folder: &Path, what: &str) {
    let output = orthant(folder, &format!("verify --backend cuda --brief {what}"), &[]);
    let (out, err) = text(&output);
    assert!(output.status.success() && out.contains(" rows, each over two poisons"), "{out}{err}");
}

/// The fields take turns.
pub(super) fn every_pair_of_choices_with_some_field(folder: &Path) {
    verified(folder, "");
}

pub(super) fn every_pair_of_choices_with(folder: &Path, field: FieldKind) {
    verified(folder, field.name());
}
