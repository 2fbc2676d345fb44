//! The cost model against its reference file, through the command that evaluates such files.
#![cfg(feature = "cli")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

const REFERENCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/cost_model_reference.json");

fn reference() -> Vec<Value> {
    let page: Value = serde_json::from_slice(&std::fs::read(Path::new(REFERENCE)).unwrap()).unwrap();
    page["cases"].as_array().unwrap().clone()
}

/// Every line that `model eval` prints.
fn evaluated() -> Vec<Value> {
    let output = Command::new(env!("CARGO_BIN_EXE_orthant")).args(["model", "eval", REFERENCE]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Where `found` is not `expected`: integers must be equal, other numbers within 1e-9, and no key may be missing.
fn differences(at: &str, expected: &Value, found: &Value, list: &mut Vec<String>) {
    let same = match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => {
            for (key, value) in expected {
                differences(&format!("{at}.{key}"), value, found.get(key).unwrap_or(&Value::Null), list);
            }
            true
        }
        (Value::Array(expected), Value::Array(found)) if expected.len() == found.len() => {
            for (i, (expected, found)) in expected.iter().zip(found).enumerate() {
                differences(&format!("{at}[{i}]"), expected, found, list);
            }
            true
        }
        (Value::Number(expected), Value::Number(found)) => match (expected.as_i64(), found.as_i64()) {
            (Some(expected), Some(found)) => expected == found,
            _ => {
                let (expected, found) = (expected.as_f64().unwrap(), found.as_f64().unwrap());
                (expected - found).abs() <= 1e-9 * expected.abs()
            }
        },
        (expected, found) => expected == found,
    };
    if !same {
        list.push(format!("{at}: {found}, not {expected}"));
    }
}

#[test]
fn every_reference_case_is_met() {
    let (cases, lines) = (reference(), evaluated());
    assert_eq!((cases.len(), lines.len()), (76, 76));
    let mut list = Vec::new();
    for (case, line) in cases.iter().zip(&lines) {
        assert_eq!(case["id"], line["id"]);
        let id = case["id"].as_str().unwrap();
        let (mut expected, found) = (case["outputs"].clone(), &line["outputs"]);
        if case["function"] == "optimum" && !expected["g"].is_null() {
            // Any of the ties will do.
            let triple = Value::Array(["g", "r", "B"].map(|key| found[key].clone()).to_vec());
            assert!(expected["ties"].as_array().unwrap().contains(&triple), "{id}: {triple}");
            for key in ["g", "r", "B"] {
                expected[key] = found[key].clone();
            }
        }
        differences(id, &expected, found, &mut list);
    }
    assert!(list.is_empty(), "{}", list.join("\n"));
}

#[test]
fn the_comparison_sees_differences() {
    let case = serde_json::json!({ "a": [1, 0.5], "b": 2.0 });
    let seen = |found: Value| {
        let mut list = Vec::new();
        differences("", &case, &found, &mut list);
        list.len()
    };
    assert_eq!(seen(serde_json::json!({ "a": [1, 0.5], "b": 2 })), 0);
    assert_eq!(seen(serde_json::json!({ "a": [2, 0.500001], "b": 2 })), 2);
    assert_eq!(seen(serde_json::json!({ "a": [1] })), 2);
}

/// Runs `model` with these arguments and reads the JSON lines.
fn model(arguments: &str) -> Vec<Value> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_orthant"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("ORTHANT_")) {
        command.env_remove(name);
    }
    let output = command.arg("model").args(arguments.split_whitespace()).output().unwrap();
    assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn predictions_are_the_reference() {
    let sweep = model("predict --json -n 2^16 -g 2,8 -r 2 -B 8,64 -P 0.7 -A 16 --lambda 100");
    assert_eq!(sweep.len(), 4);
    let of = |g: u64, b: u64| sweep.iter().find(|row| row["g"][0] == g && row["B"] == b).unwrap();
    let near =
        |found: &Value, expected: f64| assert!((found.as_f64().unwrap() / expected - 1.0).abs() < 1e-12, "{found}");
    near(&of(2, 8)["work"]["Omega"], 10.40644776014202);
    near(&of(8, 64)["time"]["T_SBR"], 1827932.54912);
    near(&of(8, 64)["time"]["S_MBR"], 5.021175791425751);
    near(&of(8, 64)["kernels"]["nodes"], 47939.301376);
    near(&of(8, 64)["olt"]["peak_entries"]["compact"], 41855.614976);
}

