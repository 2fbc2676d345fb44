//! Bounds of up to sixteen regions in one pass over a tape, a lane for each, and what is the same in all of a region.
//!
//! Bounds are those of `intervals.rs`, operation by operation. Beside them a pass notes, for every clause that chooses,
//! the regions in which it chooses alike everywhere: a tape without what is never chosen has the same results there, to the bit
//! (`shorten.rs`).

use crate::field::formula::dag::FormulaOp;
use crate::field::formula::intervals::FormulaBounds;
use crate::field::formula::lanes::{VectorJob, on};
use crate::field::formula::number::FormulaNumber;
use crate::field::formula::tape::{FormulaClause, FormulaSteps};
use crate::simd::Isa;

/// Regions of a pass.
pub(super) const SIBLINGS: usize = 16;

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

/// An operation in every region.
#[inline(always)]
fn each<T: FormulaNumber>(op: FormulaOp, operands: &[SiblingBounds<T>; 3], same: bool) -> SiblingBounds<T> {
    let mut found = SiblingBounds::all(T::ZERO);
    for lane in 0..SIBLINGS {
        let operands = [operands[0].get(lane), operands[1].get(lane), operands[2].get(lane)];
        found.set(lane, FormulaBounds::after(op, operands, same));
    }
    found
}

/// A bit for every region in which something holds.
#[inline(always)]
fn where_true(holds: impl Fn(usize) -> bool) -> u16 {
    let mut bits = 0;
    for lane in 0..SIBLINGS {
        bits |= u16::from(holds(lane)) << lane;
    }
    bits
}

impl<T: FormulaNumber> VectorJob for BoundSteps<'_, T> {
    #[inline(always)]
    fn run(self) {
        let Self { steps, slots, choices } = self;
        let mut third = SiblingBounds::all(T::ZERO);
        for clause in steps.clauses {
            let operand = |place: u16, constant: bool| match constant {
                true => SiblingBounds::all(steps.constants[usize::from(place)]),
                false => slots[usize::from(place)],
            };
            let a = operand(clause.a, clause.a_is_constant());
            if clause.op == FormulaOp::Third {
                third = a;
                continue;
            }
            let b = if clause.op.operands() > 1 { operand(clause.b, clause.b_is_constant()) } else { a };
            let (operands, same) = ([a, b, third], clause.is_of_one_factor());
            // The operation is known where it is compiled: each arm is a loop of its own.
            macro_rules! arms {
                ($($op:ident),+) => {
                    match clause.op {
                        $(FormulaOp::$op => each(FormulaOp::$op, &operands, same),)+
                        FormulaOp::MulAdd if same => each(FormulaOp::MulAdd, &operands, true),
                        FormulaOp::MulAdd => each(FormulaOp::MulAdd, &operands, false),
                        FormulaOp::MulSub if same => each(FormulaOp::MulSub, &operands, true),
                        FormulaOp::MulSub => each(FormulaOp::MulSub, &operands, false),
                        FormulaOp::SubMul if same => each(FormulaOp::SubMul, &operands, true),
                        FormulaOp::SubMul => each(FormulaOp::SubMul, &operands, false),
                        FormulaOp::Number | FormulaOp::Axis | FormulaOp::Third => a,
                    }
                };
            }
            let found = arms!(
                Add, Sub, Mul, Div, Min, Max, Less, LessEq, Neg, Abs, Sqrt, Square, Floor, Sin, Cos, Exp, Ln
            );
            slots[usize::from(clause.out)] = found;
            if !chooses(clause) {
                continue;
            }
            // Operands are compared as the operation does, which is false for NaN. A truth has one zero.
            choices.push(match (clause.op, clause.is_truth()) {
                (FormulaOp::Min, false) => SiblingChoices {
                    first: where_true(|i| a.high[i] < b.low[i]),
                    second: where_true(|i| b.high[i] <= a.low[i]),
                },
                (FormulaOp::Max, false) => SiblingChoices {
                    first: where_true(|i| a.low[i] > b.high[i]),
                    second: where_true(|i| b.low[i] >= a.high[i]),
                },
                (FormulaOp::Min, true) => SiblingChoices {
                    first: where_true(|i| a.high[i] <= b.low[i]),
                    second: where_true(|i| b.high[i] <= a.low[i]),
                },
                (FormulaOp::Max, true) => SiblingChoices {
                    first: where_true(|i| a.low[i] >= b.high[i]),
                    second: where_true(|i| b.low[i] >= a.high[i]),
                },
                _ => SiblingChoices {
                    first: where_true(|i| found.high[i] == T::ZERO),
                    second: where_true(|i| found.low[i] == T::ONE),
                },
            });
        }
    }
}
