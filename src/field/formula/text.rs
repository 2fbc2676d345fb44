//! A formula that was read.

use std::sync::{Arc, Mutex, PoisonError};

use crate::field::formula::error::{FormulaError, nearest};
use crate::field::formula::parse::{ParsedFormula, parse};
use crate::field::formula::scope::AXES;
use crate::field::formula::vm::{is_model, read_model};

/// A formula: a text that says what a cell is worth by the coordinates of its sample.
///
/// [The page on formulas](crate::field::formula) has an example of a run.
///
/// ```
/// use orthant::field::Formula;
///
/// let formula = Formula::parse("param r = 0.9; x^2 + y^2 + z^2 < r^2")?;
/// assert_eq!(formula.dims(), 3);
/// // A parameter is a number of the text that can be another one.
/// let smaller = formula.with("r", 0.25)?;
/// assert_eq!(smaller.text(), "param r = 0.25; x^2 + y^2 + z^2 < r^2");
/// // What is wrong is said with its place.
/// let error = Formula::parse("x^2 + y^0.5 < 1").unwrap_err();
/// assert_eq!(error.column(), 9);
/// # Ok::<(), orthant::field::FormulaError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Formula {
    text: Arc<str>,
    pub(super) parsed: Arc<ParsedFormula>,
}

/// The formula that was read last. A run asks for its own several times, and one of thousands of operations takes milliseconds.
static LAST: Mutex<Option<Formula>> = Mutex::new(None);

impl Formula {
    /// Reads a text: a formula, or a model in the format `.vm` of MPR and fidget, which is 1 where its distance is below 0.
    ///
    /// # Errors
    /// [`FormulaError`] says what was expected, and at which character.
    pub fn parse(text: impl Into<Arc<str>>) -> Result<Self, FormulaError> {
        let text = text.into();
        let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = last.as_ref().filter(|last| last.text == text) {
            return Ok(last.clone());
        }
        let parsed = if is_model(&text) { read_model(&text)? } else { parse(&text)? };
        Ok(last.insert(Self { parsed: Arc::new(parsed), text }).clone())
    }

    /// The formula that a run takes without a text: a ball in `k` dimensions.
    pub fn ball(k: usize) -> Self {
        let squares: Vec<String> = AXES.iter().take(k.max(1)).map(|axis| format!("{axis}^2")).collect();
        Self::parse(format!("{} < 0.81", squares.join(" + "))).expect("a sum of squares is a formula")
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The number of dimensions that it needs: that of the axes that it declares, else the last axis that it names.
    pub fn dims(&self) -> usize {
        let named = self.parsed.named.iter().rposition(Option::is_some).map_or(1, |axis| axis + 1);
        named.max(self.parsed.declared)
    }

    /// The names of its parameters.
    pub fn params(&self) -> impl Iterator<Item = &str> {
        self.parsed.params.iter().map(|(name, _)| name.as_str())
    }

    /// The formula with another number for a parameter.
    ///
    /// # Errors
    /// [`FormulaError`] if no `param` has this name, or the number is not finite.
    pub fn with(&self, name: &str, number: f64) -> Result<Self, FormulaError> {
        let wrong = |at: usize, reason: String| Err(FormulaError::new(&self.text, at, reason));
        let Some((_, bytes)) = self.parsed.params.iter().find(|(known, _)| known == name) else {
            let hint = match (nearest(name, self.params()), self.parsed.params.is_empty()) {
                (Some(near), _) => format!("did you mean '{near}'?"),
                (None, true) => format!("it has no parameters; `param {name} = ..;` makes one"),
                (None, false) => format!("its parameters are {}", self.params().collect::<Vec<_>>().join(", ")),
            };
            return wrong(0, format!("the formula has no parameter '{name}'; {hint}"));
        };
        if !number.is_finite() {
            return wrong(bytes.start, format!("{number} is no number that '{name}' can be"));
        }
        Self::parse(format!("{}{number:?}{}", &self.text[..bytes.start], &self.text[bytes.end..]))
    }

    /// The error that it names an axis that `k` dimensions do not have; None if it names none.
    pub(super) fn beyond(&self, k: usize) -> Option<FormulaError> {
        if self.dims() <= k {
            return None;
        }
        let at = self.parsed.named[k..].iter().flatten().next().copied().unwrap_or(0);
        let (needs, have) = (self.dims(), if k == 1 { "1 dimension".into() } else { format!("{k} dimensions") });
        let reason = format!("the formula needs {needs} dimensions for what is named here, and the run has {have}");
        Some(FormulaError::new(&self.text, at, reason))
    }
}
