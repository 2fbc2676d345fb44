//! A formula whose label is its value, without a domain.

use crate::field::formula::error::FormulaError;
use crate::field::formula::labels::FormulaLabels;
use crate::field::formula::lower::lower;
use crate::field::formula::number::FormulaNumber;
use crate::field::formula::parse::FormulaResult;
use crate::field::formula::shorten::{ShortTape, ShortenScratch, Shortening};
use crate::field::formula::siblings::{SIBLINGS, SiblingBounds, SiblingPass};
use crate::field::formula::tape::{FormulaSteps, FormulaTape};
use crate::field::formula::text::Formula;
use crate::field::options::Arithmetic;
use crate::rule::Verdict;
use crate::simd::Isa;

/// A formula in numbers of type T. What needs no domain is compiled once for all numbers of axes.
pub(super) struct FormulaValue<T> {
    pub(super) tape: FormulaTape<T>,
    pub(super) labels: FormulaLabels<T>,
    pub(super) isa: Isa,
}

/// Memory of a pass over a tape.
pub(super) struct FormulaPass<T> {
    pass: SiblingPass<T>,
    scratch: ShortenScratch,
}

impl<T: FormulaNumber> FormulaPass<T> {
    /// Room for nothing.
    #[inline(never)]
    pub(super) fn new() -> Self {
        Self { pass: SiblingPass::new(), scratch: ShortenScratch::default() }
    }
}

impl<T: FormulaNumber> FormulaValue<T> {
    pub(super) fn new(arithmetic: Arithmetic, formula: &Formula) -> Result<Self, FormulaError> {
        let parsed = &formula.parsed;
        let labels = match &parsed.result {
            FormulaResult::Classes(thresholds) => {
                FormulaLabels::Classes(thresholds.iter().map(|&threshold| T::of_literal(threshold)).collect())
            }
            FormulaResult::Value => FormulaLabels::Value,
            FormulaResult::Truth | FormulaResult::Iterations { .. } => FormulaLabels::Truth,
        };
        let lowered = lower::<T>(&parsed.dag, &parsed.roots, arithmetic);
        let tape = FormulaTape::new(&lowered).map_err(|large| large.error(formula.text()))?;
        Ok(Self { tape, labels, isa: Isa::detect() })
    }

    /// A tape that is right somewhere; None: everywhere.
    pub(super) fn steps<'a>(&'a self, tape: Option<&'a ShortTape>) -> (FormulaSteps<'a, T>, u16) {
        match tape {
            Some(tape) => {
                let ShortTape { clauses, slots, result } = tape;
                (FormulaSteps { clauses, constants: &self.tape.constants, slots: *slots }, *result)
            }
            None => (self.tape.steps(), self.tape.results[0]),
        }
    }

    /// The verdicts on regions with these bounds of coordinates, in all of which a tape is right. A bit is set for each of which
    /// nothing is proven.
    pub(super) fn prove(
        &self,
        tape: Option<&ShortTape>,
        coordinates: &[SiblingBounds<T>],
        FormulaPass { pass, .. }: &mut FormulaPass<T>,
        verdicts: &mut [Verdict],
    ) -> u16 {
        let (steps, result) = self.steps(tape);
        pass.run(steps, coordinates, self.isa);
        let mut open = 0;
        for (lane, verdict) in verdicts.iter_mut().enumerate() {
            *verdict = match self.labels.proven(pass.slots[usize::from(result)].get(lane)) {
                Some(word) => Verdict::Uniform(word),
                None => {
                    open |= 1 << lane;
                    Verdict::Unknown
                }
            };
        }
        open
    }

    /// Shorter tapes for the wanted of some regions, by what a pass over a tape found.
    #[inline(never)]
    pub(super) fn shortened(
        &self,
        tape: Option<&ShortTape>,
        FormulaPass { pass, scratch }: &mut FormulaPass<T>,
        wanted: u16,
    ) -> [Option<ShortTape>; SIBLINGS] {
        let (steps, result) = self.steps(tape);
        let decided = pass.choices.iter().fold(0, |all, choice| all | choice.first | choice.second);
        let shortening = Shortening {
            clauses: steps.clauses,
            slots: steps.slots,
            result,
            coordinates: self.tape.axes.len(),
            truth: self.tape.truth,
        };
        shortening.shorten(&pass.choices, wanted & decided, scratch)
    }
}
