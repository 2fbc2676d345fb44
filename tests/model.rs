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
