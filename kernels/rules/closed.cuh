// `closed`: the cells on the faces of the region with the next layer of cells on its upper sides, where the domain has one.
// Twin of src/rule/closed.rs.
#pragma once

constexpr bool RULE_FACES = true;

DEVICE Region deciding(const RunArgs& run, const Region& region) {
    Region closed = region;
#pragma unroll
    for (u32 j = 0; j < DIM; j++) closed.extent[j] += region.corner[j] + region.extent[j] < run.size[j];
    return closed;
}
