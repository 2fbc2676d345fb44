//! How large cells are, where a file does not say.

use crate::binary::{folder, orthant, text};

/// Lengths give volumes and places a unit; what a file says gives way, and the program says so.
#[test]
fn a_spacing_gives_volumes_and_places_a_unit() {
    let folder = folder("spacing");
    std::fs::write(folder.join("a.raw"), [[1; 32], [2; 32]].concat()).unwrap();
    let header = "NRRD0004\ntype: uint8\ndimension: 3\nsizes: 4 4 4\nspacings: 3 3 3\nencoding: raw\n\n";
    std::fs::write(folder.join("a.nrrd"), [header.as_bytes(), &[7; 64]].concat()).unwrap();
    let ran = |arguments: &str| {
        let output = orthant(&folder, arguments);
        assert!(output.status.success(), "{arguments}: {}", text(&output.stderr));
        [text(&output.stdout), text(&output.stderr)]
    };
    const RAW: &str = "tree build a.raw --dtype u8 -n 4x4x4";

    ran(&format!("{RAW} --spacing 0.5,0.5,2mm -o mm.tree.zarr"));
    let [table, said] = ran("tree stats mm.tree.zarr --kind labels");
    // 32 cells of 0.5 x 0.5 x 2.
    assert!(table.contains("volume mm³") && table.lines().nth(1).unwrap().contains(" 16 "), "{table}");
    assert!(!said.contains("no unit is known"), "{said}");
    let [_, said] = ran("tree slice mm.tree.zarr --axis z=5mm -o s.npy");
    assert!(said.contains("z=5mm is index 2 of axis z"), "{said}");
    let [_, said] = ran("tree slice mm.tree.zarr --axis z=2 -o s.npy --force");
    assert!(!said.contains("is index"), "{said}");

    // A length without a unit scales volumes, too.
    ran(&format!("{RAW} --voxel 2 -o two.tree.zarr"));
    let [table, _] = ran("tree stats two.tree.zarr --kind labels");
    assert!(table.contains(" volume ") && table.lines().nth(1).unwrap().contains(" 256 "), "{table}");

    ran(&format!("{RAW} -o none.tree.zarr"));
    let [table, said] = ran("tree stats none.tree.zarr --kind labels");
    assert!(
        !table.contains("volume") && said.contains("`orthant tree build --spacing 0.5mm` sets it"),
        "{table}{said}"
    );

    let [_, said] = ran("tree build a.nrrd --spacing 1mm -o own.tree.zarr");
    assert!(said.contains("--spacing 1mm is taken; the file says 3, 3, 3"), "{said}");
    assert!(ran("tree info own.tree.zarr")[0].contains("in steps of 1 mm"));
}
