//! A formula over a domain.

use crate::cell::WordsMut;
use crate::dimension::here;
use crate::field::definition::{Evaluate, Field, Payload, Prove};
use crate::field::error::FieldError;
use crate::field::formula::error::FormulaError;
use crate::field::formula::forest::{ForestLimits, FormulaForest};
use crate::field::formula::iterated::IteratedField;
use crate::field::formula::lanes::{BLOCK, FormulaBlock};
use crate::field::formula::number::FormulaNumber;
use crate::field::formula::parse::FormulaResult;
use crate::field::formula::sampled::FormulaSamples;
use crate::field::formula::siblings::SIBLINGS;
use crate::field::formula::source;
use crate::field::formula::text::Formula;
use crate::field::formula::value::{FormulaPass, FormulaValue};
use crate::field::formula::waves;
use crate::field::labels::Labels;
use crate::field::options::{Arithmetic, FieldOptions, Precision};
use crate::field::start::Defaults;
use crate::field::twin::{DeviceTwin, MOST_LINES};
use crate::geometry::{Domain, Region};
use crate::parallel::Spare;
use crate::rule::{RuleKind, Verdict};

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
    // The library compiles the evaluator once, so that callers do not compile it again.
    here!(fn(&Domain<K>, &FieldOptions) -> Result<Box<dyn Field<K>>, FieldError> = open_here::<K>)(domain, options)
}

fn open_here<const K: usize>(domain: &Domain<K>, options: &FieldOptions) -> Result<Box<dyn Field<K>>, FieldError> {
    let formula = formula_of(options, K)?;
    match options.precision {
        Precision::F32 => open_with::<K, f32>(domain, options.arithmetic, &formula),
        Precision::F64 => open_with::<K, f64>(domain, options.arithmetic, &formula),
    }
}

/// The formula of a field of k axes.
fn formula_of(options: &FieldOptions, k: usize) -> Result<Formula, FieldError> {
    let formula = match &options.source {
        Some(text) => Formula::parse(text.clone())?,
        None => Formula::ball(k),
    };
    formula.beyond(k).map_or(Ok(formula), |error| Err(error.into()))
}

fn open_with<const K: usize, T: FormulaNumber>(
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
    pub(super) value: FormulaValue<T>,
    pub(super) forest: FormulaForest<K>,
    /// Memory that calls use again.
    blocks: Spare<FormulaBlock<T>>,
    passes: Spare<FormulaPass<T>>,
}

impl<const K: usize, T: FormulaNumber> FormulaField<K, T> {
    pub(super) fn new(domain: &Domain<K>, arithmetic: Arithmetic, formula: &Formula) -> Result<Self, FormulaError> {
        let value = FormulaValue::new(arithmetic, formula)?;
        Ok(Self {
            samples: FormulaSamples::new(domain, arithmetic),
            forest: FormulaForest::new(domain.size(), value.tape.clauses.len(), ForestLimits::usual(K)),
            value,
            blocks: Spare::new(),
            passes: Spare::new(),
        })
    }

    /// The twin, which has lines up to `most_lines` clauses.
    pub(super) fn twin_within(&self, most_lines: usize) -> DeviceTwin {
        self.samples.twin(source::of_value(&self.value.tape, &self.value.labels, most_lines), 0)
    }
}

impl<const K: usize, T: FormulaNumber> Field<K> for FormulaField<K, T> {
    fn labels(&self) -> Labels {
        self.value.labels.labels()
    }

    fn host(&self) -> Option<&dyn Evaluate<K>> {
        Some(self)
    }

    fn prover(&self) -> Option<&dyn Prove<K>> {
        Some(self)
    }

    fn twin(&self) -> Option<DeviceTwin> {
        let FormulaValue { tape, labels, .. } = &self.value;
        let long = tape.clauses.len() > MOST_LINES && !tape.axes.is_empty();
        let waves = if long { waves::words(tape) } else { None };
        Some(match waves {
            Some(waves) => self.samples.long_twin(source::of_value(tape, labels, MOST_LINES), tape, waves),
            None => self.twin_within(MOST_LINES),
        })
    }
}

impl<const K: usize, T: FormulaNumber> Evaluate<K> for FormulaField<K, T> {
    fn evaluate(&self, cells: &[[u32; K]], labels: WordsMut<'_>) {
        let mut block = self.blocks.take().unwrap_or_else(FormulaBlock::new);
        let FormulaValue { tape, labels: of_values, isa } = &self.value;
        let (mut cells, mut labels) = (cells, labels);
        while let Some(&first) = cells.first() {
            // Cells that share a tape come one after another.
            let place = self.forest.find(&Region { corner: first, extent: [1; K] });
            let run = cells.iter().position(|&cell| !place.cells.contains_cell(cell)).unwrap_or(cells.len());
            let (these, others) = cells.split_at(run.min(BLOCK));
            cells = others;
            let (steps, result) = self.value.steps(place.tape);
            block.make_room(steps.slots, these.len());
            for (slot, &axis) in tape.axes.iter().enumerate() {
                self.samples.coordinates(axis, these, block.slot_mut(slot), *isa);
            }
            block.run(steps, *isa);
            let (now, later) = labels.split_at(these.len());
            labels = later;
            of_values.put(block.slot(result.into()), now);
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
        let mut pass = self.passes.take().unwrap_or_else(FormulaPass::new);
        let mut coordinates = Vec::new();
        let mut at = 0;
        while at < regions.len() {
            let place = self.forest.find(&regions[at]);
            let most = &regions[at..regions.len().min(at + SIBLINGS)];
            let same = |region: &Region<K>| std::ptr::eq(self.forest.find(region).node, place.node);
            let together = 1 + most[1..].iter().take_while(|region| same(region)).count();
            let some = &most[..together];
            coordinates.clear();
            coordinates.extend(self.value.tape.axes.iter().map(|&axis| self.samples.sibling_bounds(some, axis)));
            let open = self.value.prove(place.tape, &coordinates, &mut pass, &mut verdicts[at..at + together]);
            let wanted = if open == 0 { 0 } else { open & self.forest.wants(&place, some) };
            if wanted != 0 {
                let mut tapes = self.value.shortened(place.tape, &mut pass, wanted);
                for lane in (0..together).filter(|lane| wanted >> lane & 1 == 1) {
                    self.forest.grow(&place, &some[lane], tapes[lane].take());
                }
            }
            at += together;
        }
        self.passes.give(pass);
    }
}
