// The offset lookup table of a level, one scalar per family. Twin of src/cpu/olt.rs.
//
// The table of level i + 1 holds the codes of the mixed regions of level i; entry e of the level stands for child
// e mod R of family e / R. So a table is R times smaller than one that lists every child, writing it is one store per
// mixed region, and its order (as they come, or stable) is the order of families. Level 0 needs no table: entry e is
// code e.
#pragma once

struct Entry {
    Code code; // on this level
    Coords coords;
};

#include CURVE_HEADER

DEVICE Entry olt_read(const LaunchArgs& launch, u32 index) {
    if (launch.families == 0) return curve_root(launch, index);
    return curve_child(launch, ((const Code*)launch.families)[index / CHILDREN], index % CHILDREN);
}
