//! The cost model against its reference file, through the command that evaluates such files.
#![cfg(feature = "cli")]

use std::path::Path;
use std::process::Command;

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
