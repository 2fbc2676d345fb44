//! Runs and sweeps as on a GPU.

use std::path::Path;

use crate::binary::{line, orthant, over, scratch, text};
use crate::scope::every;

/// 2^39 cells as regions and bricks: codes of more than 32 bits, along the curve with the longest decoder. Of a line on which every axis
/// takes another part, so that exchanged axes are found.
pub(super) fn wide_codes_name_the_same_regions(folder: &Path) {
    let source = "abs(y - x / 2) < 0.0001 and abs(z - x / 4) < 0.0001";
    let run = |backend: &str| {
        let arguments =
            ["-n", "2^13", "-g", "8", "-B", "1", "--keep", "regions", "--explore", "certified", "--curve", "hilbert"];
        let output = over(folder, env!("CARGO_BIN_EXE_orthant").as_ref())
            .args(["run", "formula", source, "--dim", "3", "--domain", "0:1,0:1,0:1", "--json", "--backend", backend])
            .args(arguments)
            .output()
            .unwrap();
        let (out, err) = text(&output);
        let report: serde_json::Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{err}"));
        assert!(report["regions_checksum"].is_string(), "{out}");
        ["cells", "regions_checksum"].map(|key| report[key].clone())
    };
    assert_eq!(run("cuda"), run("cpu"));
}

pub(super) fn a_field_of_the_users_own(folder: &Path) {
    let shells = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/kernels/shells.cuh");
    let arguments = format!("run kernel --source {shells} --dim 3 -n 24 -g 2 -B 1 --dwell 8 --backend cuda");
    let (ask, exhaustive) =
        (orthant(folder, &arguments, &[]), orthant(folder, &format!("{arguments} --strategy exhaustive"), &[]));
    assert_eq!(line(&ask, "checksum"), line(&exhaustive, "checksum"));
    // Its scheme is found on the device too, since nothing else can evaluate it.
    let source = format!("kernel --source {shells} --dim 3 -n 24 --dwell 8");
    let auto = orthant(folder, &format!("run {source} --auto-scheme --backend cuda"), &[("STANDIN_MAX_GRID", "7")]);
    assert!(line(&auto, "scheme").contains(", the default: nothing was measured"), "{:?}", text(&auto));
    assert_eq!(line(&auto, "checksum"), line(&ask, "checksum"));
    let tune = format!("model tune {source} --repeat 1 --patience 1 --blocks 8x8 --dry-run --backend cuda");
    assert!(text(&orthant(folder, &tune, &[])).0.contains("candidates measured"));
    let none = orthant(folder, &format!("run {source} --auto-scheme --backend cpu"), &[]);
    assert_eq!((none.status.code(), text(&none).1.contains("--backend cuda")), (Some(4), true), "{:?}", text(&none));
    let broken = scratch("broken.cuh");
    std::fs::write(&broken, "__device__ u32 label(const Real (&x)[DIM], u32 dwell) { return nothing; }\n").unwrap();
    for scheme in ["", "--auto-scheme"] {
        let arguments = format!("run kernel --source {} --backend cuda {scheme}", broken.display());
        let output = orthant(folder, &arguments, &[]);
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output).1.contains("user_source.cuh"), "{:?}", text(&output));
    }
    let none = orthant(folder, "run kernel --backend cuda", &[]);
    assert_eq!((none.status.code(), text(&none).1.contains("--source")), (Some(2), true));
}

