// Streams where the cells on shared faces decide (`--scheme stream --explore closed`). Those of a level are evaluated first, each once;
// what they say of its regions is read from them; the array is then written once, in long rows, by warps that take a tile each.
//
//   stream_faces   a level: the planes that divide the regions which are mixed, or those about the roots
//   stream_judge   the same level: a few lanes per region that is asked for read its faces
//   stream_tiles   the array: a warp per tile, which evaluates what is left inside of leaves
//
// The regions, and what becomes of them, are those of ASK under the same plan.
#include "prelude.cuh"

#include "team.cuh"

#include "olt.cuh"
#include "region.cuh"
#include RULE_HEADER
#include FIELD_HEADER
#include "value.cuh"

#include "quad.cuh"
#include "stream/faces.cuh"
#include "stream/tile.cuh"
#include "stream/found.cuh"
#include "stream/map.cuh"
#include "stream/list.cuh"
#include "stream/cells.cuh"
#include "stream/tiler.cuh"
#include "stream/tiles.cuh"

// The planes that an owner has evaluated along an axis: those about a root, of which the next root has the upper one if all regions are
// roots; those between the children of another region.
DEVICE u32 planes_of(const RunArgs& run, const StreamArgs& launch, u32 axis, const Region& region) {
    if (launch.above != 0) return split(axis) - 1;
    return launch.whole != 0 && region.corner[axis] + region.extent[axis] < run.size[axis] ? 1 : 2;
}

KERNEL(stream_faces, StreamArgs) {
    __shared__ Queue<true> queues[WARPS];
    Listener listener(run.stop);
    Evaluator<true> evaluator{args, held(queues[warp()])};
    FaceSheet sheet{run, launch};
    // Of roots themselves, else of the regions of the level above.
    const bool roots = launch.above == 0;
    LaunchArgs level = launch;
    u32 apart[DIM];
#pragma unroll
    for (u32 j = 0; j < DIM; j++) {
        apart[j] = plane_step(launch, j);
        level.grid[j] = roots ? launch.grid[j] : launch.grid[j] / split(j);
        level.side[j] = roots ? launch.side[j] : launch.side[j] * split(j);
    }
    const u64 slices = (roots ? launch.regions : listed(launch.above)) * launch.slices;
    u64 next = ticket(launch, TICKET_SLICE);
    u32 step = 0;
#pragma unroll 1
    for (u64 slice; (slice = __shfl_sync(WHOLE_WARP, next, 0)) < slices && !listener.ends(step); step++) {
        next = ticket(launch, TICKET_SLICE);
        const u64 owner = slice / launch.slices;
        // Nothing between faces is likely to be outside before what is on them.
        u32 since = 0;
        Coords coords;
        if (roots) {
            coords = olt_root(launch, u32(owner)).coords;
        } else {
            coords = family_coords(launch, owner);
            since = u32(((const Value*)launch.values)[launch.map_first - level_regions(level.grid) + linear(level.grid, coords)]);
        }
        const Region region = region_at(run, level, coords);
        const Closed box(run, region);
        u32 section[DIM], all = 0;
#pragma unroll
        for (u32 j = 0; j < DIM; j++) {
            section[j] = box.section(j);
            all += section[j] * planes_of(run, launch, j, region);
        }
        const u32 first = u32(slice % launch.slices) * launch.slice_cells, end = all < first + launch.slice_cells ? all : first + launch.slice_cells;
#pragma unroll 1
        for (u32 base = first; base < end; base += 32) {
            const bool there = base + lane() < end;
            u32 number = there ? base + lane() : first, axis = 0;
            // An axis without a cell has no number that is its.
#pragma unroll
            for (u32 j = 0; j + 1 < DIM; j++) {
                const u32 cells = section[j] * planes_of(run, launch, j, region);
                if (axis == j && number >= cells) {
                    number -= cells;
                    axis++;
                }
            }
            u32 index = 0;
            Coords cell;
#pragma unroll
            for (u32 j = 0; j < DIM; j++) {
                if (axis != j) continue;
                // Few planes are quicker counted than divided by. As many sections as a region has planes are numbers of a word.
                constexpr u32 COUNTED = 8;
                u32 nth = split(j) > COUNTED ? number / section[j] : 0;
                if (split(j) <= COUNTED) {
#pragma unroll
                    for (u32 i = 1; i < (split(j) > 2 ? split(j) : 2); i++) nth += number >= i * section[j];
                }
                const u32 at = roots ? coords[j] + nth : coords[j] * split(j) + 1 + nth, plane = at * apart[j];
                cell = box.cell(j, number - nth * section[j]);
                index = face_index(run, launch, j, plane, cell);
                cell[j] = plane_layer(run, launch, j, plane);
            }
            evaluator.evaluate(sheet, index, Point(args, cell), since, there);
        }
    }
    evaluator.finish(sheet);
    const u64 cells = warp_sum(sheet.cells), labels = warp_sum(sheet.labels);
    if (lane() == 0 && cells > 0) {
        count(launch.tallies, TALLY_EXPLORED, cells);
        if (LABELS_COUNT) count(launch.tallies, TALLY_LABELS, labels);
    }
}