#[test]
fn plans_pin_what_they_are_told() {
    let found = model("plan --json -P 0.7 -n 2^30 --objective mbr --lambda 1e6 -g 2 -B 64");
    assert_eq!((&found[0]["r"], &found[0]["feasible"], &found[0]["pays"]), (&8.into(), &10.into(), &true.into()));
    let none = model("plan --json -n 4 --objective work");
    assert_eq!((&none[0]["g"], &none[0]["feasible"]), (&Value::Null, &0.into()));
    // Without -P the density follows g and r.
    let found = model("plan --json -n 2^16 --objective sbr --box-dim 1.485");
    assert_eq!(found[0]["ties"], serde_json::json!([[32, 4, 4], [32, 4, 8]]));
}

#[test]
fn the_largest_sizes_do_not_panic() {
    for arguments in [
        "predict --json -n 2^63 --dim 8 -g 2^20 -r 3 -B 1 --wave active",
        "predict --json -n 2^63 --dim 8 -g 2^20 -r 3 -B 1 --query-ceil inside --surface exact",
        "predict --json -n 2^32 --dim 1 -g 1 -r 2 -B 1 -P 0,1 --wave active",
        "predict --json -n 7 --dim 8 -g 7 -r 2 -B 2^63 --tau-policy raw",
        "plan --json -n 2^63 --dim 8",
        "plan --json -n 1000003x999x10007",
    ] {
        assert!(!model(arguments).is_empty(), "{arguments}");
    }
}

/// A folder of its own for each test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Runs the binary on the CPU, with what it learns kept under `folder`.
fn orthant(folder: &Path, arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_orthant"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("ORTHANT_")) {
        command.env_remove(name);
    }
    command.env("ORTHANT_BACKEND", "cpu").env("ORTHANT_DATA_DIR", folder.join("data")).current_dir(folder);
    command.args(arguments.split_whitespace()).output().unwrap()
}