/// An array of a file, by streams, by blocks and by dynamic parallelism, and the regions that a pass from the cells up finds.
pub(super) fn an_array_of_a_file(folder: &Path) {
    let path = scratch("cells.bin");
    let cell =
        |x: u32, y: u32, z: u32| if x * x + y * y + z * z < 300 { 7u16 } else { (x == 20) as u16 * (y % 3) as u16 };
    let cells = (0..20).flat_map(|z| (0..24).flat_map(move |y| (0..32).map(move |x| cell(x, y, z))));
    std::fs::write(&path, cells.flat_map(u16::to_le_bytes).collect::<Vec<u8>>()).unwrap();
    let run = |more: &str| -> serde_json::Value {
        let arguments =
            format!("run array --input {} --dtype u16 -n 32x24x20 -g 2x3x2 -r 2 -B 2 {more} --json", path.display());
        let (out, err) = text(&orthant(folder, &arguments, &[]));
        serde_json::from_str(&out).unwrap_or_else(|_| panic!("{arguments}: {err}"))
    };
    let up = run("");
    for how in [
        "",
        "--scheme sbr",
        "--scheme mbr --curve hilbert",
        "--strategy dp",
        "--explore border --scheme sbr",
        "--explore certified --scheme sbr",
        "--explore certified --curve hilbert",
        "--prove no",
    ] {
        let down = run(&format!("--backend cuda --keep regions {how}"));
        assert_eq!(down["backend"], "cuda");
        assert_eq!(down["regions_checksum"], up["regions_checksum"], "{how}");
    }
    assert_eq!(
        run("--backend cuda --strategy exhaustive")["checksum"],
        run("--strategy exhaustive --backend cpu")["checksum"]
    );
}

/// An array that has no room on the GPU goes there in pieces, and is the same to the bit.
pub(super) fn an_array_without_room_goes_in_pieces(folder: &Path) {
    let (path, size) = (scratch("large.bin"), [128u32, 96, 60]);
    let cell =
        |x: u32, y: u32, z: u32| if x * x + y * y + z * z < 9000 { 7u16 } else { (x == 77) as u16 * (y % 3) as u16 };
    let [w, h, d] = size;
    let cells = (0..d).flat_map(|z| (0..h).flat_map(move |y| (0..w).map(move |x| cell(x, y, z))));
    std::fs::write(&path, cells.flat_map(u16::to_le_bytes).collect::<Vec<u8>>()).unwrap();
    let bytes = u64::from(w * h * d) * 2;
    let run = |more: &str, memory: u64| -> serde_json::Value {
        let arguments =
            format!("run array --input {} --dtype u16 -n 128x96x60 -g 4x6x5 -r 2 -B 4 {more} --json", path.display());
        let memory = memory.to_string();
        let (out, err) = text(&orthant(folder, &arguments, &[("STANDIN_MEMORY", &memory)]));
        serde_json::from_str(&out).unwrap_or_else(|_| panic!("{arguments}: {err}"))
    };
    for how in ["", "--curve hilbert --scheme sbr", "--explore closed"] {
        let of = |memory| run(&format!("--backend cuda --keep regions {how}"), memory);
        let (whole, pieces) = (of(bytes * 4), of(bytes + bytes / 8));
        assert_eq!(whole["copied_bytes"], bytes, "{how}");
        assert!(pieces["copied_bytes"].as_u64() >= Some(bytes), "{how}: {}", pieces["copied_bytes"]);
        assert!(pieces["regions_checksum"].is_string());
        assert_eq!(pieces["regions_checksum"], whole["regions_checksum"], "{how}");
        for key in ["total", "filled", "leaf"] {
            assert_eq!(pieces["cells"][key], whole["cells"][key], "{how} {key}");
        }
    }
    let dense = |memory| run("--backend cuda --strategy exhaustive", memory)["checksum"].clone();
    assert_eq!(dense(bytes + bytes / 8), dense(bytes * 4));
}

