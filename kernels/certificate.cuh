// What is certain of the dwells of all cells of a region, rounding included: enclosures of orbits in numbers of their own, float or
// double, operation by operation as on the CPU, so that verdicts are the same. Twin of src/field/escape/enclosure.rs, which says why,
// and from where the numbers are.
#pragma once

#include "unchecked.cuh"

using Own = OWN;
static_assert(sizeof(Own) >= sizeof(Real), "a sample of the run is a number of the certificate");

// What bounds from above and from below are multiplied by.
constexpr Own MORE = Own(1.0 + SLACK), LESS = Own(1.0 - SLACK);

DEVICE Own larger(Own a, Own b) { return a < b ? b : a; }
DEVICE Own distance(Own a, Own b) { return a < b ? add(b, -a) : add(a, -b); }

// At least the root of a square. Right up to ROOTS_TO, and beyond that as large, or no number.
DEVICE Own upper_root(Own square) { return unchecked_root(larger(square, Own(ROOTS_FROM))); }

// The box of a region's samples, as they are computed.
struct Hull {
    Own centre[DIM], half[DIM];

    // At least the distance from the centre to a corner, along axes FROM to TO.
    template <u32 FROM, u32 TO> DEVICE Own radius() const { return add(mul(length<FROM, TO>(half), MORE), Own(UNDERFLOWS)); }
    // At least the distance from the origin to any sample.
    template <u32 FROM, u32 TO> DEVICE Own reach() const {
        return mul(add(length<FROM, TO>(centre), radius<FROM, TO>()), MORE);
    }

  private:
    template <u32 FROM, u32 TO> static DEVICE Own length(const Own (&x)[DIM]) {
        Own sum = 0;
#pragma unroll
        for (u32 j = FROM; j < TO; j++) sum = add(sum, mul(x[j], x[j]));
        return root(sum);
    }
};

// False if the box reaches too far.
DEVICE bool hull(const FieldArgs& args, const Region& region, Hull& hull) {
    bool near = true;
#pragma unroll
    for (u32 j = 0; j < DIM; j++) {
        const Own a = sample(args, j, region.corner[j]), b = sample(args, j, region.corner[j] + (region.extent[j] - 1));
        near = near && distance(a, 0) <= Own(FARTHEST) && distance(b, 0) <= Own(FARTHEST);
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
        const Own modulus = upper_root(square);
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
        const Own square = orbits.square(), radius = orbits.radius(), farthest = add(Own(OUTSIDE), radius);
        if (mul(square, LESS) >= mul(farthest, farthest)) return UNIFORM;
        const Own modulus = upper_root(square);
        // Not the opposite of `>=`: an unknown sum is not below.
        if (!(add(modulus, radius) < Own(INSIDE))) return UNKNOWN;
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
