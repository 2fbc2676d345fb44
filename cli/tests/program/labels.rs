//! Arrays of labels on the command line: what is said of them, their names, and their colours.

use std::path::Path;

use crate::binary::{folder, lines, orthant, text};

/// Blocks of 5^3 cells of one of 50 labels, in 60 x 60 x 60 cells: no leaf of the usual size is uniform.
fn block(at: usize) -> i16 {
    let [x, y, z] = [at % 60, at / 60 % 60, at / 3600].map(|index| index / 5);
    ((13 * x + 3 * y + 7 * z) % 50) as i16
}

fn write(path: &Path, cell: impl Fn(usize) -> i16) {
    let header = format!("{:<117}\n", "{'descr': '<i2', 'fortran_order': False, 'shape': (60, 60, 60), }");
    let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    bytes.extend(header.as_bytes());
    bytes.extend((0..60 * 60 * 60).flat_map(|at| cell(at).to_le_bytes()));
    std::fs::write(path, bytes).unwrap();
}

/// A tolerance would make labels equal that are not. Cells that look like labels get no such advice, noise does, and who knows
/// better says so.
#[test]
fn labels_are_not_told_of_tolerances() {
    let folder = folder("labels-hint");
    write(&folder.join("labels.npy"), block);
    write(&folder.join("noise.npy"), |at| (at.wrapping_mul(0x9e37_79b9) >> 9) as i16 % 50);
    let told = |arguments: &str| {
        let output = orthant(&folder, arguments);
        assert!(output.status.success(), "{arguments}: {}", text(&output.stderr));
        text(&output.stderr)
    };
    for (arguments, tolerance) in [
        ("tree build labels.npy -o a.tree.zarr", false),
        ("tree build labels.npy -o b.tree.zarr --kind values", true),
        ("tree build noise.npy -o c.tree.zarr", true),
        ("tree build noise.npy -o d.tree.zarr --kind labels", false),
    ] {
        let said = told(arguments);
        assert_eq!(said.contains("--tolerance"), tolerance, "{arguments}: {said}");
    }
}

/// Names come from a table, stay in the tree, and are where labels are shown.
#[test]
fn labels_have_the_names_of_a_table() {
    let folder = folder("labels-table");
    write(&folder.join("labels.npy"), block);
    std::fs::write(folder.join("names.txt"), "0 Ground\n1 \"Left hand\" 1000\n99999 Beyond\n").unwrap();
    let output = orthant(&folder, "tree build labels.npy -B 2 --label-table names.txt -o a.tree.zarr");
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("1 labels of values that no cell can have"), "{}", text(&output.stderr));
    let stats = lines(&folder, "tree stats a.tree.zarr --json");
    let ones = (0..216_000).filter(|&at| block(at) == 1).count();
    assert_eq!((&stats[1]["name"], &stats[1]["cells"]), (&"Left hand".into(), &ones.into()));
    assert!(stats[2]["name"].is_null());
    let legend = orthant(&folder, "tree slice a.tree.zarr --axis z=3 -o a.png");
    assert!(legend.status.success(), "{}", text(&legend.stderr));
    std::fs::write(folder.join("broken.txt"), "0 Ground\nHand\n").unwrap();
    let refused = orthant(&folder, "tree build labels.npy --label-table broken.txt -o b.tree.zarr");
    assert_eq!(refused.status.code(), Some(2));
    let said = text(&refused.stderr);
    assert!(said.contains("--label-table broken.txt: line 2: label 'Hand'"), "{said}");
    let missing = orthant(&folder, "tree build labels.npy --label-table none.txt -o b.tree.zarr");
    assert_eq!(missing.status.code(), Some(2), "{}", text(&missing.stderr));
}

/// A picture of labels has a colour for each, and the picture of a run is that of a slice of its tree.
#[test]
fn labels_have_a_colour_each() {
    let folder = folder("labels-colours");
    write(&folder.join("labels.npy"), block);
    for arguments in [
        "tree build labels.npy -B 2 -o a.tree.zarr",
        "tree slice a.tree.zarr --axis z=30 -o slice.png",
        "run array --input labels.npy -B 2 --slice z=30 -o run.png",
        "run array --input labels.npy -B 2 --slice z=30 -o greys.png --palette greys",
    ] {
        assert!(orthant(&folder, arguments).status.success(), "{arguments}");
    }
    let pixels = |name: &str| {
        let mut decoder = png::Decoder::new(std::io::BufReader::new(std::fs::File::open(folder.join(name)).unwrap()));
        decoder.set_transformations(png::Transformations::EXPAND);
        let mut reader = decoder.read_info().unwrap();
        let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut bytes).unwrap();
        bytes.truncate(info.buffer_size());
        bytes
    };
    assert!(pixels("slice.png") == pixels("run.png"));
    let colours: std::collections::HashSet<_> = pixels("run.png").chunks(3).map(<[u8]>::to_vec).collect();
    let labels: std::collections::HashSet<_> = (0..3600).map(|at| block(30 * 3600 + at)).collect();
    assert_eq!(colours.len(), labels.len());
    assert!(pixels("greys.png") != pixels("run.png"));
}

#[test]
fn places_say_that_they_are_along_the_axes_of_a_turned_file() {
    let folder = folder("labels-turned");
    for (name, first, said) in [("flipped", "(-2,0,0)", true), ("straight", "(2,0,0)", false)] {
        let header = format!(
            "NRRD0005\ntype: uint8\ndimension: 3\nsizes: 4 4 4\nencoding: raw\nspace: left-posterior-superior\n\
             space directions: {first} (0,2,0) (0,0,2)\nspace origin: (0,0,0)\n\n"
        );
        let cells: Vec<u8> = (0..64).map(|cell| u8::from(cell % 4 == 0)).collect();
        std::fs::write(folder.join(format!("{name}.nrrd")), [header.as_bytes(), &cells].concat()).unwrap();
        let built = orthant(&folder, &format!("tree build {name}.nrrd -g 1 -B 1 -o {name}.tree.zarr -q"));
        assert!(built.status.success(), "{}", text(&built.stderr));
        let stats = orthant(&folder, &format!("tree stats {name}.tree.zarr"));
        let line = "places are along the file's axes, which point elsewhere in its space: x (-1, 0, 0), y (0, 1, 0), z (0, 0, 1)\n";
        assert_eq!(text(&stats.stdout).ends_with(line), said, "{}", text(&stats.stdout));
    }
}