/// Two GPUs share a run, in regions and as an array, and a whole suite of choices.
pub(super) fn two_gpus_find_what_one_finds(folder: &Path) {
    let two = [("STANDIN_DEVICES", "2")];
    let json = |arguments: &str| -> serde_json::Value {
        let (out, err) = text(&orthant(folder, &format!("{arguments} --backend cuda --json"), &two));
        serde_json::from_str(&out).unwrap_or_else(|_| panic!("{arguments}: {err}"))
    };
    let runs = [
        "run mandelbrot -n 256 -g 8 --curve canonical --keep regions",
        "run mandelbrot -n 256 -g 8 --keep regions",
        "run mandelbrot -n 300x200 -g 5",
        "run mandelbulb -n 48 -g 6 --strategy dp --keep regions",
    ];
    for run in every(2, runs) {
        let (one, both) = (json(run), json(&format!("{run} --device 0,1")));
        assert_eq!(both["device"].as_str().unwrap(), format!("2 x {}", one["device"].as_str().unwrap()));
        assert_eq!((one["busy_seconds"].as_array(), both["busy_seconds"].as_array().map(Vec::len)), (None, Some(2)));
        for key in ["checksum", "regions_checksum"] {
            assert_eq!(one[key], both[key], "{run} {key}");
        }
        // How many cells are looked at before a region is known depends on what is launched together.
        for key in ["filled", "leaf", "evaluated"] {
            assert_eq!(one["cells"][key], both["cells"][key], "{run} {key}");
        }
    }
    // A device that fails leaves its pieces to the other one. By dp each has one piece at a time, and stops.
    for (strategy, stops) in [("ask", false), ("dp", true)] {
        let run = format!("run mandelbrot -n 256 -g 16 --strategy {strategy} --keep regions");
        let shared = format!("{run} --device 0,1 --backend cuda --json");
        let output = orthant(folder, &shared, &[two[0], ("STANDIN_FAIL_LAUNCH", "25")]);
        let (out, err) = text(&output);
        assert!(output.status.success(), "{strategy}: {err}");
        let both: serde_json::Value = serde_json::from_str(&out).unwrap();
        assert_eq!(both["regions_checksum"], json(&run)["regions_checksum"], "{strategy}");
        let said = "a device stopped, and the others did its work, since";
        assert_eq!(err.contains(said) && err.contains("CUDA_ERROR_LAUNCH_FAILED"), stops, "{strategy}: {err}");
    }
    // Without -g there are regions enough for both.
    let output = orthant(folder, "run mandelbrot -n 256 --explore certified --backend cuda --devices all", &two);
    assert!(text(&output).1.contains("so that 2 devices have pieces to share"), "{:?}", text(&output));
    // What a border misses depends on the grid, which stays as it is then.
    let output = orthant(folder, "run mandelbrot -n 256 --backend cuda --devices all", &two);
    assert!(text(&output).1.contains("2 devices share 256 regions of level 0; -g "), "{:?}", text(&output));
    let beyond = orthant(folder, "run mandelbrot -n 64 --backend cuda --device 0-2", &two);
    assert_eq!((beyond.status.code(), text(&beyond).1.contains("2")), (Some(4), true), "{:?}", text(&beyond));
}

