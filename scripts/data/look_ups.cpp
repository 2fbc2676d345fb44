// Times look-ups of random cells in a NanoVDB grid: by the tree, and by an accessor, which remembers where it was.
//   c++ -O3 -march=native -o look_ups look_ups.cpp && ./look_ups IN.nvdb NX NY NZ
// The cells are those of benches/trees.rs.
#include <nanovdb/util/IO.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int argc, char** argv) {
    if (argc != 5) return 2;
    const auto handle = nanovdb::io::readGrid(argv[1]);
    const auto* grid = handle.grid<float>();
    if (!grid) return 1;
    const uint64_t size[3] = {strtoull(argv[2], nullptr, 10), strtoull(argv[3], nullptr, 10), strtoull(argv[4], nullptr, 10)};
    std::vector<nanovdb::Coord> cells(1 << 20);
    uint64_t state = 1;
    auto next = [&](uint64_t most) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        return int((state >> 33) % most);
    };
    for (auto& cell : cells) {
        const int x = next(size[0]), y = next(size[1]), z = next(size[2]);
        cell = nanovdb::Coord(x, y, z);
    }
    auto time = [&](auto look) {
        std::vector<double> rounds;
        double sum = 0;
        for (int round = 0; round < 11; round++) {
            const auto start = std::chrono::steady_clock::now();
            for (const auto& cell : cells) sum += look(cell);
            const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
            rounds.push_back(took.count() / double(cells.size()));
        }
        std::sort(rounds.begin(), rounds.end());
        printf("%.2f ns (%.2f to %.2f), sum %.0f", rounds[5], rounds[0], rounds[10], sum);
    };
    const auto& tree = grid->tree();
    printf("tree ");
    time([&](const nanovdb::Coord& cell) { return tree.getValue(cell); });
    auto accessor = grid->getAccessor();
    printf("\naccessor ");
    time([&](const nanovdb::Coord& cell) { return accessor.getValue(cell); });
    printf("\nin memory %zu bytes\n", size_t(grid->gridSize()));
}
