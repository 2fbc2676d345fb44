// What is certain of the dwells of all cells of a region, rounding included: enclosures of orbits in double, operation by operation
// as on the CPU, so that verdicts are the same. Twin of src/field/escape/enclosure.rs, which says why, and from where the numbers are.
#pragma once

// The box of a region's samples, as they are computed.
struct Hull {
    double centre[DIM], half[DIM];

    // At least the distance from the centre to a corner, along axes FROM to TO.
    template <u32 FROM, u32 TO> DEVICE double radius() const { return mul(length<FROM, TO>(half), 1.0 + SLACK); }
    // At least the distance from the origin to any sample.
    template <u32 FROM, u32 TO> DEVICE double reach() const {
        return mul(add(length<FROM, TO>(centre), radius<FROM, TO>()), 1.0 + SLACK);
    }

  private:
    template <u32 FROM, u32 TO> static DEVICE double length(const double (&x)[DIM]) {
        double sum = 0;
#pragma unroll
        for (u32 j = FROM; j < TO; j++) sum = add(sum, mul(x[j], x[j]));
        return root(sum);
    }
};

DEVICE double distance(double a, double b) { return a < b ? add(b, -a) : add(a, -b); }

// False if the box reaches too far.
DEVICE bool hull(const FieldArgs& args, const Region& region, Hull& hull) {
    bool near = true;
#pragma unroll
    for (u32 j = 0; j < DIM; j++) {
        const double a = sample(args, j, region.corner[j]), b = sample(args, j, region.corner[j] + (region.extent[j] - 1));
        near = near && a <= FARTHEST && a >= -FARTHEST && b <= FARTHEST && b >= -FARTHEST;
        hull.centre[j] = mul(0.5, add(a, b));
        const double below = distance(a, hull.centre[j]), above = distance(b, hull.centre[j]);
        hull.half[j] = below < above ? above : below;
    }
    return near;
}

template <class Enclosure> DEVICE Verdict certify(const FieldArgs& args, const Region& region, u32& value) {
    Hull box;
    if (!hull(args, region, box)) return UNKNOWN;
    Enclosure orbits = Enclosure::start(box);
#pragma unroll 1
    for (value = 0; value < args.dwell; value++) {
        const double modulus = orbits.modulus(), radius = orbits.radius();
        if (mul(modulus, 1.0 - SLACK) >= add(OUTSIDE, radius)) return UNIFORM;
        // Not the opposite of `>=`: an unknown sum is not below.
        if (!(add(modulus, radius) < INSIDE)) return UNKNOWN;
        orbits.step(modulus, radius);
    }
    return UNIFORM;
}
