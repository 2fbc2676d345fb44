//! Bounds of what a tape computes in all cells of a region.
//!
//! The bounds are of the *computed* numbers, so they are computed by the same operations, rounded to nearest like them:
//! rounding keeps order, and where a ≤ a' the rounded a + b is at most the rounded a' + b. Bounds of the real numbers
//! would be wrong: −10⁻⁴⁶ is computed as −0 in f32, which is not below 0.
//!
//! A bound that is NaN says that nothing is known, NaN included. Bounds may be infinite: an overflow is a number like
//! others. −0 and 0 are equal here, and a bound does not say which of them a cell has.

use crate::field::formula::dag::FormulaOp;
use crate::field::formula::functions::{self, FARTHEST, SPARE};
use crate::field::formula::number::FormulaNumber;
use crate::field::formula::tape::FormulaTape;

/// The least and the greatest value, neither NaN; or both NaN if any value may occur, NaN too.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct FormulaBounds<T> {
    pub(super) low: T,
    pub(super) high: T,
}

impl<T: FormulaNumber> FormulaBounds<T> {
    /// Nothing is known.
    const ANYTHING: Self = Self { low: T::NAN, high: T::NAN };

    /// The values between two, in any order; anything if one is NaN.
    #[inline(always)]
    pub(super) fn between(a: T, b: T) -> Self {
        if a <= b {
            Self { low: a, high: b }
        } else if b < a {
            Self { low: b, high: a }
        } else {
            Self::ANYTHING
        }
    }

    /// The least and the greatest of some; anything if one is NaN.
    fn of(values: &[T]) -> Self {
        if values.iter().any(|value| value.is_nan()) {
            return Self::ANYTHING;
        }
        let first = Self { low: values[0], high: values[0] };
        values.iter().fold(first, |found, &value| Self { low: found.low.least(value), high: found.high.most(value) })
    }

    /// True if any value may occur.
    #[inline(always)]
    pub(super) fn unknown(self) -> bool {
        self.low.is_nan()
    }

    fn holds_zero(self) -> bool {
        self.low <= T::ZERO && self.high >= T::ZERO
    }

    fn reaches_infinity(self) -> bool {
        self.low.is_infinite() || self.high.is_infinite()
    }

    /// One of 0 and 1, or both.
    fn truth(always: bool, never: bool) -> Self {
        Self { low: T::truth(always), high: T::truth(!never) }
    }

    /// True if a product of the two may be 0·∞.
    fn product_may_be_nan(self, other: Self) -> bool {
        self.holds_zero() && other.reaches_infinity() || other.holds_zero() && self.reaches_infinity()
    }

    /// f of every pair of ends: f rises or falls in either, whatever the other is.
    fn corners(self, other: Self, f: impl Fn(T, T) -> T) -> Self {
        let [a, b] = [self, other].map(|bounds| [bounds.low, bounds.high]);
        Self::of(&[f(a[0], b[0]), f(a[0], b[1]), f(a[1], b[0]), f(a[1], b[1])])
    }

    /// The bounds after a unary operation that rises.
    fn risen(self, f: impl Fn(T) -> T) -> Self {
        Self { low: f(self.low), high: f(self.high) }
    }

    fn plus(self, other: Self) -> Self {
        let may_cancel = |a: T, b: T| a.is_infinite() && b == -a;
        if may_cancel(self.low, other.high) || may_cancel(self.high, other.low) {
            return Self::ANYTHING;
        }
        Self { low: self.low + other.low, high: self.high + other.high }
    }

    fn negated(self) -> Self {
        Self { low: -self.high, high: -self.low }
    }

    fn times(self, other: Self) -> Self {
        match self.product_may_be_nan(other) {
            true => Self::ANYTHING,
            false => self.corners(other, |a, b| a * b),
        }
    }

    fn over(self, other: Self) -> Self {
        match other.holds_zero() || self.reaches_infinity() && other.reaches_infinity() {
            true => Self::ANYTHING,
            false => self.corners(other, |a, b| a / b),
        }
    }

    fn least(self, other: Self) -> Self {
        Self { low: self.low.least(other.low), high: self.high.least(other.high) }
    }

    fn most(self, other: Self) -> Self {
        Self { low: self.low.most(other.low), high: self.high.most(other.high) }
    }

    fn magnitude(self) -> Self {
        let ends = Self::between(self.low.magnitude(), self.high.magnitude());
        if self.holds_zero() { Self { low: T::ZERO, ..ends } } else { ends }
    }

    fn square(self) -> Self {
        self.magnitude().risen(|a| a * a)
    }

    fn root(self) -> Self {
        if self.low < T::ZERO { Self::ANYTHING } else { self.risen(T::root) }
    }

