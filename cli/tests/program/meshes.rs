//! Meshes as their users meet them.

use serde_json::Value;

use crate::binary::{folder, orthant, text};

/// A box whose faces go through samples of cells, so that every cell is known.
const BOX: &str = "OFF\n8 6 12\n0 0 0\n4 0 0\n0 2 0\n4 2 0\n0 0 1\n4 0 1\n0 2 1\n4 2 1\n\
    4 0 2 3 1\n4 4 5 7 6\n4 0 1 5 4\n4 2 6 7 3\n4 0 4 6 2\n4 1 3 7 5\n";

#[test]
fn a_mesh_becomes_a_tree_a_report_and_a_picture() {
    let folder = folder("meshes");
    std::fs::write(folder.join("part.off"), BOX).unwrap();
    let ran = |arguments: &str| {
        let output = orthant(&folder, arguments);
        assert!(output.status.success(), "orthant {arguments}: {}", text(&output.stderr));
        text(&output.stdout)
    };
    ran("tree build part.off -n 64 --domain 0:8,0:8,0:8 -o a.tree.zarr.zip --report a.json");
    ran("run mesh --input part.off -n 64 --domain 0:8,0:8,0:8 -o b.tree.zarr.zip -o b.npy -o b.png --backend cpu");
    let read = |name: &str| std::fs::read(folder.join(name)).unwrap();
    assert_eq!(read("a.tree.zarr.zip"), read("b.tree.zarr.zip"));
    let report: Value = serde_json::from_slice(&read("a.json")).unwrap();
    assert_eq!(
        (&report["workload"], &report["data"], &report["value"]),
        (&"mesh".into(), &"part.off".into(), &"inside".into())
    );
    assert!(report["source"].as_str().unwrap().starts_with("xxh3:"));
    // 32 x 16 x 8 cells of 1/8.
    let npy = read("b.npy");
    let cells = &npy[npy.len() - 64 * 64 * 64..];
    assert_eq!(cells.iter().filter(|&&cell| cell == 1).count(), 32 * 16 * 8);
    assert!(ran("tree info a.tree.zarr.zip").contains("mesh: part.off"));
    ran("tree validate a.tree.zarr.zip --against b.npy");
    ran("tree build part.off -n 32 --value surface --threads 1 --mem-limit 64M -o s.tree.zarr");
    assert!(ran("tree info s.tree.zarr").contains("mesh surface: part.off"));
    assert!(ran("tree stats s.tree.zarr --csv").lines().count() > 2);
}

/// Distances of a box, in its units, with their sign and their band.
#[test]
fn a_mesh_becomes_a_tree_of_distances() {
    let folder = folder("mesh-distance");
    std::fs::write(folder.join("part.off"), BOX).unwrap();
    let ran = |arguments: &str| {
        let output = orthant(&folder, arguments);
        assert!(output.status.success(), "orthant {arguments}: {}", text(&output.stderr));
        text(&output.stdout)
    };
    ran("tree build part.off -n 64 --domain 0:8,0:8,0:8 --value distance --band 2 -o a.tree.zarr --report a.json");
    ran(
        "run mesh --input part.off -n 64 --domain 0:8,0:8,0:8 --value distance --band 2 --explore full --backend cpu -o a.npy",
    );
    ran("tree validate a.tree.zarr --against a.npy");
    let report: Value = serde_json::from_slice(&std::fs::read(folder.join("a.json")).unwrap()).unwrap();
    assert_eq!((&report["value"], &report["band"], &report["cell"]), (&"distance".into(), &2.into(), &"f32".into()));
    let at = |place: &str| -> f64 {
        let sampled = ran(&format!("tree sample a.tree.zarr --point {place}"));
        sampled.lines().last().unwrap().split(',').nth(3).unwrap().parse().unwrap()
    };
    // The centres of cells lie at odd sixteenths; beside a face, an edge and a corner, within, and beyond on both sides.
    for (place, distance) in [
        ("4.2,1.0,0.5", 0.1875),
        ("4.1,2.1,0.5", 0.0625 * 2f64.sqrt()),
        ("4.1,2.1,1.1", 0.0625 * 3f64.sqrt()),
        ("3.9,1.0,0.5", -0.0625),
        ("2.0,1.0,0.5", -0.25),
        ("6.0,6.0,6.0", 0.25),
    ] {
        assert!((at(place) - distance).abs() < 1e-7, "{place}: {} {distance}", at(place));
    }
    for (arguments, said) in [
        ("run mesh --input part.off -n 16 --value distance --cell u8", "the values of this field are f32"),
        ("run mesh --input part.off -n 16 --band 2", "--value distance"),
        ("run mesh --input part.off -n 16 --value distance --band 0", "between 1 and 1000"),
        ("tree build part.off -n 16 --band 2 -o b.tree.zarr", "--value distance"),
        ("tree build a.npy --band 2 -o b.tree.zarr", "--band 2: of a mesh"),
    ] {
        let output = orthant(&folder, arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains(said), "{arguments}: {}", text(&output.stderr));
        assert!(!folder.join("b.tree.zarr").exists());
    }
}

#[test]
fn the_rows_of_a_mesh_have_a_limit() {
    let folder = folder("mesh-limit");
    std::fs::write(folder.join("part.off"), BOX).unwrap();
    let output = orthant(&folder, "run mesh --input part.off -n 256 --keep counts --backend cpu --mem-limit 20k");
    assert_eq!(output.status.code(), Some(5), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("the rows of a mesh would take"), "{}", text(&output.stderr));
    // Lines that end as they did long ago, and a text that is none.
    std::fs::write(folder.join("old.off"), BOX.replace('\n', "\r")).unwrap();
    let old = orthant(&folder, "run mesh --input old.off -n 32 --backend cpu");
    assert!(old.status.success(), "{}", text(&old.stderr));
    let wide: Vec<u8> = "\u{feff}OFF\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    std::fs::write(folder.join("wide.off"), wide).unwrap();
    let wide = orthant(&folder, "run mesh --input wide.off -n 32 --backend cpu");
    assert_eq!(wide.status.code(), Some(2));
    assert!(text(&wide.stderr).contains("text in UTF-16; save it as UTF-8"), "{}", text(&wide.stderr));
}
