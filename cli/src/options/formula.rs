//! The text of a formula and its parameters.

use std::path::Path;
use std::sync::Arc;

use clap::Args;
use orthant::field::{FieldError, FieldKind, Formula};

use super::heading;
use crate::error::Error;

/// Options of a formula.
#[derive(Debug, Args)]
pub(crate) struct FormulaOptions {
    /// The text of a formula, as in 'x^2 + y^2 < 1' [default: a ball]
    ///
    /// A comparison is 1 where it holds; another text is the value itself. A text that begins with a minus comes after --.
    #[arg(index = 2, value_name = "TEXT", conflicts_with = "source")]
    pub(crate) text: Option<String>,
    /// Another number for a `param` of a formula, as in a=0.3; may be repeated
    #[arg(
        long, value_name = "NAME=NUMBER", value_parser = setting, env = "ORTHANT_SET", value_delimiter = ',',
        help_heading = heading::WHAT, hide_short_help = true
    )]
    pub(crate) set: Vec<(String, f64)>,
}

fn setting(text: &str) -> Result<(String, f64), String> {
    let wrong = || "a name and a number are needed, as in a=0.3".to_owned();
    let (name, number) = text.split_once('=').ok_or_else(wrong)?;
    Ok((name.trim().to_owned(), number.trim().parse().map_err(|_| wrong())?))
}

impl FormulaOptions {
    /// The source of a run: the text, or what the file `path` holds, with other numbers for parameters.
    ///
    /// # Errors
    /// [`Error::File`]; [`Error::Input`] of a field that is no formula, and of a file that holds none;
    /// [`FieldError::Formula`] of a text that is none.
    pub(crate) fn source(&self, workload: FieldKind, path: Option<&Path>) -> Result<Option<Arc<str>>, Error> {
        let source = path.map(read_source).transpose()?;
        if workload != FieldKind::Formula {
            if let Some(text) = &self.text {
                let instead = match workload {
                    FieldKind::Array => "a file is named by --input".to_owned(),
                    _ => format!("use `orthant run formula '{text}'`"),
                };
                let reason = format!("{workload} takes no text, and '{text}' is one; {instead}");
                return Err(Error::Input(reason));
            }
            if !self.set.is_empty() {
                let reason = format!("--set: {workload} has no parameters; leave out, or use the workload 'formula'");
                return Err(Error::Input(reason).about(&["set"]));
            }
            return Ok(source);
        }
        if let (Some(path), Some(text)) = (path, &source) {
            Formula::parse(text.clone()).map_err(|error| Error::Formula { path: path.to_owned(), error })?;
        }
        let source = self.text.as_deref().map(Arc::from).or(source);
        if self.set.is_empty() {
            return Ok(source);
        }
        let Some(text) = source else {
            return Err(Error::Input("--set: no formula is given; name its text, or its file by --source".into()));
        };
        let wrong = |error| Error::from(orthant::Error::from(FieldError::Formula(error)));
        let mut formula = Formula::parse(text).map_err(wrong)?;
        for (name, number) in &self.set {
            formula = formula.with(name, *number).map_err(wrong)?;
        }
        Ok(Some(formula.text().into()))
    }
}

/// The text of a source.
fn read_source(path: &Path) -> Result<Arc<str>, Error> {
    let text = std::fs::read_to_string(path);
    text.map(Arc::from).map_err(|source| Error::File { path: path.to_owned(), source })
}
