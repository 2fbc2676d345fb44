//! Energy, from a stand-in for NVML.

use std::path::Path;
use std::process::Output;

use crate::binary::{empty, orthant, text};

/// A sweep whose energy is measured for a fifth of a second per case: its rows and what it said.
fn metered(folder: &Path, arguments: &str, nvml: &str) -> (Vec<serde_json::Value>, Output) {
    let sweep = "bench -a workload=mandelbrot -a n=64 -a dwell=30 --min-samples 1 --max-samples 1 --warm-up 0";
    let output = orthant(folder, &format!("{sweep} {arguments}"), &[("STANDIN_NVML", nvml)]);
    let rows = text(&output).0.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (rows, output)
}

pub(super) fn energy_is_measured_by_both_instruments(folder: &Path) {
    let near = |value: &serde_json::Value, wanted: f64| {
        let value = value.as_f64().unwrap();
        assert!((value - wanted).abs() <= 0.1 * wanted, "{value} instead of {wanted}");
    };
    let of = |part: &str| {
        let (rows, output) = metered(folder, "-a backend=cuda,cpu --energy 0.3", part);
        assert!(output.status.success(), "{part}: {}", text(&output).1);
        let energy = |row: &serde_json::Value| row["energy"].clone();
        assert!(rows[1]["energy"].is_null() && rows[1]["provenance"]["gpu"].is_null(), "a CPU has no meter");
        (energy(&rows[0]), text(&output).1)
    };
    // The card takes 200 W by its counter, 250 W by its power, whatever it does.
    let (both, said) = of("");
    let (seconds, runs) = (both["seconds"].as_f64().unwrap(), both["runs"].as_f64().unwrap());
    assert!((0.3..2.0).contains(&seconds) && runs >= 1.0 && runs.fract() == 0.0, "{both}");
    near(&both["counter_joules"], 200.0 * seconds);
    near(&both["power_joules"], 250.0 * seconds);
    near(&both["joules_per_run"], 200.0 * seconds / runs);
    near(&both["idle_watts"], 250.0);
    near(&both["idle_counter_watts"], 200.0);
    assert!(both["net_joules_per_run"].as_f64().unwrap().abs() < 0.2 * 200.0 * seconds / runs, "{both}");
    let samples = |key: &str| both[key].as_u64().unwrap();
    assert!(samples("power_samples") > 5 && samples("idle_samples") > 5 && samples("counter_steps") > 5, "{both}");
    assert!(both["by"] == "counter" && said.contains(" J"), "{both}");
    let (counter, _) = of("counter");
    assert_eq!((&counter["by"], counter["power_samples"].as_u64()), (&"counter".into(), Some(0)));
    assert!(counter["power_joules"].is_null() && counter["idle_watts"].is_null(), "{counter}");
    let (power, _) = of("power");
    near(&power["joules_per_run"], power["power_joules"].as_f64().unwrap() / power["runs"].as_f64().unwrap());
    assert!(power["by"] == "power" && power["counter_joules"].is_null(), "{power}");
    for (part, why) in [
        ("neither", "NVML tells neither energy nor power of GPU-00010203-0405-0607-0809-0a0b0c0dfeff"),
        ("other", "NVML does not know GPU-00010203-0405-0607-0809-0a0b0c0dfeff: "),
        ("fails", "libnvidia-ml.so.1, does not answer: "),
    ] {
        let (none, said) = of(part);
        assert!(none.is_null() && said.contains("no energy of stand-in, since ") && said.contains(why), "{said}");
    }
    let doctor = orthant(folder, "doctor", &[]);
    assert!(text(&doctor).0.contains("nvml: NVML of driver 580.00"), "{:?}", text(&doctor));
}

pub(super) fn energy_is_reported(folder: &Path) {
    let results = empty("energy");
    let rows = results.join("rows.jsonl");
    let axes = "-a backend=cuda -a n=32,64 -a strategy=exhaustive,ask --energy 0.05";
    let (_, output) = metered(folder, &format!("{axes} -o {}", rows.display()), "");
    assert!(output.status.success(), "{}", text(&output).1);
    let (page, figures) = (results.join("page.md"), results.join("figures"));
    let arguments = format!("report {} --md {} --svg {}", rows.display(), page.display(), figures.display());
    let output = orthant(folder, &arguments, &[]);
    assert!(output.status.success(), "{}", text(&output).1);
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("Energy of a run against n") && page.contains("The least energy of every method"), "{page}");
    let names: Vec<_> = std::fs::read_dir(figures).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert!(names.iter().any(|name| name.to_string_lossy().ends_with("energy-n.svg")), "{names:?}");
}

pub(super) fn energy_needs_its_feature(folder: &Path) {
    let (rows, output) = metered(folder, "-a backend=cuda --energy 3", "");
    let (code, said) = (output.status.code(), text(&output).1);
    assert!(rows.is_empty() && code == Some(4) && said.contains("--energy 3: "), "{said}");
    assert!(said.contains("built without the feature 'nvml'"), "{said}");
    // The command line has the last word over a sweep.
    assert_eq!(metered(folder, "-a backend=cuda --energy 0", "").0[0]["energy"], serde_json::Value::Null);
}
