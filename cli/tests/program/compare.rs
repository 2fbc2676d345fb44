//! Result files of `bench`, compared.

use std::path::Path;

use serde_json::Value;

use crate::binary::{folder, orthant, rows, text};

#[test]
fn compare_tells_slower_from_faster() {
    let folder = folder("compare");
    let sweep =
        "bench -a workload=mandelbrot -a backend=cpu -a n=64,128 -a strategy=ask,dp --min-samples 12 -o a.jsonl";
    assert!(orthant(&folder, sweep).status.success());
    // The same samples, and half as long again; their spread is not that of a machine on which much else is going on.
    for (name, factor) in [("b.jsonl", 1.5), ("a.jsonl", 1.0)] {
        let mut text = String::new();
        for mut row in rows(&folder.join("a.jsonl")) {
            for (i, time) in row["samples"]["wall"].as_array_mut().unwrap().iter_mut().enumerate() {
                *time = (1e-3 * (1.0 + 0.01 * (i % 12) as f64) * factor).into();
            }
            text += &format!("{row}\n");
        }
        std::fs::write(folder.join(name), text).unwrap();
    }
    for (arguments, code, says) in [
        ("a.jsonl a.jsonl --fail-above 0%", 0, "the same"),
        ("a.jsonl b.jsonl", 0, "**slower**"),
        ("a.jsonl b.jsonl --fail-above 5%", 3, "1.5000"),
        ("a.jsonl b.jsonl --fail-above 60%", 0, "geometric mean of B / A 1.5000"),
        ("b.jsonl a.jsonl --fail-above 5%", 0, "faster"),
        ("a.jsonl b.jsonl --ignore strategy", 2, ""),
    ] {
        let output = orthant(&folder, &format!("compare {arguments}"));
        assert_eq!(output.status.code(), Some(code), "{arguments}: {}", text(&output.stderr));
        assert!(text(&output.stdout).contains(says), "{arguments}: {}", text(&output.stdout));
    }
    let output = orthant(&folder, "compare a.jsonl b.jsonl --json");
    let comparison: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(comparison["cases"].as_array().unwrap().len(), 4);
    for case in comparison["cases"].as_array().unwrap() {
        assert_eq!(case["verdict"], "slower");
        let (low, high) = (case["interval"][0].as_f64().unwrap(), case["interval"][1].as_f64().unwrap());
        assert!(low <= 1.5 && 1.5 <= high, "{case}");
    }
    // The same question, the same answer.
    assert_eq!(orthant(&folder, "compare a.jsonl b.jsonl --json").stdout, output.stdout);
}

/// Rounds of `case`: each with a time in ms and a factor for its three samples.
fn rounds(case: &Value, times: &[f64], factor: impl Fn(usize) -> f64) -> String {
    let row = |(i, time): (usize, &f64)| {
        let mut row = case.clone();
        let middle = time * 1e-3 * factor(i);
        row["samples"]["wall"] = serde_json::json!([1.3 * middle, 0.99 * middle, middle]);
        format!("{row}\n")
    };
    times.iter().enumerate().map(row).collect()
}

/// One measured case to make up rounds of.
fn measured(folder: &Path) -> Value {
    let one = "bench -a workload=mandelbrot -a backend=cpu -a n=64 --min-samples 1 --max-samples 1 -o one.jsonl";
    assert!(orthant(folder, one).status.success());
    rows(&folder.join("one.jsonl")).remove(0)
}

/// A machine that drifts by more than any difference: rounds that are not paired would show nothing.
const DRIFT: [f64; 5] = [10.0, 12.0, 20.0, 15.0, 11.0];

