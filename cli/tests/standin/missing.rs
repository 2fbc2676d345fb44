//! What is not there is said, whatever it is.

use std::path::Path;

use crate::binary::{empty, orthant, text};

pub(super) fn what_is_missing_is_said(folder: &Path) {
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
        (run, ("STANDIN_MEMORY", "20000"), 5, "24.1 KiB on the GPU, which has 19.5 KiB free"),
        (
            run,
            ("STANDIN_FAIL_LAUNCH", "1"),
            1,
            "kernel ask_explore, 16 blocks of 8x8x1 threads: CUDA_ERROR_LAUNCH_FAILED",
        ),
        (
            "model tune mandelbrot -n 64 --backend cuda --dry-run",
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
    // A field's array of 256 KiB is there when a dense array of 512 KiB is asked for: it counts once.
    let planes = "run mxm --dim 4 -n 256x256x2x2 -g 8x8x1x1 -B 8x8x1x1 -r 2x2x1x1 --backend cuda -q";
    for (bytes, code, words) in [
        ("250000", 5, "the field's arrays would take 256.0 KiB"),
        ("600000", 5, "arrays and tables"),
        ("900000", 0, ""),
    ] {
        let output = orthant(folder, planes, &[("STANDIN_MEMORY", bytes)]);
        let (_, err) = text(&output);
        assert!(output.status.code() == Some(code) && err.contains(words), "{bytes}: {err}");
    }
    // A driver without NVRTC. Where the CUDA toolkit is installed, the program finds the toolkit's.
    let bare = empty("driver-only");
    for name in ["libcuda.so.1", "libcuda.so"] {
        std::fs::copy(folder.join("libcuda.so.1"), bare.join(name)).unwrap();
    }
    if text(&orthant(&bare, "doctor", &[])).0.contains("ok   nvrtc") {
        eprintln!("SKIPPED: a driver without NVRTC, since the CUDA toolkit is installed");
    } else {
        let output = orthant(&bare, run, &[]);
        assert_eq!(output.status.code(), Some(4));
        assert!(text(&output).1.contains("libnvrtc.so.13 was in none of"), "{:?}", text(&output));
    }
    // `auto` goes on without, and says why to those who ask.
    for (run, said) in [
        ("run mandelbrot -n 64 --repeat 1", "on the CPU; -v says why no GPU is used"),
        ("run mandelbrot -n 64 --repeat 1 -v", "on the CPU, since the CUDA driver sees no GPU"),
        // No GPU is opened for what the CPU has done by then.
        ("run mandelbrot -n 16", "on the CPU, where all cells together are predicted to take 0."),
    ] {
        let output = orthant(folder, run, &[("STANDIN_DEVICES", "0")]);
        assert!(output.status.success() && text(&output).1.contains(said), "{:?}", text(&output));
    }
}
