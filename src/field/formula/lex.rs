//! The text of a formula as numbers, names and signs.

use crate::field::formula::dag::FormulaLiteral;
use crate::field::formula::error::FormulaError;

/// A piece of the text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum FormulaToken<'a> {
    Number(FormulaLiteral),
    Name(&'a str),
    Sign(&'static str),
    End,
}

impl FormulaToken<'_> {
    /// The piece in the words of an error.
    pub(super) fn words(&self, text: &str) -> String {
        match self {
            Self::End => "the text ends".into(),
            _ => format!("'{text}' stands there"),
        }
    }
}

/// A piece and where it lies.
#[derive(Debug, Clone, Copy)]
pub(super) struct FormulaPiece<'a> {
    pub(super) token: FormulaToken<'a>,
    /// Its first byte, and the one after its last.
    pub(super) at: usize,
    pub(super) end: usize,
}

/// Signs, those first that others are the beginning of.
const SIGNS: [&str; 15] = ["<=", ">=", "+", "-", "*", "/", "^", "(", ")", "|", ",", ";", "=", "<", ">"];

/// The pieces of `text`, without comments, which begin with `#`; the last is its end.
pub(super) fn pieces(text: &str) -> Result<Vec<FormulaPiece<'_>>, FormulaError> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        if first.is_ascii_whitespace() {
            at += first.len_utf8();
            continue;
        }
        if first == '#' {
            at += text[at..].find('\n').unwrap_or(text.len() - at);
            continue;
        }
        let rest = &text[at..];
        if rest.starts_with("**") {
            return Err(FormulaError::new(text, at, "'**' is no sign of a formula; write '^', as in x^2"));
        }
        let (token, length) = if first.is_ascii_digit() || first == '.' {
            number(text, at)?
        } else if first.is_ascii_alphabetic() || first == '_' {
            let length = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            (FormulaToken::Name(&rest[..length]), length)
        } else if let Some(sign) = SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
            (FormulaToken::Sign(sign), sign.len())
        } else {
            let instead = match first {
                '&' => "; write 'and'",
                '!' | '~' => "; write 'not'",
                '[' | '{' => "; write '('",
                ']' | '}' => "; write ')'",
                '≤' => "; write '<='",
                '≥' => "; write '>='",
                '·' | '×' => "; write '*'",
                '−' => "; write '-'",
                _ if first.is_whitespace() => "; write a plain space",
                _ => "",
            };
            return Err(FormulaError::new(text, at, format!("'{first}' is no sign of a formula{instead}")));
        };
        found.push(FormulaPiece { token, at, end: at + length });
        at += length;
    }
    found.push(FormulaPiece { token: FormulaToken::End, at: text.trim_end().len(), end: text.len() });
    Ok(found)
}

/// The number that begins at byte `at`, and how many bytes it has.
fn number(text: &str, at: usize) -> Result<(FormulaToken<'_>, usize), FormulaError> {
    let bytes = &text.as_bytes()[at..];
    let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut length = digits(0);
    if bytes.get(length) == Some(&b'.') {
        length += 1 + digits(length + 1);
    }
    if let Some(b'e' | b'E') = bytes.get(length) {
        let sign = usize::from(matches!(bytes.get(length + 1), Some(b'+' | b'-')));
        let power = digits(length + 1 + sign);
        // Without digits it is a name that follows, which is an error of its own.
        length += if power > 0 { 1 + sign + power } else { 0 };
    }
    let literal = FormulaLiteral::read(&text[at..at + length])
        .ok_or_else(|| FormulaError::new(text, at, "a number has digits, as 2, 0.5 or 1e-3 have"))?;
    Ok((FormulaToken::Number(literal), length))
}
