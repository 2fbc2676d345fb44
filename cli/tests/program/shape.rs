//! g, r and B per axis on the command line, in reports and in what reads them.

use std::path::Path;

use serde_json::json;

use crate::binary::{command, folder, lines, orthant, report, text};

/// 20 steps of time do not stop the plane, and are not divided.
const STEPS: &str = "mandelbulb -n 32x32x20 --dwell 16 -g 4x4x20 -r 2x2x1";

#[test]
fn a_stop_side_is_a_number_where_all_are_equal() {
    let folder = folder("shape");
    let of = |b: &str| report(&folder, &format!("{STEPS} {b}"));
    let (one, same, each) = (of("-B 2"), of("-B 2x2x2"), of("-B 2x3x20"));
    assert_eq!([&one["B"], &same["B"], &each["B"]], [&json!(2), &json!(2), &json!([2, 3, 20])]);
    assert_eq!((&one["checksum"], &one["r"]), (&same["checksum"], &json!([2, 2, 1])));
    // 32/4/2 = 4 and then 2 cells: not more than 2, nor than 3 on axis 1.
    let grids = |report: &serde_json::Value| {
        report["levels"].as_array().unwrap().iter().map(|level| level["grid"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(grids(&one), [json!([4, 4, 20]), json!([8, 8, 20])]);
    assert_eq!(grids(&one), grids(&each));
    assert_eq!(grids(&of("-B 1x4x1")), [json!([4, 4, 20])]);
    let shown = orthant(&folder, &format!("run {STEPS} -B 2x3x20"));
    assert!(text(&shown.stdout).contains("g 4x4x20 r 2x2x1 B 2x3x20,"), "{}", text(&shown.stdout));
    let shown = command(&folder, &format!("run {STEPS}")).env("ORTHANT_B", "2x2x2").output().unwrap();
    assert!(text(&shown.stdout).contains("r 2x2x1 B 2,"), "{}", text(&shown.stdout));
}

#[test]
fn rows_of_shapes_are_measured_compared_drawn_and_fitted() {
    let folder = folder("shape-rows");
    let axes =
        "-a workload=mandelbrot -a n=64 -a dwell=16 -a g=2,4x2 -a r=2,2x1 -a B=2,2x4,1 --max-samples 1 --min-samples 1";
    let rows = lines(&folder, &format!("bench {axes} -a backend=cpu --warm-up 0"));
    assert_eq!(rows.len(), 12);
    let text_of_rows: String = rows.iter().map(|row| format!("{row}\n")).collect();
    std::fs::write(folder.join("b.jsonl"), text_of_rows).unwrap();
    let with = |b: serde_json::Value| rows.iter().filter(|row| row["run"]["B"] == b).count();
    assert_eq!((with(json!(2)), with(json!([2, 4])), with(json!(1))), (4, 4, 4));
    let compared = lines(&folder, "compare b.jsonl b.jsonl --json");
    assert_eq!(compared[0]["cases"].as_array().unwrap().len(), 12);
    let drawn = orthant(&folder, "report b.jsonl -o page.html --md page.md");
    assert!(drawn.status.success(), "{}", text(&drawn.stderr));
    let page = std::fs::read_to_string(folder.join("page.html")).unwrap();
    // The columns of the landscape are schemes, not what their axes have in common.
    for place in ["2,2x4", "2x1,2x4", "2x1,1", ">4x2<"] {
        assert!(page.contains(place), "{place}");
    }
    let fits = lines(&folder, "model fit b.jsonl --json --dry-run");
    assert_eq!(fits[0]["runs"], 12);
}

#[test]
fn predictions_take_a_stop_side_per_axis() {
    let model = |splits: &str| {
        let arguments = format!("model predict --json -n 64x64x20 {splits} --box-dim 2");
        lines(Path::new(env!("CARGO_TARGET_TMPDIR")), &arguments).remove(0)
    };
    let each = model("-g 4x4x20 -r 2x2x1 -B 2x4x100");
    assert_eq!((&each["B"], &each["tau"]), (&json!([2, 4, 100]), &json!(2)));
    assert_eq!(model("-g 4x4x20 -r 2x2x1 -B 2x2x2")["B"], 2);
    // B where nothing is split costs nothing.
    let work = |splits: &str| model(splits)["work"].clone();
    assert_eq!(work("-g 4x4x20 -r 2x2x1 -B 2x4x100"), work("-g 4x4x20 -r 2x2x1 -B 4"));
    // Slices of one step are 20 planes.
    let plane =
        lines(Path::new(env!("CARGO_TARGET_TMPDIR")), "model predict --json -n 64 --dim 2 -g 4 -r 2 -B 2 --box-dim 1");
    let nodes = |row: &serde_json::Value| row["kernels"]["nodes"].as_f64().unwrap();
    let slices = model("-g 4x4x20 -r 2x2x1 -B 2");
    assert!((nodes(&slices) / (20.0 * nodes(&plane[0])) - 1.0).abs() < 1e-9, "{slices} {plane:?}");
}
