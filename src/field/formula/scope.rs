//! The names of a formula and what they stand for.

use std::collections::HashMap;

use crate::dimension::MAX_DIM;
use crate::field::formula::dag::FormulaOp;
use crate::field::formula::error::nearest;
use crate::field::formula::part::FormulaPart;

/// Words of the language, which name nothing.
const WORDS: [&str; 12] =
    ["let", "param", "axes", "def", "and", "or", "not", "classes", "iterate", "from", "while", "cap"];

/// The imaginary unit.
const IMAGINARY: &str = "i";

/// The point of the plane of the first two axes, unless a formula gives it another meaning.
const POINT: &str = "c";

/// The axes, unless a formula names its own.
pub(super) const AXES: [&str; MAX_DIM] = ["x", "y", "z", "w", "x4", "x5", "x6", "x7"];

/// A function that the language has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FormulaFunction {
    /// Of one value.
    Of(FormulaOp),
    /// The least or the greatest of two values or more.
    Among(FormulaOp),
    /// e^(b·ln a).
    Power,
    /// The real part, the imaginary part, or the number with the opposite of that.
    Real,
    Imaginary,
    Conjugate,
}

/// Every function by its name.
const FUNCTIONS: [(&str, FormulaFunction); 13] = [
    ("min", FormulaFunction::Among(FormulaOp::Min)),
    ("max", FormulaFunction::Among(FormulaOp::Max)),
    ("abs", FormulaFunction::Of(FormulaOp::Abs)),
    ("sqrt", FormulaFunction::Of(FormulaOp::Sqrt)),
    ("floor", FormulaFunction::Of(FormulaOp::Floor)),
    ("sin", FormulaFunction::Of(FormulaOp::Sin)),
    ("cos", FormulaFunction::Of(FormulaOp::Cos)),
    ("exp", FormulaFunction::Of(FormulaOp::Exp)),
    ("ln", FormulaFunction::Of(FormulaOp::Ln)),
    ("pow", FormulaFunction::Power),
    ("re", FormulaFunction::Real),
    ("im", FormulaFunction::Imaginary),
    ("conj", FormulaFunction::Conjugate),
];

/// What a `def` defines.
#[derive(Debug, Clone)]
pub(super) struct FormulaDefinition<'a> {
    pub(super) takes: Vec<&'a str>,
    /// The piece that its body begins with.
    pub(super) body: usize,
}

/// What a name stands for.
#[derive(Debug, Clone)]
pub(super) enum FormulaMeaning<'a> {
    Axis(usize),
    Part(FormulaPart),
    Pi,
    Imaginary,
    /// x + i·y.
    Point,
    Function(FormulaFunction),
    Definition(FormulaDefinition<'a>),
}

/// The names that are known at a place of the text.
#[derive(Debug)]
pub(super) struct FormulaScope<'a> {
    names: HashMap<&'a str, FormulaMeaning<'a>>,
    /// What the definition that is read takes; these hide other names.
    pub(super) locals: Vec<(&'a str, FormulaPart)>,
}

impl<'a> FormulaScope<'a> {
    pub(super) fn new() -> Self {
        let axes = AXES.iter().enumerate().map(|(axis, &name)| (name, FormulaMeaning::Axis(axis)));
        let functions = FUNCTIONS.iter().map(|&(name, function)| (name, FormulaMeaning::Function(function)));
        let own = [("pi", FormulaMeaning::Pi), (IMAGINARY, FormulaMeaning::Imaginary), (POINT, FormulaMeaning::Point)];
        let names = axes.chain(functions).chain(own).collect();
        Self { names, locals: Vec::new() }
    }

    pub(super) fn meaning(&self, name: &str) -> Option<FormulaMeaning<'a>> {
        let local = self.locals.iter().find(|(local, _)| *local == name);
        local.map(|&(_, part)| FormulaMeaning::Part(part)).or_else(|| self.names.get(name).cloned())
    }

    /// Why `name` cannot be given to something; None if it can. What a definition takes may be called like an axis.
    pub(super) fn taken(&self, name: &str, local: bool) -> Option<String> {
        if WORDS.contains(&name) {
            return Some(format!("'{name}' is a word of the language; choose another name"));
        }
        match self.names.get(name)? {
            FormulaMeaning::Imaginary => Some("'i' is the imaginary unit; choose another name".into()),
            FormulaMeaning::Point => None,
            FormulaMeaning::Function(_) => Some(format!("'{name}' is a function; choose another name")),
            _ if local => None,
            FormulaMeaning::Axis(_) => {
                Some(format!("'{name}' is an axis; choose another name, or name the axes yourself by 'axes a, b;'"))
            }
            _ => Some(format!("'{name}' has a meaning already; choose another name")),
        }
    }

    pub(super) fn give(&mut self, name: &'a str, meaning: FormulaMeaning<'a>) {
        self.names.insert(name, meaning);
    }

    /// Names the axes anew: the usual names are free then.
    pub(super) fn rename_axes(&mut self, axes: &[&'a str]) {
        self.names.retain(|_, meaning| !matches!(meaning, FormulaMeaning::Axis(_)));
        axes.iter().enumerate().for_each(|(axis, &name)| self.give(name, FormulaMeaning::Axis(axis)));
    }

    /// What to say of a name that stands for nothing; it is `called` if values stand behind it.
    pub(super) fn unknown(&self, name: &str, called: bool) -> String {
        if WORDS.contains(&name) {
            return format!("a number, a name or '(' is needed here, and '{name}' is a word of the language");
        }
        let known = self.names.keys().copied().chain(self.locals.iter().map(|&(name, _)| name));
        match nearest(name, known) {
            _ if called && name == "tan" => format!("nothing is called '{name}'; write sin(a)/cos(a)"),
            Some(near) => format!("nothing is called '{name}'; did you mean '{near}'?"),
            None if called => {
                let functions: Vec<_> = FUNCTIONS.iter().map(|(name, _)| *name).collect();
                let known = functions.join(", ");
                format!(
                    "nothing is called '{name}'; functions are {known}, and `def {name}(a) = ..;` before it makes one"
                )
            }
            None => format!("nothing is called '{name}'; `let {name} = ..;` before it gives it a meaning"),
        }
    }
}
