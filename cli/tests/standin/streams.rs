//! Streams against a block per region on the CPU: cells, regions and work.

use std::path::Path;

use crate::binary::{empty, orthant, text};
use crate::scope::every;

// Of the first three lists every second case runs every day. So a case with options that no other has is at an even place.

/// What is told of a level.
const REGIONS: &[&str] = &["regions", "subdivided", "filled", "proven", "leaves"];
const WORK: &[&str] = &["regions", "subdivided", "filled", "proven", "leaves", "cells", "iterations"];

/// What is equal whoever proves a region, and whoever settles it.
fn found(folder: &Path, run: &str, of_levels: &[&str]) -> Vec<serde_json::Value> {
    let output = orthant(folder, &format!("run {run} --json"), &[]);
    let (out, err) = text(&output);
    assert!(output.status.success(), "{run}: {err}");
    let report: serde_json::Value = serde_json::from_str(&out).unwrap();
    let level = |level: &serde_json::Value| of_levels.iter().map(|&key| level[key].clone()).collect::<Vec<_>>();
    let levels = report["levels"].as_array().unwrap().iter().flat_map(level);
    // Of a dense array, or of regions and bricks.
    let checksums = ["checksum", "regions_checksum"].map(|key| report[key].clone());
    checksums.into_iter().chain(levels).collect()
}

/// The same of a plan on the CPU and, with what else a GPU is told, by streams.
fn equal(folder: &Path, plan: &str, gpu: &str, of_levels: &[&str]) -> Vec<serde_json::Value> {
    let cpu = found(folder, &format!("{plan} --backend cpu"), of_levels);
    let stream = found(folder, &format!("{plan} --backend cuda --scheme stream {gpu}"), of_levels);
    assert_eq!(stream, cpu, "{plan} {gpu}");
    cpu
}

pub(super) fn every_region_and_cell_is_asks(folder: &Path) {
    let plans = [
        // Rows that are stored in units of 16 bytes, and rows that are not; tiles of several regions want lattices that take too long here.
        ("mandelbrot -n 128 -g 4 -B 1 --dwell 90 --cell f64", "--block 16x16"),
        ("mandelbrot -n 128 -g 4 -B 2 --dwell 300", ""),
        ("mandelbrot -n 96x101 -g 3 -r 3 -B 1 --dwell 100 --arithmetic plain", "--table coordinates"),
        ("mandelbulb -n 16 -g 1 -B 8 --precision f64 --arithmetic plain", ""),
        // Leaves smaller than a warp are proven where they are settled.
        ("mandelbulb -n 24x20x17 -g 2x3x2 -B 1 --dwell 20", ""),
        ("julibrot -n 8 -g 2 -B 2 --dwell 3", ""),
        ("mandelbulb -n 32 -g 4 -B 2 --dwell 70", "--curve canonical"),
        ("julibrot -n 14x12x9x10 -g 3 -B 1 --dwell 30 --cell i32 --arithmetic plain", ""),
        ("julibrot -n 16 -g 2 -B 1", "--curve hilbert"),
        ("simplex --dim 4 -n 16 -g 2 -r 2 -B 1 --cell f32", ""),
        // Of every label there is a thread's proof; nothing is iterated.
        ("menger --dim 3 -n 27", ""),
        ("cantor --dim 3 -n 20x19x18 -g 3 -r 2 -B 1", ""),
        // Regions that are no cubes of digits, and no parts of one that is left out.
        ("carpet --dim 2 -n 83x84 -g 4 -r 2 -B 1", ""),
        ("diagonal --dim 2 -n 63x61 -g 4 -r 2 -B 1", ""),
        ("mandelbrot -n 70 -g 5 -B 16 --dwell 500 --precision f64 --cell u32", "--block 32x1"),
    ];
    for (plan, gpu) in every(2, plans) {
        let cpu = equal(folder, &format!("{plan} --explore certified"), gpu, WORK);
        let counts = format!("{plan} --explore certified --backend cuda --scheme stream --keep counts");
        let kept = |found: &[serde_json::Value]| found.iter().skip(2).step_by(7).cloned().collect::<Vec<_>>();
        assert_eq!(kept(&self::found(folder, &counts, WORK)), kept(&cpu), "{counts}");
    }
}

