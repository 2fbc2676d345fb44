//! Trees of runs on a GPU, which are written while the rest of a run is read back.

use std::path::Path;

use crate::binary::{empty, orthant, text};
use crate::scope::every;

/// Trees are those of the CPU, by one device and by two, whatever else is written of the run.
pub(super) fn files_are_those_of_the_cpu(folder: &Path) {
    let place = empty("trees");
    let made = |arguments: &str, name: &str| -> (Vec<u8>, serde_json::Value) {
        let [tree, report] = ["tree.zarr.zip", "json"].map(|kind| place.join(format!("{name}.{kind}")));
        let arguments = format!("run {arguments} -q -o {} --report {} --force", tree.display(), report.display());
        let output = orthant(folder, &arguments, &[("STANDIN_DEVICES", "2")]);
        assert!(output.status.success(), "{arguments}: {}", text(&output).1);
        (std::fs::read(tree).unwrap(), serde_json::from_slice(&std::fs::read(report).unwrap()).unwrap())
    };
    let array = place.join("also.npy");
    let runs = [
        "mandelbrot -n 256 -g 8",
        "mandelbrot -n 300x200 -g 5 --curve hilbert --strategy dp",
        "mandelbrot -n 90 -g 3 -r 3 -B 2 --explore border --curve canonical",
        "mandelbulb -n 48 -g 6 --cell u8",
        "mandelbulb -n 40 -g 5 --strategy exhaustive",
    ];
    for run in every(2, runs) {
        let (expected, report) = made(&format!("{run} --backend cpu"), "cpu");
        let devices = ["--device 0", "--device 0,1", &format!("--device 1 -o {}", array.display())].map(str::to_owned);
        for device in devices {
            let (found, other) = made(&format!("{run} --backend cuda {device}"), "cuda");
            assert!(found == expected, "{run} {device}: other bytes");
            assert_eq!(report["regions_checksum"], other["regions_checksum"], "{run} {device}");
            let stages = &other["seconds_by_stage"];
            let stage = |name: &str| stages[name].as_f64().unwrap();
            let sum: f64 = stages.as_object().unwrap().values().map(|seconds| seconds.as_f64().unwrap()).sum();
            assert!(sum - stage("whole") <= stage("whole"), "{run} {device}: {stages}");
            // Only who writes something else makes a whole tree first.
            let alone = !device.contains("npy") && !run.contains("exhaustive");
            assert_eq!(alone, stage("ordering") == 0.0, "{run} {device}: {stages}");
        }
    }
}
