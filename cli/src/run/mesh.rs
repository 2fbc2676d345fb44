//! Meshes: what is said of one, and a tree of one.

use orthant::field::{DataValue, FieldData, FieldKind};
use orthant::{BackendKind, Keep, Request};

use super::array::ArrayOptions;
use super::field;
use crate::error::Error;
use crate::options::{
    ComputedOptions, CudaOptions, FormulaOptions, Given, HowOptions, KeptOptions, RunOptions, TuningOptions, Workload,
};
use crate::voice::Voice;

/// Says what is odd about a mesh, though it can be used.
pub(super) fn remark(request: &Request, voice: Voice) {
    let Some(FieldData::Mesh(mesh)) = &request.data else { return };
    let name = mesh.name().unwrap_or("the mesh");
    match mesh.dropped() {
        0 => {}
        1 => voice.say(format_args!("orthant: {name}: 1 face with two equal corners is left out")),
        dropped => voice.say(format_args!("orthant: {name}: {dropped} faces with two equal corners are left out")),
    }
    if voice.verbose {
        let (triangles, vertices, edges) = (mesh.triangles().len(), mesh.vertices().len(), mesh.edges());
        let [x, y, z] = mesh.bounds().map(|[low, high]| format!("{low}:{high}"));
        voice.say(format_args!("orthant: {name}: {triangles} triangles, {vertices} vertices, bounds {x},{y},{z}"));
        if edges.turned > 0 {
            let turned = edges.turned;
            voice.say(format_args!("orthant: {name}: {turned} edges have turned triangles, which changes no cell"));
        }
    }
}

/// A tree of a mesh, with the options that a tree of an array has.
pub(crate) fn mesh_tree(args: ArrayOptions, value: Option<DataValue>, voice: Voice) -> Result<(), Error> {
    let ArrayOptions { input, divided, keep, threads, mem_limit, output } = args;
    let computed = value.map_or(divided.clone(), |value| divided.with("value", value.name()));
    let tuning = threads.map_or(Given::default(), |threads| Given::default().with("threads", &threads.to_string()));
    // A GPU does not have meshes.
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
    let (workload, computed) = (Workload::Field(FieldKind::Mesh), ComputedOptions(computed));
    field::run(RunOptions { workload, computed, formula, auto_scheme: false, output, how, input }, voice)
}
