//! Arrays of files under the strategies of fields.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::binary::{folder, orthant, rows, text};

const SIZE: [usize; 3] = [30, 22, 17];

/// A ball and a wall, of 16 bits.
fn cell([x, y, z]: [usize; 3]) -> i16 {
    match () {
        () if x * x + y * y + z * z < 200 => -7,
        () if x == 15 => (y % 3) as i16,
        () => 300,
    }
}

fn ran(folder: &Path, arguments: &str) -> Value {
    let output = orthant(folder, &format!("run array --input cells.bin --dtype i16 -n 30x22x17 {arguments} --json"));
    assert!(output.status.success(), "{arguments}: {}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn cells(folder: &Path, order: impl Fn(i16) -> [u8; 2]) {
    let [nx, ny, nz] = SIZE;
    let all = (0..nz).flat_map(|z| (0..ny).flat_map(move |y| (0..nx).map(move |x| cell([x, y, z]))));
    fs::write(folder.join("cells.bin"), all.flat_map(order).collect::<Vec<u8>>()).unwrap();
}

/// Every strategy finds the regions of the pass from the cells up, and the cells of the file.
#[test]
fn arrays_divide_alike_under_every_strategy() {
    let folder = folder("strategies");
    cells(&folder, i16::to_le_bytes);
    let scheme = "-g 3x2x2 -r 2 -B 2";
    let up = ran(&folder, scheme);
    for curve in ["canonical", "morton", "hilbert"] {
        for strategy in ["ask", "dp"] {
            for scheme in ["sbr", "mbr"].map(|mapping| format!("{scheme} --scheme {mapping}")) {
                let down = ran(&folder, &format!("{scheme} --curve {curve} --strategy {strategy} --keep regions"));
                assert_eq!(down["regions_checksum"], up["regions_checksum"], "{curve} {strategy} {scheme}");
                let counts = |page: &Value, key: &str| -> Vec<Value> {
                    page["levels"].as_array().unwrap().iter().map(|level| level[key].clone()).collect()
                };
                for key in ["regions", "subdivided", "filled", "leaves"] {
                    assert_eq!(counts(&down, key), counts(&up, key), "{key}");
                }
                assert_eq!((&down["workload"], &down["cell"]), (&Value::from("array"), &Value::from("i16")));
                assert_eq!((&down["input"]["path"], &up["input"]), (&Value::from("cells.bin"), &down["input"]));
            }
        }
    }
    // What a bare run does has a name.
    let named = ran(&folder, &format!("{scheme} --strategy bottom-up"));
    let same = |page: &Value| ["strategy", "levels", "cells", "regions_checksum"].map(|key| page[key].clone());
    assert_eq!((same(&named), &named["strategy"]), (same(&up), &Value::from("bottom-up")));
    let whole = ran(&folder, &format!("{scheme} --strategy exhaustive"));
    assert_eq!(whole["checksum"], ran(&folder, &format!("{scheme} --strategy ask"))["checksum"]);
    // The same cells in the other order of bytes are the same array.
    cells(&folder, i16::to_be_bytes);
    let swapped = ran(&folder, &format!("{scheme} --strategy ask --endian big"));
    assert_eq!((&swapped["checksum"], &swapped["source"]), (&whole["checksum"], &whole["source"]));
    assert_ne!(ran(&folder, &format!("{scheme} --strategy ask"))["source"], whole["source"]);
}

/// A tree of a strategy is the one that is built from the cells up, and pictures of labels have a colour each.
#[test]
fn a_strategy_leaves_the_same_tree() {
    let folder = folder("strategy-trees");
    cells(&folder, i16::to_le_bytes);
    let array = "--dtype i16 -n 30x22x17 --domain 0:3,0:2,0:1 --threshold 5 -g 3x2x2 -r 2 -B 2";
    let said = |arguments: &str| {
        let output = orthant(&folder, arguments);
        assert!(output.status.success(), "{arguments}: {}", text(&output.stderr));
    };
    said(&format!("tree build cells.bin {array} -o up.tree.zarr.zip"));
    said(&format!("run array --input cells.bin {array} --strategy ask -o down.tree.zarr.zip -o p.png --overlay o.png"));
    assert_eq!(
        fs::read(folder.join("up.tree.zarr.zip")).unwrap(),
        fs::read(folder.join("down.tree.zarr.zip")).unwrap()
    );
    assert!(fs::read(folder.join("p.png")).unwrap().starts_with(b"\x89PNG") && folder.join("o.png").exists());
}

/// A sweep over files and strategies.
#[test]
fn files_are_an_axis_of_sweeps() {
    let folder = folder("strategy-sweeps");
    cells(&folder, i16::to_le_bytes);
    fs::copy(folder.join("cells.bin"), folder.join("others.bin")).unwrap();
    let sweep = "bench -a workload=array -a input=cells.bin,others.bin -a dtype=i16 -a n=30x22x17 -a strategy=exhaustive,ask,dp \
                 --min-samples 3 --max-samples 3";
    let output = orthant(&folder, sweep);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let rows: Vec<Value> = text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), 6);
    assert!(rows.iter().all(|row| row["run"]["checksum"] == rows[0]["run"]["checksum"] && row["error"].is_null()));
    assert!(rows[5]["key"].as_str().unwrap().contains("input=others.bin"), "{}", rows[5]["key"]);
}

