//! What is said, and where: data on stdout, talk on stderr.

use std::io::Write;

use crate::error::Error;
use crate::escape;
use crate::stdout;

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
            tell(text);
        }
    }
}

/// One line on stderr, in which no name of a file can control the terminal or begin another line. If nobody reads that, there is
/// nowhere left to say so.
pub(crate) fn tell(text: impl std::fmt::Display) {
    let _ = writeln!(std::io::stderr(), "{}", escape::line(&text.to_string()));
}

/// The same of a text that has several lines: what a compiler says.
pub(crate) fn tell_lines(text: impl std::fmt::Display) {
    let _ = writeln!(std::io::stderr(), "{}", escape::lines(&text.to_string()));
}

/// Writes data to stdout, all of it: what stays in a buffer fails at the end, when nobody hears of it.
pub(crate) fn print(text: impl std::fmt::Display) -> Result<(), Error> {
    let mut out = stdout::lock()?;
    write!(out, "{text}").and_then(|()| out.flush()).map_err(stdout::failed)
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
