// Short tapes by place: the device's twin of src/field/formula/forest.rs and shorten.rs, for formulas that are too long to be lines of source.
//
// A tape is in waves (src/field/formula/waves.rs): no clause of a wave reads another one of it. A block bounds a region by the tape of the
// region above, wave after wave, a clause per thread. What is the same in all of the region is named by what it is equal to: a minimum whose
// first operand is always the smaller one, by that operand. Backwards, the waves then tell what the result still reads; that is the region's
// own tape. Its clauses keep their order, so their numbers follow from a sum, and no slots have to be found. Regions and cells find tapes by
// their coordinates.
//
// A clause reads coordinates and clauses before it, and there are as many values as a tape says that it has clauses and a formula coordinates.
// So no operand is beyond the values, whose number is compared with the room for them. Numbers of constants are those that the host wrote.
#pragma once

// Where the whole tape is for tables, and what tells that there is no place.
constexpr u32 FOREST_ROOT = 1;
constexpr u64 FOREST_NOWHERE = ~u64(0);

// Clauses of a tape that is not worth another, and those between which cells go on with the tape above: an eighth fewer.
constexpr u32 FOREST_FEW = 12;
DEVICE bool forest_shorter(u32 clauses, u32 above) { return clauses + above / 8 < above; }

// Values of a tape that is bounded in shared memory, and of one whose values a thread holds for a cell. Longer ones lie in a row of global
// memory, and cells of a longer one take the whole tape by slots, which are fewer.
constexpr u32 FOREST_NEAR = 1024;
constexpr u32 FOREST_HELD = 512;

struct WaveClause {
    u64 word;

    DEVICE u32 op() const { return u32(word) & 0xff; }
    DEVICE bool is(u32 flag) const { return (u32(word) >> 8 & flag) != 0; }
    DEVICE u32 operand(u32 number) const { return u32(word >> (16 + 16 * number)) & 0xffff; }
    DEVICE bool is_constant(u32 number) const { return is(WAVE_A_IS_CONSTANT << number); }
    // With its operands named.
    DEVICE WaveClause named(const u32* names) const {
        u64 now = word & 0xffff & ~u64((WAVE_A_IS_CONSTANT | WAVE_B_IS_CONSTANT | WAVE_C_IS_CONSTANT) << 8);
#pragma unroll
        for (u32 number = 0; number < 3; number++) {
            const u32 name = names[number];
            now |= u64(name & 0xffff) << (16 + 16 * number);
            if ((name & WAVE_CONSTANT) != 0) now |= u64(WAVE_A_IS_CONSTANT << number) << 8;
        }
        return {now};
    }
};

// A tape in memory: its numbers of clauses and waves, its result, its clauses, and where its waves end.
struct WaveTape {
    const u64* words;
    u32 count, waves, result;

    DEVICE explicit WaveTape(const u64* words) : words(words), count(u32(words[0])), waves(u32(words[0] >> 32)), result(u32(words[1])) {}

    DEVICE WaveClause clause(u32 number) const { return {words[2 + number]}; }
    DEVICE u32 end(u32 wave) const { return ((const u32*)(words + 2 + count))[wave]; }
    DEVICE u32 values() const { return FORMULA_AXES + count; }
};

DEVICE WaveTape forest_tape(const FieldArgs& args, u32 at) {
    if (at == FOREST_ROOT) return WaveTape((const u64*)args.root);
    return WaveTape((const u64*)((const ForestArgs*)args.forest)->pool + at);
}

// The part of an axis on a level that holds a cell.
DEVICE u32 forest_part(const ForestArgs& forest, u32 level, u32 j, u32 cell) {
    const u32 side = forest.side[level][j];
    return side != 0 ? cell / side : u32(((u64(cell) + 1) * forest.grid[level][j] - 1) / forest.size[j]);
}

// The lowest tape that a cell has.
DEVICE u32 forest_tape_of(const ForestArgs& forest, const Coords& cell) {
#pragma unroll 1
    for (u32 level = forest.levels; level > 0; level--) {
        u64 place = 0;
#pragma unroll
        for (u32 i = 0; i < DIM; i++) {
            const u32 j = DIM - 1 - i;
            place = place * forest.grid[level - 1][j] + forest_part(forest, level - 1, j, cell[j]);
        }
        const u32 tape = ((const u32*)forest.tables)[forest.first[level - 1] + place];
        if (tape != 0) return tape;
    }
    return FOREST_ROOT;
}

// The tape of what is above a region, and the place for the region's own: nowhere if it has one, or is none of a level's.
struct ForestPlace {
    u32 tape;
    u64 own;

