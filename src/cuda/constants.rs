//! Constants that kernels and host code share. Kernels have them from here, as text.

/// Constants that both sides know. A tally is a row of columns; rows are added up.
macro_rules! constants {
    ($($(#[$doc:meta])* $NAME:ident = $value:expr),+ $(,)?) => {
        $($(#[$doc])* pub(super) const $NAME: u32 = $value;)+
        pub(super) const CONSTANTS: &[(&str, u32)] = &[$((stringify!($NAME), $NAME)),+];
    };
}
constants! {
    /// Rows over which blocks spread what they count.
    TALLY_ROWS = 128,
    TALLY_FILLED = 0,
    TALLY_FILLED_CELLS = 1,
    TALLY_LEAVES = 2,
    TALLY_LEAF_CELLS = 3,
    TALLY_EXPLORED = 4,
    TALLY_EVALUATED = 5,
    TALLY_LABELS = 6,
    TALLY_SUBDIVIDED = 7,
    /// Grids launched from the device to explore a level, to fill, and to evaluate leaves.
    TALLY_GRIDS = 8,
    TALLY_FILL_GRIDS = 9,
    TALLY_LEAF_GRIDS = 10,
    /// Uniform regions that were proven.
    TALLY_PROVEN = 11,
    /// Numbers that are taken of a level, each kind in a row of its own: slices of planes, tiles (streams).
    TALLY_TICKET = 12,
    TICKET_SLICE = 0,
    TICKET_TILE = 1,
    /// Cells of leaves whose labels were known, since they lie on faces (streams).
    TALLY_KNOWN = 13,
    /// Entries of a level's list, in the first row (streams).
    TALLY_LISTED = 14,
    /// A row is a cache line.
    TALLY_COLUMNS = 16,
    /// Counters of dynamic parallelism: grids in flight, those of them that have not begun, and the most there were of
    /// each; launches that failed and that were refused for want of credit; families that overflowed; launches whose work
    /// was done in place; terminal regions and leaves.
    DP_IN_FLIGHT = 0,
    DP_MOST_IN_FLIGHT = 1,
    DP_PENDING = 2,
    DP_MOST_PENDING = 3,
    DP_FAILED = 4,
    DP_REFUSED = 5,
    DP_OVERFLOW = 6,
    DP_IN_PLACE = 7,
    DP_TERMINALS = 8,
    DP_LEAVES = 9,
    DP_COUNTERS = 16,
    /// Where the regions of a grid come from, beside the levels that grids are launched for from the device.
    FROM_ROOTS = 254,
    FROM_OVERFLOW = 255,
    /// Counters that hand out slots.
    COUNTER_MIXED = 0,
    COUNTER_LEAVES = 1,
    COUNTER_FILLS = 2,
    /// Blocks of a level that are done (tail launches).
    COUNTER_DONE = 3,
    COUNTERS = 4,
    /// What happens to a terminal region: nothing, at once by the block that explored it, later from a list, or at once by a grid
    /// that this block launches.
    SETTLE_NONE = 0,
    SETTLE_IN_PLACE = 1,
    SETTLE_LISTED = 2,
    SETTLE_LAUNCHED = 3,
    /// What a map says of a region: that nobody asked for it, that it is mixed, that it is uniform.
    MAP_ABSENT = 0,
    MAP_MIXED = 1,
    MAP_UNIFORM = 2,
    /// Counters of a balancer: tiles of a scan that are taken; blocks launched from the device that are not done; items that
    /// found no credit.
    BALANCE_TICKET = 0,
    BALANCE_IN_FLIGHT = 1,
    BALANCE_OVERFLOW = 2,
    /// Cells behind the last unit that nobody may touch.
    BALANCE_GUARD = 4096,
    /// Of a forest: words of the pool that are taken; short tapes, and their words; regions that found no room for one.
    FOREST_TAKEN = 0,
    FOREST_TAPES = 1,
    FOREST_WORDS = 2,
    FOREST_LEFT_OUT = 3,
    FOREST_COUNTERS = 4,
    /// Beside the level of a terminal region that is a leaf.
    LEAF = 1 << 31,
}
