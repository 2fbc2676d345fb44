// What is certain of the dwells of all cells of a region, rounding included: enclosures of orbits in numbers of their own, float or
// double, operation by operation as on the CPU, so that verdicts are the same. Twin of src/field/escape/enclosure.rs, which says why,
// and from where the numbers are.
#pragma once

#include "unchecked.cuh"

using Own = OWN;
static_assert(sizeof(Own) >= sizeof(Real), "a sample of the run is a number of the certificate");

// What bounds from above and from below are multiplied by.
constexpr Own MORE = Own(1.0 + SLACK), LESS = Own(1.0 - SLACK);

// Of numbers; what is none is not used.
DEVICE float larger(float a, float b) { return fmaxf(a, b); }
DEVICE double larger(double a, double b) { return fmax(a, b); }
DEVICE float magnitude(float a) { return fabsf(a); }
DEVICE double magnitude(double a) { return fabs(a); }
DEVICE Own distance(Own a, Own b) { return magnitude(add(a, -b)); }

// The sum of the squares, and as much that its root can be taken. That is right up to ROOTS_TO, and beyond it as large, or no number.
DEVICE Own squares() { return Own(ROOTS_FROM); }
template <class... Rest> DEVICE Own squares(Own first, Rest... rest) { return fma_once(first, first, squares(rest...)); }

// The box of a region's samples, as they are computed.
struct Hull {
    Own centre[DIM], half[DIM];

    // At least the distance from the centre to a corner, along axes FROM to TO.
    template <u32 FROM, u32 TO> DEVICE Own radius() const {
        Own square = squares();
#pragma unroll
        for (u32 j = TO; j-- > FROM;) square = fma_once(half[j], half[j], square);
        const Own length = square <= Own(ROOTS_TO) ? unchecked_root(square) : sum<FROM, TO>(half);
        return fma_once(length, MORE, Own(UNDERFLOWS));
    }
    // At least the distance from the origin to any sample.
    template <u32 FROM, u32 TO> DEVICE Own reach() const {
        return mul(add(sum<FROM, TO>(centre), sum<FROM, TO>(half)), MORE);
    }

  private:
    // Of magnitudes.
    template <u32 FROM, u32 TO> static DEVICE Own sum(const Own (&x)[DIM]) {
        Own sum = magnitude(x[FROM]);
#pragma unroll
        for (u32 j = FROM + 1; j < TO; j++) sum = add(sum, magnitude(x[j]));
        return sum;
    }
};

// False if the box reaches too far.
DEVICE bool hull(const FieldArgs& args, const Region& region, Hull& hull) {
    bool near = true;
#pragma unroll
    for (u32 j = 0; j < DIM; j++) {
        const Own a = sample(args, j, region.corner[j]), b = sample(args, j, region.corner[j] + (region.extent[j] - 1));
        // All at once: a branch for each costs more than what it saves.
        near &= (magnitude(a) <= Own(FARTHEST)) & (magnitude(b) <= Own(FARTHEST));
        hull.centre[j] = mul(Own(0.5), add(a, b));
        hull.half[j] = larger(distance(a, hull.centre[j]), distance(b, hull.centre[j]));
    }
    return near;
}

// True if a disc about the middle of some orbits, which is wider than they reach after this many steps, comes to lie in itself.
template <class Enclosure> DEVICE bool settles(const Enclosure& before, Own reach, u32 steps) {
    const Own wide = mul(reach, Own(steps / (u32(SETTLING) / 4)));
    Enclosure orbits = before;
    orbits.widen(wide);
    Own square = orbits.square(), radius = orbits.radius();
#pragma unroll 1
    for (u32 step = 0; step < u32(CYCLE); step++) {
        const Own modulus = unchecked_root(square);
        if (!(add(modulus, radius) < Own(INSIDE))) return false;
        orbits.step(modulus, radius);
        square = orbits.square(), radius = orbits.radius();
        if (mul(add(orbits.apart(before), radius), MORE) < wide) return true;
    }
    return false;
}

// Where nothing is known, `value` is a number of steps before each of which every cell of the region is certainly inside.
template <class Enclosure> DEVICE Verdict certify(const FieldArgs& args, const Region& region, u32& value) {
    value = 0;
    Hull box;
    if (!hull(args, region, box)) return UNKNOWN;
    Enclosure orbits = Enclosure::start(box);
#pragma unroll 1
    for (; value < args.dwell; value++) {
        const Own square = orbits.square(), radius = orbits.radius(), modulus = unchecked_root(square);
        // Not the opposite of `>=`: an unknown sum is not below.
        if (!(add(modulus, radius) < Own(INSIDE))) {
            const Own farthest = add(Own(OUTSIDE), radius);
            return mul(square, LESS) >= mul(farthest, farthest) ? UNIFORM : UNKNOWN;
        }
        if constexpr (Enclosure::SETTLES) {
            if (value >= u32(SETTLING) && (value & (value - 1)) == 0 && settles(orbits, radius, value)) {
                value = args.dwell;
                return UNIFORM;
            }
        }
        orbits.step(modulus, radius);
    }
    return UNIFORM;
}
