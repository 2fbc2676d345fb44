//! What is launched: in parts, from the device, over lists that are too short.

use std::path::{Path, PathBuf};
use std::process::Output;

use crate::binary::{line, orthant, scratch, text};
use crate::scope::{every, sized};

pub(super) fn the_order_of_threads_does_not_matter(folder: &Path) {
    let run = |seed: &str| {
        let arguments = "run mandelbulb -n 20 -g 2 -B 2 --backend cuda --block 8x4x2 --scheme mbr";
        line(&orthant(folder, arguments, &[("STANDIN_SEED", seed)]), "checksum")
    };
    let first = run("1");
    ["2", "3", "77"].iter().for_each(|seed| assert_eq!(run(seed), first));
}

pub(super) fn launch_spaces_beyond_the_grid_go_out_in_parts(folder: &Path) {
    for arguments in [
        "run julibrot -n 9 --backend cuda --strategy exhaustive --dwell 20",
        "run mandelbrot -n 64 --backend cuda --scheme mbr --max-kernels 3",
        "run mandelbrot -n 64 --backend cuda --scheme sbr --keep regions",
        // Stable insertion in more pieces than a launch takes.
        "run mandelbrot -n 128 -g 64 -B 1 --block 32x1 --dwell 20 --backend cuda --scheme sbr --insertion stable",
    ] {
        let run = |variables: &[(&str, &str)]| -> serde_json::Value {
            let (out, err) = text(&orthant(folder, &format!("{arguments} --json"), variables));
            serde_json::from_str(&out).unwrap_or_else(|_| panic!("{arguments}: {err}"))
        };
        let (whole, parts) = (run(&[]), run(&[("STANDIN_MAX_GRID", "7")]));
        for key in ["cells", "iterations", "checksum", "regions_checksum"] {
            assert_eq!(whole[key], parts[key], "{arguments}: {key}");
        }
        assert!(whole["checksum"].is_string() || whole["regions_checksum"].is_string(), "{arguments}");
        assert!(parts["kernels"].as_u64() > whole["kernels"].as_u64(), "{arguments}");
    }
}

/// Whatever the launches from the device come to, no region is lost.
pub(super) fn launches_that_fail_lose_nothing(folder: &Path) {
    let n = sized(9, 7);
    for (scheme, launch) in every(2, ["sbr", "mbr"].iter().flat_map(|s| ["region", "block", "tail"].map(|l| (s, l)))) {
        let arguments = format!(
            "run julibrot -n {n} -g 2 -B 1 --dwell 20 --backend cuda --strategy dp --scheme {scheme} --dp-launch {launch}"
        );
        let cells = |output: &Output| (line(output, "checksum"), line(output, "cells"));
        let whole = cells(&orthant(folder, &arguments, &[]));
        for (more, variables) in [
            ("", &[("STANDIN_FAIL_CHILDREN", "30")][..]),
            ("", &[("STANDIN_FAIL_CHILDREN", "100")]),
            ("--dp-overflow 3", &[("STANDIN_FAIL_CHILDREN", "50"), ("STANDIN_SEED", "9")]),
            ("--dp-overflow 0 --dp-budget 1", &[]),
            ("--dp-budget 100000", &[("STANDIN_PENDING", "5")]),
        ] {
            let run = orthant(folder, &format!("{arguments} {more}"), variables);
            assert_eq!(cells(&run), whole, "{scheme} {launch} {more} {variables:?}");
        }
    }
}

/// The throttle: the budget of launches in flight is spent where there is work enough, and never exceeded, whether children run after the
/// grids that launched them or beside them. A region of noise is always mixed.
pub(super) fn the_budget_is_spent_and_kept(folder: &Path) {
    let noise = noise();
    for launch in ["region", "block"] {
        let arguments = format!(
            "run kernel --source {} --dim 2 -n 128 -g 8 -r 2 -B 1 --precision f64 --backend cuda --keep counts --json",
            noise.display()
        );
        let run = |more: &str, variables: &[(&str, &str)]| -> serde_json::Value {
            let output = orthant(folder, &format!("{arguments} --strategy dp --dp-launch {launch} {more}"), variables);
            serde_json::from_str(&text(&output).0).unwrap_or_else(|_| panic!("{:?}", text(&output)))
        };
        let number = |report: &serde_json::Value, key: &str| report[key].as_u64().unwrap();
        for budget in every(2, [1, 3, 64, 128]) {
            for variables in [&[][..], &[("STANDIN_EAGER", "1")], &[("STANDIN_EAGER", "1"), ("STANDIN_SEED", "5")]] {
                let report = run(&format!("--dp-budget {budget}"), variables);
                assert_eq!(number(&report, "credits"), budget);
                // Launches may be done before a large budget is spent.
                let most = number(&report, "most_in_flight");
                let spent = budget <= 3 || (variables.is_empty() && budget <= 64);
                assert!(most <= budget && (most == budget || !spent), "{launch} {variables:?}: {most} of {budget}");
                assert!(number(&report, "refused") > 0 || !spent, "{launch}: {report}");
            }
        }
        let regions = |report: &serde_json::Value| {
            report["levels"].as_array().unwrap().iter().map(|level| level["regions"].clone()).collect::<Vec<_>>()
        };
        let (after, beside) = (run("", &[]), run("", &[("STANDIN_EAGER", "1")]));
        assert_eq!(regions(&after), regions(&beside));
    }
}

/// Launches that take longer than the host takes to ask for all of them, on a busy machine too.
const SLOW: (&str, &str) = ("STANDIN_SLOW", "50");

