//! Conditions on cases, such as `g*r*B <= n`.
//!
//! Two sums of products of numbers and settings, compared. Where a setting has a value per axis, the condition must hold
//! on every axis. A condition that names a setting which a case leaves open does not concern that case.

use crate::bench::settings::Case;

/// A condition.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Constraint {
    left: Term,
    order: Relation,
    right: Term,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Relation {
    Below,
    AtMost,
    Above,
    AtLeast,
    Equal,
    Different,
}

/// As written; two characters before one.
const ORDERS: [(&str, Relation); 6] = [
    ("<=", Relation::AtMost),
    (">=", Relation::AtLeast),
    ("==", Relation::Equal),
    ("!=", Relation::Different),
    ("<", Relation::Below),
    (">", Relation::Above),
];

#[derive(Debug, Clone, PartialEq)]
enum Term {
    Number(f64),
    Setting(String),
    Of(Box<Term>, char, Box<Term>),
}

impl Constraint {
    /// Reads a condition; `known` turns a name into the one that cases use.
    pub(super) fn parse(text: &str, known: impl Fn(&str) -> Result<String, String>) -> Result<Self, String> {
        let found = ORDERS.iter().find_map(|(sign, order)| Some((text.split_once(sign)?, *order)));
        let ((left, right), order) =
            found.ok_or_else(|| format!("'{text}' compares nothing; use <=, <, >=, >, == or !=, as in g*r*B <= n"))?;
        let side = |side: &str| Reader { rest: side, whole: text, known: &known }.read();
        Ok(Self { left: side(left)?, order, right: side(right)? })
    }

    /// True unless the condition is broken.
    pub(super) fn allows(&self, case: &Case) -> bool {
        (0..orthant::MAX_DIM).all(|axis| match (self.left.value(case, axis), self.right.value(case, axis)) {
            (Some(left), Some(right)) => match self.order {
                Relation::Below => left < right,
                Relation::AtMost => left <= right,
                Relation::Above => left > right,
                Relation::AtLeast => left >= right,
                Relation::Equal => left == right,
                Relation::Different => left != right,
            },
            _ => true,
        })
    }
}

impl Term {
    /// The value on one axis; None if a setting is open, is no number, or has fewer axes.
    fn value(&self, case: &Case, axis: usize) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Setting(name) => {
                let numbers: Vec<&str> = case.get(name)?.split('x').collect();
                let number = if numbers.len() == 1 { numbers[0] } else { *numbers.get(axis)? };
                number.parse().ok()
            }
            Self::Of(left, sign, right) => {
                let (left, right) = (left.value(case, axis)?, right.value(case, axis)?);
                Some(match sign {
                    '+' => left + right,
                    '-' => left - right,
                    '*' => left * right,
                    '/' => left / right,
                    _ => left.powf(right),
                })
            }
        }
    }
}

/// Recursive descent over one side.
struct Reader<'a, F> {
    rest: &'a str,
    whole: &'a str,
    known: &'a F,
}

impl<F: Fn(&str) -> Result<String, String>> Reader<'_, F> {
    fn read(mut self) -> Result<Term, String> {
        let term = self.chain(&[&['+', '-'], &['*', '/'], &['^']])?;
        match self.rest.trim() {
            "" => Ok(term),
            rest => Err(format!("'{}': '{rest}' is left over", self.whole)),
        }
    }

    /// Terms joined by the first of `signs`, each of terms joined by the next, from the left.
    fn chain(&mut self, signs: &[&[char]]) -> Result<Term, String> {
        let Some((&here, inner)) = signs.split_first() else { return self.atom() };
        let mut term = self.chain(inner)?;
        while let Some(sign) = self.rest.trim_start().chars().next().filter(|sign| here.contains(sign)) {
            self.rest = &self.rest.trim_start()[1..];
            term = Term::Of(Box::new(term), sign, Box::new(self.chain(inner)?));
        }
        Ok(term)
    }

    fn atom(&mut self) -> Result<Term, String> {
        let rest = self.rest.trim_start();
        let end = rest.find(|c: char| {
            !(c.is_alphanumeric() || c == '.' || c == '-' && !rest.starts_with(|c: char| c.is_ascii_digit()))
        });
        let (word, rest) = rest.split_at(end.unwrap_or(rest.len()));
        self.rest = rest;
        match word.chars().next() {
            None => Err(format!("'{}': a number or a setting is missing", self.whole)),
            Some(first) if first.is_ascii_digit() => {
                word.parse().map(Term::Number).map_err(|_| format!("'{}': '{word}' is not a number", self.whole))
            }
            Some(_) => (self.known)(word).map(Term::Setting).map_err(|error| format!("'{}': {error}", self.whole)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(text: &str, settings: &[(&str, &str)]) -> bool {
        let case = Case::from_iter(settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        Constraint::parse(text, |name| Ok(name.to_owned())).unwrap().allows(&case)
    }

    #[test]
    fn the_papers_condition() {
        let scheme = [("g", "16"), ("r", "2"), ("B", "32"), ("n", "1024")];
        assert!(holds("g*r*B <= n", &scheme) && !holds("g * r * B < n", &scheme));
        assert!(holds("2 + 3*4^2 == 50", &[]) && holds("n / 4 - 6 != 0", &scheme));
        assert!(holds("dp-budget >= 2^3", &[("dp-budget", "8")]) && !holds("dp-budget > 2^3", &[("dp-budget", "8")]));
    }

    #[test]
    fn axes_and_open_settings() {
        assert!(!holds("g <= n", &[("g", "64"), ("n", "128x32")]));
        assert!(holds("g <= n", &[("g", "64x16"), ("n", "128x32")]));
        assert!(holds("g <= n", &[("n", "8")]));
    }

    #[test]
    fn mistakes_are_named() {
        let parse = |text: &str| {
            Constraint::parse(text, |name| match name {
                "n" => Ok("n".into()),
                _ => Err(format!("unknown setting '{name}'")),
            })
        };
        for (text, named) in [
            ("n", "compares nothing"),
            ("n <", "missing"),
            ("n < 3 4", "left over"),
            ("m < 3", "'m'"),
            ("n < 1.2.3", "1.2.3"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(named) && error.contains(text), "{error}");
        }
    }
}
