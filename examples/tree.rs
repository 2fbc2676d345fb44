//! A volume of labels as a tree: looked into, cut out of, counted, and kept in a file.

use ndarray::ArrayD;
use orthant::ndarray;
use orthant::prelude::*;
use orthant::tree::{BottomUp, Representative, TreeFile, TreeInfo};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Two organs in 160 x 128 x 96 voxels of half a millimetre; x is the last index, as in NumPy.
    let volume = ArrayD::from_shape_fn(vec![96, 128, 160], |at| {
        let [z, y, x] = [0, 1, 2].map(|axis| at[axis] as f64);
        let inside = |cx: f64, r: f64| (x - cx).powi(2) + (y - 60.0).powi(2) + (z - 50.0).powi(2) < r * r;
        if inside(50.0, 30.0) { 7u8 } else { 3 * u8::from(inside(105.0, 24.0)) }
    });
    let plan = Plan::builder([160, 128, 96])
        .window([[0.0, 80.0], [0.0, 64.0], [0.0, 48.0]])
        .scheme(Scheme::uniform(4, 2, 4))
        .curve(CurveKind::Hilbert)
        .rule(RuleKind::Full)
        .build()?;
    let source = ArrayField::new(volume.view())?;
    let tree = BottomUp::new(&plan, &source)?.tree()?;
    println!("{} regions, {} bytes of {}", tree.len(), tree.bytes(), volume.len());

    // A voxel, a point in millimetres, a box, and whether another is all of one label.
    assert_eq!((tree.word([50, 60, 50]), tree.word_at([52.0, 30.0, 25.0])), (Some(7), Some(3)));
    let mut voxels = [0u8; 4 * 4 * 4];
    tree.read(&Region { corner: [78, 58, 48], extent: [4; 3] }, &mut voxels)?;
    println!("{} of 64 voxels at the border are of the larger organ", voxels.iter().filter(|&&v| v == 7).count());
    assert_eq!(tree.uniform(&Region { corner: [0; 3], extent: [20, 128, 96] })?, Some(0));

    for label in tree.labels(256)? {
        let name = tree.kind().text(label.word);
        println!("label {name}: {:5.1} %, {} regions, {} leaves", 100.0 * label.share, label.regions, label.leaves);
    }
    let coarse = tree.cut(0, Representative::Mode)?;
    println!("as {} regions of 40 x 32 x 24 voxels: {:?}", coarse.len(), coarse.word([50, 60, 50]));

    // A file that zarr-python opens, too; a look-up reads the shard where the voxel lies.
    let path = std::env::temp_dir().join(format!("organs-{}.tree.zarr.zip", std::process::id()));
    tree.save(&path, &TreeInfo::of(&plan).source("two organs"))?;
    println!("{} bytes in a file", path.metadata()?.len());
    let file = TreeFile::<3>::open(&path)?;
    assert_eq!(file.word([50, 60, 50])?, Some(7));
    assert_eq!(Tree::open(&path)?, tree);
    std::fs::remove_file(&path)?;
    Ok(())
}
