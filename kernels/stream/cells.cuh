// The cells of leaves, by a warp, 32 at a time. Where the field is an orbit, those that are young when they leave are done at once;
// what stays waits in a queue until there are 32, so that few lanes idle.
#pragma once

// Where labels of a piece go, and what they cost.
struct Sheet {
    Piece& piece;
    Coords corner;
    u64 labels = 0;

    DEVICE void put(u32 index, Value found, bool mine) {
        if (mine) piece.labels[index] = tile_label(found);
        if (LABELS_COUNT) labels += mine ? found : 0;
    }
    DEVICE Coords cell(u32 index) const {
        Coords cell = piece_place(index);
#pragma unroll
        for (u32 j = 0; j < DIM; j++) cell[j] += corner[j];
        return cell;
    }
};

#ifdef FIELD_ORBIT

// Where the orbit of a cell starts.
struct Point {
    Real x[DIM];

    DEVICE Point() {}
    DEVICE Point(const FieldArgs& args, const Coords& cell) {
#pragma unroll
        for (u32 j = 0; j < DIM; j++) x[j] = sample(args, j, cell[j]);
    }
    DEVICE FIELD_ORBIT start() const { return FIELD_ORBIT::start(x); }
};

// How a cell of a leaf is named: where sums of coordinates and the offset are exact by such sums, as numbers of the run.
#if EXACT_COORDINATES
using Number = Real;
DEVICE Number number_of(const FieldArgs& args, u32 coordinate) { return add(Real(coordinate), Real(args.offset)); }
DEVICE Real sample_of(const FieldArgs& args, u32 j, Number number) { return sample_at(args, j, number); }
#else
using Number = u32;
DEVICE Number number_of(const FieldArgs&, u32 coordinate) { return coordinate; }
DEVICE Real sample_of(const FieldArgs& args, u32 j, Number number) { return sample(args, j, number); }
#endif

// Cells of a warp that are inside still, by the stage that they wait for. There is room for 31 that wait and 32 that come. They bring
// their points where a cell is not quickly found by its number.
template <bool POINTS> struct Queue {
    static constexpr u32 ROOM = 64;
    struct Stage {
        Real state[FIELD_ORBIT::STATE][ROOM], point[POINTS ? DIM : 1][POINTS ? ROOM : 1];
        u32 index[ROOM], age[ROOM];
    };
    Stage stages[FIELD_ORBIT::STAGES];
};

