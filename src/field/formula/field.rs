//! A formula over a domain.

use crate::cell::WordsMut;
use crate::field::definition::{Evaluate, Field, Payload, Prove};
use crate::field::error::FieldError;
use crate::field::formula::error::FormulaError;
use crate::field::formula::forest::{ForestLimits, FormulaForest};
use crate::field::formula::iterated::IteratedField;
use crate::field::formula::labels::FormulaLabels;
use crate::field::formula::lanes::{BLOCK, FormulaBlock};
use crate::field::formula::lower::lower;
use crate::field::formula::number::FormulaNumber;
use crate::field::formula::parse::FormulaResult;
use crate::field::formula::sampled::FormulaSamples;
use crate::field::formula::shorten::{ShortTape, ShortenScratch, Shortening};
use crate::field::formula::siblings::{SIBLINGS, SiblingPass};
use crate::field::formula::source;
use crate::field::formula::tape::{FormulaSteps, FormulaTape};
use crate::field::formula::text::Formula;
use crate::field::labels::Labels;
use crate::field::options::{Arithmetic, FieldOptions, Precision};
use crate::field::start::Defaults;
use crate::field::twin::{DeviceTwin, MOST_LINES};
use crate::geometry::{Domain, Region};
use crate::parallel::Spare;
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
    pub(super) forest: FormulaForest<K>,
    pub(super) isa: Isa,
    /// Memory that calls use again.
    blocks: Spare<FormulaBlock<T>>,
    passes: Spare<(SiblingPass<T>, ShortenScratch)>,
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
        let forest = FormulaForest::new(domain.size(), tape.clauses.len(), ForestLimits::usual(K));
        Ok(Self {
            samples: FormulaSamples::new(domain, arithmetic),
            tape,
            labels,
            forest,
            isa: Isa::detect(),
            blocks: Spare::new(),
            passes: Spare::new(),
        })
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

impl<const K: usize, T: FormulaNumber> FormulaField<K, T> {
    /// A tape that is right somewhere; None: everywhere.
    fn steps<'a>(&'a self, tape: Option<&'a ShortTape>) -> (FormulaSteps<'a, T>, u16) {
        match tape {
            Some(tape) => {
                let ShortTape { clauses, slots, result } = tape;
                (FormulaSteps { clauses, constants: &self.tape.constants, slots: *slots }, *result)
            }
            None => (self.tape.steps(), self.tape.results[0]),
        }
    }
}

impl<const K: usize, T: FormulaNumber> Evaluate<K> for FormulaField<K, T> {
    fn evaluate(&self, cells: &[[u32; K]], labels: WordsMut<'_>) {
        let mut block = self.blocks.take().unwrap_or_else(FormulaBlock::new);
        let (mut cells, mut labels) = (cells, labels);
        while let Some(&first) = cells.first() {
            // Cells that share a tape come one after another.
            let place = self.forest.find(&Region { corner: first, extent: [1; K] });
            let run = cells.iter().position(|&cell| !place.cells.contains_cell(cell)).unwrap_or(cells.len());
            let (these, others) = cells.split_at(run.min(BLOCK));
            cells = others;
            let (steps, result) = self.steps(place.tape);
            block.make_room(steps.slots, these.len());
            for (slot, &axis) in self.tape.axes.iter().enumerate() {
                self.samples.coordinates(axis, these, block.slot_mut(slot), self.isa);
            }
            block.run(steps, self.isa);
            let (now, later) = labels.split_at(these.len());
            labels = later;
            self.labels.put(block.slot(result.into()), now);
        }
        self.blocks.give(block);
    }
}

impl<const K: usize, T: FormulaNumber> Prove<K> for FormulaField<K, T> {
    fn prove(&self, region: &Region<K>, payload: Payload) -> Verdict {
        let mut verdict = [Verdict::Unknown];
        self.prove_all(std::slice::from_ref(region), &[payload], &mut verdict);
        verdict[0]
    }

    fn siblings(&self) -> usize {
        SIBLINGS
    }

    fn prove_all(&self, regions: &[Region<K>], _: &[Payload], verdicts: &mut [Verdict]) {
        let (mut pass, mut scratch) =
            self.passes.take().unwrap_or_else(|| (SiblingPass::new(), ShortenScratch::default()));
        let mut coordinates = Vec::new();
        let mut at = 0;
        while at < regions.len() {
            let place = self.forest.find(&regions[at]);
            let most = &regions[at..regions.len().min(at + SIBLINGS)];
            let same = |region: &Region<K>| std::ptr::eq(self.forest.find(region).node, place.node);
            let together = 1 + most[1..].iter().take_while(|region| same(region)).count();
            let some = &most[..together];
            let (steps, result) = self.steps(place.tape);
            coordinates.clear();
            coordinates.extend(self.tape.axes.iter().map(|&axis| self.samples.sibling_bounds(some, axis)));
            pass.run(steps, &coordinates, self.isa);
            let mut open = 0;
            for (lane, verdict) in verdicts[at..at + together].iter_mut().enumerate() {
                *verdict = match self.labels.proven(pass.slots[usize::from(result)].get(lane)) {
                    Some(word) => Verdict::Uniform(word),
                    None => {
                        open |= 1 << lane;
                        Verdict::Unknown
                    }
                };
            }
            let wanted = if open == 0 { 0 } else { open & self.forest.wants(&place, some) };
            if wanted != 0 {
                let decided = pass.choices.iter().fold(0, |all, choice| all | choice.first | choice.second);
                let shortening = Shortening {
                    clauses: steps.clauses,
                    slots: steps.slots,
                    result,
                    coordinates: self.tape.axes.len(),
                    truth: self.tape.truth,
                };
                let mut tapes = shortening.shorten(&pass.choices, wanted & decided, &mut scratch);
                for lane in (0..together).filter(|lane| wanted >> lane & 1 == 1) {
                    self.forest.grow(&place, &some[lane], tapes[lane].take());
                }
            }
            at += together;
        }
        self.passes.give((pass, scratch));
    }
}