// What the faces of a region say, to one of 2^shift lanes that look at a share of them each: the least label, and whether two were met.
struct Look {
    Value first, least;
    bool differs;

    DEVICE Look(const RunArgs& run, const StreamArgs& launch, const Coords& coords, const Region& region, u32 lowest, u32 shift) {
        const u32 share = 1u << shift;
        const FaceLabel* const faces = (const FaceLabel*)launch.faces;
        const Closed box(run, region);
        first = key(Value(faces[face_index(run, launch, 0, coords[0] * plane_step(launch, 0), region.corner)]));
        least = first;
        differs = false;
#pragma unroll
        for (u32 j = 0; j < DIM; j++) {
            const u32 cells = box.section(j);
            if (cells <= lowest) continue;
            const u32 mine = ((cells - 1 - lowest) >> shift) + 1;
            const Steps lower(run, launch, box, j, coords[j] * plane_step(launch, j), lowest, share);
#pragma unroll 1
            for (u32 side = 0; side < 2; side++) {
                const u32 beyond = side * plane_step(launch, j) * layer_cells(run.size, j);
                // In two dimensions they follow one another.
                if (DIM == 2 && cells >= LONG) {
                    row(faces + lower.index - lowest + beyond, cells, lowest, share);
                    continue;
                }
                Steps cell = lower;
                cell.index += beyond;
#pragma unroll 8
                for (u32 i = 0; i < mine; i++, cell.next()) see(faces[cell.index]);
            }
        }
    }

  private:
    // Labels of a row that is read by sixteen bytes.
    static constexpr u32 LONG = 128;

    DEVICE void see(FaceLabel found) {
        const Value label = key(Value(found));
        differs = differs || label != first;
        least = label < least ? label : least;
    }

    // So many labels in a row: those up to the first that is a multiple of sixteen bytes, and those that are left at the end, one by one.
    DEVICE void row(const FaceLabel* labels, u32 cells, u32 lowest, u32 share) {
        constexpr u32 MANY = sizeof(Quad) / sizeof(FaceLabel);
        const u32 head = u32(-u64(labels) / sizeof(FaceLabel)) % MANY, quads = (cells - head) / MANY, apart = quads * MANY;
#pragma unroll 4
        for (u32 i = lowest; i < quads; i += share) {
            const Quad quad = ((const Quad*)(labels + head))[i];
            const FaceLabel* const several = (const FaceLabel*)&quad;
#pragma unroll
            for (u32 l = 0; l < MANY; l++) see(several[l]);
        }
        for (u32 i = lowest; i < cells - apart; i += share) see(labels[i < head ? i : i + apart]);
    }
};

KERNEL(stream_judge, StreamArgs) {
    __shared__ Listing listings[WARPS];
    Listener listener(run.stop);
    Lister lister{launch, listings[warp()]};
    Found found;
    // A power of two.
    const u32 share = launch.lanes, lowest = lane() % share, shift = __ffs(share) - 1;
    const u64 lanes = asked(launch) << shift;
    u32 step = 0;
#pragma unroll 1
    for (u64 base = (u64(blockIdx.x) * WARPS + warp()) * 32; base < lanes && !listener.ends(step); base += u64(gridDim.x) * BLOCK, step++) {
        Entry entry{};
        Region region;
        Value least = ~Value(0), first = 0;
        bool differs = false, proven = false;
        const bool there = base + lane() < lanes;
        if (there) {
            entry = olt_read(launch, u32((base + lane()) >> shift));
            region = region_at(run, launch, entry.coords);
#ifdef PROVES
            if (ASKS_PROOFS) {
                Value value = 0;
                proven = prove(args, deciding(run, region), value) == UNIFORM;
                first = key(value);
            }
#endif
            if (!proven) {
                const Look look(run, launch, entry.coords, region, lowest, shift);
                first = look.first;
                least = look.least;
                differs = look.differs;
            }
        }
        __syncwarp();
        const u32 votes = __ballot_sync(WHOLE_WARP, differs) >> (lane() - lowest) & ((1u << (share - 1)) * 2 - 1);
#pragma unroll 1
        for (u32 distance = share / 2; distance > 0; distance /= 2) {
            const Value other = __shfl_xor_sync(WHOLE_WARP, least, distance);
            least = other < least ? other : least;
        }
        const bool mine = there && lowest == 0, mixed = mine && votes != 0;
        if (mine) {
            // Nothing inside of a leaf is likely to be outside before what is on its faces.
            map_write(launch, entry.coords, mixed ? Fate{MAP_MIXED, LABELS_COUNT ? least : 0} : Fate{MAP_UNIFORM, first});
            found.proven += proven;
            if (mixed) found.mixed(region.volume(), launch.last != 0);
            else found.uniform(region.volume());
        }
        __syncwarp();
        lister.add(mixed, entry.code);
    }
    lister.finish();
    found.settle(launch.tallies);
}
