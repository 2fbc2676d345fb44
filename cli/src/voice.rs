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
            tell(text);
        }
    }
}

/// One line on stderr. If nobody reads that, there is nowhere left to say so.
pub(crate) fn tell(text: impl std::fmt::Display) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Writes data to stdout, all of it: what stays in a buffer fails at the end, when nobody hears of it.
pub(crate) fn print(text: impl std::fmt::Display) -> Result<(), Error> {
    let mut out = std::io::stdout().lock();
    write!(out, "{text}").and_then(|()| out.flush()).map_err(stdout_failed)
}

/// Refuses to go on where stdout was closed when the program began, as by `>&-`.
///
/// Rust's runtime puts the null device in its place, which takes everything. Unlike `>/dev/null` it can be read.
///
/// # Errors
/// [`Error::File`].
#[cfg(unix)]
pub(crate) fn stdout_is_open() -> Result<(), Error> {
    use std::io::Read;
    use std::os::fd::AsFd;
    use std::os::unix::fs::MetadataExt;

    let mut out = std::fs::File::from(std::io::stdout().as_fd().try_clone_to_owned().map_err(stdout_failed)?);
    let device = |facts: std::io::Result<std::fs::Metadata>| facts.map(|facts| facts.rdev()).ok();
    let null = device(std::fs::metadata("/dev/null"));
    match null.is_some() && device(out.metadata()) == null && out.read(&mut [0]).is_ok() {
        true => Err(stdout_failed(std::io::Error::other("is closed"))),
        false => Ok(()),
    }
}

#[cfg(not(unix))]
pub(crate) fn stdout_is_open() -> Result<(), Error> {
    Ok(())
}

/// What messages call it.
pub(crate) const STDOUT: &str = "stdout";

pub(crate) fn stdout_failed(source: std::io::Error) -> Error {
    Error::File { path: STDOUT.into(), source }
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