#[test]
fn interleaved_rounds_are_compared_by_their_ratios() {
    let folder = folder("compare-rounds");
    let case = measured(&folder);
    let write = |name: &str, text: String| std::fs::write(folder.join(name), text).unwrap();
    let noise = [0.98, 1.0, 1.04, 1.08, 1.1];
    write("a.jsonl", rounds(&case, &DRIFT, |_| 1.0));
    write("half.jsonl", rounds(&case, &DRIFT, |_| 1.5));
    write("one.jsonl", rounds(&case, &DRIFT, |_| 1.01));
    write("four.jsonl", rounds(&case, &DRIFT, |_| 1.04));
    write("noisy.jsonl", rounds(&case, &DRIFT, |i| noise[i]));
    let counts = |slower, faster, same| format!("slower {slower}, faster {faster}, the same {same}\n");
    for (arguments, code, cells, last) in [
        ("a.jsonl half.jsonl", 0, "| 5 | 12.0000 | 18.0000 | 1.5000 | 0.00 % | 2.00 % | **slower** |", counts(1, 0, 0)),
        ("half.jsonl a.jsonl", 0, "| 0.6667 | 0.00 % | 2.00 % | faster |", counts(0, 1, 0)),
        ("a.jsonl one.jsonl", 0, "| 1.0100 | 0.00 % | 2.00 % | the same |", counts(0, 0, 1)),
        ("a.jsonl one.jsonl --threshold 0.5%", 0, "| 1.0100 | 0.00 % | 0.50 % | **slower** |", counts(1, 0, 0)),
        ("a.jsonl four.jsonl", 0, "| 1.0400 | 0.00 % | 2.00 % | **slower** |", counts(1, 0, 0)),
        // The noise counts for a case, not the threshold, however low that is.
        ("a.jsonl noisy.jsonl --threshold 0", 0, "| 1.0400 | 12.00 % | 12.00 % | the same |", counts(0, 0, 1)),
        ("a.jsonl noisy.jsonl --fail-above 1%", 0, "| 1.0400 | 12.00 % | 12.00 % | the same |", counts(0, 0, 1)),
        ("a.jsonl half.jsonl --fail-above 5%", 3, "**slower**", counts(1, 0, 0)),
        ("a.jsonl half.jsonl --fail-above 60%", 0, "1 cases, geometric mean of B / A 1.5000, ", counts(1, 0, 0)),
    ] {
        let output = orthant(&folder, &format!("compare --rounds {arguments}"));
        assert_eq!(output.status.code(), Some(code), "{arguments}: {}", text(&output.stderr));
        let table = text(&output.stdout);
        assert!(table.contains(cells) && table.ends_with(&last), "{arguments}: {table}");
    }
    let output = orthant(&folder, "compare --rounds a.jsonl noisy.jsonl --json");
    let comparison: Value = serde_json::from_slice(&output.stdout).unwrap();
    let found = &comparison["cases"][0];
    assert_eq!((&found["rounds"], &found["verdict"]), (&5.into(), &"same".into()));
    for (key, value) in [("median_a", 0.012), ("ratio", 1.04), ("three_mad", 0.12), ("threshold", 0.12)] {
        assert!((found[key].as_f64().unwrap() - value).abs() < 1e-9, "{key} of {found}");
    }
    assert_eq!(comparison["verdicts"]["same"], 1);
    // Nothing of it without the flag.
    let plain = orthant(&folder, "compare a.jsonl half.jsonl");
    assert_eq!(plain.status.code(), Some(2));
    assert!(text(&plain.stderr).contains("a.jsonl: two rows for"));
    write("single.jsonl", rounds(&case, &[1.0], |_| 1.0));
    let plain = text(&orthant(&folder, "compare single.jsonl single.jsonl --json").stdout);
    assert!(["rounds", "three_mad", "verdicts"].iter().all(|key| !plain.contains(key)), "{plain}");
}

