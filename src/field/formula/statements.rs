//! What comes before the result of a formula: names, and what they stand for.

use crate::dimension::MAX_DIM;
use crate::field::formula::dag::FormulaLiteral;
use crate::field::formula::lex::FormulaToken;
use crate::field::formula::parse::{FormulaParser, Read};
use crate::field::formula::part::FormulaPart;
use crate::field::formula::scope::{FormulaDefinition, FormulaMeaning};

impl<'a> FormulaParser<'a> {
    /// Reads a statement; false if the result comes next.
    pub(super) fn statement(&mut self) -> Read<bool> {
        if self.takes_word("let") {
            let name = self.new_name(false)?;
            self.needs("=")?;
            let part = self.expression(0)?;
            self.scope.give(name, FormulaMeaning::Part(part));
        } else if self.takes_word("param") {
            let name = self.new_name(false)?;
            self.needs("=")?;
            let (literal, bytes) = self.number()?;
            let part = FormulaPart::value(self.read.dag.constant(literal));
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
        let ones = vec![FormulaPart::value(node); definition.takes.len()];
        self.body(&definition, ones)?;
        self.scope.give(name, FormulaMeaning::Definition(definition));
        Ok(())
    }

    /// Reads the body of a definition, with what it takes; the place is then after the body.
    pub(super) fn body(&mut self, definition: &FormulaDefinition<'a>, given: Vec<FormulaPart>) -> Read<FormulaPart> {
        let locals = definition.takes.iter().copied().zip(given).collect();
        let outside = std::mem::replace(&mut self.scope.locals, locals);
        self.at = definition.body;
        let part = self.expression(0);
        self.scope.locals = outside;
        part
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
}
