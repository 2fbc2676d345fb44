//! What is said, and where: data on stdout, talk on stderr.

use std::io::Write;

use crate::error::Error;

/// How much is said on stderr, and whether in colour.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Voice {
    pub(crate) quiet: bool,
    pub(crate) verbose: bool,
    pub(crate) colour: bool,
}

impl Voice {
    /// One line on stderr, unless quiet.
    pub(crate) fn say(&self, text: impl std::fmt::Display) {
        if !self.quiet {
            eprintln!("{text}");
        }
    }
}

/// Writes data to stdout.
pub(crate) fn print(text: impl std::fmt::Display) -> Result<(), Error> {
    write!(std::io::stdout().lock(), "{text}").map_err(stdout_failed)
}

pub(crate) fn stdout_failed(source: std::io::Error) -> Error {
    Error::File { path: "stdout".into(), source }
}

/// A table without frames, in the style of the report's levels.
pub(crate) fn table(header: &[&str]) -> comfy_table::Table {
    let mut table = comfy_table::Table::new();
    table.load_style(comfy_table::presets::NOTHING).set_header(header);
    table
}

/// Aligns every column but the first to the right.
pub(crate) fn align_right(table: &mut comfy_table::Table) {
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(comfy_table::CellAlignment::Right);
    }
}
