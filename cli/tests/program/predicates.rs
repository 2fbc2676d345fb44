//! Arrays by a predicate: what a tree says of it, what it is held to, and what is said of noise.

use std::path::Path;

use serde_json::{Value, json};

use crate::binary::{folder, orthant, report, text};

/// Runs a command that succeeds, and answers what it says on both streams.
fn says(folder: &Path, arguments: &str) -> (String, String) {
    let output = orthant(folder, arguments);
    assert!(output.status.success(), "{arguments}: {}", text(&output.stderr));
    (text(&output.stdout), text(&output.stderr))
}

/// A quarter of 64 x 64 bytes is 7, the rest is from 100 to 119.
fn noise(folder: &Path) {
    let cell = |i: u32| if i % 64 < 32 && i < 2048 { 7 } else { 100 + (i.wrapping_mul(0x9e37_79b9) >> 13) as u8 % 20 };
    std::fs::write(folder.join("n.raw"), (0..4096).map(cell).collect::<Vec<u8>>()).unwrap();
}

const ARRAY: &str = "array --input n.raw --dtype u8 -n 64x64 -g 4 -r 2 -B 4";

fn info(folder: &Path, tree: &str) -> Value {
    serde_json::from_str(&says(folder, &format!("tree info {tree} --json")).0).unwrap()
}

#[test]
fn a_tree_keeps_what_it_was_made_by_and_is_held_to_it() {
    let folder = folder("predicates");
    noise(&folder);
    std::fs::write(folder.join("n.npy"), {
        let head = "{'descr': '|u1', 'fortran_order': False, 'shape': (64, 64), }";
        let head = format!("{head:<117}\n");
        [b"\x93NUMPY\x01\x00\x76\x00", head.as_bytes(), &std::fs::read(folder.join("n.raw")).unwrap()].concat()
    })
    .unwrap();
    let cases = [
        (
            "--tolerance 9.5",
            json!({"kind": "tolerance", "e": 9.5, "bound": 9, "nan": "equal"}),
            "u8",
            "within 9, of 9.5",
        ),
        ("--tolerance 10", json!({"kind": "tolerance", "e": 10, "bound": 10, "nan": "equal"}), "u8", "within 10"),
        ("--iso 50", json!({"kind": "iso", "t": 50, "nan": "equal"}), "u8", "one side of 50"),
        ("--threshold 50", json!({"kind": "threshold", "t": 50, "nan": "equal"}), "u8", "1 from 50 on"),
        (
            "--step 50,100 --nodata 7",
            json!({"kind": "labels", "step": 50, "lo": 100, "nan": "equal", "nodata": 7}),
            "i8",
            "steps of 50 above 100, 7 no data",
        ),
    ];
    for (number, (options, predicate, cell, shown)) in cases.into_iter().enumerate() {
        let tree = format!("t{number}.tree.zarr.zip");
        let found = report(&folder, &format!("{ARRAY} {options} -o {tree}"));
        assert_eq!((&found["predicate"], &found["cell"]), (&predicate, &json!(cell)), "{options}");
        let about = info(&folder, &tree);
        assert_eq!((&about["predicate"], &about["cell"]), (&predicate, &json!(cell)), "{options}");
        assert!(says(&folder, &format!("tree info {tree}")).0.contains(shown), "{options}");
        let said = says(&folder, &format!("tree validate {tree} --against n.npy")).0;
        assert!(said.ends_with("0 cells differ\n"), "{said}");
        // Cells of a tree within a tolerance are others than the array's, and nobody is to think that they are not.
        let allowed = said.contains("cells have another value, as the predicate allows");
        assert_eq!(allowed, ["--tolerance 10", "--iso 50"].contains(&options), "{options}: {said}");
    }
    assert_eq!(info(&folder, "t4.tree.zarr.zip")["nodata"], json!(-127));
    // The former name of --step makes the same tree.
    says(&folder, &format!("run {ARRAY} --labels 50,100 --nodata 7 -o former.tree.zarr.zip"));
    let bytes = |tree: &str| std::fs::read(folder.join(tree)).unwrap();
    assert_eq!(bytes("former.tree.zarr.zip"), bytes("t4.tree.zarr.zip"));
    // By ten every region is one; a contour meets eight of sixteen, or the cells around them.
    let regions = |tree: &str| info(&folder, tree)["regions"].as_u64().unwrap();
    assert_eq!((regions("t1.tree.zarr.zip"), regions("t2.tree.zarr.zip")), (16, 40));
    let (_, said) = says(&folder, "tree diff t3.tree.zarr.zip t3.tree.zarr.zip");
    assert!(!said.contains(" is "), "{said}");
    let differ = orthant(&folder, "tree diff t1.tree.zarr.zip t2.tree.zarr.zip");
    assert_eq!(differ.status.code(), Some(3));
    let said = text(&differ.stderr);
    assert!(said.contains("t1.tree.zarr.zip is within 10, t2.tree.zarr.zip is one side of 50"), "{said}");
    // Another array breaks the bound.
    let mut other = std::fs::read(folder.join("n.npy")).unwrap();
    *other.last_mut().unwrap() = 7;
    std::fs::write(folder.join("o.npy"), other).unwrap();
    let differ = orthant(&folder, "tree validate t1.tree.zarr.zip --against o.npy");
    assert_eq!(differ.status.code(), Some(3));
    assert!(text(&differ.stdout).contains("1 cells differ"), "{}", text(&differ.stdout));
}

#[test]
fn noise_is_said_with_what_would_help() {
    let folder = folder("predicates-noise");
    noise(&folder);
    let said = says(&folder, &format!("run {ARRAY}")).1;
    assert!(
        said.contains("75 % of the cells are in leaves")
            && (said.contains("--tolerance 10 would leave 0 %") || said.contains(", 10: 0 %")),
        "{said}"
    );
    let (table, said) = says(&folder, &format!("run {ARRAY} --tolerance 10"));
    assert!(!said.contains("leaves") && table.contains("within 10"), "{table} {said}");
}