    DEVICE ForestPlace(const ForestArgs& forest, const Region& region) : tape(FOREST_ROOT), own(FOREST_NOWHERE) {
#pragma unroll 1
        for (u32 level = 0; level < forest.levels; level++) {
            u64 place = 0;
            bool inside = true, whole = true;
#pragma unroll
            for (u32 i = 0; i < DIM; i++) {
                const u32 j = DIM - 1 - i, parts = forest.grid[level][j], side = forest.side[level][j];
                const u32 part = forest_part(forest, level, j, region.corner[j]);
                const u32 first = side != 0 ? part * side : bound(part, forest.size[j], parts);
                const u32 extent = side != 0 ? side : bound(part + 1, forest.size[j], parts) - first;
                place = place * parts + part;
                inside = inside && region.corner[j] - first + region.extent[j] <= extent;
                whole = whole && region.corner[j] == first && region.extent[j] == extent;
            }
            if (!inside) return;
            const u32 found = ((const u32*)forest.tables)[forest.first[level] + place];
            if (whole) {
                if (found == 0) own = forest.first[level] + place;
                return;
            }
            if (found != 0) tape = found;
        }
    }
};

DEVICE Real forest_constant(const FieldArgs& args, u32 number) { return ((const Real*)args.constants)[number]; }

// The value of a formula in a cell, by a tape with few values.
DEVICE Real forest_value(const FieldArgs& args, const WaveTape& tape, const Real* x) {
    constexpr u32 AXIS[FORMULA_AXES] = {FORMULA_AXIS};
    Real values[FOREST_HELD];
#pragma unroll
    for (u32 slot = 0; slot < FORMULA_AXES; slot++) values[slot] = x[AXIS[slot]];
    // The next clause is on its way while one is done.
    WaveClause next = tape.clause(0);
#pragma unroll 1
    for (u32 number = 0; number < tape.count; number++) {
        const WaveClause clause = next;
        if (number + 1 < tape.count) next = tape.clause(number + 1);
        const auto operand = [&](u32 i) {
            const u32 place = clause.operand(i);
            return clause.is_constant(i) ? forest_constant(args, place) : values[place];
        };
        const Real a = operand(0), b = operand(1), c = clause.is(WAVE_TERNARY) ? operand(2) : b;
        values[FORMULA_AXES + number] = Formula::operation(clause.op(), clause.is(WAVE_SAME), a, b, c);
    }
    return (tape.result & WAVE_CONSTANT) != 0 ? forest_constant(args, tape.result & 0xffff) : values[tape.result];
}

DEVICE Label forest_label(const FieldArgs& args, const Coords& cell) {
    Real x[DIM], found[1];
#pragma unroll
    for (u32 j = 0; j < DIM; j++) x[j] = sample(args, j, cell[j]);
    const u32 at = args.forest == 0 ? FOREST_ROOT : forest_tape_of(*(const ForestArgs*)args.forest, cell);
    if (at != FOREST_ROOT) {
        const WaveTape tape = forest_tape(args, at);
        if (tape.values() <= FOREST_HELD) return Formula::label(forest_value(args, tape, x));
    }
    Formula::value(x, found);
    return Formula::label(found[0]);
}

// The sum of the numbers of all threads of a block before this one, and of all.
DEVICE u32 team_before(u32 mine, u32& all) {
    __shared__ u32 sums[TEAM / 32];
    u32 before = mine;
#pragma unroll
    for (u32 distance = 1; distance < 32; distance *= 2) {
        const u32 other = __shfl_up_sync(0xffffffffu, before, distance);
        if (lane() >= distance) before += other;
    }
    if (lane() == 31) sums[warp()] = before;
    __syncthreads();
    before -= mine;
    all = 0;
    for (u32 w = 0; w < sharers() / 32; w++) {
        if (w < warp()) before += sums[w];
        all += sums[w];
    }
    __syncthreads();
    return before;
}

// A tape that a block bounds a region by, and shortens: for each value its bounds, its name, which is the value or the constant that it is
// equal to, whether the result reads it, and, where its bounds were, how many clauses before it are kept.
struct Shortening {
    const FieldArgs& args;
    const WaveTape tape;
    FormulaBounds* bounds;
    u32* names;
    u8* live;
    u32* places;

