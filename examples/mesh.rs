//! A mesh as a tree: a torus of triangles, the cells inside of it, its volume, the cells at its surface, and the distance from it.

use orthant::field::{DataValue, mesh};
use orthant::mesh::Mesh;
use orthant::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A file would be orthant_formats::input::MeshFormat::of(path).unwrap().read(path)?.
    let torus = Mesh::torus(2.0, 0.5, [200, 100]);
    println!("{} triangles, volume {:.4}", torus.triangles().len(), torus.volume());
    for n in [32, 64, 128, 256] {
        let request = Request::new(FieldKind::Mesh).size(vec![n; 3]).data(torus.clone());
        let plan = request.plan::<3>()?;
        let of_cell: f64 = plan.domain().pitch().iter().product();
        for value in [DataValue::Inside, DataValue::Surface] {
            let field = mesh::open(plan.domain(), &request.clone().value(Some(value)).options()?)?;
            let tree = Tree::of(Run::new(&plan, &*field).how(How::default().keep(Keep::Regions)).start()?)?;
            let cells: f64 =
                tree.labels(2)?.iter().filter(|label| label.word == 1).map(|label| label.cells as f64).sum();
            println!("{n:3}^3 {value:7}: {:6} regions, volume {:.4}", tree.len(), cells * of_cell);
        }
    }
    // The distance of each cell's centre from the surface, negative inside. Beyond 2 edges of cells it is that of 2.
    let request = Request::new(FieldKind::Mesh).size(vec![64; 3]).data(torus.clone());
    let request = request.value(Some(DataValue::Distance)).band(Some(2));
    let plan = request.plan::<3>()?;
    let field = mesh::open(plan.domain(), &request.options()?)?;
    let tree = Tree::of(Run::new(&plan, &*field).how(How::default().keep(Keep::Regions)).start()?)?;
    for place in [[2.0, 0.0, 0.0], [2.45, 0.0, 0.0], [2.55, 0.0, 0.0], [0.0, 0.0, 0.0]] {
        let distance = tree.word_at(place).map(|word| f32::from_bits(word as u32));
        println!("{place:?}: {:+.3}", distance.ok_or("outside of the window")?);
    }
    // A surface without one of its triangles has no inside, and the error says where it is open.
    let open = Mesh::new(torus.vertices().to_vec(), torus.triangles()[1..].to_vec())?;
    println!("{}", open.closed().unwrap_err());
    Ok(())
}