pub(super) fn shared_faces_say_what_closed_boxes_do(folder: &Path) {
    let plans = [
        ("mandelbrot -n 256 -g 2 -r 4 -B 8 --dwell 512 --cell u32", "--block 32x1"),
        ("mandelbrot -n 128 -g 4 -B 8 --dwell 300", ""),
        ("mandelbrot -n 70 -g 5 -B 16 --dwell 500 --precision f64 --prove yes", "--block 16x16"),
        ("mandelbrot -n 96x101 -g 3 -r 3 -B 1 --dwell 100 --arithmetic plain", "--table coordinates"),
        // Layers of one cell: the lower and the upper side of a region are the same cells.
        ("mandelbrot -n 9x8 -g 3x4 -r 3x2 -B 1 --dwell 40", ""),
        ("mandelbrot -n 37x109 -g 1 -B 2 --dwell 90 --cell f64", "--curve canonical"),
        ("julibrot -n 12x10x9x8 -g 2 -B 2 --dwell 30 --cell i32", "--curve canonical"),
        ("mandelbrot -n 64x60 -g 2 -r 2x1 -B 4x60 --dwell 60", ""),
        ("mandelbulb -n 24x20x17 -g 2x3x2 -B 2 --dwell 20", ""),
        ("mandelbulb -n 32 -g 4 -B 4 --dwell 70 --cell u8", ""),
        ("cantor -n 81 -g 3 -r 3 -B 1", ""),
        ("menger --dim 3 -n 27", ""),
    ];
    for (plan, gpu) in every(2, plans) {
        equal(folder, &format!("{plan} --explore closed"), gpu, REGIONS);
    }
}

pub(super) fn bricks_hold_the_cells_of_leaves(folder: &Path) {
    let plans = [
        // Rows of a brick that are stored together, and such that are not; several leaves in a piece, and gaps where they are not alike.
        ("mandelbrot -n 96x101 -g 3 -r 3 -B 1 --dwell 100 --explore closed", "--curve canonical"),
        ("mandelbrot -n 128 -g 4 -B 8 --dwell 250 --cell u8 --explore closed", ""),
        ("mandelbrot -n 128 -g 4 -B 2 --dwell 90 --cell f64 --explore certified", "--table coordinates"),
        // Proven level by level, where dense arrays have them proven in tiles.
        ("mandelbulb -n 32 -g 4 -B 2 --dwell 70 --explore certified", ""),
        ("julibrot -n 14x12x9x10 -g 3 -B 1 --dwell 30 --explore certified", "--curve hilbert"),
        ("mandelbulb -n 24x20x17 -g 2x3x2 -B 2 --dwell 20 --cell i32 --explore closed", ""),
        // Without a leaf.
        ("mandelbrot -n 64 --domain 3:4,3:4 --explore closed", ""),
        ("menger --dim 3 -n 27 --explore closed", ""),
    ];
    for (plan, gpu) in every(2, plans) {
        let cpu = equal(folder, &format!("{plan} --keep regions"), gpu, REGIONS);
        assert!(cpu[1].is_string(), "{plan}");
    }
}

/// Regions are read back by lists, which are short where a GPU has little room left: the shortest is what is refused at last.
pub(super) fn regions_are_read_in_the_room_that_is_left(folder: &Path) {
    let run = "run mandelbrot -n 256 -g 8 -B 2 --dwell 40 --explore certified --scheme stream --keep regions --backend cuda --json";
    let within = |bytes: u64| -> Result<serde_json::Value, String> {
        let (out, err) = text(&orthant(folder, run, &[("STANDIN_MEMORY", &bytes.to_string())]));
        serde_json::from_str::<serde_json::Value>(&out)
            .map(|report| report["regions_checksum"].clone())
            .map_err(|_| err)
    };
    let (mut little, mut enough) = (100_000, 4_000_000);
    let all = within(enough).unwrap();
    while enough - little > 512 {
        let between = u64::midpoint(little, enough);
        match within(between) {
            Ok(found) => (enough, _) = (between, assert_eq!(found, all, "{between} bytes")),
            Err(_) => little = between,
        }
    }
    // 256 regions of some thousand.
    let refused = within(little).unwrap_err();
    assert!(refused.contains("regions on their way would take 2.0 KiB on the GPU"), "{refused}");
}

