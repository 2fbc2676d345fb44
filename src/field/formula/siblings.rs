//! Bounds of up to sixteen regions in one pass over a tape, a lane for each, and what is the same in all of a region.
//!
//! Bounds are those of `intervals.rs`, operation by operation. Beside them a pass notes, for every clause that chooses,
//! the regions in which it chooses alike everywhere: a tape without what is never chosen has the same results there, to the bit
//! (`shorten.rs`).

use crate::field::formula::dag::FormulaOp;
use crate::field::formula::intervals::{FormulaBounds, bounds_after};
use crate::field::formula::lanes::{LANES, VectorJob, VectorUnit, on};
use crate::field::formula::number::FormulaNumber;
use crate::field::formula::tape::{FormulaClause, FormulaSteps};
use crate::simd::Isa;

/// Regions of a pass.
pub(super) const SIBLINGS: usize = LANES;

/// Bounds in each region.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct SiblingBounds<T> {
    pub(super) low: [T; SIBLINGS],
    pub(super) high: [T; SIBLINGS],
}

impl<T: FormulaNumber> SiblingBounds<T> {
    /// One number everywhere.
    #[inline(always)]
    pub(super) fn all(value: T) -> Self {
        // A constant that is NaN is anything.
        Self { low: [value; SIBLINGS], high: [value; SIBLINGS] }
    }

    #[inline(always)]
    pub(super) fn get(&self, lane: usize) -> FormulaBounds<T> {
        FormulaBounds { low: self.low[lane], high: self.high[lane] }
    }

    #[inline(always)]
    pub(super) fn set(&mut self, lane: usize, bounds: FormulaBounds<T>) {
        (self.low[lane], self.high[lane]) = (bounds.low, bounds.high);
    }
}

/// What a clause that chooses does, a bit per region. Of a minimum or maximum: in all cells its result is its first operand,
/// or its second. Of a comparison: it never holds, or always.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct SiblingChoices {
    pub(super) first: u16,
    pub(super) second: u16,
}

/// True if a clause chooses.
#[inline(always)]
pub(super) fn chooses(clause: &FormulaClause) -> bool {
    match clause.op {
        FormulaOp::Min | FormulaOp::Max | FormulaOp::Less | FormulaOp::LessEq => true,
        // `not`
        _ => clause.is_truth(),
    }
}

/// The bounds of slots and the choices of a pass.
pub(super) struct SiblingPass<T> {
    pub(super) slots: Vec<SiblingBounds<T>>,
    /// In the order of the clauses that choose.
    pub(super) choices: Vec<SiblingChoices>,
}

impl<T: FormulaNumber> SiblingPass<T> {
    /// Room for nothing.
    pub(super) fn new() -> Self {
        Self { slots: Vec::new(), choices: Vec::new() }
    }

    /// Runs steps over the bounds of coordinates, which the first slots are given.
    pub(super) fn run(&mut self, steps: FormulaSteps<'_, T>, coordinates: &[SiblingBounds<T>], isa: Isa) {
        if self.slots.len() < steps.slots {
            self.slots.resize(steps.slots, SiblingBounds::all(T::ZERO));
        }
        self.slots[..coordinates.len()].copy_from_slice(coordinates);
        self.choices.clear();
        on(isa, BoundSteps { steps, slots: &mut self.slots, choices: &mut self.choices });
    }
}

/// All steps on bounds.
struct BoundSteps<'a, T> {
    steps: FormulaSteps<'a, T>,
    slots: &'a mut [SiblingBounds<T>],
    choices: &'a mut Vec<SiblingChoices>,
}

impl<T: FormulaNumber> VectorJob for BoundSteps<'_, T> {
    #[inline(always)]
    fn run<U: VectorUnit>(self) {
        let Self { steps, slots, choices } = self;
        let mut third = (0, false);
        // Where constants are spread over the lanes.
        let mut spread = [SiblingBounds::all(T::ZERO); 3];
        for clause in steps.clauses {
            if clause.op == FormulaOp::Third {
                third = (clause.a, clause.a_is_constant());
                continue;
            }
            let operands = clause.op.operands();
            let places = [(clause.a, clause.a_is_constant()), (clause.b, clause.b_is_constant()), third];
            for (spread, (place, constant)) in spread.iter_mut().zip(places).take(operands.max(1)) {
                if constant {
                    *spread = SiblingBounds::all(steps.constants[usize::from(place)]);
                }
            }
            let operand = |number: usize| {
                let (place, constant) = if number < operands.max(1) { places[number] } else { places[0] };
                match constant {
                    true => &spread[if number < operands.max(1) { number } else { 0 }],
                    false => &slots[usize::from(place)],
                }
            };
            let (a, b, c) = (operand(0), operand(1), operand(2));
            macro_rules! each {
                ($method:ident $(::<$same:literal>)? ($($operand:ident),+)) => {{
                    let mut found = SiblingBounds::all(T::ZERO);
                    for lane in 0..SIBLINGS {
                        found.set(lane, FormulaBounds::$method$(::<$same>)?($($operand.get(lane)),+));
                    }
                    found
                }};
            }
            // The operation is known where it is compiled: each arm is a loop of its own.
            let found = bounds_after!(clause.op, clause.is_of_one_factor(), each, a, b, c);
            if !chooses(clause) {
                slots[usize::from(clause.out)] = found;
                continue;
            }
            // Operands are compared as the operation does, which is false for NaN. A truth has one zero, so that the first of two
            // that are equal is as good as the second.
            let ([first, first_or_equal], [_, second]) = match clause.op {
                FormulaOp::Min => (U::below(&a.high, &b.low), U::below(&b.high, &a.low)),
                FormulaOp::Max => (U::below(&b.high, &a.low), U::below(&a.high, &b.low)),
                // 0 is the least truth, and 1 the greatest.
                _ => {
                    let [zero, one] = [T::ZERO, T::ONE].map(|truth| [truth; SIBLINGS]);
                    (U::below(&found.high, &zero), U::below(&one, &found.low))
                }
            };
            let first = if clause.is_truth() { first_or_equal } else { first };
            choices.push(SiblingChoices { first, second });
            slots[usize::from(clause.out)] = found;
        }
    }
}