    // Does something in each wave, in its order or backwards; threads that have a clause of it share that. Waves of few clauses that
    // follow one another are one warp's, which needs no barrier with others.
    template <bool BACKWARDS, class Each> DEVICE void waves(Each each) const {
#pragma unroll 1
        for (u32 step = 0; step < tape.waves; step++) {
            const u32 wave = BACKWARDS ? tape.waves - 1 - step : step;
            const bool narrow = width(wave) <= 32;
            if (!narrow || warp() == 0) {
                const u32 end = tape.end(wave);
                for (u32 clause = begin(wave) + threadIdx.x; clause < end; clause += narrow ? 32 : sharers()) each(clause);
            }
            const bool alone = narrow && step + 1 < tape.waves && width(BACKWARDS ? wave - 1 : wave + 1) <= 32;
            if (!alone) team_sync();
            else if (warp() == 0) __syncwarp();
        }
    }
    DEVICE u32 begin(u32 wave) const { return wave == 0 ? 0 : tape.end(wave - 1); }
    DEVICE u32 width(u32 wave) const { return tape.end(wave) - begin(wave); }

    // The bounds of a value or of a constant.
    DEVICE FormulaBounds of(u32 place, bool constant) const {
        return constant ? FormulaConstant<FormulaBounds>::of(forest_constant(args, place)) : bounds[place];
    }

    // The name of an operand of a clause.
    DEVICE u32 name(const WaveClause& clause, u32 number) const {
        const u32 place = clause.operand(number);
        return clause.is_constant(number) ? place | WAVE_CONSTANT : names[place];
    }

    // The bounds of a clause, and what it is equal to. Twin of src/field/formula/siblings.rs: operands are compared as the operation does,
    // which is false for NaN; a truth has one zero, so that the first of two that are equal is as good as the second.
    DEVICE void bound_clause(u32 number) const {
        const WaveClause clause = tape.clause(number);
        const u32 op = clause.op();
        const FormulaBounds a = of(clause.operand(0), clause.is_constant(0)), b = of(clause.operand(1), clause.is_constant(1));
        const FormulaBounds c = clause.is(WAVE_TERNARY) ? of(clause.operand(2), clause.is_constant(2)) : b;
        const FormulaBounds found = Formula::operation(op, clause.is(WAVE_SAME), a, b, c);
        u32 named = FORMULA_AXES + number;
        bounds[named] = found;
        const bool truth = clause.is(WAVE_TRUTH);
        if (op == WAVE_MIN || op == WAVE_MAX) {
            // Of a minimum the first operand is chosen where it is the lower one, of a maximum where it is the upper one.
            const FormulaBounds &low = op == WAVE_MIN ? a : b, &high = op == WAVE_MIN ? b : a;
            if (low.high < high.low || (truth && low.high <= high.low)) named = name(clause, 0);
            else if (high.high <= low.low) named = name(clause, 1);
        } else if (truth && FORMULA_NEVER != ~0u) {
            if (found.high <= Real(0)) named = FORMULA_NEVER | WAVE_CONSTANT;
            else if (found.low >= Real(1)) named = FORMULA_ALWAYS | WAVE_CONSTANT;
        }
        names[FORMULA_AXES + number] = named;
        live[FORMULA_AXES + number] = 0;
    }

    // The bounds of the result in a region.
    DEVICE FormulaBounds bound(const Region& region) const {
        constexpr u32 AXIS[FORMULA_AXES] = {FORMULA_AXIS};
        FormulaBounds box[DIM];
        formula_box(args, region, box);
        if (threadIdx.x == 0) {
#pragma unroll
            for (u32 slot = 0; slot < FORMULA_AXES; slot++) {
                bounds[slot] = box[AXIS[slot]];
                names[slot] = slot;
                live[slot] = 0;
            }
        }
        team_sync();
        waves<false>([&](u32 number) { bound_clause(number); });
        return of(tape.result & 0xffff, (tape.result & WAVE_CONSTANT) != 0);
    }

    // Notes that the result reads a value. Whoever does so in a wave writes the same, and nobody looks before the next one.
    DEVICE void read(u32 name) const {
        if ((name & WAVE_CONSTANT) == 0) live[name] = 1;
    }

    DEVICE bool is_live(u32 number) const { return live[FORMULA_AXES + number] != 0; }

    // What a value is called in the tape of what is kept.
    DEVICE u32 renamed(u32 name) const {
        return name < FORMULA_AXES || (name & WAVE_CONSTANT) != 0 ? name : FORMULA_AXES + places[name - FORMULA_AXES];
    }

    // The clauses of a part of the tape that is this thread's, by its number among equal parts.
    template <class Each> DEVICE void mine(u32 all, Each each) const {
        const u32 some = all / sharers() + 1, first = threadIdx.x * some;
        for (u32 i = first; i < all && i < first + some; i++) each(i);
    }

