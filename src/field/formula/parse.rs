//! From text to operations: a Pratt parser, which reads an operand and then the operators that bind tightly enough.

use std::ops::Range;

use crate::dimension::MAX_DIM;
use crate::field::formula::dag::{FormulaDag, FormulaLiteral, FormulaOp};
use crate::field::formula::error::FormulaError;
use crate::field::formula::lex::{FormulaPiece, FormulaToken, pieces};
use crate::field::formula::scope::{
    FormulaDefinition, FormulaFunction, FormulaKind, FormulaMeaning, FormulaPart, FormulaScope,
};

/// The most bytes of a text.
pub(super) const MOST_BYTES: usize = 1 << 20;
/// The most parts that are inside one another, so that no text overflows the stack.
pub(super) const MOST_DEPTH: usize = 128;
/// The most operands that are read, those of definitions once per use.
pub(super) const MOST_STEPS: usize = 1 << 18;
/// The most thresholds of `classes`.
pub(super) const MOST_CLASSES: usize = 1 << 12;
/// The largest exponent of `^`.
const MOST_POWER: u32 = 64;

/// What a formula says of a cell.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum FormulaResult {
    /// 1 where a comparison holds, else 0.
    Truth,
    /// How many of the thresholds are at most the value.
    Classes(Vec<FormulaLiteral>),
    /// The value itself.
    Value,
}

/// What was read of a text.
#[derive(Debug, Clone)]
pub(super) struct ParsedFormula {
    pub(super) dag: FormulaDag<FormulaLiteral>,
    pub(super) root: u32,
    pub(super) result: FormulaResult,
    /// Where each axis is first named.
    pub(super) named: [Option<usize>; MAX_DIM],
    /// How many axes an `axes` statement names.
    pub(super) declared: usize,
    /// The names of `param` statements, and the bytes of their numbers.
    pub(super) params: Vec<(String, Range<usize>)>,
}

/// Reads a text.
pub(super) fn parse(text: &str) -> Result<ParsedFormula, FormulaError> {
    if text.len() > MOST_BYTES {
        let reason = format!("the text has {} bytes, and at most {MOST_BYTES} are read", text.len());
        return Err(FormulaError::new("", 0, reason));
    }
    let mut parser = FormulaParser {
        text,
        pieces: pieces(text)?,
        at: 0,
        depth: 0,
        steps: 0,
        scope: FormulaScope::new(),
        read: ParsedFormula {
            dag: FormulaDag::default(),
            root: 0,
            result: FormulaResult::Value,
            named: [None; MAX_DIM],
            declared: 0,
            params: Vec::new(),
        },
    };
    while parser.statement()? {}
    parser.result()?;
    Ok(parser.read)
}

/// How tightly operators bind: those with a higher number first.
mod binding {
    pub(super) const OR: u8 = 1;
    pub(super) const AND: u8 = 2;
    pub(super) const NOT: u8 = 3;
    pub(super) const COMPARISON: u8 = 4;
    pub(super) const SUM: u8 = 5;
    pub(super) const PRODUCT: u8 = 6;
    pub(super) const MINUS: u8 = 7;
    pub(super) const POWER: u8 = 8;
}

type Read<T> = Result<T, FormulaError>;

struct FormulaParser<'a> {
    text: &'a str,
    pieces: Vec<FormulaPiece<'a>>,
    at: usize,
    depth: usize,
    steps: usize,
    scope: FormulaScope<'a>,
    read: ParsedFormula,
}

