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

    /// These, if those of the operand are known.
    #[inline(always)]
    fn of_one(self, a: Self) -> Self {
        self.unless(a.unknown())
    }

    /// These, if those of the operands are known and the result is not `anything`.
    #[inline(always)]
    fn of_two(self, a: Self, b: Self, anything: bool) -> Self {
        self.unless(anything | a.unknown() | b.unknown())
    }

    /// The bounds after a unary operation that rises.
    #[inline(always)]
    fn risen(self, f: impl Fn(T) -> T) -> Self {
        Self { low: f(self.low), high: f(self.high) }.of_one(self)
    }

    #[inline(always)]
    pub(super) fn same(self) -> Self {
        self.unless(self.unknown())
    }

    #[inline(always)]
    pub(super) fn plus(self, other: Self) -> Self {
        // NaN where ∞ − ∞ is in reach.
        let cancels = (self.low + other.high).is_nan() | (self.high + other.low).is_nan();
        Self { low: self.low + other.low, high: self.high + other.high }.of_two(self, other, cancels)
    }

    #[inline(always)]
    pub(super) fn minus(self, other: Self) -> Self {
        self.plus(Self { low: -other.high, high: -other.low })
    }

    #[inline(always)]
    pub(super) fn times(self, other: Self) -> Self {
        self.corners(other, |a, b| a * b).of_two(self, other, self.product_may_be_nan(other))
    }

    #[inline(always)]
    pub(super) fn over(self, other: Self) -> Self {
        let nan = other.holds_zero() | (self.reaches_infinity() & other.reaches_infinity());
        self.corners(other, |a, b| a / b).of_two(self, other, nan)
    }

    #[inline(always)]
    pub(super) fn least(self, other: Self) -> Self {
        Self { low: self.low.least(other.low), high: self.high.least(other.high) }.of_two(self, other, false)
    }

    #[inline(always)]
    pub(super) fn most(self, other: Self) -> Self {
        Self { low: self.low.most(other.low), high: self.high.most(other.high) }.of_two(self, other, false)
    }

    /// A comparison with NaN is false, which is one of the two: no bound of NaN is below or above another.
    #[inline(always)]
    pub(super) fn below(self, other: Self) -> Self {
        Self::truth(self.high < other.low, self.low >= other.high)
    }

    #[inline(always)]
    pub(super) fn below_or_equal(self, other: Self) -> Self {
        Self::truth(self.high <= other.low, self.low > other.high)
    }

    #[inline(always)]
    pub(super) fn negated(self) -> Self {
        Self { low: -self.high, high: -self.low }.of_one(self)
    }

    #[inline(always)]
    pub(super) fn magnitude(self) -> Self {
        let ends = Self::between(self.low.magnitude(), self.high.magnitude());
        Self { low: if self.holds_zero() { T::ZERO } else { ends.low }, high: ends.high }.of_one(self)
    }

    #[inline(always)]
    pub(super) fn square(self) -> Self {
        let Self { low, high } = self.magnitude();
        Self { low: low * low, high: high * high }
    }

    #[inline(always)]
    pub(super) fn root(self) -> Self {
        self.risen(T::root).unless(self.low < T::ZERO)
    }

    #[inline(always)]
    pub(super) fn floor(self) -> Self {
        self.risen(T::whole)
    }

    #[inline(always)]
    pub(super) fn exp(self) -> Self {
        self.risen(|a| a.through(functions::exp)).unless(!T::FUNCTIONS_ARE_MONOTONE)
    }

    #[inline(always)]
    pub(super) fn ln(self) -> Self {
        let found = self.risen(|a| a.through(functions::ln));
        found.unless(!T::FUNCTIONS_ARE_MONOTONE | (self.low < T::ZERO))
    }

    #[inline(always)]
    pub(super) fn sin(self) -> Self {
        self.wave(functions::sin, 0.25)
    }

    #[inline(always)]
    pub(super) fn cos(self) -> Self {
        self.wave(functions::cos, 0.0)
    }

    /// self·other + term, rounded once; `SAME` if the two factors are one number.
    #[inline(always)]
    pub(super) fn times_plus<const SAME: bool>(self, other: Self, term: Self) -> Self {
        self.fused::<false, SAME>(other, term)
    }

    /// self·other − term.
    #[inline(always)]
    pub(super) fn times_minus<const SAME: bool>(self, other: Self, term: Self) -> Self {
        self.fused::<false, SAME>(other, Self { low: -term.high, high: -term.low })
    }

    /// term − self·other.
    #[inline(always)]
    pub(super) fn minus_times<const SAME: bool>(self, other: Self, term: Self) -> Self {
        self.fused::<true, SAME>(other, term)
    }

    #[inline(always)]
    fn fused<const NEGATIVE: bool, const SAME: bool>(self, other: Self, term: Self) -> Self {
        let infinite = self.reaches_infinity() | other.reaches_infinity();
        let nan = self.product_may_be_nan(other) | (infinite & term.reaches_infinity());
        Self {
            low: self.fused_with::<NEGATIVE, SAME>(other, term.low).low,
            high: self.fused_with::<NEGATIVE, SAME>(other, term.high).high,
        }
        .of_two(self, other, nan | term.unknown())
    }

    /// ±a·b + c, rounded once.
    #[inline(always)]
    fn fused_number<const NEGATIVE: bool>(a: T, b: T, c: T) -> T {
        if NEGATIVE { (-a).fused(b, c) } else { a.fused(b, c) }
    }

    /// ±self·other + c, rounded once; `SAME` if the two factors are one number.
    #[inline(always)]
    fn fused_with<const NEGATIVE: bool, const SAME: bool>(self, other: Self, c: T) -> Self {
        let first = Self::fused_number::<NEGATIVE>(self.low, other.low, c);
        let last = Self::fused_number::<NEGATIVE>(self.high, other.high, c);
        if SAME {
            let ends = Self::of([first, last]);
            let all = Self::of([ends.low, ends.high, Self::fused_number::<NEGATIVE>(T::ZERO, T::ZERO, c)]);
            return Self::select(self.holds_zero(), all, ends);
        }
        let second = Self::fused_number::<NEGATIVE>(self.low, other.high, c);
        let third = Self::fused_number::<NEGATIVE>(self.high, other.low, c);
        Self::of([first, second, third, last])
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
        .unless(far | !T::FUNCTIONS_ARE_MONOTONE)
        .of_one(self)
    }
}