pub(super) fn sweeps_run_on_warm_sessions(folder: &Path) {
    let sweep = "bench -a workload=mandelbrot -a n=64 -a dwell=30 -a explore=border -a strategy=exhaustive,ask,dp --min-samples 3 --max-samples 3";
    let rows = |backend: &str| -> Vec<serde_json::Value> {
        let output = orthant(folder, &format!("{sweep} -a backend={backend}"), &[]);
        let (out, err) = text(&output);
        assert!(output.status.success(), "{err}");
        out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let (gpu, cpu) = (rows("cuda"), rows("cpu"));
    assert_eq!((gpu.len(), cpu.len()), (3, 3));
    for (gpu, cpu) in gpu.iter().zip(&cpu) {
        assert_eq!(gpu["samples"]["device"].as_array().unwrap().len(), 3);
        assert_eq!(gpu["samples"]["clock"], "device");
        assert!(gpu["key"].as_str().unwrap().contains("backend=cuda"));
        assert!(gpu["provenance"]["gpu"]["name"].is_string() && cpu["provenance"]["gpu"].is_null());
        // The counts are those of a run that reads its cells back.
        for key in ["total", "filled", "leaf", "evaluated"] {
            assert_eq!(gpu["run"]["cells"][key], cpu["run"]["cells"][key], "{key}");
        }
        let levels = |row: &serde_json::Value| -> Vec<serde_json::Value> {
            row["run"]["levels"].as_array().unwrap().iter().map(|level| level["regions"].clone()).collect()
        };
        assert_eq!(levels(gpu), levels(cpu));
    }
}

/// Under `full` a digit set proves cubes of digits on the device too; other boxes are explored.
pub(super) fn digit_sets_prove_every_region(folder: &Path) {
    let explored = |splits: &str| {
        let path = scratch("proof.json");
        let run = format!("run carpet --dim 2 -n 27 {splits} -B 1 --backend cuda --keep counts --force");
        let output = orthant(folder, &format!("{run} --report {}", path.display()), &[]);
        assert!(output.status.success(), "{:?}", text(&output));
        let report = std::fs::read_to_string(path).unwrap();
        let report: serde_json::Value = serde_json::from_str(&report).unwrap();
        report["cells"]["explored"].as_u64().unwrap()
    };
    assert_eq!(explored("-g 3 -r 3"), 0);
    assert_eq!(explored("-g 2 -r 2"), 0);
}

/// Verdicts of certificates, level by level; no cell is wrong where they alone decide, and no region another where they help.
pub(super) fn proofs_are_those_of_the_cpu(folder: &Path) {
    let report = |run: &str| -> serde_json::Value {
        let path = scratch("proofs.json");
        let output = orthant(folder, &format!("run {run} --force --report {}", path.display()), &[]);
        assert!(output.status.success(), "{:?}", text(&output));
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    };
    let levels = |report: &serde_json::Value, keys: &[&str]| -> Vec<Vec<u64>> {
        let level = |level: &serde_json::Value| keys.iter().map(|key| level[key].as_u64().unwrap()).collect();
        report["levels"].as_array().unwrap().iter().map(level).collect()
    };
    const FOUND: [&str; 4] = ["subdivided", "filled", "leaves", "proven"];
    for field in every(
        3,
        [
            "mandelbrot -n 128 -g 4 -B 1 --dwell 100",
            "mandelbrot -n 96x100 -g 3 -B 1 --dwell 100 --domain -0.75:-0.73,0.1:0.12 --arithmetic plain",
            "mandelbulb -n 40 -g 5 -B 1 --dwell 20",
            "mandelbulb -n 24 -g 3 -B 1 --dwell 20 --precision f64 --arithmetic plain",
            "mandelbrot -n 128 -g 4 -B 1 --dwell 100 --precision f64",
            "mxm --dim 4 -n 12x10x12x10 -g 3 -B 1 --dwell 30",
            "julibrot -n 12 -g 3 -B 1 --dwell 30 --precision f64 --arithmetic plain",
            "julibrot -n 14x12x14x12 -g 3 -B 1 --dwell 30",
        ],
    ) {
        let exhaustive = report(&format!("{field} --strategy exhaustive --backend cpu"));
        let [cpu, gpu] =
            ["cpu", "cuda"].map(|backend| report(&format!("{field} --explore certified --backend {backend}")));
        let found = levels(&cpu, &FOUND);
        assert_eq!((&found, &gpu["checksum"]), (&levels(&gpu, &FOUND), &exhaustive["checksum"]), "{field}");
        assert!(found.iter().all(|level| level[1] == level[3]) && found.iter().any(|level| level[3] > 0), "{found:?}");
        assert_eq!((&cpu["checksum"], &gpu["cells"]["explored"]), (&exhaustive["checksum"], &0.into()));
        let rule = "--explore closed --strategy dp --block 32x2";
        let [unhelped, helped] =
            ["no", "yes"].map(|prove| report(&format!("{field} {rule} --prove {prove} --backend cuda")));
        assert_eq!(levels(&helped, &FOUND[..3]), levels(&unhelped, &FOUND[..3]), "{field}");
        assert_eq!(helped["checksum"], unhelped["checksum"], "{field}");
        let proven =
            levels(&report(&format!("{field} {rule} --prove yes --backend cpu").replace(" --block 32x2", "")), &FOUND);
        assert_eq!(levels(&helped, &FOUND), proven, "{field}");
        assert!(
            proven.iter().any(|level| level[3] > 0) && levels(&unhelped, &["proven"]).concat().iter().all(|&n| n == 0)
        );
    }
}

/// Axes that are not split, down to single cells, and unequal stop sides: cells and counts.
pub(super) fn shapes_are_subdivided_as_on_the_cpu(folder: &Path) {
    // What is computed, and tuning of a GPU.
    let shapes = [
        ("mandelbrot --dwell 40 -n 100x77 -g 5x2 -r 1x3 -B 99x2 --explore closed", ""),
        ("mandelbrot --dwell 40 -n 64 -g 4 -r 2x1 -B 2 --curve canonical", ""),
        ("mandelbrot --dwell 40 -n 64x90 -g 4x3 -r 4x2 -B 1x7 --strategy dp", ""),
        ("mandelbrot --dwell 40 -n 60x64 -g 2x1 -r 1x4 -B 1 --strategy dp", "--dp-launch block"),
        ("mandelbrot --dwell 40 -n 48 -g 3x48 -r 2x1 -B 1", "--table coordinates"),
        ("mandelbulb --dwell 40 -n 24x20x17 -g 3x2x17 -r 2x2x1 -B 1x2x9", ""),
        ("mandelbulb --dwell 40 -n 24 -g 2x3x1 -r 3x1x2 -B 1 --strategy dp", "--dp-launch tail"),
        ("julibrot --dwell 40 -n 12x10x8x5 -g 2x2x1x5 -r 2x2x4x1 -B 1 --scheme mbr --strategy dp", ""),
        ("mandelbulb --dwell 40 -n 24 -g 2x3x1 -r 1x4x2 -B 2x1x3 --scheme mbr --explore full", ""),
        ("cantor --dim 2 -n 81 -g 3 -r 3x1 -B 1x81", ""),
        ("simplex --dim 5 -n 8 -g 2x1x8x2x4 -r 2x2x1x2x1 -B 1", ""),
        ("menger --dim 3 -n 27 -g 3x3x27 -r 3x3x1 -B 1 --curve canonical", ""),
    ];
    for (shape, tuning) in every(2, shapes) {
        let report = |place: &str| -> serde_json::Value {
            let path = scratch("shape.json");
            let run = format!("run {shape} {place} --force --report {}", path.display());
            let output = orthant(folder, &run, &[]);
            assert!(output.status.success(), "{run}: {:?}", text(&output));
            serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
        };
        let (gpu, cpu) = (report(&format!("--backend cuda {tuning}")), report("--backend cpu"));
        let levels = |report: &serde_json::Value| -> Vec<[serde_json::Value; 5]> {
            let of = |level: &serde_json::Value| {
                ["grid", "regions", "subdivided", "filled", "leaves"].map(|key| level[key].clone())
            };
            report["levels"].as_array().unwrap().iter().map(of).collect()
        };
        assert_eq!((levels(&gpu), &gpu["checksum"]), (levels(&cpu), &cpu["checksum"]), "{shape}");
        assert!(gpu["levels"][0]["subdivided"].as_u64() > Some(0), "{shape}: nothing is divided");
    }
}

/// Whatever their width, bricks are the CPU's: of regions that are not all of one size, and of one that is larger than what is copied at once.
pub(super) fn bricks_come_in_the_order_of_regions(folder: &Path) {
    let checksum = |arguments: &str| {
        let output = orthant(folder, &format!("run {arguments} --keep regions --json"), &[]);
        let (out, err) = text(&output);
        let report: serde_json::Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{arguments}: {err}"));
        report["regions_checksum"].as_str().unwrap_or_else(|| panic!("{arguments}: {out}")).to_owned()
    };
    let hows = ["--scheme sbr", "--scheme mbr", "--scheme stream", "--strategy dp"];
    for (i, cell) in ["u8", "u16", "u32", "u64"].into_iter().enumerate() {
        for plan in
            every(2, ["mandelbulb -n 33x20x27 -g 3 -B 2", "mandelbulb -n 24 -g 3 -B 4", "mandelbrot -n 61x7 -g 2 -B 3"])
        {
            let plan = format!("{plan} --dwell 30 --explore closed --cell {cell}");
            let cpu = checksum(&format!("{plan} --backend cpu"));
            for how in every(2, [hows[i], hows[(i + 1) % 4]]) {
                assert_eq!(checksum(&format!("{plan} {how} --backend cuda")), cpu, "{plan} {how}");
            }
        }
    }
    let large = "mandelbrot -n 2100x2001 -g 1 -B 2100 --dwell 3 --explore border --cell u64";
    let cpu = checksum(&format!("{large} --backend cpu"));
    assert_eq!(checksum(&format!("{large} --scheme sbr --backend cuda")), cpu);
}
