// Points and lists of cells: listed cells are kept by their index in order, axis 0 fastest, with what they are worth. All others are the
// background. Twin of src/field/cloud.rs.
#pragma once

// Members of FieldArgs are read at fixed places only.
#define FIELD_ARGS_BY_VALUE

// The first row whose cell has this index or a later one.
DEVICE u64 first_at(const FieldArgs& args, u64 index) {
    const u64* const bucket = (const u64*)args.starts + (index >> args.shift);
    u64 low = bucket[0], high = bucket[1];
    while (low < high) {
        const u64 middle = low + (high - low) / 2;
        if (((const u64*)args.indices)[middle] < index) low = middle + 1;
        else high = middle;
    }
    return low;
}

// The word of a row.
DEVICE u64 worth(const FieldArgs& args, u64 row) { return POINTS_OCCUPY ? 1 : ((const u64*)args.words)[row]; }

DEVICE Label label(const FieldArgs& args, const Coords& cell) {
    const u64 index = linear(args.size, cell), row = first_at(args, index);
    const u64 word = row < args.rows && ((const u64*)args.indices)[row] == index ? worth(args, row) : args.background;
    if constexpr (!LABEL_IS_FLOAT) return Label(word);
    else if constexpr (sizeof(Label) == 4) return Label(__uint_as_float(u32(word)));
    else return Label(__longlong_as_double(i64(word)));
}

DEVICE Coords cell_of(const FieldArgs& args, u64 index) {
    Coords cell;
#pragma unroll
    for (u32 j = 0; j < DIM; j++) {
        // A division of 64 bits is many times longer.
        const bool narrow = index >> 32 == 0;
        const u64 above = narrow ? u32(index) / args.size[j] : index / args.size[j];
        cell[j] = u32(index - above * args.size[j]);
        index = above;
    }
    return cell;
}

// Moves a cell beside a region to the first one in it that has no lower index; false if there is none.
DEVICE bool next_in(const Region& region, Coords& cell) {
    // The slowest axis on which it lies beside the region decides.
    u32 axis = 0;
    bool above = false;
#pragma unroll
    for (u32 j = 0; j < DIM; j++) {
        if (cell[j] - region.corner[j] < region.extent[j]) continue;
        axis = j;
        above = cell[j] > region.corner[j];
    }
    // Beyond it the next slower axis on which there is a cell more goes on.
#pragma unroll
    for (u32 j = 0; j < DIM; j++) {
        const bool last = cell[j] - region.corner[j] == region.extent[j] - 1;
        if (j <= axis || (above && last)) {
            cell[j] = region.corner[j];
        } else if (above) {
            cell[j]++;
            above = false;
        }
    }
    return !above;
}

// Complete: the answer is never that nothing is known.
DEVICE Verdict prove(const FieldArgs& args, const Region& region, Value& value) {
    u64 volume = 1, seen = 0;
#pragma unroll
    for (u32 j = 0; j < DIM; j++) volume *= region.extent[j];
    u64 word = args.background;
    u64 row = first_at(args, linear(args.size, region.corner));
    while (row < args.rows) {
        Coords cell = cell_of(args, ((const u64*)args.indices)[row]);
        u64 place = 0;
        bool inside = true;
#pragma unroll
        for (u32 i = 0; i < DIM; i++) {
            const u32 j = DIM - 1 - i, offset = cell[j] - region.corner[j];
            inside = inside && offset < region.extent[j];
            place = place * region.extent[j] + offset;
        }
        if (inside) {
            const u64 here = worth(args, row);
            // Cells that were passed are not listed.
            if ((here != args.background && place != seen) || (seen > 0 && here != word)) return MIXED;
            word = here;
            seen++;
            row++;
        } else {
            if (!next_in(region, cell)) break;
            row = first_at(args, linear(args.size, cell));
        }
    }
    value = Value(word);
    return word == args.background || seen == volume ? UNIFORM : MIXED;
}