/// Their lists are the tables of ask along the plan's curve: as many codes as on the CPU and by a block per region.
pub(super) fn their_lists_are_tables(folder: &Path) {
    for curve in ["canonical", "morton", "hilbert"] {
        let tables = |run: &str| -> [u64; 3] {
            let plan =
                format!("run mandelbrot -n 256 -g 4 -B 4 --dwell 90 --explore closed --curve {curve} --json {run}");
            let (out, err) = text(&orthant(folder, &plan, &[]));
            let report: serde_json::Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{plan}: {err}"));
            ["table_entries", "table_bytes", "map_bytes"].map(|key| report[key].as_u64().unwrap())
        };
        let [cpu, sbr, stream] =
            ["--backend cpu", "--backend cuda --scheme sbr", "--backend cuda --scheme stream"].map(tables);
        assert!(cpu[0] > 100 && cpu[1] == 4 * cpu[0] && cpu[2] == 0, "{curve}: {cpu:?}");
        assert_eq!((sbr, [stream[0], stream[1]]), (cpu, [cpu[0], cpu[1]]), "{curve}");
        // A byte and a word for every place of the lattices.
        assert_eq!(stream[2], 5 * (16 + 64 + 256 + 1024), "{curve}");
        let more = tables("--backend cuda --scheme stream --table coordinates");
        assert_eq!(more, [cpu[0], 2 * cpu[1], stream[2]], "{curve}");
    }
}

pub(super) fn what_has_no_streams_is_refused(folder: &Path) {
    for (run, why) in [
        ("mandelbrot --explore border --backend cuda", "--explore certified or closed"),
        ("mandelbrot -n 1048576 -g 64 -B 32 --keep counts --backend cuda --explore closed", "a larger B"),
        ("mxm --dim 4 -n 8 --backend cuda --explore closed --prove yes", "takes a warp"),
        ("mandelbrot --backend cpu --explore certified", "the GPU's"),
        ("mandelbrot --backend cuda --explore certified --strategy dp", "a scheme of ask"),
        ("mandelbrot --backend cuda --explore certified --pass level", "no list to settle"),
        ("mandelbrot -n 1024 -g 2 -B 512 --backend cuda --explore certified", "a smaller B"),
        ("mxm --dim 4 -n 8 --backend cuda --explore certified", "takes a warp"),
        ("mandelbrot --backend cuda --explore border --auto-scheme", "--explore certified or closed"),
        ("mandelbrot --backend cuda --strategy dp --auto-scheme", "a scheme of ask"),
    ] {
        let output = orthant(folder, &format!("run {run} --scheme stream"), &[]);
        let (_, err) = text(&output);
        assert_eq!(output.status.code(), Some(2), "{run}: {err}");
        assert!(err.contains(why), "{run}: {err}");
    }
}

