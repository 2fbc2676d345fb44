//! A tree of a mesh.

use orthant::field::{DataValue, FieldKind};
use orthant::{BackendKind, Keep};

use super::array::ArrayOptions;
use super::field;
use crate::error::Error;
use crate::options::{
    ComputedOptions, CudaOptions, FormulaOptions, Given, HowOptions, KeptOptions, RunOptions, TuningOptions,
};
use crate::voice::Voice;

/// A tree of a mesh, with the options that a tree of an array has.
pub(crate) fn mesh_tree(
    args: ArrayOptions,
    value: Option<DataValue>,
    band: Option<u64>,
    voice: Voice,
) -> Result<(), Error> {
    let ArrayOptions { input, divided, keep, threads, mem_limit, output } = args;
    let computed = value.map_or(divided.clone(), |value| divided.with("value", value.name()));
    let computed = band.map_or(computed.clone(), |band| computed.with("band", &band.to_string()));
    let tuning = threads.map_or(Given::default(), |threads| Given::default().with("threads", &threads.to_string()));
    // The rows are made here, which takes most of the time, and so is the tree.
    let backend = Some(BackendKind::Cpu);
    let kept = if keep == Keep::Regions { Given::default().with("keep", keep.name()) } else { Given::default() };
    let how = HowOptions {
        source: None,
        kept: KeptOptions(kept),
        backend,
        tuning: TuningOptions(tuning),
        repeat: None,
        mem_limit,
        device: None,
        cuda: CudaOptions::default(),
    };
    let formula = FormulaOptions { text: None, set: Vec::new() };
    let (workload, computed) = (FieldKind::Mesh, ComputedOptions(computed));
    field::run(RunOptions { workload, computed, formula, auto_scheme: false, output, how, input }, voice)
}
