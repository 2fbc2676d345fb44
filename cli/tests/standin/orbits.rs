//! Orbits that are tested late, and arithmetic without checks of range, against the plain loop on the CPU.

use std::path::Path;

use crate::binary::{orthant, scratch, text};
use crate::scope::{every, sized};

/// Caps that are no multiple of a block, and those about one.
const CAPS: &str = "1,2,3,4,5,7,8,9,12,20,21,31,33,63,64,65,100,127,128,129,191,512,4095";

/// The caps that ordinary runs test.
const FEW: &str = "1,2,5,8,9,21,33,64,127,129,512";

/// Windows: what a bare run has; about the rim of the disc, where escape is slow; outside from the start, and beyond numbers.
const WINDOWS: [(&str, &str, &[&str]); 3] = [
    (
        "mandelbrot",
        "37x29",
        &[
            "-1.5:0.5,-1:1",
            "-2.000001:-1.999999,-1e-6:1e-6",
            "-3:3,-3:3",
            "-2:-1.99,0:0.01",
            "-0.74365:-0.74363,0.13181:0.13183",
            "-1e30:1e30,-1e30:1e30",
            "-1e300:1e300,-1e300:1e300",
        ],
    ),
    (
        "julibrot",
        "7x6x5x6",
        &[
            "-1.5:1.5,-1.5:1.5,-1.5:0.5,-1:1",
            "-2.5:2.5,-2.5:2.5,-2.5:2.5,-2.5:2.5",
            "1.999999:2.000001,-1e-3:1e-3,-2:2,-0.01:0.01",
            "1.41:1.42,1.41:1.42,-0.1:0.1,-0.1:0.1",
            "-1e30:1e30,-1:1,-1:1,-1:1",
            "-1e300:1e300,-1e300:1e300,-1:1,-1:1",
            "-1:1,-1:1,-1e300:1e300,-1:1",
        ],
    ),
    (
        "mandelbulb",
        "11x9x10",
        &[
            "-1.2:1.2,-1.2:1.2,-1.2:1.2",
            "-1e-15:1e-15,-1e-15:1e-15,-1.3:1.3",
            "-1e-20:1e-20,-1e-25:1e-25,-1:1",
            "1.15:1.16,1.15:1.16,1.15:1.16",
            "-2.5:2.5,-2.5:2.5,-2.5:2.5",
            "-1e30:1e30,-1:1,-1:1",
            "-1e300:1e300,-1e300:1e300,-1e300:1e300",
        ],
    ),
];

pub(super) fn late_tests_find_the_step_of_the_plain_loop(folder: &Path) {
    let caps = sized(CAPS, FEW);
    for (workload, size, windows) in WINDOWS {
        for domain in every(3, windows) {
            // Precision and arithmetic are compiled for; caps are not.
            let sweep = format!(
                "bench -a workload={workload} -a n={size} -a domain={domain} -a precision=f32,f64 -a arithmetic=fused,plain \
                 -a dwell={caps} -a strategy=exhaustive -a sample=corner -a backend=cuda,cpu --min-samples 1 --max-samples 1"
            );
            let output = orthant(folder, &sweep, &[]);
            let (out, err) = text(&output);
            assert!(output.status.success(), "{sweep}: {err}");
            let rows: Vec<serde_json::Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            let (gpu, cpu): (Vec<_>, Vec<_>) = rows.iter().partition(|row| row["case"]["backend"] == "cuda");
            assert_eq!((gpu.len(), cpu.len()), (caps.split(',').count() * 4, gpu.len()));
            for gpu in gpu {
                let key = gpu["key"].as_str().unwrap();
                let here = key.replace("backend=cuda", "backend=cpu");
                let cpu = cpu.iter().find(|row| row["key"] == here.as_str()).unwrap();
                assert!(gpu["run"]["checksum"].is_string(), "{key}");
                assert_eq!(gpu["run"]["checksum"], cpu["run"]["checksum"], "{key}");
            }
        }
    }
}

/// The same of every float, with the hardware's seeds, is a test on a GPU.
pub(super) fn unchecked_arithmetic_is_correctly_rounded(folder: &Path) {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/device/unchecked.cuh");
    let cells = scratch("unchecked.npy");
    let arguments = format!(
        "run kernel --source {source} --dim 2 -n 4001x103 --domain=0:8388608,27:130 --sample corner --dwell 3 \
         --strategy exhaustive --cell u8 --backend cuda --force -o {}",
        cells.display()
    );
    let output = orthant(folder, &arguments, &[]);
    assert!(output.status.success(), "{:?}", text(&output));
    let cells = std::fs::read(cells).unwrap();
    let cells = &cells[cells.len() - 4001 * 103..];
    assert!(cells.iter().all(|&cell| cell == 0));
}
