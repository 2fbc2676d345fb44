//! The cost model on the command line.

use std::path::Path;

use serde_json::Value;

use crate::binary::lines;

/// Runs `model` with these arguments and reads the JSON lines.
fn model(arguments: &str) -> Vec<Value> {
    lines(Path::new(env!("CARGO_TARGET_TMPDIR")), &format!("model {arguments}"))
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
