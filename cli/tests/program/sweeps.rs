//! Sweeps as their users meet them: interrupted, gone on with, failed.

use std::collections::BTreeSet;
use std::io::BufRead;
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
        // A CPU has no meter, no launches from the device and no loop but one, and solids, streams and what is chosen for a GPU are too much for it.
        let alone = [
            "energy",
            "solids",
            "bricks",
            "dynamic",
            "loops",
            "passes",
            "settling",
            "streams",
            "faces",
            "windows",
            "defaults",
            "small",
            "stream-curves",
            "stacks",
            "dimensions-evaluated",
            "zhong-caps",
            "paper-blocks",
            "own-files",
        ]
        .contains(&name);
        let twin = name.strip_suffix("-small").map_or(format!("{name}-small"), str::to_owned);
        assert!(alone || names.contains(&twin), "{name} has no {twin}");
        let listed = orthant(&folder, &format!("bench {} --list", path.display()));
        assert!(listed.status.success(), "{}", text(&listed.stderr));
        let listed = text(&listed.stdout);
        let cases: BTreeSet<&str> = listed.lines().collect();
        assert!(cases.len() > 10 && cases.len() == listed.lines().count(), "{name}: {} cases", cases.len());
        let backend = if name.ends_with("-small") { "backend=cpu" } else { "backend=cuda" };
        // No GPU joins cells from the bottom up.
        let there = |case: &str| case.contains(backend) || (name == "own-files" && case.contains("strategy=bottom-up"));
        assert!(cases.iter().all(|case| there(case)), "{name}");
    }
}

/// A sweep of 30 cases that takes about a second.
const LONG: &str = "bench -a workload=mandelbrot -a backend=cpu -a n=500 -a strategy=exhaustive,ask,dp -a dwell=500:509 \
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
    for torn in ["{", &first[..first.len() / 2]] {
        std::fs::write(&path, format!("{whole}{torn}")).unwrap();
        for reader in ["compare rows.jsonl rows.jsonl", "report rows.jsonl -o page.html", "model fit rows.jsonl"] {
            let refused = orthant(&folder, reader);
            assert_eq!(refused.status.code(), Some(2), "{reader}: {}", text(&refused.stderr));
        }
    }
    resumed(&folder, &before);
}

const SMALL: &str =
    "bench -a workload=carpet -a backend=cpu -a dim=2 -a n=9,27 --max-samples 1 --min-samples 1 -o rows.jsonl";

#[test]
fn resuming_destroys_nothing_that_it_did_not_tear() {
    let folder = folder("bench-resume");
    let path = folder.join("rows.jsonl");
    assert!(orthant(&folder, SMALL).status.success());
    let whole = std::fs::read(&path).unwrap();
    let resume = |content: &[u8]| {
        std::fs::write(&path, content).unwrap();
        let output = orthant(&folder, &format!("{SMALL} --resume"));
        (output.status.code(), text(&output.stderr), std::fs::read(&path).unwrap())
    };
    // A whole row that lacks only its end is a row.
    let (code, says, after) = resume(&whole[..whole.len() - 1]);
    assert!(code == Some(0) && says.contains("2 measured already") && !says.contains("torn"), "{says}");
    assert_eq!(after, whole);
    // A torn one goes, which is said.
    let (code, says, after) = resume(&whole[..whole.len() - 2]);
    let first = whole.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    let torn = whole.len() - 2 - first;
    assert_eq!(code, Some(0), "{says}");
    assert!(says.contains(&format!("rows.jsonl: the last line is torn; its {torn} bytes go")), "{says}");
    assert_eq!((&after[..first], rows(&path).len()), (&whole[..first], 2));
    // Whatever is somebody else's stays, byte by byte.
    let rows_then = |end: &[u8]| [&whole[..], end].concat();
    for foreign in [
        b"my notes, without an end".to_vec(),
        b"{\"schema\":1,\"orthant\":\"0.1.0\",\"workload\":\"mandelbrot\"}".to_vec(),
        b"one\ntwo\nthree".to_vec(),
        b"\xff\xfe\x00".to_vec(),
        rows_then(b"and a note"),
        rows_then(b"{}"),
        rows_then(b"{\"schema\":2,\"sweep\":\"later\""),
    ] {
        let (code, says, after) = resume(&foreign);
        assert_eq!(code, Some(2), "{says}");
        assert!(says.contains("rows.jsonl: line ") && says.contains("not a row of `bench`"), "{says}");
        assert_eq!(after, foreign);
    }
}

