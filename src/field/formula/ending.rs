//! The result of a formula: a value, a comparison, classes or iterations.

use crate::dimension::MAX_DIM;
use crate::field::formula::dag::{FormulaLiteral, FormulaOp};
use crate::field::formula::lex::{FormulaPiece, FormulaToken};
use crate::field::formula::parse::{FormulaParser, FormulaResult, Read};
use crate::field::formula::part::{FormulaKind, FormulaPart};

/// The most thresholds of `classes`.
const MOST_CLASSES: usize = 1 << 12;
/// The most names that an iteration changes.
const MOST_STATES: usize = 32;
/// The most steps, unless a formula says another number.
const USUAL_CAP: u32 = 512;

/// A name that an iteration changes, and where it and what it is given stand.
struct FormulaBind<'a> {
    name: &'a str,
    piece: FormulaPiece<'a>,
    part: FormulaPart,
}

impl<'a> FormulaParser<'a> {
    pub(super) fn result(&mut self) -> Read<()> {
        if self.takes_word("iterate") {
            self.iterate()?;
        } else if self.takes_word("classes") {
            self.classes()?;
        } else {
            let piece = self.piece();
            let part = self.expression(0)?;
            match part.kind() {
                FormulaKind::Truth => self.read.result = FormulaResult::Truth,
                FormulaKind::Value => {}
                FormulaKind::Complex => {
                    return self.wrong(piece, "the result is complex; take |..|, re(..) or im(..) of it");
                }
            }
            self.read.roots = vec![part.node(&mut self.read.dag)];
        }
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

    fn classes(&mut self) -> Read<()> {
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
        self.read.roots = vec![part.node(&mut self.read.dag)];
        Ok(())
    }

    /// `z = z^2 + c from z = 0 while |z| < 2 cap 512`. What the names begin with is read before the steps, which say what kind
    /// of value a name is, too: one that becomes complex was complex from the beginning.
    fn iterate(&mut self) -> Read<()> {
        let steps = self.at;
        let Some(from) = (steps..self.pieces.len()).find(|&at| self.pieces[at].token == FormulaToken::Name("from"))
        else {
            self.binds()?;
            return self.expected("'from', and what the names begin with, as in 'from z = 0',");
        };
        self.at = from + 1;
        let starts = self.binds()?;
        let condition = self.at;
        let mut complex: Vec<bool> = starts.iter().map(|start| start.part.kind() == FormulaKind::Complex).collect();
        let (states, next) = loop {
            let states = self.states(&complex);
            let names = starts.iter().map(|start| start.name);
            self.scope.locals = names.zip(states.iter().copied()).collect();
            self.at = steps;
            let mut found = self.binds()?;
            if self.at != from {
                return self.expected("an operator, ',' or 'from'");
            }
            let mut next = Vec::new();
            for start in &starts {
                let Some(at) = found.iter().position(|step| step.name == start.name) else {
                    return self.wrong(
                        start.piece,
                        format!("no step changes '{0}'; write {0} = .. before 'from'", start.name),
                    );
                };
                next.push(found.swap_remove(at).part);
            }
            if let Some(step) = found.first() {
                let reason = format!("nothing says what '{0}' begins with; write {0} = .. after 'from'", step.name);
                return self.wrong(step.piece, reason);
            }
            let becomes = next.iter().zip(&complex).map(|(part, &was)| was || part.kind() == FormulaKind::Complex);
            let becomes: Vec<bool> = becomes.collect();
            if becomes == complex {
                break (states, next);
            }
            complex = becomes;
        };
        self.at = condition;
        if !self.takes_word("while") {
            return self.expected("'while', and a comparison that ends it, as in 'while |z| < 2',");
        }
        let condition = self.of_kind(0, FormulaKind::Truth)?.node(&mut self.read.dag);
        self.scope.locals.clear();
        let cap = if self.takes_word("cap") { self.cap()? } else { USUAL_CAP };
        let mut roots = vec![condition];
        for parts in [next, starts.iter().map(|start| start.part).collect()] {
            for (part, state) in parts.into_iter().zip(&states) {
                let zero = self.read.dag.constant(FormulaLiteral::new(0.0));
                let pair = part.pair().map(|part| part.unwrap_or(zero));
                roots.extend(&pair[..state.pair().iter().flatten().count()]);
            }
        }
        self.read.result = FormulaResult::Iterations { states: (roots.len() - 1) / 2, cap };
        self.read.roots = roots;
        Ok(())
    }

    /// Names and what each is given.
    fn binds(&mut self) -> Read<Vec<FormulaBind<'a>>> {
        let mut binds: Vec<FormulaBind<'a>> = Vec::new();
        loop {
            let piece = self.piece();
            // It may be called like an axis, which it hides.
            let FormulaToken::Name(name) = piece.token else { return self.expected("a name") };
            if let Some(reason) = self.scope.taken(name, true) {
                return self.wrong(piece, reason);
            }
            if binds.iter().any(|bind| bind.name == name) {
                return self.wrong(piece, format!("'{name}' is there twice"));
            }
            if binds.len() == MOST_STATES {
                return self.wrong(piece, format!("an iteration changes at most {MOST_STATES} names"));
            }
            self.advance();
            self.needs("=")?;
            let part = self.number_part(0)?;
            binds.push(FormulaBind { name, piece, part });
            if !self.takes(",") {
                return Ok(binds);
            }
        }
    }

    /// Parts for names, of which some are complex: numbers that change from one step to the next.
    fn states(&mut self, complex: &[bool]) -> Vec<FormulaPart> {
        let mut number = MAX_DIM as u32;
        let mut state = || {
            number += 1;
            self.read.dag.push(FormulaOp::Axis, &[number - 1])
        };
        let of = |&complex: &bool| match complex {
            true => FormulaPart::Complex([Some(state()), Some(state())]),
            false => FormulaPart::value(state()),
        };
        complex.iter().map(of).collect()
    }

    /// The most steps: a constant.
    fn cap(&mut self) -> Read<u32> {
        let piece = self.piece();
        let part = self.value(0)?;
        let node = part.node(&mut self.read.dag);
        let number = self.read.dag.value(node).map(FormulaLiteral::wide);
        match number.filter(|number| number.fract() == 0.0 && (1.0..=f64::from(u32::MAX)).contains(number)) {
            Some(number) => Ok(number as u32),
            None => self.wrong(piece, format!("a cap is a whole number from 1 to {}", u32::MAX)),
        }
    }
}
