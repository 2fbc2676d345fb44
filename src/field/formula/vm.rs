//! Models in the text format `.vm` of MPR and fidget: an operation per line, `name op operands`, and comments after `#`. The last
//! line is the distance from the surface, which is below 0 inside.
//!
//! ```text
//! # A ball
//! x var-x
//! y var-y
//! xx square x
//! yy square y
//! sum add xx yy
//! one const 1
//! ball sub sum one
//! ```

use std::collections::HashMap;

use crate::field::formula::dag::{FormulaLiteral, FormulaOp};
use crate::field::formula::error::{FormulaError, nearest};
use crate::field::formula::parse::{FormulaResult, MOST_STEPS, ParsedFormula, Read};

/// What a line can do: an operation of formulas, or something that is written in them.
#[derive(Clone, Copy)]
enum ModelOp {
    Constant,
    Axis(usize),
    One(FormulaOp),
    Two(FormulaOp),
    /// 1/a
    Reciprocal,
    /// −floor(−a)
    Ceil,
    /// fidget has it, formulas have not.
    Refused,
}

const OPS: [(&str, ModelOp); 34] = [
    ("const", ModelOp::Constant),
    ("var-x", ModelOp::Axis(0)),
    ("var-y", ModelOp::Axis(1)),
    ("var-z", ModelOp::Axis(2)),
    ("neg", ModelOp::One(FormulaOp::Neg)),
    ("abs", ModelOp::One(FormulaOp::Abs)),
    ("sqrt", ModelOp::One(FormulaOp::Sqrt)),
    ("square", ModelOp::One(FormulaOp::Square)),
    ("floor", ModelOp::One(FormulaOp::Floor)),
    ("ceil", ModelOp::Ceil),
    ("recip", ModelOp::Reciprocal),
    ("sin", ModelOp::One(FormulaOp::Sin)),
    ("cos", ModelOp::One(FormulaOp::Cos)),
    ("exp", ModelOp::One(FormulaOp::Exp)),
    ("ln", ModelOp::One(FormulaOp::Ln)),
    ("add", ModelOp::Two(FormulaOp::Add)),
    ("sub", ModelOp::Two(FormulaOp::Sub)),
    ("mul", ModelOp::Two(FormulaOp::Mul)),
    ("div", ModelOp::Two(FormulaOp::Div)),
    ("min", ModelOp::Two(FormulaOp::Min)),
    ("max", ModelOp::Two(FormulaOp::Max)),
    ("tan", ModelOp::Refused),
    ("asin", ModelOp::Refused),
    ("acos", ModelOp::Refused),
    ("atan", ModelOp::Refused),
    ("atan2", ModelOp::Refused),
    ("round", ModelOp::Refused),
    ("mod", ModelOp::Refused),
    ("not", ModelOp::Refused),
    ("and", ModelOp::Refused),
    ("or", ModelOp::Refused),
    ("compare", ModelOp::Refused),
    ("rand", ModelOp::Refused),
    ("mix", ModelOp::Refused),
];

fn op(word: &str) -> Option<ModelOp> {
    OPS.iter().find(|(name, _)| *name == word).map(|(_, op)| *op)
}

/// The lines that are no comments and not empty.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(|line| line.split('#').next().unwrap_or_default()).filter(|line| !line.trim().is_empty())
}

/// True if a text is a model rather than a formula: its first line that is no comment is a name and an operation without operands. No
/// formula begins so.
pub(super) fn is_model(text: &str) -> bool {
    // Two words in a row begin a formula only as one of these.
    const STATEMENTS: [&str; 6] = ["let", "param", "axes", "def", "not", "iterate"];
    let mut words = lines(text).next().unwrap_or_default().split_whitespace();
    let named = words.next().is_some_and(|name| !STATEMENTS.contains(&name));
    let begins = |word| op(word).is_some_and(|op| matches!(op, ModelOp::Constant | ModelOp::Axis(_)));
    named && words.next().is_some_and(begins)
}

/// Reads a model.
pub(super) fn read_model(text: &str) -> Read<ParsedFormula> {
    let mut read = ParsedFormula::begun(text)?;
    let place = |part: &str| part.as_ptr() as usize - text.as_ptr() as usize;
    let mut names: HashMap<&str, u32> = HashMap::new();
    let mut last = None;
    for (number, line) in lines(text).enumerate() {
        let line = line.trim();
        let wrong = |at: &str, reason: String| Err(FormulaError::new(text, place(at), reason));
        let end = &line[line.len()..];
        if number == MOST_STEPS {
            return wrong(line, format!("the model has more than {MOST_STEPS} lines; it can have no more"));
        }
        let mut words = line.split_whitespace();
        let name = words.next().expect("the line is not empty");
        if names.contains_key(name) {
            return wrong(name, format!("a line above is called '{name}'; each needs a name of its own"));
        }
        let Some(word) = words.next() else {
            return wrong(end, "an operation is needed here, as in 'sum add x y'".into());
        };
        let Some(found) = op(word) else {
            let hint = nearest(word, OPS.iter().map(|(name, _)| *name));
            let hint = hint.map(|near| format!("; did you mean '{near}'?")).unwrap_or_default();
            return wrong(word, format!("'{word}' is no operation of a .vm model{hint}"));
        };
        let node = |operand: Option<&str>| match operand {
            None => Err(FormulaError::new(text, place(end), format!("{word} takes another operand here"))),
            Some(operand) => names
                .get(operand)
                .copied()
                .ok_or_else(|| FormulaError::new(text, place(operand), format!("no line above is called '{operand}'"))),
        };
        let made = match found {
            ModelOp::Constant => {
                let Some(number) = words.next() else {
                    return wrong(end, "a number is needed here, as in 'half const 0.5'".into());
                };
                let literal = FormulaLiteral::read(number).filter(|literal| literal.wide().is_finite());
                let Some(literal) = literal else {
                    return wrong(number, format!("'{number}' is no finite number"));
                };
                read.dag.constant(literal)
            }
            ModelOp::Axis(axis) => {
                read.named[axis].get_or_insert(place(word));
                read.dag.push(FormulaOp::Axis, &[axis as u32])
            }
            ModelOp::One(op) => {
                let a = node(words.next())?;
                read.dag.push(op, &[a])
            }
            ModelOp::Two(op) => {
                let (a, b) = (node(words.next())?, node(words.next())?);
                read.dag.push(op, &[a, b])
            }
            ModelOp::Reciprocal => {
                let a = node(words.next())?;
                let one = read.dag.constant(FormulaLiteral::new(1.0));
                read.dag.push(FormulaOp::Div, &[one, a])
            }
            ModelOp::Ceil => {
                let a = node(words.next())?;
                let below = read.dag.push(FormulaOp::Neg, &[a]);
                let floor = read.dag.push(FormulaOp::Floor, &[below]);
                read.dag.push(FormulaOp::Neg, &[floor])
            }
            ModelOp::Refused => {
                return wrong(word, format!("formulas have no '{word}'; this model cannot be read"));
            }
        };
        if let Some(more) = words.next() {
            return wrong(more, format!("{word} takes no more operands, and '{more}' stands here"));
        }
        names.insert(name, made);
        last = Some(made);
    }
    let Some(distance) = last else {
        return Err(FormulaError::new(text, text.len(), "the model has no line but comments"));
    };
    let zero = read.dag.constant(FormulaLiteral::new(0.0));
    read.roots = vec![read.dag.push(FormulaOp::Less, &[distance, zero])];
    read.result = FormulaResult::Truth;
    Ok(read)
}
