//! An array as files that other programs open: `export [INPUT.npy OUTPUT...]`, with outputs that end in `.npy`, `.vti`, `.htg`,
//! `.zarr`, `.zarr.zip`, `.tree.zarr` or `.tree.zarr.zip`. Without arguments, a volume of its own in a temporary folder.

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use ndarray::ArrayD;
use orthant::prelude::*;
use orthant::tree::{BottomUp, Source, TreeInfo};
use orthant_formats::export::{self, Boxes};
use orthant_formats::input::ArrayFile;

use orthant::{ndarray, with_dimensions};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if let [input, outputs @ ..] = &arguments[..] {
        let file = ArrayFile::npy(input)?;
        let axes = file.layout().size.len();
        return with_dimensions!(axes, K => write(&file.source::<K>()?, outputs), else unreachable!("eight axes at most"));
    }
    // A ball in 50 x 40 x 30 voxels; x is the last index, as in NumPy.
    let volume = ArrayD::from_shape_fn(vec![30, 40, 50], |at| {
        let far = |axis: usize, centre: f64| (at[axis] as f64 - centre).powi(2);
        u8::from(far(0, 14.5) + far(1, 19.5) + far(2, 24.5) < 12.0 * 12.0)
    });
    let folder = std::env::temp_dir().join(format!("orthant-export-{}", std::process::id()));
    let outputs = ["ball.npy", "ball.vti", "ball.htg", "ball.zarr"].map(|name| folder.join(name));
    std::fs::create_dir_all(&folder)?;
    write(&ArrayField::<3, u8>::new(volume.view())?, &outputs)?;
    Ok(std::fs::remove_dir_all(&folder)?)
}

/// Makes a tree of an array whose cells are of length 0.5, 1, 1.5, .. along the axes, from 10, 20, 30, .. on.
fn write<const K: usize>(source: &dyn Source<K>, outputs: &[PathBuf]) -> Result<(), Box<dyn Error>> {
    let size = source.size();
    let begins = |axis: usize| 10.0 * (axis + 1) as f64;
    let length = |axis: usize| 0.5 * (axis + 1) as f64 * f64::from(size[axis]);
    let window = std::array::from_fn(|axis| [begins(axis), begins(axis) + length(axis)]);
    let domain = Domain::new(size, window, Sample::Centre)?;
    let plan = Plan::new(domain, Scheme::uniform(1, 2, 4), CurveKind::Morton, RuleKind::Full)?;
    let tree = BottomUp::new(&plan, source)?.tree()?;
    println!("{} regions of {} cells", tree.len(), domain.cells());
    for output in outputs {
        match output.to_string_lossy().trim_end_matches(".zip").ends_with(".tree.zarr") {
            true => tree.save(output, &TreeInfo::of(&plan))?,
            false => export_to(&tree, output)?,
        }
        println!("{}", output.display());
    }
    Ok(())
}

fn export_to<const K: usize>(boxes: &dyn Boxes<K>, output: &Path) -> Result<(), Box<dyn Error>> {
    let name = output.to_string_lossy();
    if name.ends_with(".zarr") {
        return Ok(export::zarr::write(boxes, output)?);
    }
    let mut file = BufWriter::new(File::create(output)?);
    if let Some(name) = name.strip_suffix(".zip") {
        let folder = PathBuf::from(format!("{name}-on-its-way"));
        export::zarr::write(boxes, &folder)?;
        file = export::zarr::pack(&folder, file)?;
        std::fs::remove_dir_all(&folder)?;
    } else if name.ends_with(".npy") {
        export::npy::write(boxes, &mut file)?;
    } else if name.ends_with(".vti") {
        export::vti::write(boxes, &mut file)?;
    } else if name.ends_with(".htg") {
        export::htg::write(boxes, &mut file)?;
    } else {
        return Err(format!("{name}: outputs end in .npy, .vti, .htg, .zarr or .zarr.zip").into());
    }
    Ok(file.flush()?)
}