#[test]
fn no_round_is_dropped_silently() {
    let folder = folder("compare-missing-rounds");
    let mut case = measured(&folder);
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    let five = rounds(&case, &DRIFT, |_| 1.0);
    write("a.jsonl", &five);
    write("four.jsonl", &rounds(&case, &DRIFT[..4], |_| 1.0));
    // What a killed process leaves is a missing round too.
    write("torn.jsonl", &five[..five.len() - 9]);
    // Rounds of one case in which nothing but the third has other cells.
    case["run"]["checksum"] = "xxh3:0123456789abcdef".into();
    let lines: Vec<&str> = five.lines().collect();
    let other = rounds(&case, &DRIFT, |_| 1.0);
    let other = other.lines().nth(2).unwrap();
    write("cells.jsonl", &format!("{}\n{}\n{other}\n{}\n{}\n", lines[0], lines[1], lines[3], lines[4]));
    (case["samples"], case["run"]) = (Value::Null, Value::Null);
    case["error"] = serde_json::json!({"message": "no memory", "exit": 5});
    write("failed.jsonl", &format!("{}\n{}\n{case}\n{}\n{}\n", lines[0], lines[1], lines[3], lines[4]));
    // Cases that differ in what is ignored.
    let mut dp = rows(&folder.join("a.jsonl")).remove(0);
    dp["case"]["strategy"] = "dp".into();
    write("mixed.jsonl", &format!("{}\n{dp}\n", lines[0]));
    let key = "workload=mandelbrot n=64 backend=cpu";
    for (arguments, code, says) in [
        ("a.jsonl four.jsonl", 2, &[key, "5 rounds in a.jsonl", "4 in four.jsonl"][..]),
        ("four.jsonl a.jsonl", 2, &[key, "4 rounds in four.jsonl", "5 in a.jsonl"]),
        ("a.jsonl torn.jsonl", 2, &["torn.jsonl: line 5: not a row"]),
        ("failed.jsonl a.jsonl", 2, &[key, "failed in round 3 of 5 in failed.jsonl"]),
        ("a.jsonl failed.jsonl --fail-above 5%", 3, &["1 of 1 cases are slower or failed"]),
        ("a.jsonl failed.jsonl", 0, &[]),
        ("a.jsonl cells.jsonl", 0, &["the cells of 1 cases differ"]),
        ("mixed.jsonl mixed.jsonl --ignore strategy", 2, &["mixed.jsonl: two rows for", "--ignore fewer settings"]),
    ] {
        let output = orthant(&folder, &format!("compare --rounds {arguments}"));
        let errors = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments}: {errors}");
        assert!(says.iter().all(|part| errors.contains(part)), "{arguments}: {errors}");
    }
    let table = text(&orthant(&folder, "compare --rounds a.jsonl failed.jsonl").stdout);
    assert!(table.contains("**failed**") && table.ends_with("the same 0, failed 1\n"), "{table}");
}

#[test]
fn a_gate_does_not_pass_for_want_of_samples() {
    let folder = folder("compare-few");
    let case = measured(&folder);
    let write = |name: &str, times: &[f64]| {
        let mut row = case.clone();
        row["samples"]["wall"] = times.into();
        std::fs::write(folder.join(name), format!("{row}\n")).unwrap();
    };
    write("one.jsonl", &[1.0]);
    write("three.jsonl", &[1.0, 1.02, 1.01]);
    write("again.jsonl", &[1.03, 1.01, 1.0]);
    write("hundred.jsonl", &[100.0, 102.0, 101.0]);
    write("four.jsonl", &[1.0, 1.02, 1.01, 1.03]);
    write("four-slow.jsonl", &[2.0, 2.02, 2.01, 2.03]);
    write("five.jsonl", &[1.0, 1.02, 1.01, 1.03, 1.04]);
    write("five-slow.jsonl", &[2.0, 2.02, 2.01, 2.03, 2.04]);
    for (files, code, few, says) in [
        ("three.jsonl hundred.jsonl", 3, true, "**slower**"),
        ("one.jsonl hundred.jsonl", 3, true, "**slower**"),
        ("three.jsonl again.jsonl", 0, true, "the same"),
        ("hundred.jsonl three.jsonl", 0, true, "faster"),
        // Of eight samples no order has a p below 0.01; of ten one has.
        ("four.jsonl four-slow.jsonl", 3, true, "**slower**"),
        ("four.jsonl four-slow.jsonl --alpha 0.05", 3, false, "**slower**"),
        ("five.jsonl five-slow.jsonl", 3, false, "**slower**"),
        ("five.jsonl five.jsonl", 0, false, "the same"),
    ] {
        let output = orthant(&folder, &format!("compare {files} --fail-above 5%"));
        let (table, talk) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.code(), Some(code), "{files}: {talk}");
        assert!(table.contains(says) && table.contains("too few") == few, "{files}: {table}");
        assert_eq!(talk.contains("too few samples for a rank test in 1 of 1 cases"), few, "{files}: {talk}");
    }
    let output = orthant(&folder, "compare three.jsonl hundred.jsonl --json");
    let comparison: Value = serde_json::from_slice(&output.stdout).unwrap();
    let found = &comparison["cases"][0];
    assert_eq!((&found["p"], &found["verdict"], &found["threshold"]), (&Value::Null, &"slower".into(), &0.02.into()));
}

