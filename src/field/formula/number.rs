//! The numbers that a formula is computed in.

use std::hash::Hash;
use std::ops::{Add, Div, Mul, Neg, Sub};

use crate::cell::Cell;
use crate::field::formula::dag::{FormulaLiteral, FormulaOp};
use crate::field::formula::functions;
use crate::simd::Real;

/// f32 or f64: every operation is rounded once, to nearest, so that a result has the same bits on every machine.
pub(super) trait FormulaNumber:
    Cell
    + Default
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// What two numbers are compared by where -0 is not 0.
    type Bits: Copy + Eq + Hash + Send + Sync;
    /// Itself, as vector units know it.
    type Vector: Real;

    const ZERO: Self;
    const ONE: Self;
    const NAN: Self;
    const INFINITY: Self;
    /// True if sin, cos, exp and ln are the real results rounded to nearest, and thus rise and fall as those do.
    const FUNCTIONS_ARE_MONOTONE: bool;

    fn bits(self) -> Self::Bits;
    fn of_bits(bits: Self::Bits) -> Self;
    fn of_literal(literal: FormulaLiteral) -> Self;
    fn from_u32(number: u32) -> Self;
    fn from_f64(number: f64) -> Self;
    fn to_f64(self) -> f64;
    fn fused(self, factor: Self, term: Self) -> Self;
    fn root(self) -> Self;
    fn magnitude(self) -> Self;
    fn whole(self) -> Self;

    /// b if the two are equal or one is NaN: what a vector unit's minimum does.
    #[inline(always)]
    fn least(self, other: Self) -> Self {
        if self < other { self } else { other }
    }

    /// b if the two are equal or one is NaN.
    #[inline(always)]
    fn most(self, other: Self) -> Self {
        if self > other { self } else { other }
    }

    #[inline(always)]
    fn truth(holds: bool) -> Self {
        if holds { Self::ONE } else { Self::ZERO }
    }

    #[inline(always)]
    fn is_nan(self) -> bool {
        self.partial_cmp(&self).is_none()
    }

    #[inline(always)]
    fn is_infinite(self) -> bool {
        self.magnitude() == Self::INFINITY
    }

    /// A function of f64, rounded once.
    #[inline(always)]
    fn through(self, function: impl Fn(f64) -> f64) -> Self {
        Self::from_f64(function(self.to_f64()))
    }

    /// What an operation with constant operands is. The lanes compute the same by the same operations.
    fn computed(op: FormulaOp, [a, b, c]: [Self; 3]) -> Self {
        match op {
            FormulaOp::Add => a + b,
            FormulaOp::Sub => a - b,
            FormulaOp::Mul => a * b,
            FormulaOp::Div => a / b,
            FormulaOp::Min => a.least(b),
            FormulaOp::Max => a.most(b),
            FormulaOp::Less => Self::truth(a < b),
            FormulaOp::LessEq => Self::truth(a <= b),
            FormulaOp::Neg => -a,
            FormulaOp::Abs => a.magnitude(),
            FormulaOp::Sqrt => a.root(),
            FormulaOp::Square => a * a,
            FormulaOp::Floor => a.whole(),
            FormulaOp::Sin => a.through(functions::sin),
            FormulaOp::Cos => a.through(functions::cos),
            FormulaOp::Exp => a.through(functions::exp),
            FormulaOp::Ln => a.through(functions::ln),
            FormulaOp::MulAdd => a.fused(b, c),
            FormulaOp::MulSub => a.fused(b, -c),
            FormulaOp::SubMul => (-a).fused(b, c),
            FormulaOp::Axis | FormulaOp::Number | FormulaOp::Third => unreachable!("no operation on numbers"),
        }
    }
}

macro_rules! formula_number {
    ($Number:ident, $Bits:ident, $literal:ident, $monotone:literal) => {
        impl FormulaNumber for $Number {
            type Bits = $Bits;
            type Vector = Self;

            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const NAN: Self = $Number::NAN;
            const INFINITY: Self = $Number::INFINITY;
            const FUNCTIONS_ARE_MONOTONE: bool = $monotone;

            #[inline(always)]
            fn bits(self) -> $Bits {
                self.to_bits()
            }
            #[inline(always)]
            fn of_bits(bits: $Bits) -> Self {
                Self::from_bits(bits)
            }
            fn of_literal(literal: FormulaLiteral) -> Self {
                literal.$literal()
            }
            #[inline(always)]
            fn from_u32(number: u32) -> Self {
                number as Self
            }
            #[inline(always)]
            fn from_f64(number: f64) -> Self {
                number as Self
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                self.into()
            }
            #[inline(always)]
            fn fused(self, factor: Self, term: Self) -> Self {
                self.mul_add(factor, term)
            }
            #[inline(always)]
            fn root(self) -> Self {
                self.sqrt()
            }
            #[inline(always)]
            fn magnitude(self) -> Self {
                self.abs()
            }
            #[inline(always)]
            fn whole(self) -> Self {
                self.floor()
            }
        }
    };
}
formula_number!(f32, u32, narrow, true);
formula_number!(f64, u64, wide, false);
