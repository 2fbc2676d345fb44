//! A tape on a block of cells: every clause is a loop over the block, which the compiler makes vectors of.
//!
//! Every operation is rounded once whatever the vectors are, so that the cells do not depend on the block or the processor.
#![allow(unsafe_code)]

use std::mem::take;

use crate::field::formula::dag::FormulaOp;
use crate::field::formula::functions;
use crate::field::formula::number::FormulaNumber;
use crate::field::formula::tape::FormulaTape;
use crate::simd::Isa;

/// Cells of a block.
pub(super) const BLOCK: usize = 128;

/// The values of a block, slot by slot. Coordinates are put into the first ones.
pub(super) struct FormulaBlock<T> {
    pub(super) slots: Vec<Vec<T>>,
}

impl<T: FormulaNumber> FormulaBlock<T> {
    pub(super) fn new(tape: &FormulaTape<T>) -> Self {
        Self { slots: vec![vec![T::ZERO; BLOCK]; tape.slots] }
    }

    /// Runs the tape. Results are then in its slots.
    pub(super) fn run(&mut self, tape: &FormulaTape<T>, isa: Isa) {
        match isa {
            // SAFETY: the caller has it from `Isa::detect` or asked `Isa::is_available`.
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => unsafe { avx512(tape, &mut self.slots) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => unsafe { avx2(tape, &mut self.slots) },
            _ => clauses(tape, &mut self.slots),
        }
    }

    /// The values of result `number` after a run.
    pub(super) fn result(&self, tape: &FormulaTape<T>, number: usize) -> &[T] {
        &self.slots[usize::from(tape.results[number])]
    }
}

/// # Safety
/// The processor has the features.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx2,fma")]
unsafe fn avx512<T: FormulaNumber>(tape: &FormulaTape<T>, slots: &mut [Vec<T>]) {
    clauses(tape, slots);
}

/// # Safety
/// The processor has the features.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn avx2<T: FormulaNumber>(tape: &FormulaTape<T>, slots: &mut [Vec<T>]) {
    clauses(tape, slots);
}

/// An operand: a value for every cell, or one for all.
#[derive(Clone, Copy)]
enum FormulaOperand<'a, T> {
    Cells(&'a [T; BLOCK]),
    All(T),
}

#[inline(always)]
fn unary<T: FormulaNumber>(out: &mut [T; BLOCK], a: FormulaOperand<'_, T>, f: impl Fn(T) -> T) {
    match a {
        FormulaOperand::Cells(a) => (0..BLOCK).for_each(|i| out[i] = f(a[i])),
        FormulaOperand::All(a) => out.fill(f(a)),
    }
}

#[inline(always)]
fn binary<T: FormulaNumber>(
    out: &mut [T; BLOCK],
    a: FormulaOperand<'_, T>,
    b: FormulaOperand<'_, T>,
    f: impl Fn(T, T) -> T,
) {
    match (a, b) {
        (FormulaOperand::Cells(a), FormulaOperand::Cells(b)) => (0..BLOCK).for_each(|i| out[i] = f(a[i], b[i])),
        (FormulaOperand::Cells(a), FormulaOperand::All(b)) => (0..BLOCK).for_each(|i| out[i] = f(a[i], b)),
        (FormulaOperand::All(a), FormulaOperand::Cells(b)) => (0..BLOCK).for_each(|i| out[i] = f(a, b[i])),
        (FormulaOperand::All(a), FormulaOperand::All(b)) => out.fill(f(a, b)),
    }
}

#[inline(always)]
fn ternary<T: FormulaNumber>(
    out: &mut [T; BLOCK],
    [a, b, c]: [FormulaOperand<'_, T>; 3],
    f: impl Fn(T, T, T) -> T + Copy,
) {
    match c {
        FormulaOperand::All(c) => binary(out, a, b, |a, b| f(a, b, c)),
        FormulaOperand::Cells(c) => match (a, b) {
            (FormulaOperand::Cells(a), FormulaOperand::Cells(b)) => {
                (0..BLOCK).for_each(|i| out[i] = f(a[i], b[i], c[i]))
            }
            (FormulaOperand::Cells(a), FormulaOperand::All(b)) => (0..BLOCK).for_each(|i| out[i] = f(a[i], b, c[i])),
            (FormulaOperand::All(a), FormulaOperand::Cells(b)) => (0..BLOCK).for_each(|i| out[i] = f(a, b[i], c[i])),
            (FormulaOperand::All(a), FormulaOperand::All(b)) => (0..BLOCK).for_each(|i| out[i] = f(a, b, c[i])),
        },
    }
}

/// Runs all clauses. A slot that is written is taken out meanwhile: no clause reads the one that it writes.
#[inline(always)]
fn clauses<T: FormulaNumber>(tape: &FormulaTape<T>, slots: &mut [Vec<T>]) {
    let mut third = (0, false);
    for clause in &tape.clauses {
        if clause.op == FormulaOp::Third {
            third = (clause.a, clause.a_is_constant());
            continue;
        }
        let mut written = take(&mut slots[usize::from(clause.out)]);
        let operand = |place: u16, constant: bool| match constant {
            true => FormulaOperand::All(tape.constants[usize::from(place)]),
            false => {
                let slot = slots[usize::from(place)].first_chunk();
                FormulaOperand::Cells(slot.expect("a slot that is read is not the one that is written"))
            }
        };
        let a = || operand(clause.a, clause.a_is_constant());
        let b = || operand(clause.b, clause.b_is_constant());
        let abc = || [a(), b(), operand(third.0, third.1)];
        let out = written.first_chunk_mut().expect("a slot holds a block");
        match clause.op {
            FormulaOp::Number => unary(out, a(), |a| a),
            FormulaOp::Add => binary(out, a(), b(), |a, b| a + b),
            FormulaOp::Sub => binary(out, a(), b(), |a, b| a - b),
            FormulaOp::Mul => binary(out, a(), b(), |a, b| a * b),
            FormulaOp::Div => binary(out, a(), b(), |a, b| a / b),
            FormulaOp::Min => binary(out, a(), b(), T::least),
            FormulaOp::Max => binary(out, a(), b(), T::most),
            FormulaOp::Less => binary(out, a(), b(), |a, b| T::truth(a < b)),
            FormulaOp::LessEq => binary(out, a(), b(), |a, b| T::truth(a <= b)),
            FormulaOp::Neg => unary(out, a(), |a| -a),
            FormulaOp::Abs => unary(out, a(), T::magnitude),
            FormulaOp::Sqrt => unary(out, a(), T::root),
            FormulaOp::Square => unary(out, a(), |a| a * a),
            FormulaOp::Floor => unary(out, a(), T::whole),
            FormulaOp::Sin => unary(out, a(), |a| a.through(functions::sin)),
            FormulaOp::Cos => unary(out, a(), |a| a.through(functions::cos)),
            FormulaOp::Exp => unary(out, a(), |a| a.through(functions::exp)),
            FormulaOp::Ln => unary(out, a(), |a| a.through(functions::ln)),
            FormulaOp::MulAdd => ternary(out, abc(), |a, b, c| a.fused(b, c)),
            FormulaOp::MulSub => ternary(out, abc(), |a, b, c| a.fused(b, -c)),
            FormulaOp::SubMul => ternary(out, abc(), |a, b, c| (-a).fused(b, c)),
            FormulaOp::Axis | FormulaOp::Third => {}
        }
        slots[usize::from(clause.out)] = written;
    }
}