#[test]
fn rows_that_cannot_be_are_refused() {
    let folder = folder("compare-impossible");
    let case = measured(&folder);
    let changes: [(&str, Value, &str); 15] = [
        ("/samples/wall", serde_json::json!([-1.0]), "a time of -1 s"),
        ("/samples/wall", serde_json::json!([0.0]), "a time of 0 s"),
        ("/samples/wall", serde_json::json!([]), "no times"),
        ("/samples/median", 0.into(), "a time of 0 s"),
        ("/samples/clock", "sundial".into(), "'sundial'"),
        ("/samples/clock", "device".into(), "no times"),
        ("/run/k", 99.into(), "key 'k' is 99"),
        ("/run/g", serde_json::json!([]), "key 'g' is []"),
        ("/run/g", "4".into(), "key 'g' is \"4\""),
        ("/run/size", serde_json::json!([16, "16"]), "key 'size' is [16,\"16\"]"),
        ("/run/r", Value::Null, "key 'r' is null"),
        ("/run/B", Value::Null, "key 'B' is null"),
        ("/run/dwell", "many".into(), "\"many\", expected u32"),
        ("/run/r", serde_json::json!([1, 1]), "at least one axis has to be split"),
        ("/run/levels/0/regions", u64::MAX.into(), "level 0"),
    ];
    for (at, value, says) in changes {
        let mut row = case.clone();
        *row.pointer_mut(at).unwrap() = value;
        std::fs::write(folder.join("bad.jsonl"), format!("{case}\n{row}\n")).unwrap();
        for reader in [
            "compare one.jsonl bad.jsonl --fail-above 5%",
            "report bad.jsonl -o page.html",
            "model fit bad.jsonl",
            "bench -a workload=mandelbrot -a backend=cpu -o bad.jsonl --resume",
        ] {
            let output = orthant(&folder, reader);
            let error = text(&output.stderr);
            assert_eq!((output.status.code(), &output.stdout[..]), (Some(2), &b""[..]), "{reader}, {at}: {error}");
            assert!(error.contains("bad.jsonl: line 2: ") && error.contains(says), "{reader}, {at}: {error}");
        }
    }
    assert!(!folder.join("page.html").exists());
}

#[test]
fn cases_are_in_order_and_what_they_share_is_said_once() {
    let folder = folder("compare-order");
    let sweep = "bench -a workload=cantor -a backend=cpu -a n=256,64,1024 -a g=16,4 --min-samples 1 --max-samples 1";
    assert!(orthant(&folder, &format!("{sweep} -o a.jsonl")).status.success());
    for flag in ["", "--rounds"] {
        let table = text(&orthant(&folder, &format!("compare a.jsonl a.jsonl {flag}")).stdout);
        assert!(table.starts_with("workload=cantor backend=cpu\n\n| case |"), "{table}");
        assert_eq!(table.matches("workload").count(), 1);
        let cases: Vec<_> =
            table.lines().skip(4).map_while(|line| line.split(" | ").next()?.strip_prefix("| ")).collect();
        let order = ["n=64 g=4", "n=64 g=16", "n=256 g=4", "n=256 g=16", "n=1024 g=4", "n=1024 g=16"];
        assert_eq!(cases, order, "{table}");
    }
}
