// sin, cos, exp and ln in double, operation by operation as on the CPU. Twin of src/field/formula/functions.rs, which says why, and
// from where the numbers are: each FORMULA_NAME is one of them or a list, as bits.
//
// They are out of line: a formula may have many, and a copy of one is as long as a call of a hundred operations.
#pragma once

#define FORMULA_FUNCTION __device__ __noinline__

// A number by its bits.
DEVICE float of_bits(u32 bits) { return __uint_as_float(bits); }
DEVICE double of_bits(u64 bits) { return __longlong_as_double(i64(bits)); }
DEVICE u64 to_bits(double a) { return u64(__double_as_longlong(a)); }

// The polynomial with these coefficients, that of the highest power first.
DEVICE double polynomial(double, double sum) { return sum; }
template <class... Rest> DEVICE double polynomial(double x, double sum, double next, Rest... rest) {
    return polynomial(x, fma_once(sum, x, next), rest...);
}

// 2^power for a power that has a normal result.
DEVICE double power_of_two(i64 power) { return of_bits(u64(power + 1023) << 52); }

FORMULA_FUNCTION double formula_exp(double x) {
    const double range[] = {FORMULA_EXP_RANGE}, ln_2[] = {FORMULA_LN_2_PARTS};
    x = x > range[1] ? range[1] : x;
    x = x < range[0] ? range[0] : x;
    const double sum = fma_once(x, FORMULA_LOG2_E, FORMULA_ROUNDER);
    const double n = add(sum, -FORMULA_ROUNDER);
    double r = fma_once(n, -ln_2[0], x);
    r = fma_once(n, -ln_2[1], r);
    const i64 power = i32(u32(to_bits(sum)));
    const double found = polynomial(r, FORMULA_EXP);
    return mul(mul(found, power_of_two(power >> 1)), power_of_two(power - (power >> 1)));
}

FORMULA_FUNCTION double formula_ln(double x) {
    const double infinity = of_bits(0x7ff0000000000000ull);
    const bool tiny = x < of_bits(0x0010000000000000ull);
    const u64 scaled = to_bits(tiny ? mul(x, FORMULA_SCALE) : x);
    // The bits of √½ are taken away, so that what is left of the exponent is n.
    const i64 shifted = i64(scaled - 0x3fe6a09e667f3bcdull) >> 52;
    const double m = of_bits(scaled - (u64(shifted) << 52));
    const double n = double(i32(shifted) - (tiny ? 54 : 0));
    const double s = quotient(add(m, -1.0), add(m, 1.0));
    const double square = mul(s, s);
    const double small = fma_once(mul(s, square), polynomial(square, FORMULA_LN), add(s, s));
    const double sum = fma_once(n, FORMULA_LN_2, small);
    if (x > 0.0) return x < infinity ? sum : x;
    return x == 0.0 ? -infinity : of_bits(0x7ff8000000000000ull);
}

// The sine of x and so many quarter turns, NaN beyond FORMULA_FARTHEST.
FORMULA_FUNCTION double turned(double x, u32 quarters) {
    const double parts[] = {FORMULA_QUARTER_PARTS};
    const double sum = fma_once(x, FORMULA_FRAC_2_PI, FORMULA_ROUNDER);
    const double n = add(sum, -FORMULA_ROUNDER);
    double r = fma_once(n, -parts[0], x);
    r = fma_once(n, -parts[1], r);
    const double square = mul(r, r);
    const u32 quarter = u32(to_bits(sum) & 3) + quarters;
    const double sine = fma_once(mul(r, square), polynomial(square, FORMULA_SINE), r);
    double value = (quarter & 1) == 0 ? sine : polynomial(square, FORMULA_COSINE);
    value = (quarter & 2) == 0 ? value : -value;
    return fabs(x) <= FORMULA_FARTHEST ? value : of_bits(0x7ff8000000000000ull);
}

DEVICE double formula_sin(double x) {
    const double value = turned(x, 0);
    return x == 0.0 ? x : value;
}
DEVICE double formula_cos(double x) { return turned(x, 1); }
