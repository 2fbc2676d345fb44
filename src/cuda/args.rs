//! The structs that kernels take. Kernels have them from here, as text.

use crate::abi::{DeviceStruct, device_struct};
use crate::cell::CellType;
use crate::curve::DeviceCurve;

device_struct! {
    /// What a run is.
    pub(super) struct RunArgs {
        /// The dense array; 0 if none is kept.
        array: u64,
        /// The word that is not 0 when the run is to end.
        stop: u64,
        /// n_j.
        size: [u32; 8],
        /// The lowest cell that the array covers, and its cells per axis: 0 and n_j unless it is `windowed`.
        corner: [u32; 8],
        extent: [u32; 8],
        windowed: u32,
        padding: u32,
    }
}

device_struct! {
    /// What a launch is: a level, its table, its curve, and the part of it that this launch does. Strategies add what they need
    /// besides. Addresses are 0 where there is nothing.
    pub(super) struct LaunchArgs {
        /// The number of this launch's first block.
        first: u64,
        /// The regions that the launch is about.
        regions: u64,
        /// The table of the level: a code for each family, that of its parent. 0 for roots.
        families: u64,
        /// The codes of roots that are a table; the first of those that are not.
        codes: u64,
        code: u64,
        /// The table of the next level.
        next: u64,
        /// Costs, spread over rows.
        tallies: u64,
        /// The curve: regions of a tree (or their logarithm), start states of trees.
        positions: u64,
        starts: u64,
        level: u32,
        leading: u32,
        single_tree: u32,
        last: u32,
        /// M_j.
        grid: [u32; 8],
        /// n_j / M_j where whole, else 0.
        side: [u32; 8],
        trees: [u32; 8],
        sides: [u32; 8],
    }
}

device_struct! {
    /// A native grid of a stack (kernels/strategies/exhaustive.cu). Its level is the lattice of the outer axes.
    pub(super) struct ExhaustiveArgs: LaunchArgs {
        /// Blocks of one native grid.
        native: u64,
        /// The native grid, in tiles; along axis 0 in blocks.
        tiles: [u32; 3],
        /// The first block along axes 1 and 2 of a grid that was cut (grid3d).
        native_from: [u32; 2],
        /// Tiles per block.
        pieces: u32,
    }
}

device_struct! {
    /// A level whose regions blocks explore, and what becomes of terminal ones: under ASK, and under dynamic parallelism, which
    /// keeps one of these for every level. One with `first`, `regions` and `pieces` is a part of a list (kernels/listed.cuh).
    pub(super) struct ExploreArgs: LaunchArgs {
        /// A word per region (ASK).
        values: u64,
        /// Counters of the level.
        counters: u64,
        /// Lists of regions to be filled and evaluated later.
        fills: u64,
        leaves: u64,
        /// Entries of all parts, and where they go as the items of a balancer, each of `units` units of 16 bytes if they are `wide`, else
        /// of a cell.
        listed: u64,
        items: u64,
        sizes: u64,
        /// Cells of the leaves, `brick_cells` for each.
        bricks: u64,
        brick_cells: u64,
        /// What happens to terminal regions, by SETTLE_.
        fill: u32,
        leaf: u32,
        /// Blocks per region.
        pieces: u32,
        /// Blocks per leaf (DP).
        leaf_pieces: u32,
        /// Of an item.
        units: u32,
        wide: u32,
    }
}

device_struct! {
    /// What kernels of ASK need besides.
    pub(super) struct AskArgs: ExploreArgs {
        /// A byte per region: 1 if it is mixed.
        mixed: u64,
        /// Mixed regions per piece of the level (stable insertion).
        ranks: u64,
        /// The parts of a list that one launch settles, if there are several.
        parts: u64,
        /// 1 if mixed regions go to the next table in a pass of their own.
        stable: u32,
        /// The box of blocks of a region (grid3d).
        blocks: [u32; 3],
    }
}

device_struct! {
    /// A level of a stream, or the tiles of its array (kernels/stream/).
    pub(super) struct StreamArgs: LaunchArgs {
        /// The fates of all levels' regions, and a word for each.
        fates: u64,
        values: u64,
        /// The level's first region among those of all levels.
        map_first: u64,
        /// The tallies of the level above; 0 for roots.
        above: u64,
        /// Tiles of the array.
        tiles: u64,
        /// The leaves of which bricks are kept, by their places in the lattice, and their cells.
        leaves: u64,
        bricks: u64,
        /// Labels on faces that regions share.
        faces: u64,
        /// The first cell of each axis' planes among those of all.
        planes: [u32; 8],
        /// The grid of the last level, and its sides where whole.
        finest: [u32; 8],
        finest_side: [u32; 8],
        /// Slices of an owner's planes, and cells of a slice.
        slices: u32,
        slice_cells: u32,
        /// Lanes that share a region.
        lanes: u32,
        /// 1 if all regions of the level are roots.
        whole: u32,
        /// The level of the roots.
        root_level: u32,
        padding: u32,
    }
}

