//! What is wrong with the text of a formula, and where.

use std::fmt::{Display, Formatter, Result};

/// How many characters of a long line an error shows on either side of the place it points at.
const SHOWN: usize = 50;

/// Why a text is no formula: what was expected, and the character at which it was missed.
///
/// ```
/// use orthant::field::Formula;
///
/// let error = Formula::parse("x + sqr(y) < 1").unwrap_err();
/// assert_eq!((error.line(), error.column()), (1, 5));
/// assert_eq!(
///     error.to_string(),
///     "formula: column 5: nothing is called 'sqr'; did you mean 'sqrt'?\n    x + sqr(y) < 1\n        ^"
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormulaError {
    line: usize,
    column: usize,
    /// True if the text has one line, so that nobody has to be told which.
    alone: bool,
    /// The line, or what is shown of it, and the characters before the place.
    shown: String,
    before: usize,
    reason: String,
}

impl std::error::Error for FormulaError {}

impl FormulaError {
    /// The error at the byte `at` of `text`.
    pub(super) fn new(text: &str, at: usize, reason: impl Into<String>) -> Self {
        let at = at.min(text.len());
        let begins = text[..at].rfind('\n').map_or(0, |end| end + 1);
        let ends = text[at..].find('\n').map_or(text.len(), |end| at + end);
        let before = text[begins..at].chars().count();
        let skipped = before.saturating_sub(SHOWN);
        let shown = text[begins..ends].chars().skip(skipped).take(2 * SHOWN);
        Self {
            line: 1 + text[..at].matches('\n').count(),
            column: before + 1,
            alone: !text.trim_end().contains('\n'),
            shown: shown.map(|c| if c.is_control() { ' ' } else { c }).collect(),
            before: before - skipped,
            reason: reason.into(),
        }
    }

    /// The line of the text, from 1 on.
    pub fn line(&self) -> usize {
        self.line
    }

    /// The character in that line, from 1 on.
    pub fn column(&self) -> usize {
        self.column
    }

    /// What was expected, without the place.
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

impl Display for FormulaError {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let Self { line, column, alone, shown, before, reason } = self;
        f.write_str("formula: ")?;
        if !alone {
            write!(f, "line {line}, ")?;
        }
        write!(f, "column {column}: {reason}\n    {shown}\n    {:before$}^", "")
    }
}

/// Of `known` the name that is spelt most like `name`; None if none is near.
pub(super) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let length = name.chars().count();
    let near = known.map(|other| (distance(name, other), other)).min()?;
    // One letter of a short name is all of it.
    (near.0 <= if length < 3 { 0 } else { 1 + length / 5 }).then_some(near.1)
}

/// The least number of letters to add, drop, change or swap with the next one that makes one name the other.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = match (i, j) {
                (0, _) | (_, 0) => i + j,
                _ => {
                    let changed = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                    let mut least = changed.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
                    if i > 1 && j > 1 && (a[i - 1], a[i - 2]) == (b[j - 2], b[j - 1]) {
                        least = least.min(rows[i - 2][j - 2] + 1);
                    }
                    least
                }
            };
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_lines_and_characters() {
        let error = FormulaError::new("let é = 1;\n é + ?", "let é = 1;\n é + ".len(), "no");
        assert_eq!((error.line(), error.column()), (2, 6));
        assert_eq!(error.to_string(), "formula: line 2, column 6: no\n     é + ?\n         ^");
        let long = format!("{}?{}", "x+".repeat(500), "+x".repeat(500));
        let shown = FormulaError::new(&long, 1000, "no").to_string();
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!((lines[1].len(), lines[2].len()), (104, 55));
        assert_eq!(&lines[1][54..55], "?");
    }

    #[test]
    fn near_names_are_found() {
        let known = ["sqrt", "floor", "min", "max", "x"];
        let near = |name| nearest(name, known.into_iter());
        assert_eq!(
            ["sqr", "flor", "mni", "fllor"].map(near),
            [Some("sqrt"), Some("floor"), Some("min"), Some("floor")]
        );
        assert_eq!(["y", "radius", "mean"].map(near), [None; 3]);
    }
}