template <bool POINTS> struct Evaluator {
    const FieldArgs& args;
    Queue<POINTS>& queue;
    // How many wait for each stage, eight bits for it.
    u32 waiting = 0;

    // `since`: the cell is not outside before so many steps; by a proof, or, where faces are shared, so one guesses of it.
    template <class Out> DEVICE void evaluate(Out& sheet, u32 index, const Point& point, u32 since, bool mine) {
        FIELD_ORBIT z = point.start();
        const bool permanent = z.permanent();
        constexpr u32 YOUNG = FIELD_ORBIT::COUNTED + FIELD_ORBIT::TESTED;
        const u32 cap = args.dwell;
        // By four, so that few are lost; but where a step costs little, a loop is not for so few.
        constexpr u32 MANY = FIELD_ORBIT::SHORTEST;
        static_assert(MANY == 4 || MANY == 8, "what is left of a multiple of four is four steps");
        u32 begin = warp_least(mine ? since : cap) & ~3u, done = 0;
#pragma unroll 1
        for (; begin - done >= MANY; done += MANY) steps<MANY>(z);
        if (MANY > 4 && done < begin) steps<4>(z);
        if (SHARES_FACES && begin > 0 && __any_sync(WHOLE_WARP, mine && !(permanent && inside(z)))) {
            z = point.start();
            begin = 0;
        }
        u32 d = begin, span = 0;
        if (permanent) {
            d += counted<FIELD_ORBIT::COUNTED>(z);
            const u32 end = begin + YOUNG < cap ? begin + YOUNG : cap;
            if constexpr (FIELD_ORBIT::TESTED > 0) tested(z, d, end);
        } else {
            tested(z, d, cap);
        }
        // Proofs say of the state after them nothing but that those before were inside. All at once, without a branch.
        bool stays = permanent & (d == begin + YOUNG) & (d < cap) & inside(z);
        if constexpr (FIELD_ORBIT::FIRST > 0) {
            const u32 first = begin + FIELD_ORBIT::FIRST < cap ? begin + FIELD_ORBIT::FIRST : cap;
            if (stays) span = blocks<FIELD_ORBIT::SHORTEST>(z, d, first) ? 0 : FIELD_ORBIT::SHORTEST;
            __syncwarp();
            stays = stays && span == 0;
        }
        found(sheet, z, index, d, span, mine, stays);
        // Whoever is as old as that needs no stage before.
        u32 stage = 0;
#pragma unroll
        for (u32 i = 0; i + 1 < FIELD_ORBIT::STAGES; i++) stage += begin + FIELD_ORBIT::FIRST >= FIELD_ORBIT::bound(i);
        wait(z, point, stage, index, d, mine && stays);
        if ((waiting & ENOUGH) != 0) go_on(sheet, 32);
    }

    // Ends with nothing that waits.
    template <class Out> DEVICE void finish(Out& sheet) {
#pragma unroll 1
        while (waiting > 0) go_on(sheet, 1);
    }

  private:
    // The bits of `waiting` of which a stage has one where 32 or more wait for it.
    static constexpr u32 ENOUGH = 0xe0e0e0e0u;

    DEVICE u32 count(u32 stage) const { return waiting >> (8 * stage) & 0xff; }

    // What is known of an orbit: that it is outside within `span` steps; if that is 0 its dwell, unless it stays.
    template <class Out> DEVICE void found(Out& sheet, FIELD_ORBIT& z, u32 index, u32 d, u32 span, bool mine, bool stays) {
        if (span > 0) {
            search<FIELD_ORBIT::LONGEST>(z, d, span);
            d++;
        }
        __syncwarp();
        sheet.put(index, d < args.dwell ? d : args.dwell, mine && !stays);
    }

    DEVICE void wait(const FIELD_ORBIT& z, const Point& point, u32 stage, u32 index, u32 age, bool mine) {
        const u32 votes = __ballot_sync(WHOLE_WARP, mine), place = count(stage) + __popc(votes & ((1u << lane()) - 1));
        auto& to = queue.stages[stage];
        if (mine) {
            z.save([&](u32 i, Real number) { to.state[i][place] = number; });
            if constexpr (POINTS) {
#pragma unroll
                for (u32 j = 0; j < DIM; j++) to.point[j][place] = point.x[j];
            }
            to.index[place] = index;
            to.age[place] = age;
        }
        waiting += __popc(votes) << (8 * stage);
    }

    // Stages of which at least so many wait, in their order, so that none is asked for more room than it has.
    template <class Out> DEVICE void go_on(Out& sheet, u32 least) {
#pragma unroll 1
        for (u32 stage = 0; stage < FIELD_ORBIT::STAGES; stage++) {
            if (count(stage) >= least) run(sheet, stage);
        }
    }

    // A stage of up to 32.
    template <class Out> DEVICE void run(Out& sheet, u32 stage) {
        // What others have put there.
        __syncwarp();
        const bool last = stage + 1 == FIELD_ORBIT::STAGES;
        const u32 all = count(stage), taken = all < 32 ? all : 32, from = all - taken, cap = args.dwell;
        const bool mine = lane() < taken;
        const u32 place = from + (mine ? lane() : 0);
        const auto& of = queue.stages[stage];
        const u32 index = of.index[place];
        u32 d = of.age[place], span = 0;
        Point point;
        if constexpr (POINTS) {
#pragma unroll
            for (u32 j = 0; j < DIM; j++) point.x[j] = of.point[j][place];
        } else {
            point = Point(args, sheet.cell(index));
        }
        FIELD_ORBIT z = point.start();
        z.load([&](u32 i) { return of.state[i][place]; });
        waiting -= taken << (8 * stage);
        const u32 end = last || FIELD_ORBIT::bound(stage) > cap ? cap : FIELD_ORBIT::bound(stage);
        if (mine) span = by_age<FIELD_ORBIT::SHORTEST>(z, d, end);
        if (last && span == 0 && d < cap) span = cap - d + 1;
        const bool stays = !last && span == 0 && d < cap;
        __syncwarp();
        found(sheet, z, index, d, span, mine, stays);
        if (!last) wait(z, point, stage + 1, index, d, mine && stays);
    }
};

#else

using Number = u32;
DEVICE Number number_of(const FieldArgs&, u32 coordinate) { return coordinate; }
DEVICE u32 sample_of(const FieldArgs&, u32, Number number) { return number; }

// A cell itself.
struct Point {
    Coords x;

    DEVICE Point() {}
    DEVICE Point(const FieldArgs&, const Coords& cell) : x(cell) {}
};

template <bool> struct Queue {};

template <bool POINTS> struct Evaluator {
    const FieldArgs& args;
    Queue<POINTS>& queue;

    template <class Out> DEVICE void evaluate(Out& sheet, u32 index, const Point& point, u32, bool mine) {
        sheet.put(index, value_at(args, point.x), mine);
    }
    template <class Out> DEVICE void finish(Out&) {}
};

#endif