    // Writes the tape of the region that was bounded to the pool; the number of its first word, or that of the one above if it is not
    // shorter or does not fit.
    DEVICE u32 keep(const ForestArgs& forest, u32 above) const {
        const u32 result = (tape.result & WAVE_CONSTANT) != 0 ? tape.result : names[tape.result];
        // Everybody has read the bounds of the result, too.
        team_sync();
        if (threadIdx.x == 0) read(result);
        team_sync();
        waves<true>([&](u32 number) {
            if (!is_live(number)) return;
            const WaveClause clause = tape.clause(number);
#pragma unroll
            for (u32 i = 0; i < 3; i++) read(name(clause, i));
        });
        u32 live = 0, kept, full = 0, filled;
        mine(tape.count, [&](u32 number) { live += is_live(number); });
        u32 place = team_before(live, kept);
        mine(tape.count, [&](u32 number) {
            places[number] = place;
            place += is_live(number);
        });
        if (threadIdx.x == 0) places[tape.count] = kept;
        team_sync();
        if (!forest_shorter(kept, tape.count)) return above;
        const auto stays = [&](u32 wave) { return places[tape.end(wave)] > places[begin(wave)]; };
        mine(tape.waves, [&](u32 wave) { full += stays(wave); });
        u32 rank = team_before(full, filled);
        // In whole sectors of a cache, so that none is read before all of it is written.
        const u64 words = (2 + kept + (filled + 1) / 2 + 3) & ~3u;
        u32 at = 0;
        if (threadIdx.x == 0) {
            u64* const counters = (u64*)forest.counters;
            const u64 taken = 4 + atomicAdd(counters + FOREST_TAKEN, words);
            const bool fits = taken + words <= forest.room && taken + words < u64(1) << 32;
            if (fits) at = u32(taken);
            atomicAdd(counters + (fits ? FOREST_TAPES : FOREST_LEFT_OUT), u64(1));
            if (fits) atomicAdd(counters + FOREST_WORDS, words);
        }
        at = team_broadcast(at);
        if (at == 0) return above;
        u64* const to = (u64*)forest.pool + at;
        for (u32 number = threadIdx.x; number < tape.count; number += sharers()) {
            if (!is_live(number)) continue;
            const WaveClause clause = tape.clause(number);
            const u32 named[3] = {renamed(name(clause, 0)), renamed(name(clause, 1)), renamed(name(clause, 2))};
            to[2 + places[number]] = clause.named(named).word;
        }
        u32* const ends = (u32*)(to + 2 + kept);
        mine(tape.waves, [&](u32 wave) {
            if (stays(wave)) ends[rank++] = places[tape.end(wave)];
        });
        if (threadIdx.x == 0) {
            to[0] = kept | u64(filled) << 32;
            to[1] = renamed(result);
        }
        return at;
    }
};

// A row of global memory that no other block has, until it is given back.
DEVICE u32 forest_row(const ForestArgs& forest) {
    u32 row = 0;
    if (threadIdx.x == 0) {
        row = blockIdx.x % forest.row_count;
        while (atomicCAS((u32*)forest.busy + row, 0u, 1u) != 0) row = row + 1 < forest.row_count ? row + 1 : 0;
        __threadfence();
    }
    return team_broadcast(row);
}

// What bounds prove of a region, by all threads of a block; all have the same answer. Where that is nothing the region gets a tape.
DEVICE Verdict prove_by_block(const FieldArgs& args, const Region& region, Value& value) {
    __shared__ FormulaBounds near_bounds[FOREST_NEAR];
    __shared__ u32 near_names[FOREST_NEAR];
    __shared__ u8 near_live[FOREST_NEAR];
    const ForestArgs& forest = *(const ForestArgs*)args.forest;
    const ForestPlace place(forest, region);
    Shortening pass{args, forest_tape(args, place.tape), near_bounds, near_names, near_live, (u32*)near_bounds};
    const u32 values = pass.tape.values();
    const bool far = values + 1 > FOREST_NEAR;
    u32 row = 0;
    if (far) {
        row = forest_row(forest);
        // Room for one value more than there are.
        pass.bounds = (FormulaBounds*)(forest.rows + row * forest.row_bytes);
        pass.names = (u32*)(pass.bounds + values + 1);
        pass.live = (u8*)(pass.names + values + 1);
        pass.places = (u32*)pass.bounds;
    }
    const Verdict verdict = formula_proven<Formula>(pass.bound(region), value);
    if (verdict != UNIFORM && place.own != FOREST_NOWHERE) {
        const u32 tape = pass.tape.count > FOREST_FEW ? pass.keep(forest, place.tape) : place.tape;
        // Whoever reads of it finds all of it.
        __threadfence();
        team_sync();
        if (threadIdx.x == 0) atomicExch((u32*)forest.tables + place.own, tape);
    }
    team_sync();
    if (far && threadIdx.x == 0) {
        __threadfence();
        atomicExch((u32*)forest.busy + row, 0u);
    }
    return verdict;
}
