//! What is learnt of a device: fits, tuned schemes.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::binary::{files, folder, json, lines, orthant, report, text};

/// The one file of a folder of what was learnt.
fn learnt(folder: &Path, kind: &str) -> (PathBuf, Value) {
    let folder = folder.join("data").join(kind);
    let names = files(&folder);
    let [lock, name] = &names[..] else { panic!("one file per device, and no temporary ones: {names:?}") };
    assert_eq!(lock, ".lock");
    let path = folder.join(name);
    let page = json(&path);
    (path, page)
}

#[test]
fn reports_make_a_fit_and_a_fit_makes_a_scheme() {
    let folder = folder("fit");
    let unfitted = report(&folder, "mandelbrot -n 256 --auto-scheme --curve hilbert");
    assert_eq!(
        (&unfitted["auto_scheme"]["by"], &unfitted["auto_scheme"]["predicted_seconds"]),
        (&"default".into(), &Value::Null)
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
    // Three exhaustive runs say three constants and nothing of a fourth size; runs of regions have a fit of their own.
    let [exhaustive, fit] = &fits[..] else { panic!("{fits:?}") };
    assert_eq!(
        (&exhaustive["code"], &exhaustive["runs"], &exhaustive["held_out"]),
        (&"exhaustive".into(), &3.into(), &Value::Null)
    );
    assert_eq!((&fit["code"], &fit["runs"], &fit["held_out"]["n"]), (&"regions".into(), &27.into(), &256.into()));
    assert!(fit["constants"].as_object().unwrap().values().all(|constant| constant.as_f64().unwrap() >= 0.0));
    assert_eq!(fit["sbr_or_mbr"]["pairs"], 9);
    let names: Vec<_> = fit["variants"].as_array().unwrap().iter().map(|variant| &variant["variant"]).collect();
    assert_eq!(names, ["ask mbr", "ask sbr", "dp sbr"]);

    // The model knows the default passes alone, chosen or not; those that were chosen make pairs of their own.
    let runs = crate::binary::rows(&folder.join("runs.jsonl"));
    let passing = |strategy: &str, pass: &str| {
        let these = runs.iter().filter(|run| run["strategy"] == strategy && run["scheme"] == "sbr");
        these.fold(String::new(), |text, run| {
            let mut run = run.clone();
            run["pass"] = pass.into();
            format!("{text}{run}\n")
        })
    };
    std::fs::write(folder.join("chosen.jsonl"), passing("ask", "in-place") + &passing("exhaustive", "level")).unwrap();
    std::fs::write(folder.join("others.jsonl"), passing("ask", "level") + &passing("dp", "deferred")).unwrap();
    let mixed = orthant(&folder, "model fit others.jsonl chosen.jsonl runs.jsonl --json --dry-run");
    let fitted: Vec<Value> = text(&mixed.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        (&fitted[0]["runs"], &fitted[1]["runs"], &fitted[1]["sbr_or_mbr"]["pairs"]),
        (&6.into(), &36.into(), &9.into())
    );
    let left_out = "18 runs whose --pass is not the default of their strategy and scheme, or which have a --balancer";
    assert_eq!(text(&mixed.stderr), format!("orthant: left out {left_out}\n"));
    let none = orthant(&folder, "model fit others.jsonl --dry-run");
    assert_eq!(none.status.code(), Some(2));
    assert_eq!(text(&none.stderr), format!("orthant: nothing to fit: there are only {left_out}\n"));

    // Rows of a sweep serve as well.
    let sweep = "bench -a workload=mandelbrot -a backend=cpu -a n=64:256:x2 -a strategy=ask,dp -a g=2,8 -a r=2 -a B=2 \
                 --min-samples 2 --max-samples 2 -o rows.jsonl";
    assert!(orthant(&folder, sweep).status.success());
    let rows = lines(&folder, "model fit rows.jsonl --json --dry-run");
    assert_eq!((rows.len(), &rows[0]["runs"], &rows[0]["workload"]), (1, &12.into(), &"mandelbrot".into()));
    // What counts is the median of the samples; a case that failed is none.
    let (mut slow, measured) = (String::new(), crate::binary::rows(&folder.join("rows.jsonl")));
    let mut failed = measured[0].clone();
    for mut row in measured {
        row["samples"]["median"] = (2.0 * row["samples"]["median"].as_f64().unwrap()).into();
        slow += &format!("{row}\n");
    }
    (failed["samples"], failed["run"]) = (Value::Null, Value::Null);
    std::fs::write(folder.join("slow.jsonl"), format!("{slow}{failed}\n")).unwrap();
    std::fs::write(folder.join("failed.jsonl"), format!("{failed}\n")).unwrap();
    let slow = lines(&folder, "model fit slow.jsonl --json --dry-run");
    assert_eq!(slow[0]["runs"], 12);
    for (name, constant) in rows[0]["constants"].as_object().unwrap() {
        let (once, twice) = (constant.as_f64().unwrap(), slow[0]["constants"][name].as_f64().unwrap());
        assert!(once < 1e-13 || (twice / once - 2.0).abs() < 1e-3, "{name}: {once} {twice}");
    }
    let nothing = orthant(&folder, "model fit failed.jsonl");
    assert!(text(&nothing.stderr).contains("its 1 rows are of cases that failed"));

    // Fitting again takes the place of what was there.
    lines(&folder, "model fit runs.jsonl --json --hold-out 64");
    let (path, page) = learnt(&folder, "fits");
    let entries = page["entries"].as_array().unwrap();
    assert_eq!((&page["version"], entries.len()), (&3.into(), 2));
    let regions = entries.iter().find(|entry| entry["code"] == "regions").unwrap();
    assert_eq!(regions["held_out"]["n"], 64);
    let wrong = orthant(&folder, "model fit runs.jsonl --hold-out 100");
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stderr).contains("--hold-out 100: no report has that size; there are 64, 128, 256"));

    let chosen = report(&folder, "mandelbrot -n 256 --auto-scheme");
    let auto = &chosen["auto_scheme"];
    let of = |key: &str| auto[key].as_u64().unwrap();
    assert_eq!(auto["by"], "fit");
    assert!(auto["predicted_seconds"].as_f64().unwrap() > 0.0 && auto["seconds"].as_f64().unwrap() > 0.0);
    assert!(of("g") * of("r") * of("B") <= 256 && of("sampled_cells") <= 1024);
    assert_eq!((&chosen["g"][0], &chosen["r"][1], &chosen["B"]), (&auto["g"], &auto["r"], &auto["B"]));
    assert_eq!((&chosen["scheme"], &chosen["strategy"]), (&auto["scheme"], &auto["strategy"]));
    let same = format!("mandelbrot -n 256 -g {} -r {} -B {}", auto["g"], auto["r"], auto["B"]);
    assert_eq!(report(&folder, &same)["checksum"], chosen["checksum"]);
    let fixed = report(&folder, "mandelbrot -n 256 --auto-scheme --scheme mbr --strategy dp");
    assert_eq!((&fixed["scheme"], &fixed["auto_scheme"]["scheme"]), (&"mbr".into(), &"mbr".into()));
    assert_eq!((&fixed["strategy"], &fixed["auto_scheme"]["strategy"]), (&"dp".into(), &"dp".into()));
    // Other workloads have constants of their own, which nobody fitted.
    assert_eq!(report(&folder, "mandelbulb -n 32 --auto-scheme")["auto_scheme"]["by"], "default");

    // Version 2, of 0.1, has the same fits.
    let kept = std::fs::read_to_string(&path).unwrap();
    let of_version = |version: u32| kept.replacen("\"version\": 3", &format!("\"version\": {version}"), 1);
    std::fs::write(&path, of_version(2)).unwrap();
    assert_eq!(report(&folder, "mandelbrot -n 256 --auto-scheme")["auto_scheme"]["by"], "fit");
    // A file of a version that is not known is neither read nor overwritten.
    let other = of_version(4);
    std::fs::write(&path, &other).unwrap();
    for command in ["run mandelbrot -n 64 --auto-scheme", "model fit runs.jsonl"] {
        let refused = orthant(&folder, command);
        let message = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{message}");
        assert!(message.contains("key 'version' is 4") && message.contains(".json"), "{message}");
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), other);
}

