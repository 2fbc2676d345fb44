//! From text to operations: a Pratt parser, which reads an operand and then the operators that bind tightly enough.

use std::ops::Range;

use crate::dimension::MAX_DIM;
use crate::field::formula::dag::{FormulaDag, FormulaLiteral, FormulaOp};
use crate::field::formula::error::FormulaError;
use crate::field::formula::lex::{FormulaPiece, FormulaToken, pieces};
use crate::field::formula::part::{FormulaKind, FormulaPart};
use crate::field::formula::scope::{FormulaFunction, FormulaMeaning, FormulaScope};

/// The most bytes of a text.
pub(super) const MOST_BYTES: usize = 1 << 20;
/// The most parts that are inside one another, so that no text overflows the stack.
pub(super) const MOST_DEPTH: usize = 128;
/// The most operands that are read, those of definitions once per use.
pub(super) const MOST_STEPS: usize = 1 << 18;
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
    /// How many steps there are while a condition holds, at most `cap`. The roots are the condition, so many states after a
    /// step, and those before the first.
    Iterations { states: usize, cap: u32 },
}

/// What was read of a text.
#[derive(Debug, Clone)]
pub(super) struct ParsedFormula {
    pub(super) dag: FormulaDag<FormulaLiteral>,
    pub(super) roots: Vec<u32>,
    pub(super) result: FormulaResult,
    /// Where each axis is first named.
    pub(super) named: [Option<usize>; MAX_DIM],
    /// How many axes an `axes` statement names.
    pub(super) declared: usize,
    /// The names of `param` statements, and the bytes of their numbers.
    pub(super) params: Vec<(String, Range<usize>)>,
}

impl ParsedFormula {
    /// One of which nothing is read yet.
    ///
    /// # Errors
    /// [`FormulaError`] if its text is too long.
    pub(super) fn begun(text: &str) -> Read<Self> {
        if text.len() > MOST_BYTES {
            let reason = format!("the text has {} bytes, and at most {MOST_BYTES} are read", text.len());
            return Err(FormulaError::new("", 0, reason));
        }
        Ok(Self {
            dag: FormulaDag::default(),
            roots: Vec::new(),
            result: FormulaResult::Value,
            named: [None; MAX_DIM],
            declared: 0,
            params: Vec::new(),
        })
    }
}

/// Reads a text.
pub(super) fn parse(text: &str) -> Result<ParsedFormula, FormulaError> {
    let read = ParsedFormula::begun(text)?;
    let pieces = pieces(text)?;
    let mut parser = FormulaParser { text, pieces, at: 0, depth: 0, steps: 0, scope: FormulaScope::new(), read };
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

pub(super) type Read<T> = Result<T, FormulaError>;

/// A text that is read up to a piece.
pub(super) struct FormulaParser<'a> {
    text: &'a str,
    pub(super) pieces: Vec<FormulaPiece<'a>>,
    pub(super) at: usize,
    depth: usize,
    steps: usize,
    pub(super) scope: FormulaScope<'a>,
    pub(super) read: ParsedFormula,
}