/// The bounds of an operation's result. `apply!` is given the method that computes them of those of the operands, so that each
/// operation is compiled by itself: all of them in every arm of a match took a sixth of the time that the library takes to compile.
macro_rules! bounds_after {
    ($op:expr, $same:expr, $apply:ident, $a:ident, $b:ident, $c:ident) => {
        match $op {
            FormulaOp::Add => $apply!(plus($a, $b)),
            FormulaOp::Sub => $apply!(minus($a, $b)),
            FormulaOp::Mul => $apply!(times($a, $b)),
            FormulaOp::Div => $apply!(over($a, $b)),
            FormulaOp::Min => $apply!(least($a, $b)),
            FormulaOp::Max => $apply!(most($a, $b)),
            FormulaOp::Less => $apply!(below($a, $b)),
            FormulaOp::LessEq => $apply!(below_or_equal($a, $b)),
            FormulaOp::Neg => $apply!(negated($a)),
            FormulaOp::Abs => $apply!(magnitude($a)),
            FormulaOp::Sqrt => $apply!(root($a)),
            FormulaOp::Square => $apply!(square($a)),
            FormulaOp::Floor => $apply!(floor($a)),
            FormulaOp::Exp => $apply!(exp($a)),
            FormulaOp::Ln => $apply!(ln($a)),
            FormulaOp::Sin => $apply!(sin($a)),
            FormulaOp::Cos => $apply!(cos($a)),
            FormulaOp::MulAdd if $same => $apply!(times_plus::<true>($a, $b, $c)),
            FormulaOp::MulAdd => $apply!(times_plus::<false>($a, $b, $c)),
            FormulaOp::MulSub if $same => $apply!(times_minus::<true>($a, $b, $c)),
            FormulaOp::MulSub => $apply!(times_minus::<false>($a, $b, $c)),
            FormulaOp::SubMul if $same => $apply!(minus_times::<true>($a, $b, $c)),
            FormulaOp::SubMul => $apply!(minus_times::<false>($a, $b, $c)),
            FormulaOp::Number | FormulaOp::Axis | FormulaOp::Third => $apply!(same($a)),
        }
    };
}
pub(super) use bounds_after;

/// The bounds of what `tape` computes where `places` holds the coordinates on each of its axes. They are in `slots`.
pub(super) fn bounds<T: FormulaNumber>(
    tape: &FormulaTape<T>,
    places: &[FormulaBounds<T>],
    slots: &mut Vec<FormulaBounds<T>>,
) {
    slots.clear();
    slots.extend(tape.axes.iter().map(|&axis| places[axis]));
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
        macro_rules! apply {
            ($method:ident $(::<$same:literal>)? ($($operand:ident),+)) => {
                FormulaBounds::$method$(::<$same>)?($($operand),+)
            };
        }
        slots[usize::from(clause.out)] = bounds_after!(clause.op, clause.is_of_one_factor(), apply, a, b, third);
    }
}