/// Constants that say what pays: a region or a cell of exhaustive costs so much.
fn taught(folder: &Path, region: f64, cell: f64) {
    let path = learnt(folder, "fits").0;
    let mut page = json(&path);
    for entry in page["entries"].as_array_mut().unwrap() {
        let [nu, beta] = if entry["code"] == "exhaustive" { [cell, 0.0] } else { [0.0, region] };
        entry["constants"] = serde_json::json!({
            "alpha": 0.0, "nu": nu, "gamma": 0.0, "lambda": 0.0, "kappa": 0.0, "beta": beta, "delta": 0.0,
        });
    }
    std::fs::write(path, page.to_string()).unwrap();
}

#[test]
fn where_nothing_pays_a_run_is_exhaustive() {
    let folder = folder("whole");
    let sweep = "bench -a workload=mandelbrot -a backend=cpu -a n=16,32,64 -a strategy=exhaustive,ask -a g=2,4 -a r=2 -a B=1,2 \
                 --min-samples 1 --max-samples 1 -o rows.jsonl";
    assert!(orthant(&folder, sweep).status.success());
    lines(&folder, "model fit rows.jsonl --json");
    let run = |arguments: &str| {
        let report = report(&folder, &format!("mandelbrot -n 64 --auto-scheme {arguments}"));
        assert_eq!(report["auto_scheme"]["by"], "fit", "{arguments}");
        assert_eq!(report["auto_scheme"]["strategy"], report["strategy"], "{arguments}");
        report
    };
    let plain = report(&folder, "mandelbrot -n 64");
    taught(&folder, 1.0, 1e-9);
    let whole = run("");
    assert_eq!((&whole["strategy"], &whole["cells"]["evaluated"]), (&"exhaustive".into(), &(64 * 64).into()));
    // The scheme is that of a run where none is chosen.
    assert_eq!((&whole["g"], &whole["auto_scheme"]["B"]), (&plain["g"], &plain["B"]));
    let shown = orthant(&folder, "run mandelbrot -n 64 --auto-scheme");
    assert!(text(&shown.stdout).contains("\nscheme   exhaustive found by the fit in "), "{}", text(&shown.stdout));
    // What was chosen is kept to, and so is what only regions have.
    for chosen in ["--strategy ask", "--strategy dp", "--scheme mbr", "--overlay drawn.png"] {
        assert_ne!(run(chosen)["strategy"], "exhaustive", "{chosen}");
    }
    assert_eq!(report(&folder, "mandelbrot -n 64 --auto-scheme --keep counts")["strategy"], "ask");
    // Where dividing pays it is done; nobody who asked for no model gets one.
    taught(&folder, 1e-9, 1.0);
    assert_eq!(run("")["strategy"], "ask");
    assert_eq!((&plain["strategy"], &plain["auto_scheme"]), (&"ask".into(), &Value::Null));
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
    // Twice the schemes, since sbr and mbr are both tried, and no scheme at all.
    assert_eq!(all["candidates"].as_u64().unwrap(), 2 * found["candidates"].as_u64().unwrap() + 1);
    let whole = &all["tried"][1];
    assert_eq!((&whole["strategy"], whole, &all["ended_by"]), (&"exhaustive".into(), &all["exhaustive"], &Value::Null));
    assert_eq!((&found["exhaustive"], &found["ended_by"]), (&Value::Null, &"patience".into()));
    // A search that has no time measures the first alone, and says what it left out.
    let short = "model tune mandelbrot -n 64 --repeat 1 --all --budget 0.000001 --dry-run";
    let one = &lines(&folder, &format!("{short} --json"))[0];
    assert_eq!((one["tried"].as_array().unwrap().len(), &one["ended_by"]), (1, &"budget".into()));
    let said = format!(
        "1 of {0} candidates measured (--budget left out {1})",
        one["candidates"],
        one["candidates"].as_u64().unwrap() - 1
    );
    assert!(text(&orthant(&folder, short).stdout).contains(&said), "{said}");

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
            "default",
            "{other}"
        );
    }
    let table = orthant(&folder, "model tune mandelbrot -n 64 --repeat 1 --patience 1 --dwell 64");
    assert!(text(&table.stdout).contains("candidates measured") && text(&table.stdout).contains("\nbest: "));
    assert_eq!(learnt(&folder, "tuned").1["entries"].as_array().unwrap().len(), 2);
}

/// What only prints does without what it would read or keep; what keeps says what is wrong.
#[test]
fn a_dry_run_needs_no_store() {
    let folder = folder("no-store");
    // A file where the folder should be: not even root can look into it.
    std::fs::write(folder.join("data"), "").unwrap();
    let tune = "model tune mandelbrot -n 32 --repeat 1 --patience 1";
    let dry = orthant(&folder, &format!("{tune} --dry-run"));
    assert_eq!(dry.status.code(), Some(0), "{}", text(&dry.stderr));
    assert!(text(&dry.stderr).contains("without what was fitted, which cannot be read:"), "{}", text(&dry.stderr));
    assert_eq!(orthant(&folder, tune).status.code(), Some(2));
}
