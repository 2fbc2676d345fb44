//! One kernel source for one run: what a specialisation fixes, generated from Rust.
//!
//! Kernels are compiled for a dimension, a curve, a field, types and a block shape; everything else is an argument.
//! `generated.cuh` carries these choices, every constant and every struct that both sides know, so neither can drift.

use std::fmt::Write;

use crate::abi::DeviceStruct;
use crate::backend::{Cycles, ExploreOrder, How, Stack};
use crate::cell::CellType;
use crate::cuda::args::{ForestArgs, LaunchArgs, RunArgs, region_item_bytes};
use crate::cuda::constants::CONSTANTS;
use crate::cuda::outline::Outline;
use crate::curve::DeviceCurve;
use crate::field::{Arithmetic, DeviceTwin, Labels, Precision, USER_SOURCE};
use crate::result::Storage;

/// The header of tables that hold coordinates instead of codes.
pub(super) const COORDINATES: &str = "curves/coordinates.cuh";

/// The kernels' sources: name and text.
macro_rules! sources {
    ($($name:literal),+ $(,)?) => { &[$(($name, include_str!(concat!("../../kernels/", $name)))),+] };
}
pub(super) const SOURCES: &[(&str, &str)] = sources![
    "ground.cuh",
    "prelude.cuh",
    "team.cuh",
    "value.cuh",
    "region.cuh",
    "walk.cuh",
    "together.cuh",
    "explore.cuh",
    "quad.cuh",
    "settle.cuh",
    "emit.cuh",
    "listed.cuh",
    "olt.cuh",
    "points.cuh",
    "orbit.cuh",
    "unchecked.cuh",
    "certificate.cuh",
    "rules/border.cuh",
    "rules/closed.cuh",
    "rules/full.cuh",
    "rules/certified.cuh",
    "curves/canonical.cuh",
    "curves/coordinates.cuh",
    "curves/forest.cuh",
    "curves/morton.cuh",
    "curves/morton_uneven.cuh",
    "curves/morton_radix.cuh",
    "curves/hilbert.cuh",
    "fields/square.cuh",
    "fields/mandelbrot.cuh",
    "fields/mandelbulb.cuh",
    "fields/julibrot.cuh",
    "fields/mxm.cuh",
    "fields/digits.cuh",
    "fields/functions.cuh",
    "fields/formula_bounds.cuh",
    "fields/formula.cuh",
    "fields/formula_forest.cuh",
    "fields/user.cuh",
    "fields/array.cuh",
    "fields/cloud.cuh",
    "fields/mesh.cuh",
    "fields/mesh_distance.cuh",
    "fields/mesh_rows.cuh",
    "dp/credit.cuh",
    "dp/examine.cuh",
    "dp/region.cuh",
    "dp/block.cuh",
    "dp/tail.cuh",
    "stream/tile.cuh",
    "stream/list.cuh",
    "stream/map.cuh",
    "stream/found.cuh",
    "stream/cells.cuh",
    "stream/proof.cuh",
    "stream/faces.cuh",
    "stream/tiler.cuh",
    "stream/tiles.cuh",
    "balance/phases.cuh",
    "balance/regions.cuh",
    "balance/settle.cuh",
    "balance/items.cuh",
    "balance/scan.cuh",
    "balance/check.cuh",
    "balance/chunks.cuh",
    "balance/interpolation.cuh",
    "balance/update.cuh",
    "balance/threads.cuh",
    "balance/virtual_warps.cuh",
    "balance/dynamic_warps.cuh",
    "balance/cta_warp_scan.cuh",
    "balance/direct_search.cuh",
    "balance/warp_search.cuh",
    "balance/block_search.cuh",
    "balance/two_phase.cuh",
    "balance/multi_phase.cuh",
    "balance/merge_path.cuh",
    "balance/tile_search.cuh",
    "balance/level_arithmetic.cuh",
    "balance/balance.cu",
    "strategies/exhaustive.cu",
    "strategies/ask.cu",
    "strategies/dp.cu",
    "strategies/stream.cu",
    "strategies/stream_faces.cu",
    "strategies/sample.cu",
    "strategies/settle.cu",
    "strategies/gather.cu",
    "strategies/points.cu",
    "strategies/bottom_up.cu",
];

/// A source and what it is compiled for.
#[derive(Debug, Clone)]
pub(crate) struct Specialisation {
    /// The name of the entry source.
    pub(super) entry: &'static str,
    /// Threads per block.
    pub(super) block: [u32; 3],
    generated: String,
    user_source: Option<String>,
    dynamic: bool,
}