    /// ±self·other + term, rounded once; `same` if the two factors are one number.
    fn fused(self, other: Self, term: Self, negative: bool, same: bool) -> Self {
        let infinite = self.reaches_infinity() || other.reaches_infinity();
        if self.product_may_be_nan(other) || infinite && term.reaches_infinity() {
            return Self::ANYTHING;
        }
        let f = |a: T, b: T, c: T| if negative { (-a).fused(b, c) } else { a.fused(b, c) };
        let with = |c: T| match same {
            true => {
                let ends = Self::of(&[f(self.low, self.low, c), f(self.high, self.high, c)]);
                if self.holds_zero() { Self::of(&[ends.low, ends.high, f(T::ZERO, T::ZERO, c)]) } else { ends }
            }
            false => self.corners(other, |a, b| f(a, b, c)),
        };
        Self { low: with(term.low).low, high: with(term.high).high }
    }

    /// A function that is the real one rounded, and thus rises and falls where that does.
    fn function(self, op: FormulaOp) -> Self {
        if !T::FUNCTIONS_ARE_MONOTONE {
            return Self::ANYTHING;
        }
        match op {
            FormulaOp::Exp => self.risen(|a| a.through(functions::exp)),
            FormulaOp::Ln if self.low < T::ZERO => Self::ANYTHING,
            FormulaOp::Ln => self.risen(|a| a.through(functions::ln)),
            FormulaOp::Sin => self.wave(functions::sin, 0.25),
            _ => self.wave(functions::cos, 0.0),
        }
    }

    /// The sine or the cosine, which is 1 at `top` turns and −1 half a turn later.
    fn wave(self, function: fn(f64) -> f64, top: f64) -> Self {
        let turns = [self.low, self.high].map(|end| end.to_f64() / std::f64::consts::TAU);
        if self.low.magnitude().to_f64() > FARTHEST || self.high.magnitude().to_f64() > FARTHEST {
            return Self::ANYTHING;
        }
        let holds = |at: f64| (turns[0] - SPARE - at).ceil() <= turns[1] + SPARE - at;
        let ends = Self::between(self.low.through(function), self.high.through(function));
        Self {
            low: if holds(top + 0.5) { -T::ONE } else { ends.low },
            high: if holds(top) { T::ONE } else { ends.high },
        }
    }
}

/// The bounds of what `tape` computes where `place(axis)` holds the coordinates on each of its axes. They are in `slots`.
pub(super) fn bounds<T: FormulaNumber>(
    tape: &FormulaTape<T>,
    place: impl Fn(usize) -> FormulaBounds<T>,
    slots: &mut Vec<FormulaBounds<T>>,
) {
    slots.clear();
    slots.extend(tape.axes.iter().map(|&axis| place(axis)));
    slots.resize(tape.slots, FormulaBounds::ANYTHING);
    let mut third = FormulaBounds::ANYTHING;
    for clause in &tape.clauses {
        let operand = |place: u16, constant: bool| match constant {
            true => FormulaBounds::between(tape.constants[usize::from(place)], tape.constants[usize::from(place)]),
            false => slots[usize::from(place)],
        };
        let a = operand(clause.a, clause.a_is_constant());
        if clause.op == FormulaOp::Third {
            third = a;
            continue;
        }
        let operands = clause.op.operands();
        let b = if operands > 1 { operand(clause.b, clause.b_is_constant()) } else { a };
        let unknown = a.unknown() || b.unknown() || operands > 2 && third.unknown();
        let same = clause.is_of_one_factor();
        slots[usize::from(clause.out)] = match clause.op {
            // A comparison with NaN is false, which is one of the two.
            FormulaOp::Less | FormulaOp::LessEq if unknown => FormulaBounds::truth(false, false),
            FormulaOp::Less => FormulaBounds::truth(a.high < b.low, a.low >= b.high),
            FormulaOp::LessEq => FormulaBounds::truth(a.high <= b.low, a.low > b.high),
            _ if unknown => FormulaBounds::ANYTHING,
            FormulaOp::Add => a.plus(b),
            FormulaOp::Sub => a.plus(b.negated()),
            FormulaOp::Mul => a.times(b),
            FormulaOp::Div => a.over(b),
            FormulaOp::Min => a.least(b),
            FormulaOp::Max => a.most(b),
            FormulaOp::Neg => a.negated(),
            FormulaOp::Abs => a.magnitude(),
            FormulaOp::Sqrt => a.root(),
            FormulaOp::Square => a.square(),
            FormulaOp::Floor => a.risen(T::whole),
            FormulaOp::Sin | FormulaOp::Cos | FormulaOp::Exp | FormulaOp::Ln => a.function(clause.op),
            FormulaOp::MulAdd => a.fused(b, third, false, same),
            FormulaOp::MulSub => a.fused(b, third.negated(), false, same),
            FormulaOp::SubMul => a.fused(b, third, true, same),
            FormulaOp::Number | FormulaOp::Axis | FormulaOp::Third => a,
        };
    }
}
