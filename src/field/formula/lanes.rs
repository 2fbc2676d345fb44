//! A tape on a block of cells: every clause is a loop over the block, which the compiler makes vectors of.
//!
//! Every operation is rounded once whatever the vectors are, so that the cells do not depend on the block or the processor.
#![allow(unsafe_code)]

use crate::field::formula::dag::FormulaOp;
use crate::field::formula::functions;
use crate::field::formula::number::FormulaNumber;
use crate::field::formula::tape::FormulaSteps;
#[cfg(target_arch = "x86_64")]
use crate::simd::Real;
use crate::simd::{Isa, Lanes};

/// Cells of a block, at most.
pub(super) const BLOCK: usize = 256;

/// Cells of a block are a multiple of this.
pub(super) const LANES: usize = 16;

/// What the compiler does not make vectors of by itself: a bit for every number that is below another.
pub(super) trait VectorUnit {
    /// Where a < b, and where a <= b; neither where one is NaN.
    fn below<T: FormulaNumber>(a: &[T; LANES], b: &[T; LANES]) -> [u16; 2];
}

/// Something that the compiler makes vectors of, for a vector unit.
pub(super) trait VectorJob {
    /// Does it. Implementations are `#[inline(always)]`, so that they are compiled for the unit that they run on.
    fn run<U: VectorUnit>(self);
}

/// Declares a unit by its vectors, and what runs a job on it.
macro_rules! unit {
    ($Unit:ident, $run:ident, |$T:ident| $Vector:ty, $features:literal) => {
        #[cfg(target_arch = "x86_64")]
        struct $Unit;

        #[cfg(target_arch = "x86_64")]
        impl VectorUnit for $Unit {
            #[inline(always)]
            fn below<$T: FormulaNumber>(a: &[$T; LANES], b: &[$T; LANES]) -> [u16; 2] {
                compared::<$Vector, $T>(a, b)
            }
        }

        /// # Safety
        /// The processor has the features.
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = $features)]
        unsafe fn $run(job: impl VectorJob) {
            job.run::<$Unit>();
        }
    };
}
unit!(FormulaAvx512, avx512, |T| <T::Vector as Real>::Avx512, "avx512f,avx2,fma");
unit!(FormulaAvx2, avx2, |T| <T::Vector as Real>::Avx2, "avx2,fma");

struct FormulaPortable;

impl VectorUnit for FormulaPortable {
    #[inline(always)]
    fn below<T: FormulaNumber>(a: &[T; LANES], b: &[T; LANES]) -> [u16; 2] {
        compared::<T::Vector, T>(a, b)
    }
}

/// Numbers of type T compared in vectors of type L.
#[inline(always)]
fn compared<L: Lanes, T: FormulaNumber>(a: &[T; LANES], b: &[T; LANES]) -> [u16; 2] {
    const { assert!(size_of::<L::Real>() == size_of::<T>() && LANES.is_multiple_of(L::N)) };
    let mut found = [0u32; 2];
    for first in (0..LANES).step_by(L::N) {
        // SAFETY: the L::N numbers from the first one on are among sixteen of the type that vectors have, which is T.
        let (a, b) = unsafe { (L::load(a.as_ptr().add(first).cast()), L::load(b.as_ptr().add(first).cast())) };
        found[0] |= L::bits(a.lt(b)) << first;
        found[1] |= L::bits(a.le(b)) << first;
    }
    found.map(|bits| bits as u16)
}

/// Does a job on a vector unit.
pub(super) fn on(isa: Isa, job: impl VectorJob) {
    match isa {
        // SAFETY: the caller has it from `Isa::detect` or asked `Isa::is_available`.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => unsafe { avx512(job) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => unsafe { avx2(job) },
        _ => job.run::<FormulaPortable>(),
    }
}

/// Numbers that vectors are loaded from at once, where a line of the cache begins.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct FormulaVector<T>([T; LANES]);

/// The values of a block of cells, slot by slot. Coordinates are put into the first ones.
pub(super) struct FormulaBlock<T> {
    values: Vec<FormulaVector<T>>,
    cells: usize,
}