device_struct! {
    /// A level of an array's pyramid (kernels/strategies/bottom_up.cu).
    pub(super) struct PyramidArgs: LaunchArgs {
        /// The level's first region among those of all levels.
        map_first: u64,
        /// Bytes that a thread takes.
        width: u64,
        /// The box of regions that roots lie in: the first, and how many there are.
        corner: [u32; 8],
        extent: [u32; 8],
    }
}

device_struct! {
    /// The terminal regions that a pyramid knows of, a level at a time (kernels/strategies/bottom_up.cu).
    pub(super) struct PyramidListArgs: LaunchArgs {
        /// The level's first region among those of all levels.
        map_first: u64,
        /// Terminal regions per piece of the curve, and leaves among them in the low half.
        ranks: u64,
        /// Codes, words and first cells of bricks of the lists; `listed` is the level's first entry.
        list_codes: u64,
        list_words: u64,
        list_places: u64,
        listed: u64,
        /// Cells of the leaves, `brick_cells` for each.
        bricks: u64,
        brick_cells: u64,
        /// The level of the roots.
        root_level: u32,
        /// Rounds of a block's threads that are a piece.
        rounds: u32,
        /// Threads that copy a brick, and the bytes that each takes at a time.
        lanes: u32,
        width: u32,
    }
}

device_struct! {
    /// A coarse sample (kernels/strategies/sample.cu).
    pub(super) struct SampleArgs {
        /// The number of this launch's first block.
        first: u64,
        points: u64,
        /// A word per point.
        labels: u64,
        /// Points per axis.
        grid: [u32; 8],
    }
}

device_struct! {
    /// What dynamic parallelism shares: addresses of the other structs and of its lists, and its budget.
    pub(super) struct DpArgs {
        run: u64,
        /// `ExploreArgs` per level.
        levels: u64,
        /// `FieldArgs`.
        args: u64,
        counters: u64,
        /// As of the run.
        stop: u64,
        /// Families that found no credit in this round, and their children's levels.
        overflow: u64,
        overflow_levels: u64,
        /// Those of the last round.
        taken: u64,
        taken_levels: u64,
        /// Terminal regions; 0 if they are not wanted.
        terminal_codes: u64,
        terminal_levels: u64,
        terminal_values: u64,
        terminal_bricks: u64,
        leaf_codes: u64,
        /// Blocks of a grid in flight that are not done; 0 for a ticket that is free. Twice the budget of them.
        tickets: u64,
        /// Entries of an overflow table, and of the list of terminal regions.
        capacity: u32,
        terminal_capacity: u32,
        /// Grids launched from the device that may be in flight.
        budget: u32,
        bricks_wanted: u32,
        /// Families that a level's table holds (tail).
        table_capacity: u32,
        /// Blocks of the largest grid.
        max_grid: u32,
        /// The level of the roots.
        root_level: u32,
        padding: u32,
    }
}

device_struct! {
    /// What a balancer works on (kernels/balance/). Addresses are 0 where there is nothing.
    pub(super) struct BalanceArgs {
        /// Units per item.
        sizes: u64,
        /// Units before each item, and of all.
        prefix: u64,
        /// The same in tiles.
        tiles: u64,
        /// The first item of each chunk.
        parts: u64,
        /// What units are for: four bytes per unit; or regions, with the `RunArgs`, the `FieldArgs` and the tallies of a run.
        cells: u64,
        regions: u64,
        run: u64,
        field: u64,
        tallies: u64,
        counters: u64,
        /// A word per tile of a scan.
        status: u64,
        /// Items that found no credit.
        overflow: u64,
        /// This struct in device memory.
        itself: u64,
        mistakes: u64,
        /// Units of all items.
        units: u64,
        /// Classes of items: units and items before each, units of each of its items.
        class_units: [u64; 16],
        class_items: [u64; 16],
        class_size: [u32; 16],
        items: u32,
        chunks: u32,
        classes: u32,
        padding: u32,
    }
}