/// A sweep measures bottom-up beside the strategies that divide, and its rows have the same regions.
#[test]
fn a_sweep_has_bottom_up_beside_the_others() {
    let folder = folder("strategy-sweep");
    cells(&folder, i16::to_le_bytes);
    let points = "0.1,0.2,0.3\n0.9,0.9,0.1\n0.5,0.5,0.5\n";
    let list: Vec<i32> = (0..30).flat_map(|i| [i * 7 % 64, i * i % 64, 1 + i / 20]).collect();
    let header = format!("{:<117}\n", "{'descr': '<i4', 'fortran_order': False, 'shape': (30, 3), }");
    let list = list.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<_>>();
    fs::write(folder.join("list.npy"), [b"\x93NUMPY\x01\x00\x76\x00", header.as_bytes(), &list].concat()).unwrap();
    fs::write(folder.join("scan.csv"), format!("x,y,z\n{points}")).unwrap();
    let sweep = r#"
        measure = { min-samples = 1, max-samples = 1 }
        base = { backend = "cpu", r = 2, B = 2, keep = "regions" }
        [[cases]]
        workload = "array"
        input = "cells.bin"
        dtype = "i16"
        n = "30x22x17"
        g = "3x2x2"
        strategy = "ask,dp,bottom-up"
        curve = "morton,hilbert"
        threads = "1,2"
        [[cases]]
        workload = "array"
        input = "list.npy"
        coordinates = "cells"
        dim = 2
        n = 64
        strategy = "ask,bottom-up"
        [[cases]]
        workload = "points"
        input = "scan.csv"
        n = 32
        strategy = "ask,bottom-up"
    "#;
    fs::write(folder.join("own.toml"), sweep).unwrap();
    let output = orthant(&folder, "bench own.toml -o own.jsonl");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let rows = rows(&folder.join("own.jsonl"));
    assert_eq!(rows.len(), 12 + 2 + 2);
    let counts = |row: &Value| -> Vec<[Value; 4]> {
        let levels = row["run"]["levels"].as_array().unwrap().iter();
        levels.map(|level| ["regions", "subdivided", "filled", "leaves"].map(|key| level[key].clone())).collect()
    };
    for (input, of) in [("cells.bin", 12), ("list.npy", 2), ("scan.csv", 2)] {
        let own: Vec<_> = rows.iter().filter(|row| row["case"]["input"] == input).collect();
        assert_eq!(own.len(), of);
        assert!(own.iter().all(|row| counts(row) == counts(own[0])), "{input}");
        assert!(own.iter().all(|row| row["run"]["compact_bytes"] == own[0]["run"]["compact_bytes"]), "{input}");
    }
    let up: Vec<_> = rows.iter().filter(|row| row["case"]["strategy"] == "bottom-up").collect();
    assert!(up.iter().all(|row| row["run"]["strategy"] == "bottom-up" && row["run"]["scheme"].is_null()));
    // Rows of it are reported and compared.
    for reads in ["report own.jsonl -o own.html", "compare own.jsonl own.jsonl"] {
        let output = orthant(&folder, reads);
        assert!(output.status.success(), "{reads}: {}", text(&output.stderr));
    }
    let refused = |arguments: &str, why: &str| {
        let output = orthant(&folder, arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments}");
        assert!(text(&output.stderr).contains(why), "{arguments}: {}", text(&output.stderr));
    };
    // A model knows runs that divide.
    let up = "array --input cells.bin --dtype i16 -n 30x22x17 --report up.json";
    assert!(orthant(&folder, &format!("run {up}")).status.success());
    refused("model fit up.json", "a fit needs runs that divide");
    for (choice, why) in [
        ("backend=cuda", "bottom-up runs on the CPU"),
        ("keep=dense", "bottom-up makes regions"),
        ("keep=counts", "a sweep measures trees"),
        ("scheme=sbr", "bottom-up has no such choice"),
        ("curve=canonical", "a tree lies along morton or hilbert"),
        ("workload=mandelbrot", "mandelbrot has no cells to join"),
    ] {
        let case = "bench -a workload=array -a input=cells.bin -a keep=regions -a strategy=bottom-up";
        let axis = choice.split('=').next().unwrap();
        let case = case.split(" -a ").filter(|set| !set.starts_with(axis)).collect::<Vec<_>>().join(" -a ");
        refused(&format!("{case} -a {choice} -o no.jsonl"), why);
    }
    for divides in ["run mandelbrot", "model tune mandelbrot"] {
        refused(&format!("{divides} --strategy bottom-up"), "here regions are divided");
    }
    refused("run points --input scan.csv --strategy bottom-up --scheme sbr", "--strategy bottom-up has no such choice");
    refused("run points --input scan.csv --strategy bottom-up --keep dense", "bottom-up makes regions");
    assert!(!folder.join("no.jsonl").exists());
}