impl Specialisation {
    /// `entry` for a run; `curve` is the one that the entry decodes, with codes of `bits` bits.
    pub(super) fn new(
        entry: &'static str,
        outline: &Outline<'_>,
        twin: &DeviceTwin,
        how: &How,
        curve: &DeviceCurve<'_>,
        bits: u32,
    ) -> Self {
        let block = block_shape(outline.dimensions, how);
        let mut text = String::from("// What this specialisation fixes, generated from Rust.\n#pragma once\n\n");
        let mut define = |name: &str, value: &dyn std::fmt::Display| {
            writeln!(text, "#define {name} {value}").expect("writing to a string");
        };
        CONSTANTS.iter().for_each(|(name, value)| define(name, value));
        // Rounded up, so that plans of about as many levels share their kernels.
        define("MOST_LEVELS", &outline.levels.len().next_multiple_of(8));
        define("DIM", &outline.dimensions);
        for (axis, threads) in ["BLOCK_X", "BLOCK_Y", "BLOCK_Z"].into_iter().zip(block) {
            define(axis, &threads);
        }
        define("BLOCK", &block.iter().product::<u32>());
        define("LISTEN", &listen(outline.labels, outline.evaluates));
        define("FUSED", &(twin.arithmetic == Arithmetic::Fused));
        let labels = outline.labels;
        let storage = Storage { label: labels.kind(), cell: labels.cell(how.kept.cell) };
        define("ORTHANT_TWIN_API", &DeviceTwin::API);
        define("LABELS_COUNT", &labels.work());
        define("LABEL_IS_FLOAT", &storage.label.is_float());
        define("COUNTS_AS_FLOATS", &storage.converts());
        define("RULE_HEADER", &format_args!("\"{}\"", outline.rule.twin()));
        define("ASKS_PROOFS", &how.tuning.asks_proofs(outline.rule));
        define("CERTIFIES", &outline.rule.certifies());
        define("SEEKS_CYCLES", &(entry == "strategies/exhaustive.cu" && how.on_cuda().cycles == Cycles::Yes));
        define("NATIVE_GRIDS", &(how.on_cuda().stack == Stack::Grid3d));
        define("SCATTERED", &(how.tuning.explore_order == ExploreOrder::Scattered));
        define("CHILDREN", &format_args!("{}u", outline.children.min(u32::MAX.into())));
        define("REGION_ITEM_BYTES", &region_item_bytes(outline.dimensions, storage.label));
        define("BINARY_TREES", &curve.binary);
        define("CURVE_HEADER", &format_args!("\"{}\"", curve.header));
        define("FIELD_HEADER", &format_args!("\"{}\"", twin.header));
        define("USER_SOURCE", &format_args!("\"{USER_SOURCE}\""));
        twin.defines.iter().for_each(|(name, value)| define(name, value));
        let real = match twin.precision {
            Precision::F32 => "float",
            Precision::F64 => "double",
        };
        let wide = |wide: bool| if wide { "u64" } else { "u32" };
        // Visits count the cells of the largest region, or of its closure.
        let extent = outline.levels[0].least_extent();
        let cells = outline.own(&extent).iter().fold(1u128, |cells, &s| cells * (u128::from(s) + 2));
        write!(
            text,
            "#define CODE {}\n\nusing Real = {real};\nusing Label = {};\nusing Value = {};\nusing CellValue = {};\nusing Index = {};\n\n",
            if curve.header == COORDINATES { "Coords" } else { wide(bits > 32) },
            in_cuda(storage.label),
            wide(storage.label.bytes() == 8),
            ["u8", "u16", "u32", "u64"][storage.cell.bytes().ilog2() as usize],
            wide(cells >= 1 << 31),
        )
        .expect("writing to a string");
        let splits: String =
            outline.own(&outline.split).iter().enumerate().map(|(j, r)| format!("j == {j} ? {r}u : ")).collect();
        writeln!(text, "DEVICE constexpr u32 split(u32 j) {{ return {splits}1u; }}\n").expect("writing to a string");
        text += &RunArgs::declaration("RunArgs");
        text += &LaunchArgs::declaration("LaunchArgs");
        if twin.forest.is_some() {
            text += &ForestArgs::declaration("ForestArgs");
        }
        text += &twin.declaration;
        let user_source = twin.user_source.as_ref().map(|source| source.to_string());
        Self { entry, block, generated: text, user_source, dynamic: entry == "strategies/dp.cu" }
    }