/// A stack of launches is in flight as far as it may be, and no further.
pub(super) fn stacks_fill_their_streams(folder: &Path) {
    for (limit, most) in [(1, 1), (3, 3), (16, 16), (128, 16)] {
        let arguments = format!(
            "run julibrot -n 16 --dwell 200 --backend cuda --strategy exhaustive --stack split --max-kernels {limit} --json"
        );
        let (out, err) = text(&orthant(folder, &arguments, &[SLOW]));
        let report: serde_json::Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{err}"));
        assert_eq!(
            (report["kernels"].as_u64(), report["most_in_flight"].as_u64()),
            (Some(16), Some(most)),
            "{arguments}"
        );
    }
}

/// Native grids: the same regions and cells as folded ones, however grids are cut, and wherever launches fail.
pub(super) fn native_grids_are_stacks(folder: &Path) {
    let report = |arguments: &str, variables: &[(&str, &str)]| -> serde_json::Value {
        let (out, err) = text(&orthant(folder, &format!("run {arguments} --backend cuda --json"), variables));
        serde_json::from_str(&out).unwrap_or_else(|_| panic!("{arguments}: {err}"))
    };
    let plans = [
        "mandelbulb -n 24x20x17 -g 2x3x2 -B 2 --dwell 20 --explore border --block 4x4x4",
        "julibrot -n 8x9x7x10 -g 2 -B 1 --dwell 20 --explore border",
        "simplex --dim 5 -n 8 -g 1 -B 1",
        "diagonal --dim 6 -n 4x5x4x4x3x4 -g 1 -B 1",
    ];
    for plan in every(3, plans) {
        for (run, more) in [
            ("--strategy exhaustive", &[][..]),
            ("--scheme mbr --pass in-place", &[]),
            ("--scheme mbr --pass in-place --keep regions --block 32x1", &[]),
            ("--strategy dp", &[("STANDIN_FAIL_CHILDREN", "30")]),
            ("--strategy dp --dp-budget 3", &[("STANDIN_EAGER", "1")]),
        ] {
            let folded = report(&format!("{plan} {run}"), &[]);
            let native = report(&format!("{plan} {run} --stack grid3d"), more);
            for key in ["cells", "iterations", "checksum", "regions_checksum"] {
                assert_eq!(native[key], folded[key], "{plan} {run} {key}");
            }
            assert!(folded["checksum"].is_string() || folded["regions_checksum"].is_string());
        }
    }
    // One grid for each place on the axes beyond three, three of them in flight.
    let stack = report("julibrot -n 8x9x7x10 --dwell 90 --strategy exhaustive --stack grid3d --max-kernels 3", &[SLOW]);
    assert_eq!((stack["kernels"].as_u64(), stack["most_in_flight"].as_u64()), (Some(10), Some(3)));
    for (run, why) in [
        ("--scheme sbr", "use --scheme mbr"),
        ("--scheme mbr --pass level", "use --pass in-place"),
        ("--strategy dp --dp-launch block", "use --dp-launch region"),
    ] {
        let output =
            orthant(folder, &format!("run mandelbulb -n 16 --explore border --backend cuda --stack grid3d {run}"), &[]);
        assert_eq!(
            (output.status.code(), text(&output).1.contains(why)),
            (Some(2), true),
            "{run}: {:?}",
            text(&output)
        );
    }
}

/// A source in which everything is mixed.
fn noise() -> PathBuf {
    let noise = scratch("noise.cuh");
    let source = "__device__ u32 label(const Real (&x)[DIM], u32) {\n    \
                  u32 bits = u32(i32(x[0] * 1000)) * 2654435761u ^ u32(i32(x[1] * 1000)) * 40503u;\n    \
                  bits = (bits ^ bits >> 15) * 2246822519u;\n    return bits >> 16 & 3;\n}\n";
    std::fs::write(&noise, source).unwrap();
    noise
}

/// Noise: everything is mixed, so that every list and table is too short at first. The last level has 6400 regions, and the list of terminal
/// regions begins with 4096.
pub(super) fn lists_that_are_too_short_are_made_longer(folder: &Path) {
    let noise = noise();
    let run = |more: &str| {
        let arguments = format!(
            "run kernel --source {} --dim 2 -n 160 -g 5 -r 2 -B 1 --backend cuda --precision f64 {more}",
            noise.display()
        );
        let output = orthant(folder, &arguments, &[]);
        (line(&output, "checksum"), line(&output, "cells").split(';').next().unwrap().to_owned())
    };
    let ask = run("");
    for launch in ["region", "block", "tail"] {
        assert_eq!(run(&format!("--strategy dp --dp-launch {launch}")), ask, "{launch}");
    }
}

pub(super) fn numbers_that_kernels_cannot_hold_are_refused(folder: &Path) {
    for (arguments, words) in [
        ("run diagonal --dim 6 -n 2x2x512x512x512x32 -g 1 --keep regions", "tiles of a block's shape"),
        ("run diagonal --dim 8 -n 17 -g 1 -r 16 -B 1 --keep counts", "a region has 4294967296 children"),
        ("run mandelbrot -n 64 --pending-launches 7", "--pending-launches 7: at least 8 are needed"),
    ] {
        let output = orthant(folder, &format!("{arguments} --backend cuda --strategy dp"), &[]);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {:?}", text(&output));
        assert!(text(&output).1.contains(words), "{arguments}: {:?}", text(&output));
    }
    // As many children as 64 bits cannot count: fine where nothing is divided.
    let output = orthant(folder, "run julibrot -n 8 -r 65536 --dwell 20 --backend cuda --strategy dp", &[]);
    assert!(output.status.success(), "{:?}", text(&output));
}
