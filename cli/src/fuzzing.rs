//! What fuzz targets call in the program: readers without the command line around them. Built by them, and by unit tests, which see
//! when options change.

use std::path::Path;

use crate::bench::settings::Settings;
use crate::bench::sweep::Sweep;
use crate::report::{self, ReportOptions};
use crate::voice::Voice;

/// The most cases of a sweep that are read as runs.
const CASES: usize = 100;

/// Reads rows of `bench`, and writes a page of them, tables and Markdown into the folder of the file.
pub fn report(rows: &Path) -> Result<(), String> {
    let options = ReportOptions {
        results: vec![rows.to_owned()],
        output: Some(rows.with_extension("html")),
        svg: None,
        csv: Some(rows.with_extension("csv")),
        curves: Vec::new(),
        md: Some(rows.with_extension("md")),
        title: "Rows".into(),
        force: true,
    };
    let voice = Voice { quiet: true, verbose: false, colour: false };
    report::report(options, voice).map_err(|error| error.to_string())
}

/// Reads a sweep, and its first cases as runs.
pub fn sweep(path: &Path) -> Result<(), String> {
    let settings = Settings::new();
    let sweep = Sweep::read(Some(path), &[], &settings).map_err(|error| error.to_string())?;
    for case in sweep.cases(&settings).take(CASES).flatten() {
        settings.parse(&case)?;
    }
    Ok(())
}
