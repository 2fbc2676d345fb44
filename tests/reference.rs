//! The cost model against every file of cases in `tests/data`.

mod functions;
mod inputs;

use std::path::Path;

use serde_json::Value;

/// The cases of every file, with the file's name.
fn cases() -> Vec<(String, Value)> {
    let folder = Path::new(crate::ROOT).join("tests/data");
    let mut cases = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        // Matrices of other tests lie in a folder beside.
        if path.extension().is_none_or(|ending| ending != "json") {
            continue;
        }
        let page: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        cases.extend(page["cases"].as_array().unwrap().iter().map(|case| (name.clone(), case.clone())));
    }
    cases
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
fn every_case_is_met() {
    let cases = cases();
    assert!(cases.len() >= 76);
    let mut list = Vec::new();
    for (file, case) in &cases {
        let at = format!("{file}: {}", case["id"]);
        let found = functions::evaluate(case).unwrap_or_else(|reason| panic!("{at}: {reason}"));
        let mut expected = case["outputs"].clone();
        if case["function"] == "optimum" && !expected["g"].is_null() {
            // Any of the ties will do.
            let triple = Value::Array(["g", "r", "B"].map(|key| found[key].clone()).to_vec());
            assert!(expected["ties"].as_array().unwrap().contains(&triple), "{at}: {triple}");
            for key in ["g", "r", "B"] {
                expected[key] = found[key].clone();
            }
        }
        differences(&at, &expected, &found, &mut list);
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
