//! Points as their users meet them.

use serde_json::Value;

use crate::binary::{folder, orthant, text};

/// A spiral of points, with a number each.
fn scan() -> String {
    let line = |i: u32| {
        let turn = f64::from(i) / 100.0;
        format!("{:.4},{:.4},{:.4},{}\n", turn.cos() * turn, turn.sin() * turn, turn / 2.0, i % 200)
    };
    "x,y,z,intensity\n".to_owned() + &(0..3000).map(line).collect::<String>()
}

#[test]
fn points_become_a_tree_a_report_and_a_picture() {
    let folder = folder("points");
    std::fs::write(folder.join("scan.csv"), scan()).unwrap();
    let ran = |arguments: &str| {
        let output = orthant(&folder, arguments);
        assert!(output.status.success(), "orthant {arguments}: {}", text(&output.stderr));
        text(&output.stdout)
    };
    let table = ran("tree build scan.csv -n 128 --value count -o a.tree.zarr.zip --report a.json");
    assert!(table.starts_with("points scan.csv 128x128x128 u32, bottom-up morton on cpu"), "{table}");
    assert!(table.contains("points   3000, all in the window"), "{table}");
    ran(
        "run points --input scan.csv -n 128 --value count -o b.tree.zarr.zip -o b.npy -o b.png --overlay c.png --threads 1",
    );
    let read = |name: &str| std::fs::read(folder.join(name)).unwrap();
    assert_eq!(read("a.tree.zarr.zip"), read("b.tree.zarr.zip"));
    let report: Value = serde_json::from_slice(&read("a.json")).unwrap();
    assert_eq!(
        (&report["workload"], &report["value"], &report["data"]),
        (&"points".into(), &"count".into(), &"scan.csv".into())
    );
    assert_eq!((&report["points"]["read"], &report["points"]["inside"]), (&3000.into(), &3000.into()));
    // All points are counted.
    let npy = read("b.npy");
    let cells = npy[npy.len() - 4 * 128 * 128 * 128..].chunks(4);
    assert_eq!(cells.map(|cell| u32::from_le_bytes(cell.try_into().unwrap())).sum::<u32>(), 3000);
    assert!(ran("tree info a.tree.zarr.zip").contains("points count: scan.csv"));
    ran("tree validate a.tree.zarr.zip --against b.npy");
    // By a strategy, from the top down.
    ran("run points --input scan.csv -n 128 --value count --strategy ask --backend cpu -o d.npy");
    assert_eq!(read("b.npy"), read("d.npy"));
    ran("run points --input scan.csv -n 64 --strategy exhaustive --backend cpu -o e.npy");
    ran("run points --input scan.csv -n 64 -o f.npy");
    assert_eq!(read("e.npy"), read("f.npy"));
    // Points that memory does not hold are sorted in a file, and the tree has the same bytes.
    ran("tree build scan.csv -n 64 -o f.tree.zarr.zip");
    let output = orthant(&folder, "tree build scan.csv -n 64 -o g.tree.zarr.zip --mem-limit 160k");
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("are sorted in a file without a name"), "{}", text(&output.stderr));
    assert_eq!(read("f.tree.zarr.zip"), read("g.tree.zarr.zip"));
    // Attributes, columns and a window: what lies outside is counted.
    ran("tree build scan.csv -n 64 --value mean --attribute intensity -o m.tree.zarr");
    ran("tree build scan.csv -n 64x32 --columns x,z --value max --attribute 4 --curve hilbert -r 2 -o n.tree.zarr");
    let table = ran("run points --input scan.csv -n 32 --domain 0:30,-30:30,0:15");
    let inside = table.lines().find(|line| line.starts_with("points   3000, ")).unwrap();
    assert!(inside.contains("outside of it"), "{table}");
}

#[test]
fn what_is_wrong_with_points_is_said() {
    let folder = folder("wrong-points");
    std::fs::write(folder.join("scan.csv"), scan()).unwrap();
    std::fs::write(folder.join("bad.xyz"), "0 0 0\n1 1 NaN\n").unwrap();
    std::fs::write(folder.join("same.xyz"), "1 2 3\n1 2 3\n").unwrap();
    std::fs::write(folder.join("none.xyz"), "# nothing\n").unwrap();
    let header = format!("{:<117}\n", "{'descr': '<f8', 'fortran_order': False, 'shape': (40, 3), }");
    let cells: Vec<u8> = (0..120).flat_map(|i| f64::from(i).to_le_bytes()).collect();
    std::fs::write(folder.join("a.npy"), [b"\x93NUMPY\x01\x00\x76\x00", header.as_bytes(), &cells].concat()).unwrap();
    let said = |arguments: &str, code: i32| {
        let output = orthant(&folder, arguments);
        assert_eq!(output.status.code(), Some(code), "orthant {arguments}: {}", text(&output.stderr));
        text(&output.stderr)
    };
    for (arguments, expected) in [
        ("run points", "name the file of the points (.xyz, "),
        ("run points --input bad.xyz", "bad.xyz: line 2: coordinate 'NaN': a coordinate must be a finite number"),
        ("run points --input none.xyz", "none.xyz: no points; at least one is needed"),
        ("run points --input same.xyz", "a window is needed, as in --domain 0.5:1.5,1.5:2.5,2.5:3.5"),
        (
            "run points --input scan.csv --columns x,y,w",
            "scan.csv: line 1: column 'w': columns are x, y, z, intensity, or numbers",
        ),
        ("run points --input scan.csv --value mean", "--value mean: the value 'mean' is that of an attribute"),
        ("run points --input scan.csv --value inside", "--value inside: points have occupied, count, min, max, mean"),
        ("run points --input scan.csv -n 2^22", "-n 2621440 is the most on every axis"),
        (
            "run points --input scan.csv --domain 100:101,0:1,0:1",
            "none of 3000 points lies in the window 100:101,0:1,0:1",
        ),
        ("run points --input scan.csv --dtype u8", "--dtype: of arrays; leave out for points"),
        ("run array --input a.npy --columns 1,2", "--columns: of points"),
        ("run scan.csv", "`orthant run points --input scan.csv`"),
        ("run array --input scan.csv", "`orthant tree build scan.csv -o X.tree.zarr`"),
    ] {
        let error = said(arguments, 2);
        assert!(error.contains(expected), "orthant {arguments}: {error}");
    }
    // A table of numbers is a picture only if nobody minds.
    let remark = said("tree build a.npy -o p.tree.zarr", 0);
    assert!(remark.contains("looks like 40 points of 3 coordinates; --coordinates reads points"), "{remark}");
    assert!(!said("tree build a.npy --coordinates -n 16 -o q.tree.zarr", 0).contains("looks like"));
    assert!(said("run points --input a.npy -n 16 -o r.npy --keep regions", 0).contains("wrote r.npy"));
    said("run points --input scan.csv -n 64 --mem-limit 1000 -o s.tree.zarr", 5);
}