impl<T: FormulaNumber> FormulaBlock<T> {
    /// Room for nothing.
    pub(super) fn new() -> Self {
        Self { values: Vec::new(), cells: 0 }
    }

    /// Makes room for so many slots of so many cells, and a few more so that vectors are whole. What they hold is anything.
    pub(super) fn make_room(&mut self, slots: usize, cells: usize) {
        self.cells = cells.next_multiple_of(LANES);
        let need = slots * self.cells / LANES;
        if self.values.len() < need {
            self.values.resize(need, FormulaVector([T::ZERO; LANES]));
        }
    }

    /// All values.
    fn all(&self) -> &[T] {
        // SAFETY: LANES numbers fill a vector's bytes, which are a multiple of its alignment.
        unsafe { std::slice::from_raw_parts(self.values.as_ptr().cast(), self.values.len() * LANES) }
    }

    /// All values.
    fn all_mut(&mut self) -> &mut [T] {
        const { assert!(size_of::<FormulaVector<T>>() == LANES * size_of::<T>()) };
        // SAFETY: as in `all`.
        unsafe { std::slice::from_raw_parts_mut(self.values.as_mut_ptr().cast(), self.values.len() * LANES) }
    }

    pub(super) fn slot(&self, slot: usize) -> &[T] {
        &self.all()[slot * self.cells..][..self.cells]
    }

    pub(super) fn slot_mut(&mut self, slot: usize) -> &mut [T] {
        let cells = self.cells;
        &mut self.all_mut()[slot * cells..][..cells]
    }

    /// Copies a slot to another.
    pub(super) fn copy(&mut self, from: usize, to: usize) {
        let cells = self.cells;
        self.all_mut().copy_within(from * cells..(from + 1) * cells, to * cells);
    }

    /// Runs steps, for whose slots there is room. Results are then in their slots.
    pub(super) fn run(&mut self, steps: FormulaSteps<'_, T>, isa: Isa) {
        let cells = self.cells;
        let values = self.all_mut();
        assert!(values.len() >= steps.slots * cells, "room was made for the slots");
        on(isa, RunSteps { steps, values, cells });
    }
}

/// An operand: a value for every cell, or one for all.
#[derive(Clone, Copy)]
enum FormulaOperand<'a, T> {
    Cells(&'a [T]),
    All(T),
}

/// Sets every cell to a value of what others have there. These are macros, since a closure that the compiler does not inline is compiled
/// for processors without vectors, where a fused multiply-add is a call.
macro_rules! cells {
    ($out:ident, [$($x:ident in $all:ident),+], $value:expr) => {{
        $(let $all = &$all[..$out.len()];)+
        for i in 0..$out.len() {
            $(let $x = $all[i];)+
            $out[i] = $value;
        }
    }};
}

/// Sets every cell to a value of one operand.
macro_rules! unary {
    ($out:ident, $operand:expr, |$a:ident| $value:expr) => {
        match $operand {
            FormulaOperand::Cells(all) => cells!($out, [$a in all], $value),
            FormulaOperand::All($a) => $out.fill($value),
        }
    };
}

/// The same of two operands.
macro_rules! binary {
    ($out:ident, [$first:expr, $second:expr], |$a:ident, $b:ident| $value:expr) => {
        match ($first, $second) {
            (FormulaOperand::Cells(all), FormulaOperand::Cells(others)) => cells!($out, [$a in all, $b in others], $value),
            (FormulaOperand::All($a), FormulaOperand::Cells(others)) => cells!($out, [$b in others], $value),
            (first, FormulaOperand::All($b)) => unary!($out, first, |$a| $value),
        }
    };
}

