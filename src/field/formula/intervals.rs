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
    pub(super) const ANYTHING: Self = Self { low: T::NAN, high: T::NAN };

    /// One of two.
    #[inline(always)]
    fn select(first: bool, a: Self, b: Self) -> Self {
        Self { low: if first { a.low } else { b.low }, high: if first { a.high } else { b.high } }
    }

    /// These, or anything.
    #[inline(always)]
    pub(super) fn unless(self, anything: bool) -> Self {
        Self::select(anything, Self::ANYTHING, self)
    }

    /// The values between two, in any order; anything if one is NaN.
    #[inline(always)]
    pub(super) fn between(a: T, b: T) -> Self {
        let rising = Self { low: a, high: b };
        let falling = Self { low: b, high: a };
        Self::select(a <= b, rising, falling.unless(a.is_nan() | b.is_nan()))
    }

    /// The least and the greatest of some; anything if one is NaN.
    #[inline(always)]
    fn of<const N: usize>(values: [T; N]) -> Self {
        let mut found = Self { low: values[0], high: values[0] };
        let mut nan = values[0].is_nan();
        for &value in &values[1..] {
            found = Self { low: found.low.least(value), high: found.high.most(value) };
            nan |= value.is_nan();
        }
        found.unless(nan)
    }

    /// True if any value may occur.
    #[inline(always)]
    pub(super) fn unknown(self) -> bool {
        self.low.is_nan()
    }

    #[inline(always)]
    fn holds_zero(self) -> bool {
        (self.low <= T::ZERO) & (self.high >= T::ZERO)
    }

    #[inline(always)]
    fn reaches_infinity(self) -> bool {
        self.low.is_infinite() | self.high.is_infinite()
    }

    /// One of 0 and 1, or both.
    #[inline(always)]
    fn truth(always: bool, never: bool) -> Self {
        Self { low: T::truth(always), high: T::truth(!never) }
    }

    /// True if a product of the two may be 0·∞.
    #[inline(always)]
    fn product_may_be_nan(self, other: Self) -> bool {
        (self.holds_zero() & other.reaches_infinity()) | (other.holds_zero() & self.reaches_infinity())
    }

    /// f of every pair of ends: f rises or falls in either, whatever the other is.
    #[inline(always)]
    fn corners(self, other: Self, f: impl Fn(T, T) -> T) -> Self {
        let [a, b] = [self, other].map(|bounds| [bounds.low, bounds.high]);
        Self::of([f(a[0], b[0]), f(a[0], b[1]), f(a[1], b[0]), f(a[1], b[1])])
    }

    /// The bounds after a unary operation that rises.
    #[inline(always)]
    fn risen(self, f: impl Fn(T) -> T) -> Self {
        Self { low: f(self.low), high: f(self.high) }
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        // NaN where ∞ − ∞ is in reach.
        let cancels = (self.low + other.high).is_nan() | (self.high + other.low).is_nan();
        Self { low: self.low + other.low, high: self.high + other.high }.unless(cancels)
    }

    #[inline(always)]
    fn negated(self) -> Self {
        Self { low: -self.high, high: -self.low }
    }

    #[inline(always)]
    fn times(self, other: Self) -> Self {
        self.corners(other, |a, b| a * b).unless(self.product_may_be_nan(other))
    }

    #[inline(always)]
    fn over(self, other: Self) -> Self {
        let nan = other.holds_zero() | (self.reaches_infinity() & other.reaches_infinity());
        self.corners(other, |a, b| a / b).unless(nan)
    }

    #[inline(always)]
    fn least(self, other: Self) -> Self {
        Self { low: self.low.least(other.low), high: self.high.least(other.high) }
    }

    #[inline(always)]
    fn most(self, other: Self) -> Self {
        Self { low: self.low.most(other.low), high: self.high.most(other.high) }
    }

    #[inline(always)]
    fn magnitude(self) -> Self {
        let ends = Self::between(self.low.magnitude(), self.high.magnitude());
        Self { low: if self.holds_zero() { T::ZERO } else { ends.low }, high: ends.high }
    }

    #[inline(always)]
    fn square(self) -> Self {
        self.magnitude().risen(|a| a * a)
    }

    #[inline(always)]
    fn root(self) -> Self {
        self.risen(T::root).unless(self.low < T::ZERO)
    }

    /// ±a·b + c, rounded once.
    #[inline(always)]
    fn fused_number(negative: bool, a: T, b: T, c: T) -> T {
        if negative { (-a).fused(b, c) } else { a.fused(b, c) }
    }

    /// ±self·other + c, rounded once; `same` if the two factors are one number.
    #[inline(always)]
    fn fused_with(self, other: Self, c: T, negative: bool, same: bool) -> Self {
        let first = Self::fused_number(negative, self.low, other.low, c);
        let last = Self::fused_number(negative, self.high, other.high, c);
        if same {
            let ends = Self::of([first, last]);
            let all = Self::of([ends.low, ends.high, Self::fused_number(negative, T::ZERO, T::ZERO, c)]);
            return Self::select(self.holds_zero(), all, ends);
        }
        let second = Self::fused_number(negative, self.low, other.high, c);
        let third = Self::fused_number(negative, self.high, other.low, c);
        Self::of([first, second, third, last])
    }

    /// ±self·other + term, rounded once; `same` if the two factors are one number.
    #[inline(always)]
    fn fused(self, other: Self, term: Self, negative: bool, same: bool) -> Self {
        let infinite = self.reaches_infinity() | other.reaches_infinity();
        let nan = self.product_may_be_nan(other) | (infinite & term.reaches_infinity());
        Self {
            low: self.fused_with(other, term.low, negative, same).low,
            high: self.fused_with(other, term.high, negative, same).high,
        }
        .unless(nan)
    }

    /// The sine or the cosine, which is 1 at `top` turns and −1 half a turn later.
    #[inline(always)]
    fn wave(self, function: impl Fn(f64) -> f64, top: f64) -> Self {
        let turns = [self.low, self.high].map(|end| end.to_f64() / std::f64::consts::TAU);
        let far = (self.low.magnitude().to_f64() > FARTHEST) | (self.high.magnitude().to_f64() > FARTHEST);
        let holds = |at: f64| (turns[0] - SPARE - at).ceil() <= turns[1] + SPARE - at;
        let ends = Self::between(self.low.through(&function), self.high.through(&function));
        Self {
            low: if holds(top + 0.5) { -T::ONE } else { ends.low },
            high: if holds(top) { T::ONE } else { ends.high },
        }
        .unless(far)
    }

    /// The bounds of an operation's result.
    #[inline(always)]
    pub(super) fn after(op: FormulaOp, [a, b, c]: [Self; 3], same: bool) -> Self {
        let unknown = match op.operands() {
            3 => a.unknown() | b.unknown() | c.unknown(),
            2 => a.unknown() | b.unknown(),
            _ => a.unknown(),
        };
        // A function of f32 is the real one rounded, and thus rises and falls where that does.
        let function = |found: Self| found.unless(!T::FUNCTIONS_ARE_MONOTONE);
        let found = match op {
            // A comparison with NaN is false, which is one of the two: no bound of NaN is below or above another.
            FormulaOp::Less => return Self::truth(a.high < b.low, a.low >= b.high),
            FormulaOp::LessEq => return Self::truth(a.high <= b.low, a.low > b.high),
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
            FormulaOp::Exp => function(a.risen(|a| a.through(functions::exp))),
            FormulaOp::Ln => function(a.risen(|a| a.through(functions::ln))).unless(a.low < T::ZERO),
            FormulaOp::Sin => function(a.wave(functions::sin, 0.25)),
            FormulaOp::Cos => function(a.wave(functions::cos, 0.0)),
            FormulaOp::MulAdd => a.fused(b, c, false, same),
            FormulaOp::MulSub => a.fused(b, c.negated(), false, same),
            FormulaOp::SubMul => a.fused(b, c, true, same),
            FormulaOp::Number | FormulaOp::Axis | FormulaOp::Third => a,
        };
        found.unless(unknown)
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
        let b = if clause.op.operands() > 1 { operand(clause.b, clause.b_is_constant()) } else { a };
        slots[usize::from(clause.out)] = FormulaBounds::after(clause.op, [a, b, third], clause.is_of_one_factor());
    }
}