    /// `entry` with what was generated for it; `dynamic` if its kernels launch kernels.
    pub(super) fn written(entry: &'static str, block: u32, generated: String, dynamic: bool) -> Self {
        Self { entry, block: [block, 1, 1], generated, user_source: None, dynamic }
    }

    /// `entry` for the levels of a plan; `header` is that of its tables, if it is not the curve's.
    pub(super) fn of_levels(
        entry: &'static str,
        outline: &Outline<'_>,
        twin: &DeviceTwin,
        how: &How,
        header: Option<&'static str>,
    ) -> Self {
        let mut curve = outline.deepest();
        curve.header = header.unwrap_or(curve.header);
        Self::new(entry, outline, twin, how, &curve, outline.bits)
    }

    /// With a struct that its kernels take.
    pub(super) fn taking<T: DeviceStruct>(mut self, name: &str) -> Self {
        self.generated += &T::declaration(name);
        self
    }

    /// With more that is fixed; `dynamic` if its kernels launch kernels.
    pub(super) fn and(mut self, defines: &[(&'static str, String)], declaration: &str, dynamic: bool) -> Self {
        for (name, value) in defines {
            writeln!(self.generated, "#define {name} {value}").expect("writing to a string");
        }
        self.generated += declaration;
        Self { dynamic, ..self }
    }

    /// True if its kernels launch kernels, so that it has to be linked with the device runtime.
    pub(super) fn is_dynamic(&self) -> bool {
        self.dynamic
    }

    /// The entry's text.
    pub(super) fn source(&self) -> &'static str {
        SOURCES.iter().find(|(name, _)| *name == self.entry).expect("every entry is listed").1
    }

    /// The headers it may include.
    pub(super) fn headers(&self) -> Vec<(&str, &str)> {
        let mut headers: Vec<(&str, &str)> =
            SOURCES.iter().copied().filter(|(name, _)| name.ends_with(".cuh")).collect();
        headers.push(("generated.cuh", &self.generated));
        headers.extend(self.user_source.as_deref().map(|source| (USER_SOURCE, source)));
        headers
    }

    /// Threads per block.
    pub(super) fn threads(&self) -> u32 {
        self.block.iter().product()
    }
}

/// Iterations of a thread between two looks at whether the run is to end: some hundredths of a second.
const ITERATIONS: u64 = 1 << 18;

/// Labels of a thread between two such looks: a power of two, and the same for all but the costliest. The host `evaluates` them, or not.
fn listen(labels: Labels, evaluates: bool) -> u64 {
    // What a source for a GPU alone costs, only its largest label may tell.
    let iterations = labels.most().filter(|_| labels.work() || !evaluates).unwrap_or(0);
    1 << (ITERATIONS / iterations.max(1)).clamp(1, 64).ilog2()
}

/// A cell's type as kernels call it.
fn in_cuda(kind: CellType) -> &'static str {
    match kind {
        CellType::F32 => "float",
        CellType::F64 => "double",
        kind => kind.name(),
    }
}

/// The block's shape over the native axes: what was asked for, folded where there are fewer axes.
fn block_shape(dimensions: usize, how: &How) -> [u32; 3] {
    let [x, y, z] = how.on_cuda().block;
    match dimensions {
        1 => [x * y * z, 1, 1],
        2 => [x, y * z, 1],
        _ => [x, y, z],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costly_labels_are_looked_between_more_often() {
        let domain = crate::geometry::Domain::new([8; 2], [[-1.0, 1.0]; 2], crate::geometry::Sample::Corner).unwrap();
        let found = [1, 512, 4095, 4096, 65535, 1 << 18, (1 << 31) - 1].map(|dwell| {
            let options = crate::field::FieldOptions { dwell, ..Default::default() };
            listen(crate::field::mandelbrot::open(&domain, &options).unwrap().labels(), true)
        });
        assert_eq!(found, [64, 64, 64, 64, 4, 1, 1]);
    }

    #[test]
    fn every_kernel_source_is_listed() {
        let root = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/kernels"));
        let mut folders = vec![root.to_path_buf()];
        let mut found = 0;
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|e| e == "cu" || e == "cuh") {
                    let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                    assert!(SOURCES.iter().any(|(listed, _)| *listed == name), "{name} is not listed");
                    found += 1;
                }
            }
        }
        assert_eq!(found, SOURCES.len());
    }
}
