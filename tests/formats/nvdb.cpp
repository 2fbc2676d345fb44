// Values of a NanoVDB grid, box by box as an array has them, through NanoVDB's own reader: nvdb FILE X Y Z writes them to stdout, x
// fastest, each as the grid's type.
#include <iostream>  // which the next one needs

#include <nanovdb/util/GridValidator.h>
#include <nanovdb/util/IO.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

template <typename T>
static bool values(const nanovdb::GridHandle<> &handle, const int size[3]) {
    const auto *grid = handle.grid<T>();
    if (!grid) return false;
    if (!nanovdb::isValid(*grid, true, true)) exit(3);
    const auto accessor = grid->getAccessor();
    std::vector<T> row(size[0]);
    for (int z = 0; z < size[2]; ++z)
        for (int y = 0; y < size[1]; ++y) {
            for (int x = 0; x < size[0]; ++x) row[x] = accessor.getValue(nanovdb::Coord(x, y, z));
            fwrite(row.data(), sizeof(T), row.size(), stdout);
        }
    // Where cell 0 has its middle, and one cell further on every axis.
    const auto first = grid->indexToWorld(nanovdb::Vec3d(0.0)), next = grid->indexToWorld(nanovdb::Vec3d(1.0));
    for (int j = 0; j < 3; ++j) fprintf(stderr, "%.17g %.17g\n", first[j], next[j]);
    return true;
}

int main(int argc, char **argv) {
    if (argc != 5) return 2;
    const int size[3] = {atoi(argv[2]), atoi(argv[3]), atoi(argv[4])};
    const auto handle = nanovdb::io::readGrid(argv[1]);
    return values<float>(handle, size) || values<double>(handle, size) || values<int16_t>(handle, size) ||
                   values<int32_t>(handle, size) || values<int64_t>(handle, size) || values<uint32_t>(handle, size)
               ? 0
               : 1;
}
