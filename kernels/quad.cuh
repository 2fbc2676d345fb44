// Sixteen bytes of cells, which a thread stores at once.
#pragma once

struct alignas(16) Quad {
    u32 x, y, z, w;
};

constexpr u32 QUAD_CELLS = sizeof(Quad) / sizeof(CellValue);

// Stores it, by one instruction: a compiler makes four where it has lost sight of how the place is aligned.
DEVICE void put(Quad* to, const Quad& quad) {
#if __CUDA_ARCH__
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(quad.x), "r"(quad.y), "r"(quad.z), "r"(quad.w));
#else
    *to = quad;
#endif
}

// As many cells as that holds.
DEVICE Quad quad_of(CellValue cell) {
    const u32 low = u32(cell) * (sizeof(CellValue) == 1 ? 0x01010101u : sizeof(CellValue) == 2 ? 0x00010001u : 1u);
    const u32 high = sizeof(CellValue) == 8 ? u32(u64(cell) >> 32) : low;
    return {low, high, low, high};
}