#[test]
fn a_case_that_is_alone_has_its_name_in_the_lines_of_progress() {
    let folder = folder("bench-alone");
    let one = orthant(&folder, "bench -a workload=cantor -a backend=cpu -a n=9 --min-samples 1 --max-samples 1");
    assert!(text(&one.stderr).contains("[1/1] workload=cantor n=9 backend=cpu: "), "{}", text(&one.stderr));
    let two = orthant(&folder, "bench -a workload=cantor -a backend=cpu -a n=9,27 --min-samples 1 --max-samples 1");
    assert!(text(&two.stderr).contains("[2/2] n=27: "), "{}", text(&two.stderr));
}

#[test]
fn an_empty_sweep_has_no_case() {
    let folder = folder("bench-empty");
    for (name, content) in [("empty.toml", ""), ("base.toml", "[base]\nn = 8\n"), ("group.toml", "[[cases]]\nn = 8\n")]
    {
        std::fs::write(folder.join(name), content).unwrap();
        for list in ["", "--list"] {
            let output = orthant(&folder, &format!("bench {name} {list}"));
            assert_eq!((output.status.code(), &output.stdout[..]), (Some(2), &b""[..]), "{name} {list}");
            assert!(text(&output.stderr).contains("there is no workload; set one"), "{}", text(&output.stderr));
        }
        let listed = orthant(&folder, &format!("bench {name} -a workload=cantor --list"));
        assert_eq!(text(&listed.stdout).lines().count(), 1);
    }
}

#[test]
fn products_are_counted_before_they_are_made() {
    let folder = folder("bench-products");
    let long = "1:100000";
    std::fs::write(
        folder.join("long.toml"),
        format!("[base]\nworkload = 'cantor'\n[axes]\nn = '{long}'\ng = '{long}'\nB = '{long}'\n"),
    )
    .unwrap();
    let list = (2..202).map(|number| number.to_string()).collect::<Vec<_>>().join(",");
    let axes = format!("-a workload=cantor -a n={long} -a g={long} -a B={long}");
    for (arguments, says) in [
        (format!("bench {axes} --list"), "1000000000000000 cases are more than the 1000000 of a sweep"),
        (format!("bench {axes}"), "1000000000000000 cases are more than"),
        ("bench long.toml --list".to_owned(), "long.toml: 1000000000000000 cases are more than"),
        (format!("model plan -g {list} -r {list} -B {list}"), "make 24000000 schemes to try; at most 1000000"),
        (format!("model predict -g {list} -r {list} -B {list}"), "make 8000000 configurations; at most 100000"),
        (format!("model plot landscape -g {list} -r {list} -B {list} -o p.svg"), "make 8000000 schemes to try"),
    ] {
        let start = Instant::now();
        let output = orthant(&folder, &arguments);
        assert_eq!((output.status.code(), &output.stdout[..]), (Some(2), &b""[..]), "{}", text(&output.stderr));
        assert!(text(&output.stderr).contains(says), "{}", text(&output.stderr));
        assert!(start.elapsed() < Duration::from_secs(20), "{arguments:.40}: {:?}", start.elapsed());
    }
    // The first cases are there before the last is made.
    let mut listing = command(&folder, "bench -a workload=cantor -a n=1:1000 -a g=1:1000 --list")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut first = String::new();
    std::io::BufReader::new(listing.stdout.take().unwrap()).read_line(&mut first).unwrap();
    assert_eq!(first, "workload=cantor n=1 g=1\n");
    // Nobody reads the rest.
    assert!(listing.wait().unwrap().success());
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