impl<'a> FormulaParser<'a> {
    pub(super) fn piece(&self) -> FormulaPiece<'a> {
        self.pieces[self.at]
    }

    /// The error at a piece.
    pub(super) fn wrong<T>(&self, piece: FormulaPiece<'a>, reason: impl Into<String>) -> Read<T> {
        Err(FormulaError::new(self.text, piece.at, reason))
    }

    /// The error that something else was expected here.
    pub(super) fn expected<T>(&self, what: &str) -> Read<T> {
        let piece = self.piece();
        self.wrong(piece, format!("{what} is needed here, and {}", piece.token.words(&self.text[piece.at..piece.end])))
    }

    pub(super) fn advance(&mut self) -> FormulaPiece<'a> {
        let piece = self.piece();
        self.at = (self.at + 1).min(self.pieces.len() - 1);
        piece
    }

    /// True if `sign` was there, and is read now.
    pub(super) fn takes(&mut self, sign: &str) -> bool {
        let found = matches!(self.piece().token, FormulaToken::Sign(found) if found == sign);
        if found {
            self.advance();
        }
        found
    }

    pub(super) fn needs(&mut self, sign: &str) -> Read<()> {
        if self.takes(sign) { Ok(()) } else { self.expected(&format!("'{sign}'")) }
    }

    pub(super) fn takes_word(&mut self, word: &str) -> bool {
        let found = self.piece().token == FormulaToken::Name(word);
        if found {
            self.advance();
        }
        found
    }

    /// A number with or without a minus, and its bytes.
    pub(super) fn number(&mut self) -> Read<(FormulaLiteral, Range<usize>)> {
        let begins = self.piece().at;
        let negative = self.takes("-");
        let FormulaToken::Number(literal) = self.piece().token else { return self.expected("a number") };
        let end = self.advance().end;
        Ok((if negative { literal.negated() } else { literal }, begins..end))
    }

    /// An expression that is a value.
    pub(super) fn value(&mut self, least: u8) -> Read<FormulaPart> {
        self.of_kind(least, FormulaKind::Value)
    }

    pub(super) fn of_kind(&mut self, least: u8, kind: FormulaKind) -> Read<FormulaPart> {
        let piece = self.piece();
        let part = self.expression(least)?;
        self.check(piece, part, kind)?;
        Ok(part)
    }

    fn check(&self, piece: FormulaPiece<'a>, part: FormulaPart, kind: FormulaKind) -> Read<()> {
        let (wanted, found) = (kind.words(), part.kind().words());
        let hint = match (kind, part.kind()) {
            (wanted, found) if wanted == found => return Ok(()),
            (FormulaKind::Value, FormulaKind::Complex) => "; take |..|, re(..) or im(..) of it",
            _ => "",
        };
        self.wrong(piece, format!("{wanted} is needed here, and this is {found}{hint}"))
    }

    /// Checks that a part is a real or a complex value.
    fn check_number(&self, piece: FormulaPiece<'a>, part: FormulaPart) -> Read<()> {
        if part.kind() == FormulaKind::Complex { Ok(()) } else { self.check(piece, part, FormulaKind::Value) }
    }

    /// An expression that is a real or a complex value.
    pub(super) fn number_part(&mut self, least: u8) -> Read<FormulaPart> {
        let piece = self.piece();
        let part = self.expression(least)?;
        self.check_number(piece, part)?;
        Ok(part)
    }

    /// An operand and the operators after it that bind at least as tightly as `least`.
    pub(super) fn expression(&mut self, least: u8) -> Read<FormulaPart> {
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
            left = match binds {
                binding::OR | binding::AND => {
                    self.check(begins, left, FormulaKind::Truth)?;
                    let right = self.of_kind(binds + 1, FormulaKind::Truth)?;
                    let nodes = [left, right].map(|part| part.node(&mut self.read.dag));
                    FormulaPart::Truth(self.read.dag.push(op, &nodes))
                }
                binding::COMPARISON => {
                    self.check(begins, left, FormulaKind::Value)?;
                    let right = self.value(binds + 1)?;
                    let [first, second] = if swapped { [right, left] } else { [left, right] };
                    first.compared(&mut self.read.dag, op, second)
                }
                binding::POWER => {
                    self.check_number(begins, left)?;
                    let (piece, exponent) = (self.piece(), self.value(binding::MINUS)?);
                    self.power(left, piece, exponent)?
                }
                _ => {
                    self.check_number(begins, left)?;
                    let right = self.number_part(binds + 1)?;
                    let dag = &mut self.read.dag;
                    match op {
                        FormulaOp::Mul => left.product(dag, right),
                        FormulaOp::Div => left.quotient(dag, right),
                        op => left.sum(dag, op, right),
                    }
                }
            };
            if binds == binding::COMPARISON
                && operator(self.piece().token).is_some_and(|(_, _, binds)| binds == binding::COMPARISON)
            {
                let sign = &self.text[sign.at..sign.end];
                let reason = format!("comparisons are not chained; write a {sign} b and b {sign} c");
                return self.wrong(self.piece(), reason);
            }
        }
        self.depth -= 1;
        Ok(left)
    }

    fn operand(&mut self) -> Read<FormulaPart> {
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
                Ok(FormulaPart::value(self.read.dag.constant(literal)))
            }
            FormulaToken::Sign("(") => {
                self.advance();
                let part = self.expression(0)?;
                self.needs(")")?;
                Ok(part)
            }
            FormulaToken::Sign("|") => {
                self.advance();
                let inside = self.number_part(0)?;
                self.needs("|")?;
                Ok(inside.magnitude(&mut self.read.dag))
            }
            FormulaToken::Sign("-") => {
                self.advance();
                let part = self.number_part(binding::MINUS)?;
                Ok(part.negated(&mut self.read.dag))
            }
            FormulaToken::Name("not") => {
                self.advance();
                let part = self.of_kind(binding::NOT, FormulaKind::Truth)?;
                let dag = &mut self.read.dag;
                let nodes = [dag.constant(FormulaLiteral::new(1.0)), part.node(dag)];
                Ok(FormulaPart::Truth(dag.push(FormulaOp::Sub, &nodes)))
            }
            FormulaToken::Name(word @ ("classes" | "iterate")) => {
                self.wrong(piece, format!("'{word}' is a result, not a part of one"))
            }
            FormulaToken::Name(name) => self.named(name),
            _ => self.expected("a number, a name or '('"),
        }
    }

    fn named(&mut self, name: &'a str) -> Read<FormulaPart> {
        let piece = self.advance();
        match self.scope.meaning(name) {
            None => {
                let called = matches!(self.piece().token, FormulaToken::Sign("("));
                self.wrong(piece, self.scope.unknown(name, called))
            }
            Some(FormulaMeaning::Part(part)) => Ok(part),
            Some(FormulaMeaning::Pi) => {
                Ok(FormulaPart::value(self.read.dag.constant(FormulaLiteral::new(std::f64::consts::PI))))
            }
            Some(FormulaMeaning::Imaginary) => {
                Ok(FormulaPart::Complex([None, Some(self.read.dag.constant(FormulaLiteral::new(1.0)))]))
            }
            Some(FormulaMeaning::Axis(axis)) => Ok(FormulaPart::value(self.axis(axis, piece))),
            Some(FormulaMeaning::Point) => Ok(FormulaPart::Complex([0, 1].map(|axis| Some(self.axis(axis, piece))))),
            Some(FormulaMeaning::Function(function)) => self.function(function, piece, name),
            Some(FormulaMeaning::Definition(definition)) => {
                let given = self.arguments(piece, name)?;
                let takes = definition.takes.len();
                if given.len() != takes {
                    let reason = format!("{name} takes {takes} values, and {} are given", given.len());
                    return self.wrong(piece, reason);
                }
                for (piece, part) in &given {
                    self.check_number(*piece, *part)?;
                }
                let after = self.at;
                let part = self.body(&definition, given.into_iter().map(|(_, part)| part).collect())?;
                self.at = after;
                Ok(part)
            }
        }
    }

    /// The coordinate on an axis, which `piece` names.
    fn axis(&mut self, axis: usize, piece: FormulaPiece<'a>) -> u32 {
        self.read.named[axis].get_or_insert(piece.at);
        self.read.dag.push(FormulaOp::Axis, &[axis as u32])
    }

    /// A function of the language.
    fn function(&mut self, function: FormulaFunction, piece: FormulaPiece<'a>, name: &str) -> Read<FormulaPart> {
        use FormulaFunction::{Among, Conjugate, Imaginary, Of, Power, Real};
        let given = self.arguments(piece, name)?;
        let count = given.len();
        let (fits, takes) = match function {
            Of(_) | Real | Imaginary | Conjugate => (count == 1, "1 value"),
            Among(_) => (count >= 2, "2 values or more"),
            Power => (count == 2, "2 values"),
        };
        if !fits {
            return self.wrong(piece, format!("{name} takes {takes}, and {count} are given"));
        }
        for &(piece, part) in &given {
            match function {
                Real | Imaginary | Conjugate | Of(FormulaOp::Abs) => self.check_number(piece, part)?,
                _ => self.check(piece, part, FormulaKind::Value)?,
            }
        }
        let dag = &mut self.read.dag;
        let first = given[0].1;
        let nodes: Vec<u32> = given.iter().map(|(_, part)| part.node(dag)).collect();
        Ok(match function {
            Real => first.component(dag, 0),
            Imaginary => first.component(dag, 1),
            Conjugate => first.conjugated(dag),
            Of(FormulaOp::Abs) => first.magnitude(dag),
            Of(op) => FormulaPart::value(dag.push(op, &nodes)),
            Among(op) => {
                let all = nodes[1..].iter().fold(nodes[0], |found, &node| dag.push(op, &[found, node]));
                FormulaPart::value(all)
            }
            Power => {
                let logarithm = dag.push(FormulaOp::Ln, &nodes[..1]);
                let product = dag.push(FormulaOp::Mul, &[nodes[1], logarithm]);
                FormulaPart::value(dag.push(FormulaOp::Exp, &[product]))
            }
        })
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
    fn power(&mut self, base: FormulaPart, piece: FormulaPiece<'a>, exponent: FormulaPart) -> Read<FormulaPart> {
        let dag = &mut self.read.dag;
        let exponent = exponent.node(dag);
        let number = dag.value(exponent).map(FormulaLiteral::wide);
        let whole = number.filter(|number| number.fract() == 0.0 && (1.0..=f64::from(MOST_POWER)).contains(number));
        let Some(number) = whole else {
            return self.wrong(
                piece,
                format!("an exponent is a whole number from 1 to {MOST_POWER}; pow(a, b) takes others, and sqrt(a) is a root"),
            );
        };
        let (mut left, mut square, mut product) = (number as u32, base, None::<FormulaPart>);
        while left > 0 {
            if left % 2 == 1 {
                product = Some(product.map_or(square, |product| product.product(dag, square)));
            }
            left /= 2;
            if left > 0 {
                square = square.squared(dag);
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
