//! Points become a tree: cells that hold some, and how many. Points are read from a file by `input::PointsFile`.

use orthant::points::{Points, PointsValue};
use orthant::tree::FromPoints;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sphere = Points::sphere(1.0, 200_000);
    println!("     n     cells    regions  with points  bytes");
    for n in [128u32, 512, 2048] {
        // The window is that of the points, and cells are cubes.
        let mut chosen = orthant::Computed::default();
        chosen.set("size", &n.to_string())?;
        let plan = chosen.points_plan::<3>(sphere.extent())?;
        let tree = FromPoints::new(&plan, &sphere, PointsValue::Count)?.tree()?;
        let leaves = tree.regions().filter(|region| region.uniform().is_none()).count();
        println!(
            "{n:>6} {:>9.1e} {:>10} {leaves:>12} {:>6.1e}",
            plan.domain().cells() as f64,
            tree.len(),
            tree.bytes() as f64
        );
        // The middle of the sphere is empty.
        assert_eq!(tree.word_at([0.0; 3]), Some(0));
    }
    Ok(())
}
