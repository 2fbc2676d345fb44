// Bounds of what a formula computes in all cells of a region. Twin of src/field/formula/intervals.rs, which says why they are right:
// they come from the same operations, rounded to nearest.
#pragma once

DEVICE float magnitude_of(float a) { return fabsf(a); }
DEVICE double magnitude_of(double a) { return fabs(a); }
DEVICE float whole_of(float a) { return floorf(a); }
DEVICE double whole_of(double a) { return floor(a); }
DEVICE bool is_nan(Real a) { return a != a; }
DEVICE bool is_infinite(Real a) { return magnitude_of(a) == FORMULA_INFINITY; }
// The second one if the two are equal or one is NaN; fmin and fmax say otherwise.
DEVICE Real lesser(Real a, Real b) { return a < b ? a : b; }
DEVICE Real greater(Real a, Real b) { return a > b ? a : b; }

// The least and the greatest value, neither NaN; or both NaN if any value may occur, NaN too.
struct FormulaBounds {
    Real low, high;

    static DEVICE FormulaBounds anything() { return {FORMULA_NAN, FORMULA_NAN}; }
    // The values between two, in any order; anything if one is NaN.
    static DEVICE FormulaBounds between(Real a, Real b) {
        if (a <= b) return {a, b};
        if (b < a) return {b, a};
        return anything();
    }
    // One of 0 and 1, or both.
    static DEVICE FormulaBounds truth(bool always, bool never) { return {Real(always), Real(!never)}; }
    // The least and the greatest of four; anything if one is NaN.
    static DEVICE FormulaBounds of(Real a, Real b, Real c, Real d) {
        if (is_nan(a) || is_nan(b) || is_nan(c) || is_nan(d)) return anything();
        return {lesser(lesser(lesser(a, b), c), d), greater(greater(greater(a, b), c), d)};
    }

    DEVICE bool unknown() const { return is_nan(low); }
    DEVICE bool holds_zero() const { return low <= Real(0) && high >= Real(0); }
    DEVICE bool reaches_infinity() const { return is_infinite(low) || is_infinite(high); }
    // True if a product of the two may be 0·∞.
    DEVICE bool product_may_be_nan(const FormulaBounds& other) const {
        return (holds_zero() && other.reaches_infinity()) || (other.holds_zero() && reaches_infinity());
    }
    DEVICE FormulaBounds plus(const FormulaBounds& other) const {
        if ((is_infinite(low) && other.high == -low) || (is_infinite(high) && other.low == -high)) return anything();
        return {add(low, other.low), add(high, other.high)};
    }
    DEVICE FormulaBounds negated() const { return {-high, -low}; }
    DEVICE FormulaBounds times(const FormulaBounds& other) const {
        if (product_may_be_nan(other)) return anything();
        return of(mul(low, other.low), mul(low, other.high), mul(high, other.low), mul(high, other.high));
    }
    DEVICE FormulaBounds over(const FormulaBounds& other) const {
        if (other.holds_zero() || (reaches_infinity() && other.reaches_infinity())) return anything();
        return of(quotient(low, other.low), quotient(low, other.high), quotient(high, other.low), quotient(high, other.high));
    }
    DEVICE FormulaBounds magnitude() const {
        const FormulaBounds ends = between(magnitude_of(low), magnitude_of(high));
        return {holds_zero() ? Real(0) : ends.low, ends.high};
    }

  private:
    template <bool NEGATIVE> static DEVICE Real fused(Real a, Real b, Real c) { return fma_once(NEGATIVE ? -a : a, b, c); }
    // ±self·other + c, rounded once.
    template <bool NEGATIVE, bool SAME> DEVICE FormulaBounds fused_with(const FormulaBounds& other, Real c) const {
        if (!SAME) {
            return of(fused<NEGATIVE>(low, other.low, c), fused<NEGATIVE>(low, other.high, c),
                      fused<NEGATIVE>(high, other.low, c), fused<NEGATIVE>(high, other.high, c));
        }
        const Real first = fused<NEGATIVE>(low, low, c), last = fused<NEGATIVE>(high, high, c);
        return of(first, last, holds_zero() ? fused<NEGATIVE>(Real(0), Real(0), c) : last, last);
    }

  public:
    // ±self·other + term; SAME if the two factors are one number.
    template <bool NEGATIVE, bool SAME> DEVICE FormulaBounds fused(const FormulaBounds& other, const FormulaBounds& term) const {
        const bool infinite = reaches_infinity() || other.reaches_infinity();
        if (product_may_be_nan(other) || (infinite && term.reaches_infinity())) return anything();
        return {fused_with<NEGATIVE, SAME>(other, term.low).low, fused_with<NEGATIVE, SAME>(other, term.high).high};
    }

    // True if a wave that is extreme at `at` turns, and at every whole turn from there, is so between two numbers of turns.
    static DEVICE bool holds_extreme(double first, double last, double at) {
        return ceil(add(add(first, -FORMULA_SPARE), -at)) <= add(add(last, FORMULA_SPARE), -at);
    }
    // The bounds of a wave whose values at the two ends are given, and which is 1 at `top` turns.
    DEVICE FormulaBounds wave(Real first, Real second, double top) const {
        if (magnitude_of(double(low)) > FORMULA_FARTHEST || magnitude_of(double(high)) > FORMULA_FARTHEST) return anything();
        const double from = quotient(double(low), FORMULA_TAU), to = quotient(double(high), FORMULA_TAU);
        const FormulaBounds ends = between(first, second);
        return {holds_extreme(from, to, add(top, 0.5)) ? Real(-1) : ends.low, holds_extreme(from, to, top) ? Real(1) : ends.high};
    }
};
