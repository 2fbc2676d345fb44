// A formula: its clauses, which src/field/formula/source.rs writes as USER_SOURCE, on numbers and on bounds of regions. Twin of
// src/field/formula/.
#pragma once

#include "points.cuh"
#include "fields/functions.cuh"
#include "fields/formula_bounds.cuh"

// A constant, as a number or as bounds.
template <class Number> struct FormulaConstant;
template <> struct FormulaConstant<Real> {
    static DEVICE Real of(Real constant) { return constant; }
};
template <> struct FormulaConstant<FormulaBounds> {
    static DEVICE FormulaBounds of(Real constant) { return FormulaBounds::between(constant, constant); }
};

// Operations on numbers: rounded once, to nearest.
DEVICE Real op_number(Real a) { return a; }
DEVICE Real op_add(Real a, Real b) { return add(a, b); }
DEVICE Real op_sub(Real a, Real b) { return add(a, -b); }
DEVICE Real op_mul(Real a, Real b) { return mul(a, b); }
DEVICE Real op_div(Real a, Real b) { return quotient(a, b); }
DEVICE Real op_min(Real a, Real b) { return lesser(a, b); }
DEVICE Real op_max(Real a, Real b) { return greater(a, b); }
DEVICE Real op_less(Real a, Real b) { return Real(a < b); }
DEVICE Real op_less_eq(Real a, Real b) { return Real(a <= b); }
DEVICE Real op_neg(Real a) { return -a; }
DEVICE Real op_abs(Real a) { return magnitude_of(a); }
DEVICE Real op_sqrt(Real a) { return root(a); }
DEVICE Real op_square(Real a) { return mul(a, a); }
DEVICE Real op_floor(Real a) { return whole_of(a); }
DEVICE Real op_sin(Real a) { return Real(formula_sin(double(a))); }
DEVICE Real op_cos(Real a) { return Real(formula_cos(double(a))); }
DEVICE Real op_exp(Real a) { return Real(formula_exp(double(a))); }
DEVICE Real op_ln(Real a) { return Real(formula_ln(double(a))); }
template <bool SAME> DEVICE Real op_mul_add(Real a, Real b, Real c) { return fma_once(a, b, c); }
template <bool SAME> DEVICE Real op_mul_sub(Real a, Real b, Real c) { return fma_once(a, b, -c); }
template <bool SAME> DEVICE Real op_sub_mul(Real a, Real b, Real c) { return fma_once(-a, b, c); }

// The same on bounds. What may be NaN may be anything.
#define FORMULA_KNOWN(found) return unknown ? FormulaBounds::anything() : (found)
DEVICE FormulaBounds op_number(const FormulaBounds& a) { return a; }
#define FORMULA_UNARY(name, found)                                                                                     \
    DEVICE FormulaBounds name(const FormulaBounds& a) {                                                                \
        const bool unknown = a.unknown();                                                                              \
        FORMULA_KNOWN(found);                                                                                          \
    }
#define FORMULA_BINARY(name, found)                                                                                    \
    DEVICE FormulaBounds name(const FormulaBounds& a, const FormulaBounds& b) {                                        \
        const bool unknown = a.unknown() || b.unknown();                                                               \
        FORMULA_KNOWN(found);                                                                                          \
    }
#define FORMULA_TERNARY(name, found)                                                                                   \
    template <bool SAME> DEVICE FormulaBounds name(const FormulaBounds& a, const FormulaBounds& b, const FormulaBounds& c) { \
        const bool unknown = a.unknown() || b.unknown() || c.unknown();                                                \
        FORMULA_KNOWN(found);                                                                                          \
    }
FORMULA_BINARY(op_add, a.plus(b))
FORMULA_BINARY(op_sub, a.plus(b.negated()))
FORMULA_BINARY(op_mul, a.times(b))
FORMULA_BINARY(op_div, a.over(b))
FORMULA_BINARY(op_min, (FormulaBounds{lesser(a.low, b.low), lesser(a.high, b.high)}))
FORMULA_BINARY(op_max, (FormulaBounds{greater(a.low, b.low), greater(a.high, b.high)}))
FORMULA_UNARY(op_neg, a.negated())
FORMULA_UNARY(op_abs, a.magnitude())
FORMULA_UNARY(op_sqrt, a.low < Real(0) ? FormulaBounds::anything() : (FormulaBounds{root(a.low), root(a.high)}))
FORMULA_TERNARY(op_mul_add, (a.fused<false, SAME>(b, c)))
FORMULA_TERNARY(op_mul_sub, (a.fused<false, SAME>(b, c.negated())))
FORMULA_TERNARY(op_sub_mul, (a.fused<true, SAME>(b, c)))
FORMULA_UNARY(op_floor, (FormulaBounds{whole_of(a.low), whole_of(a.high)}))
DEVICE FormulaBounds op_square(const FormulaBounds& a) {
    if (a.unknown()) return a;
    const FormulaBounds size = a.magnitude();
    return {mul(size.low, size.low), mul(size.high, size.high)};
}
// A comparison with NaN is false, which is one of the two.
DEVICE FormulaBounds op_less(const FormulaBounds& a, const FormulaBounds& b) {
    const bool known = !a.unknown() && !b.unknown();
    return FormulaBounds::truth(known && a.high < b.low, known && a.low >= b.high);
}
DEVICE FormulaBounds op_less_eq(const FormulaBounds& a, const FormulaBounds& b) {
    const bool known = !a.unknown() && !b.unknown();
    return FormulaBounds::truth(known && a.high <= b.low, known && a.low > b.high);
}
// A function that is the real one rounded rises and falls where that does; in doubles it is not.
constexpr bool MONOTONE = sizeof(Real) == 4;
DEVICE FormulaBounds op_exp(const FormulaBounds& a) {
    if (!MONOTONE || a.unknown()) return FormulaBounds::anything();
    return {op_exp(a.low), op_exp(a.high)};
}
DEVICE FormulaBounds op_ln(const FormulaBounds& a) {
    if (!MONOTONE || a.unknown() || a.low < Real(0)) return FormulaBounds::anything();
    return {op_ln(a.low), op_ln(a.high)};
}
DEVICE FormulaBounds op_sin(const FormulaBounds& a) {
    if (!MONOTONE || a.unknown()) return FormulaBounds::anything();
    return a.wave(op_sin(a.low), op_sin(a.high), 0.25);
}
DEVICE FormulaBounds op_cos(const FormulaBounds& a) {
    if (!MONOTONE || a.unknown()) return FormulaBounds::anything();
    return a.wave(op_cos(a.low), op_cos(a.high), 0.0);
}