/// Runs the binary, which must succeed, and reads what it prints as JSON lines.
fn lines(folder: &Path, arguments: &str) -> Vec<Value> {
    let output = orthant(folder, arguments);
    assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A run's report.
fn report(folder: &Path, arguments: &str) -> Value {
    lines(folder, &format!("run -q {arguments} --report last.json --force"));
    serde_json::from_slice(&std::fs::read(folder.join("last.json")).unwrap()).unwrap()
}

/// The one file of a folder of what was learnt.
fn learnt(folder: &Path, kind: &str) -> (PathBuf, Value) {
    let mut files = std::fs::read_dir(folder.join("data").join(kind)).unwrap();
    let path = files.next().unwrap().unwrap().path();
    assert!(files.next().is_none(), "one file per device, and no temporary ones");
    let page = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    (path, page)
}

#[test]
fn repeated_runs_report_every_time_and_the_median() {
    let folder = folder("repeat");
    let once = report(&folder, "mandelbrot -n 100");
    let report = report(&folder, "mandelbrot -n 100 --repeat 3");
    let mut samples: Vec<f64> = report["samples"].as_array().unwrap().iter().map(|t| t.as_f64().unwrap()).collect();
    samples.sort_by(f64::total_cmp);
    assert_eq!((samples.len(), report["seconds"].as_f64().unwrap()), (3, samples[1]));
    assert_eq!((&once["samples"][0], once["samples"].as_array().unwrap().len()), (&once["seconds"], 1));
    // The buffers of one run serve the next, and show nothing of it.
    assert_eq!((&report["checksum"], &report["cells"]), (&once["checksum"], &once["cells"]));
    let sum = |key: &str| -> u64 {
        report["levels"].as_array().unwrap().iter().map(|level| level["cells"][key].as_u64().unwrap()).sum()
    };
    for key in ["explored", "filled", "leaf", "evaluated"] {
        assert_eq!(sum(key), report["cells"][key].as_u64().unwrap());
    }
}

#[test]
fn reports_make_a_fit_and_a_fit_makes_a_scheme() {
    let folder = folder("fit");
    let unfitted = report(&folder, "mandelbrot -n 256 --auto-scheme --curve hilbert");
    assert_eq!(
        (&unfitted["auto_scheme"]["by"], &unfitted["auto_scheme"]["predicted_seconds"]),
        (&"model".into(), &Value::Null)
    );

    let mut reports = String::new();
    for n in [64, 128, 256] {
        let mut runs = vec!["--strategy exhaustive".to_owned()];
        for splits in ["-g 2 -r 2 -B 2", "-g 4 -r 4 -B 2", "-g 16 -r 2 -B 2"] {
            runs.extend(["ask", "dp"].map(|strategy| format!("{splits} --strategy {strategy}")));
            runs.push(format!("{splits} --scheme mbr"));
        }
        for run in runs {
            reports += &format!("{}\n", report(&folder, &format!("mandelbrot -n {n} {run} --repeat 2")));
        }
    }
    std::fs::write(folder.join("runs.jsonl"), reports).unwrap();
    let dry = lines(&folder, "model fit runs.jsonl --json --dry-run");
    assert!(!folder.join("data").exists());
    let fits = lines(&folder, "model fit runs.jsonl --json");
    assert_eq!(fits, dry);
    let fit = &fits[0];
    assert_eq!((fits.len(), &fit["runs"], &fit["held_out"]["n"]), (1, &30.into(), &256.into()));
    assert!(fit["constants"].as_object().unwrap().values().all(|constant| constant.as_f64().unwrap() >= 0.0));
    assert_eq!(fit["sbr_or_mbr"]["pairs"], 9);
    let names: Vec<_> = fit["variants"].as_array().unwrap().iter().map(|variant| &variant["variant"]).collect();
    assert_eq!(names, ["ask mbr", "ask sbr", "dp sbr", "exhaustive"]);

    // Rows of a sweep serve as well.
    let sweep = "bench -a workload=mandelbrot -a backend=cpu -a n=64:256:x2 -a strategy=ask,dp -a g=2,8 -a r=2 -a B=2 \
                 --min-samples 2 --max-samples 2 -o rows.jsonl";
    assert!(orthant(&folder, sweep).status.success());
    let rows = lines(&folder, "model fit rows.jsonl --json --dry-run");
    assert_eq!((rows.len(), &rows[0]["runs"], &rows[0]["workload"]), (1, &12.into(), &"mandelbrot".into()));
    // What counts is the median of the samples; a case that failed is none.
    let text = std::fs::read_to_string(folder.join("rows.jsonl")).unwrap();
    let mut slow = String::new();
    for line in text.lines() {
        let mut row: serde_json::Value = serde_json::from_str(line).unwrap();
        row["samples"]["median"] = (2.0 * row["samples"]["median"].as_f64().unwrap()).into();
        slow += &format!("{row}\n");
    }
    let mut failed: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    (failed["samples"], failed["run"]) = (serde_json::Value::Null, serde_json::Value::Null);
    std::fs::write(folder.join("slow.jsonl"), format!("{slow}{failed}\n")).unwrap();
    std::fs::write(folder.join("failed.jsonl"), format!("{failed}\n")).unwrap();
    let slow = lines(&folder, "model fit slow.jsonl --json --dry-run");
    assert_eq!(slow[0]["runs"], 12);
    for (name, constant) in rows[0]["constants"].as_object().unwrap() {
        let (once, twice) = (constant.as_f64().unwrap(), slow[0]["constants"][name].as_f64().unwrap());
        assert!(once < 1e-13 || (twice / once - 2.0).abs() < 1e-3, "{name}: {once} {twice}");
    }
    let nothing = orthant(&folder, "model fit failed.jsonl");
    assert!(String::from_utf8_lossy(&nothing.stderr).contains("its 1 rows are of cases that failed"));

    // Fitting again takes the place of what was there.
    lines(&folder, "model fit runs.jsonl --json --hold-out 64");
    let (path, page) = learnt(&folder, "fits");
    assert_eq!((&page["version"], page["entries"].as_array().unwrap().len()), (&2.into(), 1));
    assert_eq!(page["entries"][0]["held_out"]["n"], 64);
    let wrong = orthant(&folder, "model fit runs.jsonl --hold-out 100");
    assert_eq!(wrong.status.code(), Some(2));
    assert!(
        String::from_utf8_lossy(&wrong.stderr)
            .contains("--hold-out 100: no report has that size; there are 64, 128, 256")
    );

    let chosen = report(&folder, "mandelbrot -n 256 --auto-scheme");
    let auto = &chosen["auto_scheme"];
    let of = |key: &str| auto[key].as_u64().unwrap();
    assert_eq!(auto["by"], "fit");
    assert!(auto["predicted_seconds"].as_f64().unwrap() > 0.0 && auto["seconds"].as_f64().unwrap() > 0.0);
    assert!(of("g") * of("r") * of("B") <= 256 && of("sampled_cells") <= 1024);
    assert_eq!((&chosen["g"][0], &chosen["r"][1], &chosen["B"]), (&auto["g"], &auto["r"], &auto["B"]));
    assert_eq!(chosen["scheme"], auto["scheme"]);
    let same = format!("mandelbrot -n 256 -g {} -r {} -B {}", auto["g"], auto["r"], auto["B"]);
    assert_eq!(report(&folder, &same)["checksum"], chosen["checksum"]);
    let fixed = report(&folder, "mandelbrot -n 256 --auto-scheme --scheme mbr --strategy dp");
    assert_eq!((&fixed["scheme"], &fixed["auto_scheme"]["scheme"]), (&"mbr".into(), &"mbr".into()));
    // Other workloads have constants of their own, which nobody fitted.
    assert_eq!(report(&folder, "mandelbulb -n 32 --auto-scheme")["auto_scheme"]["by"], "model");

    // A file of another version is neither read nor overwritten.
    let other = std::fs::read_to_string(&path).unwrap().replacen("\"version\": 2", "\"version\": 3", 1);
    std::fs::write(&path, &other).unwrap();
    for command in ["run mandelbrot -n 64 --auto-scheme", "model fit runs.jsonl"] {
        let refused = orthant(&folder, command);
        let message = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(2), "{message}");
        assert!(message.contains("key 'version' is 3") && message.contains(".json"), "{message}");
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), other);
}