/// The same of three operands.
macro_rules! ternary {
    ($out:ident, [$first:expr, $second:expr, $third:expr], |$a:ident, $b:ident, $c:ident| $value:expr) => {
        match ($first, $second, $third) {
            (FormulaOperand::Cells(all), FormulaOperand::Cells(others), FormulaOperand::Cells(last)) => {
                cells!($out, [$a in all, $b in others, $c in last], $value)
            }
            (FormulaOperand::Cells(all), FormulaOperand::All($b), FormulaOperand::Cells(last)) => {
                cells!($out, [$a in all, $c in last], $value)
            }
            (FormulaOperand::All($a), FormulaOperand::Cells(others), FormulaOperand::Cells(last)) => {
                cells!($out, [$b in others, $c in last], $value)
            }
            (FormulaOperand::All($a), FormulaOperand::All($b), FormulaOperand::Cells(last)) => {
                cells!($out, [$c in last], $value)
            }
            (first, second, FormulaOperand::All($c)) => binary!($out, [first, second], |$a, $b| $value),
        }
    };
}

/// All steps on a block.
struct RunSteps<'a, T> {
    steps: FormulaSteps<'a, T>,
    values: &'a mut [T],
    cells: usize,
}

impl<T: FormulaNumber> VectorJob for RunSteps<'_, T> {
    #[inline(always)]
    fn run<U: VectorUnit>(self) {
        let FormulaSteps { clauses, constants, .. } = self.steps;
        let (cells, values) = (self.cells & !(LANES - 1), self.values.as_mut_ptr());
        let mut third = (0, false);
        for clause in clauses {
            if clause.op == FormulaOp::Third {
                third = (clause.a, clause.a_is_constant());
                continue;
            }
            let operand = |place: u16, constant: bool| match constant {
                true => FormulaOperand::All(constants[usize::from(place)]),
                // SAFETY: the block has room for the slots of the steps. A slot that is read is not the one that is written.
                false => FormulaOperand::Cells(unsafe {
                    std::slice::from_raw_parts(values.add(usize::from(place) * cells), cells)
                }),
            };
            let a = || operand(clause.a, clause.a_is_constant());
            let b = || operand(clause.b, clause.b_is_constant());
            let c = || operand(third.0, third.1);
            // SAFETY: as above.
            let out = unsafe { std::slice::from_raw_parts_mut(values.add(usize::from(clause.out) * cells), cells) };
            match clause.op {
                FormulaOp::Number => unary!(out, a(), |a| a),
                FormulaOp::Add => binary!(out, [a(), b()], |a, b| a + b),
                FormulaOp::Sub => binary!(out, [a(), b()], |a, b| a - b),
                FormulaOp::Mul => binary!(out, [a(), b()], |a, b| a * b),
                FormulaOp::Div => binary!(out, [a(), b()], |a, b| a / b),
                FormulaOp::Min => binary!(out, [a(), b()], |a, b| a.least(b)),
                FormulaOp::Max => binary!(out, [a(), b()], |a, b| a.most(b)),
                FormulaOp::Less => binary!(out, [a(), b()], |a, b| T::truth(a < b)),
                FormulaOp::LessEq => binary!(out, [a(), b()], |a, b| T::truth(a <= b)),
                FormulaOp::Neg => unary!(out, a(), |a| -a),
                FormulaOp::Abs => unary!(out, a(), |a| a.magnitude()),
                FormulaOp::Sqrt => unary!(out, a(), |a| a.root()),
                FormulaOp::Square => unary!(out, a(), |a| a * a),
                FormulaOp::Floor => unary!(out, a(), |a| a.whole()),
                FormulaOp::Sin => unary!(out, a(), |a| T::from_f64(functions::sin(a.to_f64()))),
                FormulaOp::Cos => unary!(out, a(), |a| T::from_f64(functions::cos(a.to_f64()))),
                FormulaOp::Exp => unary!(out, a(), |a| T::from_f64(functions::exp(a.to_f64()))),
                FormulaOp::Ln => unary!(out, a(), |a| T::from_f64(functions::ln(a.to_f64()))),
                FormulaOp::MulAdd => ternary!(out, [a(), b(), c()], |a, b, c| a.fused(b, c)),
                FormulaOp::MulSub => ternary!(out, [a(), b(), c()], |a, b, c| a.fused(b, -c)),
                FormulaOp::SubMul => ternary!(out, [a(), b(), c()], |a, b, c| (-a).fused(b, c)),
                FormulaOp::Axis | FormulaOp::Third => {}
            }
        }
    }
}
