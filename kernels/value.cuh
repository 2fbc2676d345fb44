// What a cell is worth, as a word. Twin of src/cell/, src/rule/exact.rs and src/result/storage.rs.
//
// A field's header defines `label(args, cell)`, of the type that is `Label` here. Engines move words: `Value`, the bits of a
// label with zeros above, and `CellValue`, those of a stored cell.
#pragma once

DEVICE u32 word_of(u8 label) { return label; }
DEVICE u32 word_of(u16 label) { return label; }
DEVICE u32 word_of(u32 label) { return label; }
DEVICE u64 word_of(u64 label) { return label; }
DEVICE u32 word_of(i8 label) { return u8(label); }
DEVICE u32 word_of(i16 label) { return u16(label); }
DEVICE u32 word_of(i32 label) { return u32(label); }
DEVICE u64 word_of(i64 label) { return u64(label); }
DEVICE u32 word_of(float label) { return __float_as_uint(label); }
DEVICE u64 word_of(double label) { return u64(__double_as_longlong(label)); }

DEVICE Value value_at(const FieldArgs& args, const Coords& cell) { return word_of(Label(label(args, cell))); }

// Words that count as the same value have the same key: those that are no number have that of the usual one.
DEVICE Value key(Value value) {
    if (!LABEL_IS_FLOAT) return value;
    constexpr u32 SHIFT = sizeof(Value) == 8 ? 32 : 0;
    constexpr Value infinity = Value(sizeof(Value) == 8 ? 0x7ff00000u : 0x7f800000u) << SHIFT;
    constexpr Value nan = Value(sizeof(Value) == 8 ? 0x7ff80000u : 0x7fc00000u) << SHIFT;
    constexpr Value sign = Value(0x80000000u) << SHIFT;
    return (value & ~sign) > infinity ? nan : value;
}

// The bits of the cell that a label becomes: its low ones, or those of a count as a number with a point.
DEVICE CellValue stored(Value value) {
    if (!COUNTS_AS_FLOATS) return CellValue(value);
    return sizeof(CellValue) == 4 ? CellValue(word_of(float(value))) : CellValue(word_of(double(value)));
}

// What exploring a region decided.
struct Outcome {
    Value value; // its key, if it is uniform
    bool mixed;
    bool proven = false; // uniform, and no cell was looked at
};
