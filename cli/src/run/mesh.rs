//! What is said of a mesh.

use orthant::Request;
use orthant::field::FieldData;

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
