//! Sweeps as their users meet them: interrupted, gone on with, failed.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::binary::{command, folder, orthant, rows, sweeps, text};

fn keys(path: &Path) -> Vec<String> {
    rows(path).iter().map(|row| row["key"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_sweeps_of_the_repository_have_cases() {
    let folder = folder("sweeps");
    let names: BTreeSet<String> =
        sweeps().iter().map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    assert!(names.len() >= 12, "{names:?}");
    for path in sweeps() {
        let name = path.file_stem().unwrap().to_str().unwrap();
        // A CPU has no meter, no launches from the device and no loop but one, and solids are too much for it.
        let alone = ["energy", "solids", "dynamic", "loops"].contains(&name);
        let twin = name.strip_suffix("-small").map_or(format!("{name}-small"), str::to_owned);
        assert!(alone || names.contains(&twin), "{name} has no {twin}");
        let listed = orthant(&folder, &format!("bench {} --list", path.display()));
        assert!(listed.status.success(), "{}", text(&listed.stderr));
        let listed = text(&listed.stdout);
        let cases: BTreeSet<&str> = listed.lines().collect();
        assert!(cases.len() > 10 && cases.len() == listed.lines().count(), "{name}: {} cases", cases.len());
        let backend = if name.ends_with("-small") { "backend=cpu" } else { "backend=cuda" };
        assert!(cases.iter().all(|case| case.contains(backend)), "{name}");
    }
}

/// A sweep of 30 cases that takes some seconds.
const LONG: &str = "bench -a workload=mandelbrot -a backend=cpu -a n=700 -a strategy=exhaustive,ask,dp -a dwell=500:509 \
                    --min-samples 4 --max-samples 4 -o rows.jsonl";

/// Starts it and waits until it has written some rows.
fn begun(folder: &Path) -> Child {
    let path = folder.join("rows.jsonl");
    let mut child = command(folder, LONG).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    while std::fs::read_to_string(&path).unwrap_or_default().lines().count() < 3 {
        assert!(start.elapsed() < Duration::from_secs(60) && child.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(2));
    }
    child
}

/// Goes on with it and checks that every case is there once.
fn resumed(folder: &Path, before: &[String]) {
    let output = orthant(folder, &format!("{LONG} --resume"));
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains(&format!("{} measured already", before.len())));
    let after = keys(&folder.join("rows.jsonl"));
    let listed = text(&orthant(folder, &format!("{LONG} --list")).stdout);
    assert_eq!(after.len(), 30);
    assert_eq!(after.iter().map(String::as_str).collect::<BTreeSet<_>>(), listed.lines().collect());
    assert_eq!(&after[..before.len()], before);
}

#[test]
#[cfg_attr(not(unix), ignore = "needs signals")]
fn an_interrupted_sweep_is_gone_on_with() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let folder = folder(&format!("bench-{signal}"));
        let child = begun(&folder);
        std::process::Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status().unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{}", text(&output.stderr));
        let written = rows(&folder.join("rows.jsonl")).len();
        assert!((3..30).contains(&written), "{written} rows");
        assert!(text(&output.stderr).contains(&format!("interrupted after {written} rows")));
        resumed(&folder, &keys(&folder.join("rows.jsonl")));
    }
}

#[test]
fn a_killed_sweep_is_gone_on_with() {
    let folder = folder("bench-kill");
    let mut child = begun(&folder);
    child.kill().unwrap();
    child.wait().unwrap();
    let path = folder.join("rows.jsonl");
    let whole = std::fs::read_to_string(&path).unwrap();
    let whole = &whole[..=whole.rfind('\n').unwrap()];
    std::fs::write(&path, whole).unwrap();
    let (before, first) = (keys(&path), whole.lines().next().unwrap());
    // The worst that a killed process can leave: a line without its end.
    for torn in ["{", &first[..first.len() / 2], first] {
        std::fs::write(&path, format!("{whole}{torn}")).unwrap();
        let listed = orthant(&folder, "compare rows.jsonl rows.jsonl");
        assert_eq!(listed.status.code(), Some(if torn == first { 2 } else { 0 }), "{}", text(&listed.stderr));
    }
    resumed(&folder, &before);
}

#[test]
fn an_output_is_not_overwritten_unless_forced() {
    let folder = folder("bench-force");
    let sweep =
        "bench -a workload=carpet -a backend=cpu -a dim=2 -a n=27 --max-samples 2 --min-samples 1 -o rows.jsonl";
    assert!(orthant(&folder, sweep).status.success());
    let first = std::fs::read(folder.join("rows.jsonl")).unwrap();
    assert_eq!(orthant(&folder, sweep).status.code(), Some(2));
    assert_eq!(std::fs::read(folder.join("rows.jsonl")).unwrap(), first);
    assert!(orthant(&folder, &format!("{sweep} --force")).status.success());
    assert_eq!(rows(&folder.join("rows.jsonl")).len(), 1);
}

#[test]
fn rows_say_everything_and_failures_are_rows() {
    let folder = folder("bench-rows");
    let output = orthant(
        &folder,
        "bench -a workload=mandelbrot -a backend=cpu -a n=64 -a g=4,128 --warm-up 0 --min-samples 3 --max-samples 3",
    );
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("1 of 2 cases failed"));
    let rows: Vec<Value> = text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let [good, bad] = &rows[..] else { panic!("{} rows", rows.len()) };
    assert_eq!(good["schema"], 1);
    assert_eq!(good["key"], "workload=mandelbrot n=64 g=4 backend=cpu");
    assert_eq!(good["case"]["g"], "4");
    assert_eq!(good["samples"]["wall"].as_array().unwrap().len(), 3);
    assert_eq!(good["samples"]["device"].as_array().unwrap().len(), 0);
    assert_eq!((&good["run"]["schema"], &good["run"]["size"]), (&1.into(), &serde_json::json!([64, 64])));
    assert!(good["error"].is_null() && bad["run"].is_null() && bad["samples"].is_null());
    let date = good["provenance"]["date"].as_str().unwrap();
    assert!(date.starts_with("20") && date.ends_with('Z') && good["provenance"]["gpu"].is_null());
    assert!(bad["error"]["message"].as_str().unwrap().contains("-g 128"));
    assert_eq!(bad["error"]["exit"], 2);
}