/// Streams are chosen among where there are some, by constants of their own, and kept to where they were asked for.
pub(super) fn the_model_knows_them(folder: &Path) {
    let data = empty("streams-learnt");
    let variables = [("ORTHANT_DATA_DIR", data.to_str().unwrap())];
    let json = |arguments: &str| -> serde_json::Value {
        let output = orthant(folder, arguments, &variables);
        let (out, err) = text(&output);
        assert!(output.status.success(), "{arguments}: {err}");
        serde_json::from_str(&out).unwrap()
    };
    let run = |field: &str| json(&format!("run {field} --auto-scheme --backend cuda --json"));
    // Nothing was fitted: the scheme and the mapping are the default.
    let unfitted = run("mandelbrot -n 64");
    let auto = &unfitted["auto_scheme"];
    assert_eq!((&auto["by"], &auto["strategy"], &auto["scheme"]), (&"default".into(), &"ask".into(), &"sbr".into()));
    assert_eq!(unfitted["scheme"], "sbr");

    let rows = data.join("rows.jsonl");
    let rows = rows.to_str().unwrap();
    let sweep = "-a workload=mandelbrot -a backend=cuda -a n=32,64 -a strategy=ask -a g=2,4 -a r=2 -a B=2,4 -a scheme=sbr,stream";
    let whole = "-a workload=mandelbrot -a backend=cuda -a n=16,32,64 -a strategy=exhaustive";
    let mut all = String::new();
    for cases in [sweep, whole] {
        let bench = format!("bench {cases} --min-samples 1 --max-samples 1 -o {rows} --force");
        assert!(orthant(folder, &bench, &variables).status.success());
        all += &std::fs::read_to_string(rows).unwrap();
    }
    std::fs::write(rows, all).unwrap();
    let fit = orthant(folder, &format!("model fit {rows} --json"), &variables);
    let (out, err) = text(&fit);
    let fits: Vec<serde_json::Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let codes: Vec<_> = fits.iter().map(|fit| fit["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["exhaustive", "regions", "stream-faces"], "{err}");
    assert_eq!(fits[2]["variants"][0]["variant"], "ask stream");

    // What each costs decides: launches of one, or of another.
    let path = data.join("fits/cuda-stand-in.json");
    for (cheap, strategy, scheme) in
        [("exhaustive", "exhaustive", "sbr"), ("regions", "ask", "sbr"), ("stream-faces", "ask", "stream")]
    {
        let mut page: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        for entry in page["entries"].as_array_mut().unwrap() {
            let kappa = if entry["code"] == cheap { 1e-6 } else { 1.0 };
            let zero = 0.0;
            entry["constants"] = serde_json::json!({
                "alpha": zero, "nu": zero, "gamma": zero, "lambda": zero, "kappa": kappa, "beta": zero, "delta": zero,
            });
        }
        std::fs::write(&path, page.to_string()).unwrap();
        let chosen = run("mandelbrot -n 64");
        let auto = &chosen["auto_scheme"];
        assert_eq!(
            (&auto["by"], &auto["strategy"], &auto["scheme"]),
            (&"fit".into(), &strategy.into(), &scheme.into())
        );
        assert_eq!((&chosen["strategy"], &chosen["scheme"]), (&auto["strategy"], &auto["scheme"]));
        let asked = run("mandelbrot -n 64 --scheme stream");
        assert_eq!((&asked["scheme"], &asked["auto_scheme"]["by"]), (&"stream".into(), &"fit".into()), "{cheap}");
        assert_ne!(run("mandelbrot -n 64 --strategy ask")["strategy"], "exhaustive");
        // A plain run does what it did.
        let plain = json("run mandelbrot -n 64 --backend cuda --json");
        assert_eq!((&plain["strategy"], &plain["scheme"]), (&"ask".into(), &"sbr".into()));
    }
    let tuned = json("model tune mandelbrot -n 8 --repeat 1 --all --blocks 8x8 --backend cuda --json");
    let tried: Vec<_> = tuned["tried"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| format!("{} {}", entry["strategy"], entry["scheme"]))
        .collect();
    for name in ["\"ask\" \"stream\"", "\"ask\" \"sbr\"", "\"ask\" \"mbr\"", "\"exhaustive\" \"sbr\""] {
        assert!(tried.iter().any(|tried| tried == name), "{name}: {tried:?}");
    }
    let known = run("mandelbrot -n 8");
    let best = &tuned["best"];
    assert_eq!((&known["auto_scheme"]["by"], &known["strategy"]), (&"tuning".into(), &best["strategy"]));
    assert_eq!(known["scheme"], best["scheme"]);
}

pub(super) fn they_are_the_default_where_there_are_some(folder: &Path) {
    let run = |run: &str, memory: &str| -> (serde_json::Value, serde_json::Value) {
        let output = orthant(folder, &format!("run {run} --json"), &[("STANDIN_MEMORY", memory)]);
        let (out, err) = text(&output);
        assert!(output.status.success(), "{run}: {err}");
        let report: serde_json::Value = serde_json::from_str(&out).unwrap();
        (report["scheme"].clone(), serde_json::json!([report["checksum"], report["regions_checksum"]]))
    };
    let much = "100000000";
    let defaults = [
        ("mandelbrot -n 64 -r 2", "stream"),
        ("mandelbulb -n 24 -B 2", "stream"),
        ("julibrot -n 12 -B 2", "stream"),
        ("mxm --dim 4 -n 8 --explore certified", "sbr"),
        ("mandelbulb -n 24 --keep regions", "stream"),
        ("mandelbrot -n 64 --explore border", "sbr"),
    ];
    for (plain, scheme) in every(3, defaults) {
        let gpu = run(&format!("{plain} --backend cuda"), much);
        assert_eq!(gpu, (scheme.into(), run(&format!("{plain} --backend cpu"), much).1), "{plain}");
    }
    // Nobody chose anything: each backend starts from what was measured for it, and the cells are the same.
    for (bare, scheme) in [("mandelbrot -n 64", "sbr"), ("mandelbulb -n 24", "stream"), ("julibrot -n 16", "sbr")] {
        let (gpu, cpu) = (run(&format!("{bare} --backend cuda"), much), run(&format!("{bare} --backend cpu"), much));
        assert_eq!((gpu.0, &gpu.1[0]), (scheme.into(), &cpu.1[0]), "{bare}");
    }
    // It says so, and its words do the same. A tree has the field's own regions.
    let said = |run: &str| text(&orthant(folder, &format!("run {run} --backend cuda -v --force"), &[])).1;
    let line = said("mandelbrot -n 256");
    let options =
        line.lines().find_map(|line| line.strip_prefix("orthant: ")?.split_once(", as measured for mandelbrot"));
    let (options, _) = options.unwrap_or_else(|| panic!("{line}"));
    assert_eq!(options, "-g 16 -r 4 -B 4 --scheme sbr");
    let typed = format!("mandelbrot -n 256 {options}");
    assert!(!said(&typed).contains("as measured"), "{typed}");
    assert_eq!(run("mandelbrot -n 256 --backend cuda", much), run(&format!("{typed} --backend cuda"), much));
    let tree = empty("streams-own").join("own.tree.zarr");
    assert!(!said(&format!("mandelbrot -n 256 -o {}", tree.display())).contains("as measured"));
    for chosen in [
        "--pass level",
        "--strategy dp",
        "--strategy exhaustive",
        "--table coordinates",
        "--ask-loop paper",
        "--insertion atomic",
        "--explore-order paper",
        "--keep counts",
    ] {
        assert_eq!(run(&format!("mandelbrot -n 64 --backend cuda {chosen}"), much).0, "sbr", "{chosen}");
    }
    // There is no room for planes of as many bytes as the array.
    let small = "mandelbrot -n 256 -g 16 -r 4 -B 1 --backend cuda";
    let (room, none) = (run(small, much), run(small, "210000"));
    assert_eq!((room.0, none.0, room.1), ("stream".into(), "sbr".into(), none.1));
    // Nor, beside maps, for the bricks of more leaves than were expected, which the run itself finds out.
    let bricks = "mandelbrot -n 256 -g 32 -r 2 -B 2 --dwell 2000 --domain -0.7453:-0.7451,0.1126:0.1128 --cell u64 --keep regions --backend cuda";
    let (room, none) = (run(bricks, much), run(bricks, "400000"));
    assert_eq!((room.0, none.0, room.1), ("stream".into(), "sbr".into(), none.1));
}