// Labels as words.
DEVICE u32 label_bits(u32 label) { return label; }
DEVICE u32 label_bits(float label) { return __float_as_uint(label); }
DEVICE u64 label_bits(double label) { return u64(__double_as_longlong(label)); }

// How often a step is done from what x begins with, coordinates, while its condition is certain; `certain` tells whether the end is.
template <class Formula, class Number, class Holds, class Ends>
DEVICE u32 formula_iterations(Number* x, u32 cap, Holds holds, Ends ends, bool& certain) {
    Number given[Formula::GIVEN];
    Formula::start(x, given);
#pragma unroll
    for (u32 i = 0; i < Formula::GIVEN; i++) x[DIM + i] = given[i];
    u32 count = 0;
#pragma unroll 1
    for (; count < cap; count++) {
        Number found[1 + Formula::STATES];
        Formula::turn(x, found);
        if (!holds(found[0])) {
            certain = ends(found[0]);
            return count;
        }
#pragma unroll
        for (u32 i = 0; i < Formula::STATES; i++) x[DIM + i] = found[1 + i];
    }
    certain = true;
    return count;
}

// What a formula says of a cell.
template <class Formula> DEVICE auto formula_label(const FieldArgs& args, const Coords& cell) {
    if constexpr (Formula::ITERATES) {
        Real x[DIM + Formula::GIVEN];
#pragma unroll
        for (u32 j = 0; j < DIM; j++) x[j] = sample(args, j, cell[j]);
        bool certain;
        return formula_iterations<Formula>(
            x, args.dwell, [](Real truth) { return truth == Real(1); }, [](Real) { return true; }, certain);
    } else {
        Real x[DIM], found[1];
#pragma unroll
        for (u32 j = 0; j < DIM; j++) x[j] = sample(args, j, cell[j]);
        Formula::value(x, found);
        return Formula::label(found[0]);
    }
}

// The bounds of coordinates in a region.
DEVICE void formula_box(const FieldArgs& args, const Region& region, FormulaBounds* box) {
#pragma unroll
    for (u32 j = 0; j < DIM; j++) {
        const u32 first = region.corner[j];
        box[j] = FormulaBounds::between(sample(args, j, first), sample(args, j, first + (region.extent[j] - 1)));
    }
}

// What bounds of a formula's value say of its cells. A bound of 0 says nothing of the sign of zeros.
template <class Formula> DEVICE Verdict formula_proven(const FormulaBounds& all, Value& value) {
    if (all.unknown() || (Formula::IS_VALUE && all.low == Real(0))) return UNKNOWN;
    const Value low = label_bits(Formula::label(all.low)), high = label_bits(Formula::label(all.high));
    if (low != high) return UNKNOWN;
    value = low;
    return UNIFORM;
}

// What its bounds say of a region.
template <class Formula> DEVICE Verdict formula_verdict(const FieldArgs& args, const Region& region, Value& value) {
    if constexpr (Formula::ITERATES) {
        FormulaBounds x[DIM + Formula::GIVEN];
        formula_box(args, region, x);
        bool certain;
        const u32 count = formula_iterations<Formula>(
            x, args.dwell, [](const FormulaBounds& truth) { return truth.low == Real(1); },
            [](const FormulaBounds& truth) { return truth.high == Real(0); }, certain);
        if (!certain) return UNKNOWN;
        value = count;
    } else {
        FormulaBounds x[DIM], found[1];
        formula_box(args, region, x);
        Formula::value(x, found);
        return formula_proven<Formula>(found[0], value);
    }
    return UNIFORM;
}

#include USER_SOURCE

#ifdef PROVES_BY_BLOCKS
#include "fields/formula_forest.cuh"

DEVICE Label label(const FieldArgs& args, const Coords& cell) { return forest_label(args, cell); }
#else
DEVICE Label label(const FieldArgs& args, const Coords& cell) { return formula_label<Formula>(args, cell); }
#endif
DEVICE Verdict prove(const FieldArgs& args, const Region& region, Value& value) {
    return formula_verdict<Formula>(args, region, value);
}
