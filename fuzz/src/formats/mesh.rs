//! Meshes: read as every format, and laid over a few cells.

use orthant::WordsMut;
use orthant::field::{DataValue, FieldData, FieldOptions, mesh};
use orthant::geometry::{Domain, Region, Sample};
use orthant::mesh::Mesh;
use orthant::rule::Verdict;
use orthant_formats::input::MeshFormat;

/// The most triangles that are laid over cells.
const MOST: usize = 1 << 10;

/// Cells of each axis.
const SIDE: u32 = 6;

/// Reads a mesh.
pub fn read(bytes: &[u8]) {
    for &format in MeshFormat::ALL {
        match format.parse(bytes) {
            Err(error) => assert!(!error.to_string().is_empty()),
            Ok(mesh) if mesh.triangles().len() <= MOST => DataValue::ALL.iter().for_each(|&value| lay(&mesh, value)),
            Ok(_) => {}
        }
    }
}

/// What is proven of regions is what their cells say.
fn lay(mesh: &Mesh, value: DataValue) {
    let data = FieldData::from(mesh.clone());
    let window = data.window([SIDE; 3]).expect("a mesh has three dimensions");
    // A mesh that is too large for numbers, or so small that cells have no size.
    let Ok(domain) = Domain::new([SIDE; 3], window, Sample::Centre) else { return };
    let field = match mesh::open(&domain, &FieldOptions::default().data(data).value(value)) {
        Err(error) => return assert!(!error.to_string().is_empty()),
        Ok(field) => field,
    };
    let (cells, proofs) = (field.host().expect("it runs here"), field.prover().expect("it proves"));
    for side in [SIDE, 3, 1] {
        let steps = || (0..SIDE).step_by(side as usize);
        for corner in steps().flat_map(|z| steps().flat_map(move |y| steps().map(move |x| [x, y, z]))) {
            let region = Region { corner, extent: [side; 3] };
            let places: Vec<_> = region.cells().collect();
            let mut labels = vec![7; places.len()];
            cells.evaluate(&places, WordsMut::Narrow(&mut labels));
            let expected = match labels.iter().all(|&label| label == labels[0]) {
                true => Verdict::Uniform(labels[0].into()),
                false => Verdict::Mixed,
            };
            let found = proofs.prove(&region, Default::default());
            // Of distances nothing is said where a triangle is near.
            assert!(
                found == expected || (value == DataValue::Distance && found == Verdict::Unknown),
                "{found:?} {expected:?}"
            );
        }
    }
}
