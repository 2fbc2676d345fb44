//! A formula over a domain.

use crate::cell::WordsMut;
use crate::field::definition::{Evaluate, Field, Payload, Prove};
use crate::field::error::FieldError;
use crate::field::formula::error::FormulaError;
use crate::field::formula::intervals::{FormulaBounds, bounds};
use crate::field::formula::iterated::IteratedField;
use crate::field::formula::labels::FormulaLabels;
use crate::field::formula::lanes::{BLOCK, FormulaBlock};
use crate::field::formula::lower::lower;
use crate::field::formula::number::FormulaNumber;
use crate::field::formula::parse::FormulaResult;
use crate::field::formula::sampled::FormulaSamples;
use crate::field::formula::source;
use crate::field::formula::tape::FormulaTape;
use crate::field::formula::text::Formula;
use crate::field::labels::Labels;
use crate::field::options::{Arithmetic, FieldOptions, Precision};
use crate::field::start::Defaults;
use crate::field::twin::{DeviceTwin, MOST_LINES};
use crate::geometry::{Domain, Region};
use crate::rule::{RuleKind, Verdict};
use crate::simd::Isa;

/// One line for lists.
pub(crate) const ABOUT: &str = "a formula of yours, as in 'x^2 + y^2 < 1'";

/// What a bare run uses.
pub(crate) fn defaults(k: usize) -> Defaults {
    Defaults {
        size: [1 << 20, 1 << 10, 1 << 8, 1 << 6, 1 << 4, 1 << 4, 1 << 3, 1 << 3][k - 1],
        g: if k <= 4 { 8 } else { 4 },
        r: 4,
        b: 4,
        dwell: None,
        window: vec![[-1.0, 1.0]; k],
        explore: RuleKind::Certified,
        by_index: false,
    }
}

/// Opens a formula, which `options` holds as its source, over a domain; without a source it is a ball.
///
/// A comparison is 1 in the cells where it holds, else 0. `classes` counts thresholds, and `iterate` counts steps.
/// Another formula is its value, in the precision of the run.
///
/// ```
/// use orthant::field::{FieldOptions, formula};
/// use orthant::prelude::*;
///
/// let plan = Plan::builder([64, 64]).window([[-1.0, 1.0]; 2]).rule(RuleKind::Certified).build()?;
/// let options = FieldOptions::default().source("x^2 + y^2 < 0.5 and not |x| < 0.1");
/// let field = formula::open(plan.domain(), &options)?;
/// let found = run(&plan, &*field)?;
/// let array = found.array().unwrap();
/// assert_eq!([[32, 40], [40, 32], [0, 0]].map(|cell| array.label(cell)), [0, 1, 0]);
/// // Complex numbers and iteration: the origin never leaves the Mandelbrot set.
/// let options = options.source("iterate z = z^2 + c from z = 0 while |z| < 2 cap 40");
/// let field = formula::open(plan.domain(), &options)?;
/// assert_eq!(run(&plan, &*field)?.array().unwrap().label([32, 32]), 40);
/// # Ok::<(), orthant::Error>(())
/// ```
///
/// # Errors
/// [`FieldError::Formula`] if the text is no formula, or names an axis that the domain does not have.
pub fn open<const K: usize>(domain: &Domain<K>, options: &FieldOptions) -> Result<Box<dyn Field<K>>, FieldError> {
    let formula = match &options.source {
        Some(text) => Formula::parse(text.clone())?,
        None => Formula::ball(K),
    };
    if let Some(error) = formula.beyond(K) {
        return Err(error.into());
    }
    match options.precision {
        Precision::F32 => opened::<K, f32>(domain, options.arithmetic, &formula),
        Precision::F64 => opened::<K, f64>(domain, options.arithmetic, &formula),
    }
}

fn opened<const K: usize, T: FormulaNumber>(
    domain: &Domain<K>,
    arithmetic: Arithmetic,
    formula: &Formula,
) -> Result<Box<dyn Field<K>>, FieldError> {
    Ok(match formula.parsed.result {
        FormulaResult::Iterations { .. } => Box::new(IteratedField::<K, T>::new(domain, arithmetic, formula)?),
        _ => Box::new(FormulaField::<K, T>::new(domain, arithmetic, formula)?),
    })
}

/// A formula in numbers of type T over a domain.
pub(super) struct FormulaField<const K: usize, T> {
    pub(super) samples: FormulaSamples<K, T>,
    pub(super) tape: FormulaTape<T>,
    pub(super) labels: FormulaLabels<T>,
    pub(super) isa: Isa,
}

impl<const K: usize, T: FormulaNumber> FormulaField<K, T> {
    pub(super) fn new(domain: &Domain<K>, arithmetic: Arithmetic, formula: &Formula) -> Result<Self, FormulaError> {
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
        Ok(Self { samples: FormulaSamples::new(domain, arithmetic), tape, labels, isa: Isa::detect() })
    }

    /// The twin, which has lines up to `most_lines` clauses.
    pub(super) fn twin_within(&self, most_lines: usize) -> DeviceTwin {
        self.samples.twin(source::of_value(&self.tape, &self.labels, most_lines), 0)
    }
}

impl<const K: usize, T: FormulaNumber> Field<K> for FormulaField<K, T> {
    fn labels(&self) -> Labels {
        self.labels.labels()
    }

    fn host(&self) -> Option<&dyn Evaluate<K>> {
        Some(self)
    }

    fn prover(&self) -> Option<&dyn Prove<K>> {
        Some(self)
    }

    fn twin(&self) -> Option<DeviceTwin> {
        Some(self.twin_within(MOST_LINES))
    }
}

impl<const K: usize, T: FormulaNumber> Evaluate<K> for FormulaField<K, T> {
    fn evaluate(&self, cells: &[[u32; K]], labels: WordsMut<'_>) {
        let mut block = FormulaBlock::new(&self.tape);
        let mut labels = labels;
        for cells in cells.chunks(BLOCK) {
            // What is left of the block after the last cells keeps its values, which nobody looks at.
            for (slot, &axis) in block.slots.iter_mut().zip(&self.tape.axes) {
                slot.iter_mut().zip(cells).for_each(|(place, cell)| *place = self.samples.coordinate(axis, cell[axis]));
            }
            block.run(&self.tape, self.isa);
            let values = block.result(&self.tape, 0);
            let (these, others) = labels.split_at(cells.len());
            labels = others;
            match these {
                WordsMut::Narrow(words) => {
                    words.iter_mut().zip(values).for_each(|(word, &value)| *word = self.labels.word(value) as u32);
                }
                WordsMut::Wide(words) => {
                    words.iter_mut().zip(values).for_each(|(word, &value)| *word = self.labels.word(value));
                }
            }
        }
    }
}

impl<const K: usize, T: FormulaNumber> Prove<K> for FormulaField<K, T> {
    fn prove(&self, region: &Region<K>, _: Payload) -> Verdict {
        let mut slots = Vec::new();
        bounds(&self.tape, |axis| self.samples.bounds(region, axis), &mut slots);
        let FormulaBounds { low, high } = slots[usize::from(self.tape.results[0])];
        let proven = match &self.labels {
            _ if low.is_nan() => false,
            // A bound of 0 says nothing of the sign of zeros.
            FormulaLabels::Value => low.bits() == high.bits() && low != T::ZERO,
            _ => self.labels.word(low) == self.labels.word(high),
        };
        if proven { Verdict::Uniform(self.labels.word(low)) } else { Verdict::Unknown }
    }
}