impl<'a> FormulaParser<'a> {
    fn piece(&self) -> FormulaPiece<'a> {
        self.pieces[self.at]
    }

    /// The error at a piece.
    fn wrong<T>(&self, piece: FormulaPiece<'a>, reason: impl Into<String>) -> Read<T> {
        Err(FormulaError::new(self.text, piece.at, reason))
    }

    /// The error that something else was expected here.
    fn expected<T>(&self, what: &str) -> Read<T> {
        let piece = self.piece();
        self.wrong(piece, format!("{what} is needed here, and {}", piece.token.words(&self.text[piece.at..piece.end])))
    }

    fn advance(&mut self) -> FormulaPiece<'a> {
        let piece = self.piece();
        self.at = (self.at + 1).min(self.pieces.len() - 1);
        piece
    }

    /// True if `sign` was there, and is read now.
    fn takes(&mut self, sign: &str) -> bool {
        let found = matches!(self.piece().token, FormulaToken::Sign(found) if found == sign);
        if found {
            self.advance();
        }
        found
    }

    fn needs(&mut self, sign: &str) -> Read<()> {
        if self.takes(sign) { Ok(()) } else { self.expected(&format!("'{sign}'")) }
    }

    fn takes_word(&mut self, word: &str) -> bool {
        let found = self.piece().token == FormulaToken::Name(word);
        if found {
            self.advance();
        }
        found
    }

    /// A name that is free to be given a meaning.
    fn new_name(&mut self, local: bool) -> Read<&'a str> {
        let piece = self.piece();
        let FormulaToken::Name(name) = piece.token else { return self.expected("a name") };
        match self.scope.taken(name, local) {
            Some(reason) => self.wrong(piece, reason),
            None => {
                self.advance();
                Ok(name)
            }
        }
    }

    /// A number with or without a minus, and its bytes.
    fn number(&mut self) -> Read<(FormulaLiteral, Range<usize>)> {
        let begins = self.piece().at;
        let negative = self.takes("-");
        let FormulaToken::Number(literal) = self.piece().token else { return self.expected("a number") };
        let end = self.advance().end;
        Ok((if negative { literal.negated() } else { literal }, begins..end))
    }

    /// Reads a statement; false if the result comes next.
    fn statement(&mut self) -> Read<bool> {
        if self.takes_word("let") {
            let name = self.new_name(false)?;
            self.needs("=")?;
            let part = self.expression(0)?;
            self.scope.give(name, FormulaMeaning::Part(part));
        } else if self.takes_word("param") {
            let name = self.new_name(false)?;
            self.needs("=")?;
            let (literal, bytes) = self.number()?;
            let part = FormulaPart { node: self.read.dag.constant(literal), kind: FormulaKind::Value };
            self.scope.give(name, FormulaMeaning::Part(part));
            self.read.params.push((name.to_owned(), bytes));
        } else if self.takes_word("axes") {
            self.axes()?;
        } else if self.takes_word("def") {
            self.definition()?;
        } else {
            return Ok(false);
        }
        self.needs(";")?;
        Ok(true)
    }

    fn axes(&mut self) -> Read<()> {
        let first = self.pieces[self.at - 1];
        if self.read.declared > 0 || self.read.named.iter().any(Option::is_some) {
            return self.wrong(first, "'axes' comes once, before any axis is named");
        }
        let mut names: Vec<&str> = Vec::new();
        loop {
            let piece = self.piece();
            let name = self.new_name(true)?;
            if names.contains(&name) {
                return self.wrong(piece, format!("'{name}' is an axis already; choose another name"));
            }
            if names.len() == MAX_DIM {
                return self.wrong(piece, format!("there are at most {MAX_DIM} axes"));
            }
            names.push(name);
            if !self.takes(",") {
                break;
            }
        }
        self.read.declared = names.len();
        self.scope.rename_axes(&names);
        Ok(())
    }

    fn definition(&mut self) -> Read<()> {
        let name = self.new_name(false)?;
        self.needs("(")?;
        let mut takes = Vec::new();
        loop {
            let piece = self.piece();
            let local = self.new_name(true)?;
            if takes.contains(&local) {
                return self.wrong(piece, format!("'{local}' is there twice; choose another name"));
            }
            takes.push(local);
            if !self.takes(",") {
                break;
            }
        }
        self.needs(")")?;
        self.needs("=")?;
        let definition = FormulaDefinition { takes, body: self.at };
        // Read once with 1 for everything that it takes, so that what is wrong in it is found where it stands.
        let node = self.read.dag.constant(FormulaLiteral::new(1.0));
        let ones = vec![FormulaPart { node, kind: FormulaKind::Value }; definition.takes.len()];
        self.body(&definition, ones)?;
        self.scope.give(name, FormulaMeaning::Definition(definition));
        Ok(())
    }

    /// Reads the body of a definition, with what it takes; the place is then after the body.
    fn body(&mut self, definition: &FormulaDefinition<'a>, given: Vec<FormulaPart>) -> Read<FormulaPart> {
        let locals = definition.takes.iter().copied().zip(given).collect();
        let outside = std::mem::replace(&mut self.scope.locals, locals);
        self.at = definition.body;
        let part = self.expression(0);
        self.scope.locals = outside;
        part
    }

    fn result(&mut self) -> Read<()> {
        let classes = self.takes_word("classes");
        let part = if classes {
            self.needs("(")?;
            let part = self.value(0)?;
            let mut thresholds = Vec::new();
            self.needs(",")?;
            loop {
                if thresholds.len() == MOST_CLASSES {
                    return self.wrong(self.piece(), format!("'classes' has at most {MOST_CLASSES} thresholds"));
                }
                thresholds.push(self.number()?.0);
                if !self.takes(",") {
                    break;
                }
            }
            self.needs(")")?;
            self.read.result = FormulaResult::Classes(thresholds);
            part
        } else {
            let part = self.expression(0)?;
            if part.kind == FormulaKind::Truth {
                self.read.result = FormulaResult::Truth;
            }
            FormulaPart { kind: FormulaKind::Value, ..part }
        };
        self.read.root = part.node;
        match self.piece().token {
            FormulaToken::End => Ok(()),
            FormulaToken::Sign(";") => self.wrong(
                self.piece(),
                "the result is the end of a formula; put 'let', 'param', 'axes' and 'def' before it",
            ),
            FormulaToken::Sign("=") => self.wrong(
                self.piece(),
                "equality is not compared; write '<', '<=', '>' or '>=', as in |a - b| < 0.01, or 'let name = ..;'",
            ),
            _ => self.expected("an operator or the end"),
        }
    }

    /// An expression that is a value.
    fn value(&mut self, least: u8) -> Read<FormulaPart> {
        self.of_kind(least, FormulaKind::Value)
    }

    fn of_kind(&mut self, least: u8, kind: FormulaKind) -> Read<FormulaPart> {
        let piece = self.piece();
        let part = self.expression(least)?;
        self.check(piece, part, kind)?;
        Ok(part)
    }

    fn check(&self, piece: FormulaPiece<'a>, part: FormulaPart, kind: FormulaKind) -> Read<()> {
        match part.kind == kind {
            true => Ok(()),
            false => self.wrong(piece, format!("{} is needed here, and this is {}", kind.words(), part.kind.words())),
        }
    }

    /// An operand and the operators after it that bind at least as tightly as `least`.
    fn expression(&mut self, least: u8) -> Read<FormulaPart> {
        let begins = self.piece();
        self.steps += 1;
        if self.steps > MOST_STEPS {
            let reason =
                format!("the formula has more than {MOST_STEPS} parts, those of definitions counted once per use");
            return self.wrong(begins, reason);
        }
        self.depth += 1;
        if self.depth > MOST_DEPTH {
            let reason = format!("more than {MOST_DEPTH} parts are inside one another; name some of them by 'let'");
            return self.wrong(begins, reason);
        }
        let mut left = self.operand()?;
        while let Some((op, swapped, binds)) = operator(self.piece().token).filter(|&(_, _, binds)| binds >= least) {
            let sign = self.advance();
            let kind = if binds <= binding::AND { FormulaKind::Truth } else { FormulaKind::Value };
            self.check(begins, left, kind)?;
            left.node = if binds == binding::POWER {
                let (piece, exponent) = (self.piece(), self.value(binding::MINUS)?);
                self.power(left.node, piece, exponent.node)?
            } else {
                let right = self.of_kind(binds + 1, kind)?.node;
                self.read.dag.push(op, &if swapped { [right, left.node] } else { [left.node, right] })
            };
            if binds == binding::COMPARISON {
                left.kind = FormulaKind::Truth;
                if operator(self.piece().token).is_some_and(|(_, _, binds)| binds == binding::COMPARISON) {
                    let sign = &self.text[sign.at..sign.end];
                    let reason = format!("comparisons are not chained; write a {sign} b and b {sign} c");
                    return self.wrong(self.piece(), reason);
                }
            }
        }
        self.depth -= 1;
        Ok(left)
    }

    fn operand(&mut self) -> Read<FormulaPart> {
        let value = |node| FormulaPart { node, kind: FormulaKind::Value };
        let piece = self.piece();
        match piece.token {
            FormulaToken::Number(literal) => {
                self.advance();
                if let FormulaToken::Name(name) = self.piece().token
                    && self.piece().at == piece.end
                {
                    let reason = format!("products are written out: {}*{name}", &self.text[piece.at..piece.end]);
                    return self.wrong(self.piece(), reason);
                }
                Ok(value(self.read.dag.constant(literal)))
            }
            FormulaToken::Sign("(") => {
                self.advance();
                let part = self.expression(0)?;
                self.needs(")")?;
                Ok(part)
            }
            FormulaToken::Sign("|") => {
                self.advance();
                let inside = self.value(0)?;
                self.needs("|")?;
                Ok(value(self.read.dag.push(FormulaOp::Abs, &[inside.node])))
            }
            FormulaToken::Sign("-") => {
                self.advance();
                let negated = self.value(binding::MINUS)?.node;
                Ok(value(self.read.dag.push(FormulaOp::Neg, &[negated])))
            }
            FormulaToken::Name("not") => {
                self.advance();
                let part = self.of_kind(binding::NOT, FormulaKind::Truth)?;
                let one = self.read.dag.constant(FormulaLiteral::new(1.0));
                Ok(FormulaPart { node: self.read.dag.push(FormulaOp::Sub, &[one, part.node]), ..part })
            }
            FormulaToken::Name("classes") => self.wrong(piece, "'classes' is a result, not a part of one"),
            FormulaToken::Name(name) => self.named(name),
            _ => self.expected("a number, a name or '('"),
        }
    }

    fn named(&mut self, name: &'a str) -> Read<FormulaPart> {
        let piece = self.advance();
        let value = |node| FormulaPart { node, kind: FormulaKind::Value };
        match self.scope.meaning(name) {
            None => self.wrong(piece, self.scope.unknown(name)),
            Some(FormulaMeaning::Part(part)) => Ok(part),
            Some(FormulaMeaning::Pi) => Ok(value(self.read.dag.constant(FormulaLiteral::new(std::f64::consts::PI)))),
            Some(FormulaMeaning::Axis(axis)) => {
                self.read.named[axis].get_or_insert(piece.at);
                Ok(value(self.read.dag.push(FormulaOp::Axis, &[axis as u32])))
            }
            Some(FormulaMeaning::Function(function)) => {
                let given = self.arguments(piece, name)?;
                let count = given.len();
                let fits = match function {
                    FormulaFunction::Of(_) => count == 1,
                    FormulaFunction::Among(_) => count >= 2,
                    FormulaFunction::Power => count == 2,
                };
                if !fits {
                    let takes = match function {
                        FormulaFunction::Of(_) => "1 value",
                        FormulaFunction::Among(_) => "2 values or more",
                        FormulaFunction::Power => "2 values",
                    };
                    return self.wrong(piece, format!("{name} takes {takes}, and {count} are given"));
                }
                for (piece, part) in &given {
                    self.check(*piece, *part, FormulaKind::Value)?;
                }
                let dag = &mut self.read.dag;
                let nodes: Vec<u32> = given.iter().map(|(_, part)| part.node).collect();
                Ok(value(match function {
                    FormulaFunction::Of(op) => dag.push(op, &nodes),
                    FormulaFunction::Among(op) => {
                        nodes[1..].iter().fold(nodes[0], |found, &node| dag.push(op, &[found, node]))
                    }
                    FormulaFunction::Power => {
                        let logarithm = dag.push(FormulaOp::Ln, &nodes[..1]);
                        let product = dag.push(FormulaOp::Mul, &[nodes[1], logarithm]);
                        dag.push(FormulaOp::Exp, &[product])
                    }
                }))
            }
            Some(FormulaMeaning::Definition(definition)) => {
                let given = self.arguments(piece, name)?;
                let takes = definition.takes.len();
                if given.len() != takes {
                    let reason = format!("{name} takes {takes} values, and {} are given", given.len());
                    return self.wrong(piece, reason);
                }
                for (piece, part) in &given {
                    self.check(*piece, *part, FormulaKind::Value)?;
                }
                let after = self.at;
                let part = self.body(&definition, given.into_iter().map(|(_, part)| part).collect())?;
                self.at = after;
                Ok(part)
            }
        }
    }

    /// What a function is given, each with the piece that it begins with.
    fn arguments(&mut self, function: FormulaPiece<'a>, name: &str) -> Read<Vec<(FormulaPiece<'a>, FormulaPart)>> {
        if !self.takes("(") {
            return self.wrong(function, format!("{name} is a function; write {name}(..)"));
        }
        let mut given = Vec::new();
        loop {
            given.push((self.piece(), self.expression(0)?));
            if !self.takes(",") {
                break;
            }
        }
        self.needs(")")?;
        Ok(given)
    }

    /// A power with a whole exponent: squares of squares, and their product, lowest bit first.
    fn power(&mut self, base: u32, piece: FormulaPiece<'a>, exponent: u32) -> Read<u32> {
        let dag = &mut self.read.dag;
        let number = dag.value(exponent).map(FormulaLiteral::wide);
        let whole = number.filter(|number| number.fract() == 0.0 && (1.0..=f64::from(MOST_POWER)).contains(number));
        let Some(number) = whole else {
            return self.wrong(
                piece,
                format!("an exponent is a whole number from 1 to {MOST_POWER}; pow(a, b) takes others, and sqrt(a) is a root"),
            );
        };
        let (mut left, mut square, mut product) = (number as u32, base, None);
        while left > 0 {
            if left % 2 == 1 {
                product = Some(product.map_or(square, |product| dag.push(FormulaOp::Mul, &[product, square])));
            }
            left /= 2;
            if left > 0 {
                square = dag.push(FormulaOp::Square, &[square]);
            }
        }
        Ok(product.unwrap_or(base))
    }
}

/// The operation of an operator, whether its operands change places, and how tightly it binds.
fn operator(token: FormulaToken<'_>) -> Option<(FormulaOp, bool, u8)> {
    Some(match token {
        FormulaToken::Name("or") => (FormulaOp::Max, false, binding::OR),
        FormulaToken::Name("and") => (FormulaOp::Min, false, binding::AND),
        FormulaToken::Sign("<") => (FormulaOp::Less, false, binding::COMPARISON),
        FormulaToken::Sign("<=") => (FormulaOp::LessEq, false, binding::COMPARISON),
        FormulaToken::Sign(">") => (FormulaOp::Less, true, binding::COMPARISON),
        FormulaToken::Sign(">=") => (FormulaOp::LessEq, true, binding::COMPARISON),
        FormulaToken::Sign("+") => (FormulaOp::Add, false, binding::SUM),
        FormulaToken::Sign("-") => (FormulaOp::Sub, false, binding::SUM),
        FormulaToken::Sign("*") => (FormulaOp::Mul, false, binding::PRODUCT),
        FormulaToken::Sign("/") => (FormulaOp::Div, false, binding::PRODUCT),
        FormulaToken::Sign("^") => (FormulaOp::Square, false, binding::POWER),
        _ => return None,
    })
}