#[test]
fn tuning_measures_and_remembers() {
    let folder = folder("tune");
    let found = &lines(&folder, "model tune mandelbrot -n 64 --scheme sbr --repeat 1 --patience 3 --json")[0];
    let tried = found["tried"].as_array().unwrap();
    assert!(tried.len() >= 4 && tried.len() <= found["candidates"].as_u64().unwrap() as usize);
    assert_eq!((&found["first"], &found["auto_scheme"]["g"]), (&tried[0], &tried[0]["g"]));
    assert!(tried.contains(&found["best"]) && found["loss"].as_f64().unwrap() > -1.0);
    let all = &lines(&folder, "model tune mandelbrot -n 64 --repeat 1 --all --json --dry-run")[0];
    assert_eq!(all["tried"].as_array().unwrap().len(), all["candidates"].as_u64().unwrap() as usize);
    // Twice the schemes, since sbr and mbr are both tried.
    assert_eq!(all["candidates"].as_u64().unwrap(), 2 * found["candidates"].as_u64().unwrap());

    let (_, page) = learnt(&folder, "tuned");
    let entry = &page["entries"][0];
    assert_eq!(
        (&entry["g"], &entry["r"], &entry["B"]),
        (&found["best"]["g"], &found["best"]["r"], &found["best"]["B"])
    );
    // The same problem is not looked for again, unless something else is asked for.
    let known = report(&folder, "mandelbrot -n 64 --auto-scheme");
    let auto = &known["auto_scheme"];
    assert_eq!((&auto["by"], &auto["sampled_cells"]), (&"tuning".into(), &0.into()));
    assert_eq!(
        (&auto["g"], &known["r"][0], &auto["B"], &known["scheme"]),
        (&entry["g"], &entry["r"], &entry["B"], &entry["scheme"])
    );
    for other in
        ["--scheme mbr", "--dwell 64", "--strategy dp", "-n 65", "--explore full", "--curve hilbert", "--cell i32"]
    {
        let other = if other.starts_with("-n") { other.to_owned() } else { format!("-n 64 {other}") };
        assert_eq!(
            report(&folder, &format!("mandelbrot {other} --auto-scheme"))["auto_scheme"]["by"],
            "model",
            "{other}"
        );
    }
    let table = orthant(&folder, "model tune mandelbrot -n 64 --repeat 1 --patience 1 --dwell 64");
    assert!(String::from_utf8_lossy(&table.stdout).contains("candidates measured; best g "));
    assert_eq!(learnt(&folder, "tuned").1["entries"].as_array().unwrap().len(), 2);
}
