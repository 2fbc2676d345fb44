// The cells of leaves, by a warp, 32 at a time. Where the field is an orbit, those that are young when they leave are done at once;
// what stays waits in a queue until there are 32, so that few lanes idle.
#pragma once

// Where labels of a piece go, and what they cost.
struct Sheet {
    Piece& piece;
    Coords corner;
    Tally tally;

    DEVICE void put(u32 index, Value found, bool mine) {
        if (mine) piece.labels[index] = tile_label(found);
        tally.add(found, mine);
    }
    DEVICE Coords cell(u32 index) const {
        Coords cell = piece_place(index);
#pragma unroll
        for (u32 j = 0; j < DIM; j++) cell[j] += corner[j];
        return cell;
    }
};

#ifdef FIELD_ORBIT

DEVICE FIELD_ORBIT orbit_at(const FieldArgs& args, const Coords& cell) {
    Real point[DIM];
#pragma unroll
    for (u32 j = 0; j < DIM; j++) point[j] = sample(args, j, cell[j]);
    return FIELD_ORBIT::start(point);
}

// Cells of a warp that are inside still. There is room for 31 that wait and 32 that come.
struct Queue {
    static constexpr u32 ROOM = 64;
    Real state[FIELD_ORBIT::STATE][ROOM];
    u32 index[ROOM], age[ROOM];
};

struct Evaluator {
    const FieldArgs& args;
    Queue& queue;
    u32 waiting = 0;

    // `since`: no lane's cell is outside before so many steps.
    DEVICE void evaluate(Sheet& sheet, u32 index, u32 since, bool mine) {
        FIELD_ORBIT z = orbit_at(args, sheet.cell(index));
        constexpr u32 YOUNG = FIELD_ORBIT::COUNTED + FIELD_ORBIT::TESTED;
        const u32 cap = args.dwell, begin = warp_least(mine ? since : cap) & ~3u;
#pragma unroll 1
        for (u32 i = 0; i < begin; i += 4) steps<4>(z);
        u32 d = begin;
        bool stays = false;
        if (z.permanent()) {
            d += counted<FIELD_ORBIT::COUNTED>(z);
            const u32 end = begin + YOUNG < cap ? begin + YOUNG : cap;
            if constexpr (FIELD_ORBIT::TESTED > 0) tested(z, d, end);
            stays = d == begin + YOUNG && d < cap && inside(z);
        } else {
            tested(z, d, cap);
        }
        __syncwarp();
        sheet.put(index, d < cap ? d : cap, mine && !stays);
        wait(z, index, d, mine && stays);
        if (waiting >= 32) drain(sheet);
    }

    // Ends with nothing that waits.
    DEVICE void finish(Sheet& sheet) {
        while (waiting > 0) drain(sheet);
    }

  private:
    DEVICE void wait(const FIELD_ORBIT& z, u32 index, u32 age, bool mine) {
        const u32 votes = __ballot_sync(WHOLE_WARP, mine), place = waiting + __popc(votes & ((1u << lane()) - 1));
        if (mine) {
            z.save([&](u32 i, Real number) { queue.state[i][place] = number; });
            queue.index[place] = index;
            queue.age[place] = age;
        }
        waiting += __popc(votes);
        __syncwarp();
    }

    // To their end, of up to 32.
    DEVICE void drain(Sheet& sheet) {
        const u32 taken = waiting < 32 ? waiting : 32, from = waiting - taken;
        const bool mine = lane() < taken;
        const u32 place = from + (mine ? lane() : 0), index = queue.index[place], cap = args.dwell;
        u32 d = queue.age[place];
        FIELD_ORBIT z = orbit_at(args, sheet.cell(index));
        z.load([&](u32 i) { return queue.state[i][place]; });
        waiting = from;
        u32 span = 0;
        if (mine) span = late<FIELD_ORBIT::SHORTEST>(z, d, cap);
        __syncwarp();
        if (span > 0) {
            search<FIELD_ORBIT::LONGEST>(z, d, span);
            d++;
        }
        __syncwarp();
        sheet.put(index, d < cap ? d : cap, mine);
    }
};

#else

struct Queue {};

struct Evaluator {
    const FieldArgs& args;
    Queue& queue;

    DEVICE void evaluate(Sheet& sheet, u32 index, u32, bool mine) {
        sheet.put(index, value_at(args, sheet.cell(index)), mine);
    }
    DEVICE void finish(Sheet&) {}
};

#endif
