//! The CUDA backend without a GPU: the real host code and the real kernels, run on the CPU.
//!
//! `tests/standin/` is a stand-in for the driver, for NVRTC and for NVML. The binary finds them as it would find the real ones, so
//! everything between the command line and a kernel's arithmetic is what runs on a GPU. Needs g++ on x86-64 Linux; says
//! so where it cannot run, and fails there if `ORTHANT_REQUIRE_STANDIN` is set.
#![cfg(all(feature = "cuda", feature = "cli", target_os = "linux", target_arch = "x86_64"))]

#[path = "standin/energy.rs"]
mod energy;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// The folder of the stand-in libraries, built once; None with a reason where there is no g++.
fn standin() -> Option<&'static Path> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    let built = BUILT.get_or_init(|| {
        if Command::new("g++").arg("--version").output().is_err() {
            assert!(std::env::var_os("ORTHANT_REQUIRE_STANDIN").is_none(), "g++ is needed and not there");
            println!("SKIPPED: there is no g++ to build the stand-in driver with");
            return None;
        }
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/standin");
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("standin");
        std::fs::create_dir_all(&folder).unwrap();
        let shim = format!("-DSHIM=\"{}\"", sources.join("shim.h").display());
        let libraries =
            [("driver.cpp", "libcuda.so.1"), ("nvrtc.cpp", "libnvrtc.so.13"), ("nvml.cpp", "libnvidia-ml.so.1")];
        for (source, library) in libraries {
            // Under another name first: another test process may be using the library.
            let fresh = folder.join(format!("{library}.{}", std::process::id()));
            let mut compiler = Command::new("g++");
            compiler.args(["-shared", "-fPIC", "-O1", "-std=c++17", "-Wall", &shim, "-o"]).arg(&fresh);
            let status = compiler.arg(sources.join(source)).arg("-ldl").status().unwrap();
            assert!(status.success(), "{source} does not compile");
            std::fs::rename(fresh, folder.join(library)).unwrap();
        }
        Some(folder)
    });
    built.as_deref()
}

/// Runs the binary over the stand-in with `variables` set.
fn orthant(folder: &Path, arguments: &str, variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_orthant"));
    command
        .args(arguments.split_whitespace())
        .env("LD_LIBRARY_PATH", folder)
        .env("ORTHANT_NVRTC_DIR", folder)
        .env("ORTHANT_CUDADEVRT", folder.join("libcuda.so.1"))
        // Of its own per version of the shim, which the cache's keys do not know.
        .env("ORTHANT_CACHE_DIR", folder.join(format!("cache-{:x}", shim_hash())))
        .env("ORTHANT_COLOR", "never");
    variables.iter().for_each(|(name, value)| {
        command.env(name, value);
    });
    command.output().unwrap()
}

fn shim_hash() -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    include_str!("standin/shim.h").hash(&mut hasher);
    hasher.finish()
}

