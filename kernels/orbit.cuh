// Escape-time labels: the number of iterations before an orbit leaves the disc of radius 2. Twin of src/field/escape/.
//
// The plain loop tests before every step. Where an orbit that is outside stays outside, NaN included, an orbit is tested
// late instead, by its age:
//
//   COUNTED steps   all run, and the states that are inside counted: where a step is cheap, a branch costs more than the
//                   steps that it saves
//   TESTED steps    the plain loop
//   from there on   blocks of SHORTEST steps, then of twice as many, up to LONGEST: a block of K is used up to
//                             the age until(K)
//
// A block that ends outside is searched from the state before it: half of it is run and kept if it ends inside, then half
// of what is left, and so on. What is left at the cap, too short for blocks, is searched the same way.
//
// An orbit says whether its escape is permanent: see `permanent`. Orbits that are not take the plain loop.
//
// Where a run `SEEKS_CYCLES` and an orbit has them (CYCLES), the oldest blocks compare what they come to with an earlier state, as
// Brent's search for cycles does, but that the state is taken anew after half as many steps again and not twice as many: one that comes back
// is inside for ever. Tried on the whole set, D = 512, that takes 195 steps of a cell inside; 202 with twice as many, 234 where only every
// second block is compared. It pays where most cells never leave, as they do only where every cell is evaluated.
#pragma once

#include "points.cuh"

template <class Orbit> DEVICE bool inside(const Orbit& z) { return z.norm2() < Real(4); }

template <u32 K, class Orbit> DEVICE void steps(Orbit& z) {
#pragma unroll
    for (u32 i = 0; i < K; i++) z.step();
}

// Runs K steps, and counts the states before them that are inside.
template <u32 K, class Orbit> DEVICE u32 counted(Orbit& z) {
    u32 d = 0;
    if constexpr (K > 0) {
        d = inside(z);
        z.step();
        d += counted<K - 1>(z);
    }
    return d;
}

// The plain loop, up to step `end`.
template <class Orbit> DEVICE void tested(Orbit& z, u32& d, u32 end) {
#pragma unroll 1
    while (d < end && inside(z)) {
        z.step();
        d++;
    }
}

// Goes on by blocks of K steps, two at a time so that no state is copied, while both fit before step `end`. False if one
// ends outside; z is then the state before it, after d steps. One that comes back to a state is at the end.
template <u32 K, class Orbit> DEVICE bool blocks(Orbit& z, u32& d, u32 end) {
    constexpr bool SEEKS = SEEKS_CYCLES && Orbit::CYCLES && K == Orbit::LONGEST;
    Orbit earlier = z;
    u32 due = d + d / 2;
#pragma unroll 1
    while (end - d >= 2 * K) {
        Orbit next = z;
        steps<K>(next);
        if (!inside(next)) return false;
        bool back = false;
        if constexpr (SEEKS) back = next.same(earlier);
        d += K;
        z = next;
        steps<K>(z);
        if (!inside(z)) {
            z = next;
            return false;
        }
        d += K;
        if constexpr (SEEKS) {
            if (back || z.same(earlier)) {
                d = end;
            } else if (d >= due) {
                earlier = z;
                due = d + d / 2;
            }
        }
    }
    return true;
}

// Goes on by blocks of K steps and longer before step `end`. The steps of the block that ends outside, after which z is the state
// before it; 0 if none does.
template <u32 K, class Orbit> DEVICE u32 by_age(Orbit& z, u32& d, u32 end) {
    const u32 until = K < Orbit::LONGEST && Orbit::until(K) < end ? Orbit::until(K) : end;
    // It may be older than that.
    if (d < until && !blocks<K>(z, d, until)) return K;
    if constexpr (K < Orbit::LONGEST) return by_age<2 * K>(z, d, end);
    return 0;
}

// The number of steps within which z, after d, is outside or at the cap; 0 if it is at the cap now.
template <class Orbit> DEVICE u32 late(Orbit& z, u32& d, u32 cap) {
    const u32 span = by_age<Orbit::SHORTEST>(z, d, cap);
    return span > 0 ? span : d < cap ? cap - d + 1 : 0;
}

// The last step at which an orbit that is inside after d steps still is, if it is outside within `span` steps; at least
// `span` - 1 if it is not.
template <u32 K, class Orbit> DEVICE void search(Orbit& z, u32& d, u32 span) {
    if (K < Orbit::SHORTEST || K < span) {
        Orbit half = z;
        steps<K>(half);
        if (inside(half)) {
            z = half;
            d += K;
        }
    }
    if constexpr (K > 1) search<K / 2>(z, d, span);
}

template <class Orbit> DEVICE u32 dwell(const FieldArgs& args, const Coords& cell) {
    const u32 together = LABEL_LANES;
    Real point[DIM];
#pragma unroll
    for (u32 j = 0; j < DIM; j++) point[j] = sample(args, j, cell[j]);
    Orbit z = Orbit::start(point);
    const u32 cap = args.dwell;
    constexpr u32 YOUNG = Orbit::COUNTED + Orbit::TESTED;
    u32 d = 0, span = 0;
    if (z.permanent()) {
        d = counted<Orbit::COUNTED>(z);
        if constexpr (Orbit::TESTED > 0) tested(z, d, YOUNG < cap ? YOUNG : cap);
        // Without young steps z is where it starts, and that is inside.
        if (d == YOUNG && d < cap && (YOUNG == 0 || inside(z))) span = late(z, d, cap);
    } else {
        tested(z, d, cap);
    }
    // One place for all lanes to search in, not one for every way out of the loops.
    __syncwarp(together);
    if (span > 0) {
        search<Orbit::LONGEST>(z, d, span);
        d++;
    }
    return d < cap ? d : cap;
}