device_struct! {
    /// Short tapes by place (kernels/fields/formula_forest.cuh).
    pub(super) struct ForestArgs {
        /// Where the tape of a region is, by its place in its level's lattice, one level after the other; 0 of a region without one.
        tables: u64,
        /// The tapes, and how many words there is room for.
        pool: u64,
        room: u64,
        /// What was taken and counted, by FOREST_.
        counters: u64,
        /// Rows of `row_bytes`, in which blocks shorten a tape that is long, and a word for each that is 1 while a block has it.
        rows: u64,
        busy: u64,
        row_bytes: u64,
        /// The first region of each level among all.
        first: [u64; 32],
        /// M_j of each level, and n_j / M_j where whole, else 0.
        grid: [[u32; 8]; 32],
        side: [[u32; 8]; 32],
        /// n_j.
        size: [u32; 8],
        /// The levels that have a table, from the first on.
        levels: u32,
        row_count: u32,
    }
}

device_struct! {
    /// Bricks that are put into another order (kernels/strategies/gather.cu), in units of `width` bytes.
    pub(super) struct GatherArgs {
        /// All bricks, each with room for `units`, and where those of a list go.
        from: u64,
        to: u64,
        /// Which bricks.
        numbers: u64,
        /// The unit where each begins, and the last ends; 0 where all have `units`.
        starts: u64,
        bricks: u64,
        units: u64,
        /// Threads that copy a brick, a power of two.
        lanes: u32,
        width: u32,
    }
}

device_struct! {
    /// Points on their way into cells (kernels/strategies/points.cu). Addresses are 0 where there is nothing.
    pub(super) struct PointsArgs {
        /// Coordinates of all points, f64, point after point.
        points: u64,
        number: u64,
        /// Indices of cells as they are, and as a launch leaves them.
        from: u64,
        to: u64,
        /// Numbers that are summed up, one for each digit of a tile or for each tile, and the sums of whole pieces of them.
        counts: u64,
        entries: u64,
        sums: u64,
        /// Points in no cell, and cells with points.
        found: u64,
        /// Of each cell with points the number of its first one, and its word.
        heads: u64,
        words: u64,
        /// Cells with points.
        rows: u64,
        /// Where indices begin, by buckets of 2^shift cells.
        starts: u64,
        buckets: u64,
        /// Cells of the domain: the index of a point in none.
        cells: u64,
        tiles: u64,
        /// The lowest bit of the digit that a launch sorts by.
        digit: u32,
        shift: u32,
        axes: u32,
        padding: u32,
        size: [u32; 8],
        /// Where the window begins and ends, and how long a cell is.
        low: [f64; 8],
        high: [f64; 8],
        pitch: [f64; 8],
    }
}

device_struct! {
    /// What a map says of some regions, as a list of records: the place of a region and its value, each `width` bytes
    /// (kernels/strategies/gather.cu).
    pub(super) struct FatesArgs {
        /// The fates and the values of the first of these regions.
        fates: u64,
        values: u64,
        records: u64,
        /// How many uniform ones were listed, and how many others.
        counters: u64,
        /// The place of the first region, and how many there are.
        first: u64,
        regions: u64,
        /// Records that there is room for.
        room: u64,
        /// 1 if others than uniform ones are asked for.
        others: u32,
        width: u32,
    }
}

/// Bytes of a label's word.
pub(super) fn word_bytes(label: CellType) -> u64 {
    if label.bytes() == 8 { 8 } else { 4 }
}

/// Bytes of a region as an item: its box, its value, and whether it is wide.
pub(super) fn region_item_bytes(dimensions: usize, label: CellType) -> u64 {
    8 * dimensions as u64 + 2 * word_bytes(label)
}

/// What a kernel is told of a launch, which may be one of a stack.
pub(super) trait Launch: DeviceStruct + Copy {
    /// The number of its first block.
    fn first(&mut self) -> &mut u64;
}

macro_rules! launches {
    ($($Args:ident.$($base:ident).+),+) => { $(
        impl Launch for $Args {
            fn first(&mut self) -> &mut u64 { &mut self.$($base).+ }
        }
    )+ };
}
launches!(
    ExhaustiveArgs.base.first,
    AskArgs.base.base.first,
    StreamArgs.base.first,
    PyramidArgs.base.first,
    PyramidListArgs.base.first,
    SampleArgs.first
);

impl LaunchArgs {
    /// Fills in the curve of a level; `starts` is the address of the trees' start states.
    pub(super) fn set_curve(&mut self, curve: &DeviceCurve<'_>, starts: u64) {
        (self.positions, self.leading, self.single_tree) =
            (curve.positions, curve.leading, u32::from(curve.single_tree));
        (self.trees, self.sides, self.starts) = (curve.trees, curve.sides, starts);
    }
}
