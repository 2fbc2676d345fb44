// The offset lookup table of a level, one scalar per family. Twin of src/cpu/olt.rs.
//
// The table of level i + 1 holds the codes of the mixed regions of level i; entry e of the level stands for child
// e mod R of family e / R. So a table is R times smaller than one that lists every child, writing it is one store per
// mixed region, and its order (as they come, or stable) is the order of families. Level 0 needs no table: entry e is
// code e. A run over a part starts from a run of codes, or from a table that lists codes of its first level themselves.
#pragma once

struct Entry {
    Code code; // on this level
    Coords coords;
};

#include CURVE_HEADER

// Root number `index`.
DEVICE Entry olt_root(const LaunchArgs& launch, u32 index) {
    if (launch.codes == 0) return curve_root(launch, launch.code + index);
    return curve_entry(launch, ((const Code*)launch.codes)[index]);
}

DEVICE Entry olt_read(const LaunchArgs& launch, u32 index) {
    if (launch.families == 0) return olt_root(launch, index);
    return curve_child(launch, ((const Code*)launch.families)[index / CHILDREN], index % CHILDREN);
}