fn text(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// The line of a run's table that starts with `key`.
fn line(output: &Output, key: &str) -> String {
    let (out, err) = text(output);
    let found = out.lines().find(|line| line.starts_with(key));
    found.unwrap_or_else(|| panic!("no line {key} in {out}{err}")).to_owned()
}

/// `verify` of one workload: every curve, scheme, insertion, table and loop, and a coarse sample, against the CPU, to the
/// bit.
macro_rules! verify {
    ($($name:ident),+) => { $(
        #[test]
        fn $name() {
            let Some(folder) = standin() else { return };
            let arguments = concat!("verify --backend cuda --brief ", stringify!($name));
            let output = orthant(folder, arguments, &[]);
            let (out, err) = text(&output);
            assert!(output.status.success(), "{out}{err}");
        }
    )+ };
}
verify!(mandelbrot, mandelbulb, julibrot, mxm, cantor, carpet, menger, simplex, diagonal);

#[test]
fn the_order_of_threads_does_not_matter() {
    let Some(folder) = standin() else { return };
    let run = |seed: &str| {
        let arguments = "run mandelbulb -n 20 -g 2 -B 2 --backend cuda --block 8x4x2 --scheme mbr";
        line(&orthant(folder, arguments, &[("STANDIN_SEED", seed)]), "checksum")
    };
    let first = run("1");
    ["2", "3", "77"].iter().for_each(|seed| assert_eq!(run(seed), first));
}

/// What a fit needs of a GPU's reports, and what the model does with them.
#[test]
fn times_of_a_gpu_are_fitted_and_tuned() {
    let Some(folder) = standin() else { return };
    let data = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("standin-data");
    let _ = std::fs::remove_dir_all(&data);
    std::fs::create_dir_all(&data).unwrap();
    let variables = [("ORTHANT_DATA_DIR", data.to_str().unwrap()), ("ORTHANT_BACKEND", "cuda")];
    let succeed = |arguments: &str| {
        let output = orthant(folder, arguments, &variables);
        let (out, err) = text(&output);
        assert!(output.status.success(), "{arguments}: {out}{err}");
        out
    };
    let report = |name: &str, arguments: &str| -> (String, serde_json::Value) {
        let path = data.join(name);
        succeed(&format!("run mandelbrot -q --repeat 2 --report {} {arguments}", path.display()));
        let page = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        (path.display().to_string(), page)
    };
    let mut files = Vec::new();
    for n in [16, 32, 64] {
        for (i, splits) in ["-g 2 -r 2 -B 2", "-g 8 -r 2 -B 1", "-g 2 -r 4 -B 2"].iter().enumerate() {
            for scheme in ["sbr", "mbr"] {
                let arguments = format!("-n {n} {splits} --scheme {scheme}");
                let (file, page) = report(&format!("{n}-{i}-{scheme}.json"), &arguments);
                assert_eq!((&page["multiprocessors"], &page["multiprocessor_threads"]), (&4.into(), &2048.into()));
                assert_eq!(page["samples"].as_array().unwrap().len(), 2);
                let iterations = |level: &serde_json::Value| level["iterations"].as_u64().unwrap();
                let levels = page["levels"].as_array().unwrap();
                assert_eq!(levels.iter().map(iterations).sum::<u64>(), page["iterations"].as_u64().unwrap());
                files.push(file);
            }
        }
    }
    let fit = succeed(&format!("model fit {}", files.join(" ")));
    assert!(fit.contains("cuda, stand-in, mandelbrot, k 2") && fit.contains("held out: n = 64"), "{fit}");
    assert!(data.join("fits/cuda-stand-in.json").exists());
    let (_, chosen) = report("auto.json", "-n 64 --auto-scheme --block 16x8");
    assert_eq!((&chosen["auto_scheme"]["by"], &chosen["backend"]), (&"fit".into(), &"cuda".into()));
    let tuned = succeed("model tune mandelbrot -n 16 --repeat 1 --patience 2 --scheme sbr --blocks 8x8,16x8 --json");
    let tuned: serde_json::Value = serde_json::from_str(&tuned).unwrap();
    assert!(tuned["best"]["block"].is_array() && tuned["tried"].as_array().unwrap().len() >= 3, "{tuned}");
}

#[test]
fn launch_spaces_beyond_the_grid_go_out_in_parts() {
    let Some(folder) = standin() else { return };
    for arguments in [
        "run julibrot -n 9 --backend cuda --strategy exhaustive --dwell 20",
        "run mandelbrot -n 64 --backend cuda --scheme mbr --max-kernels 3",
        "run mandelbrot -n 64 --backend cuda --keep regions",
        // Stable insertion in more pieces than a launch takes.
        "run mandelbrot -n 128 -g 64 -B 1 --block 32x1 --dwell 20 --backend cuda --insertion stable",
    ] {
        let whole = orthant(folder, arguments, &[]);
        let parts = orthant(folder, arguments, &[("STANDIN_MAX_GRID", "7")]);
        assert_eq!(line(&whole, "cells"), line(&parts, "cells"), "{arguments}");
        assert_eq!(line(&whole, "work"), line(&parts, "work"), "{arguments}");
        let kernels =
            |output: &Output| line(output, "kernels").split_whitespace().nth(1).unwrap().parse::<u64>().unwrap();
        assert!(kernels(&parts) > kernels(&whole), "{arguments}");
    }
}

/// Whatever the launches from the device come to, no region is lost.
#[test]
fn launches_that_fail_lose_nothing() {
    let Some(folder) = standin() else { return };
    for (scheme, launch) in ["sbr", "mbr"].iter().flat_map(|s| ["region", "block", "tail"].map(|l| (s, l))) {
        let arguments =
            format!("run julibrot -n 12 -g 2 -B 1 --backend cuda --strategy dp --scheme {scheme} --dp-launch {launch}");
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

/// Noise: everything is mixed, so that every list and table is too short at first.
#[test]
fn lists_that_are_too_short_are_made_longer() {
    let Some(folder) = standin() else { return };
    let noise = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("noise.cuh");
    let source = "__device__ u32 label(const Real (&x)[DIM], u32) {\n    \
                  u32 bits = u32(i32(x[0] * 1000)) * 2654435761u ^ u32(i32(x[1] * 1000)) * 40503u;\n    \
                  bits = (bits ^ bits >> 15) * 2246822519u;\n    return bits >> 16 & 3;\n}\n";
    std::fs::write(&noise, source).unwrap();
    let run = |more: &str| {
        let arguments = format!(
            "run kernel --source {} --dim 2 -n 256 -g 2 -r 2 -B 1 --backend cuda --precision f64 {more}",
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

#[test]
fn numbers_that_kernels_cannot_hold_are_refused() {
    let Some(folder) = standin() else { return };
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

/// 2^35 cells as regions and bricks: codes of more than 32 bits, along the curve with the longest decoder.
#[test]
fn wide_codes_name_the_same_regions() {
    let Some(folder) = standin() else { return };
    let run = |backend: &str| {
        let arguments = "run diagonal -n 2^18x2^17 -g 64 -B 1 --keep regions --explore border --curve hilbert";
        let output = orthant(folder, &format!("{arguments} --backend {backend}"), &[]);
        line(&output, "cells").split(';').next().unwrap().to_owned()
    };
    assert_eq!(run("cuda"), run("cpu"));
}

#[test]
fn a_field_of_the_users_own() {
    let Some(folder) = standin() else { return };
    let root = env!("CARGO_MANIFEST_DIR");
    let arguments = format!(
        "run kernel --source {root}/examples/kernels/shells.cuh --dim 3 -n 24 -g 2 -B 1 --dwell 8 --backend cuda"
    );
    let (ask, exhaustive) =
        (orthant(folder, &arguments, &[]), orthant(folder, &format!("{arguments} --strategy exhaustive"), &[]));
    assert_eq!(line(&ask, "checksum"), line(&exhaustive, "checksum"));
    // Its scheme is found on the device too, since nothing else can evaluate it.
    let source = format!("kernel --source {root}/examples/kernels/shells.cuh --dim 3 -n 24 --dwell 8");
    let auto = orthant(folder, &format!("run {source} --auto-scheme --backend cuda"), &[("STANDIN_MAX_GRID", "7")]);
    assert!(line(&auto, "scheme").contains("found by the model in "), "{:?}", text(&auto));
    assert_eq!(line(&auto, "checksum"), line(&ask, "checksum"));
    let tune = format!("model tune {source} --repeat 1 --patience 1 --blocks 8x8 --dry-run --backend cuda");
    assert!(text(&orthant(folder, &tune, &[])).0.contains("candidates measured; best g "));
    let none = orthant(folder, &format!("run {source} --auto-scheme --backend cpu"), &[]);
    assert_eq!((none.status.code(), text(&none).1.contains("--backend cuda")), (Some(4), true), "{:?}", text(&none));
    let broken = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("broken.cuh");
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

#[test]
fn what_is_missing_is_said() {
    let Some(folder) = standin() else { return };
    let run = "run mandelbrot -n 64 --backend cuda";
    for (arguments, variable, code, words) in [
        (run, ("STANDIN_VERSION", "12080"), 4, "needs CUDA 13.0 (driver 580 or newer), found CUDA 12.8"),
        (run, ("STANDIN_STUB", "1"), 4, "stub"),
        (run, ("STANDIN_DEVICES", "0"), 4, "sees no GPU"),
        (
            "run mandelbrot -n 64 --backend cuda --device 3",
            ("STANDIN_SEED", "1"),
            4,
            "--device 3: the driver sees 1 in all",
        ),
        ("run mandelbrot -n 4096 --backend cuda", ("STANDIN_MEMORY", "1000000"), 5, "on the GPU"),
        (run, ("STANDIN_MEMORY", "20000"), 5, "on the GPU, which has 19.5 KiB free"),
        (
            run,
            ("STANDIN_FAIL_LAUNCH", "1"),
            1,
            "kernel ask_explore, 16 blocks of 8x8x1 threads: CUDA_ERROR_LAUNCH_FAILED",
        ),
        (
            "run mandelbrot -n 64 --backend cuda --auto-scheme",
            ("STANDIN_FAIL_LAUNCH", "1"),
            1,
            "kernel sample, 16 blocks of 8x8x1 threads: CUDA_ERROR_LAUNCH_FAILED",
        ),
    ] {
        let output = orthant(folder, arguments, &[variable]);
        let (out, err) = text(&output);
        assert_eq!(output.status.code(), Some(code), "{variable:?}: {out}{err}");
        assert!(err.contains(words) && !err.contains("panicked"), "{variable:?}: {err}");
        let doctor = orthant(folder, "doctor", &[variable]);
        assert!(doctor.status.success() && !text(&doctor).1.contains("panicked"));
    }
    // A driver without NVRTC.
    let bare = folder.join("driver-only");
    std::fs::create_dir_all(&bare).unwrap();
    std::fs::copy(folder.join("libcuda.so.1"), bare.join("libcuda.so.1")).unwrap();
    let output = orthant(&bare, run, &[]);
    assert_eq!(output.status.code(), Some(4));
    assert!(text(&output).1.contains("libnvrtc.so.13 was in none of"), "{:?}", text(&output));
    // `auto` goes on without, and says why.
    let output = orthant(folder, "run mandelbrot -n 64", &[("STANDIN_DEVICES", "0")]);
    assert!(output.status.success() && text(&output).1.contains("on the CPU, since the CUDA driver sees no GPU"));
}

#[test]
fn compiled_kernels_are_kept_and_mended() {
    let Some(folder) = standin() else { return };
    let cache = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("kept-{}", std::process::id()));
    let run = || {
        let variables = [("ORTHANT_CACHE_DIR", cache.to_str().unwrap())];
        line(&orthant(folder, "run diagonal --dim 3 -n 16 --backend cuda", &variables), "checksum")
    };
    let files = || std::fs::read_dir(&cache).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    let first = run();
    let kept = files();
    assert_eq!(kept.len(), 1);
    let image = std::fs::read(&kept[0]).unwrap();
    std::fs::write(&kept[0], &image[..image.len() / 2]).unwrap();
    assert_eq!(run(), first);
    assert_eq!((files(), std::fs::read(&kept[0]).unwrap().len()), (kept.clone(), image.len()));
    let before = std::fs::metadata(&kept[0]).unwrap().modified().unwrap();
    assert_eq!(run(), first);
    assert_eq!(std::fs::metadata(&kept[0]).unwrap().modified().unwrap(), before);
    std::fs::remove_dir_all(cache).unwrap();
}

#[test]
fn sweeps_run_on_warm_sessions() {
    let Some(folder) = standin() else { return };
    let sweep = "bench -a workload=mandelbrot -a n=64 -a dwell=30 -a strategy=exhaustive,ask,dp --min-samples 3 --max-samples 3";
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
#[test]
fn digit_sets_prove_cubes() {
    let Some(folder) = standin() else { return };
    let explored = |splits: &str| {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("proof.json");
        let run = format!("run carpet --dim 2 -n 27 {splits} -B 1 --backend cuda --keep counts --force");
        let output = orthant(folder, &format!("{run} --report {}", path.display()), &[]);
        assert!(output.status.success(), "{:?}", text(&output));
        let report = std::fs::read_to_string(path).unwrap();
        let report: serde_json::Value = serde_json::from_str(&report).unwrap();
        report["cells"]["explored"].as_u64().unwrap()
    };
    assert_eq!(explored("-g 3 -r 3"), 0);
    assert!(explored("-g 2 -r 2") > 0);
}
