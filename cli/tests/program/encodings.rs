//! Curves as encodings in reports, numbers of figures as CSV, and measured speedups beside the equations.

use std::path::Path;

use serde_json::Value;

use crate::binary::{folder, orthant, rows, text};

/// Rows of a sweep with planted medians, in milliseconds.
fn planted(folder: &Path, axes: &str, millis: impl Fn(&Value) -> f64) {
    let once = "-a backend=cpu --warm-up 0 --min-samples 1 --max-samples 1 -o once.jsonl --force";
    let measured = orthant(folder, &format!("bench -a workload=mandelbrot {axes} {once}"));
    assert!(measured.status.success(), "{}", text(&measured.stderr));
    let planted = rows(&folder.join("once.jsonl")).into_iter().map(|mut row| {
        let seconds = millis(&row["case"]) / 1e3;
        row["samples"]["median"] = seconds.into();
        row["samples"]["wall"] = vec![seconds].into();
        format!("{row}\n")
    });
    std::fs::write(folder.join("rows.jsonl"), planted.collect::<String>()).unwrap();
}

#[test]
fn curves_have_a_row_each_with_their_locality_and_a_sentence() {
    let folder = folder("encodings");
    planted(&folder, "-a n=64,128 -a curve=canonical,hilbert,morton", |case| match case["curve"].as_str().unwrap() {
        "canonical" => 10.0,
        "hilbert" => 12.5,
        _ => 10.2,
    });
    let compared = orthant(&folder, "curves compare mandelbrot -n 128 --json -q");
    std::fs::write(folder.join("curves.jsonl"), &compared.stdout).unwrap();
    let output = orthant(&folder, "report rows.jsonl --curves curves.jsonl --md page.md --csv numbers --svg figures");
    assert!(output.status.success(), "{}", text(&output.stderr));

    let page = std::fs::read_to_string(folder.join("page.md")).unwrap();
    let sentence = "Of the curves canonical was the fastest in 1 of 1 fields, each at its greatest size; at worst hilbert takes 25 % \
                    more than the fastest (k = 2, n = 128) and morton 2 % (k = 2, n = 128).";
    assert!(page.contains(sentence), "{page}");
    let table = page.split("### Curves as encodings of the tables\n").nth(1).unwrap();
    let lines: Vec<&str> = table.lines().filter(|line| line.starts_with('|')).take(5).collect();
    assert!(lines[0].contains("| over the fastest | curve | mean step |"), "{}", lines[0]);
    let known: Value = serde_json::from_str(text(&compared.stdout).lines().nth(2).unwrap()).unwrap();
    let step = format!("| 1.250 | hilbert | {:.2} |", known["mean_step"].as_f64().unwrap());
    assert!(known["curve"] == "hilbert" && lines[3].contains(&step), "{} has not {step}", lines[3]);

    // Every figure has its numbers.
    let times = std::fs::read_to_string(folder.join("numbers/03-encodings-time.csv")).unwrap();
    let numbers: Vec<&str> = times.lines().collect();
    assert_eq!(
        numbers[..3],
        ["curve,\"n, cells per axis\",time (ms),from,to", "canonical,64,10,,", "canonical,128,10,,"]
    );
    let stems = |folder: &Path| {
        let mut stems: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
        stems.sort();
        stems.iter().map(|path| path.file_stem().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(stems(&folder.join("numbers")), stems(&folder.join("figures")));

    let wrong = orthant(&folder, "report rows.jsonl --curves rows.jsonl --md other.md");
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stderr).contains("rows.jsonl: line 1: not a line of `orthant curves compare --json`"));
    assert!(!folder.join("other.md").exists());
}

#[test]
fn packages_name_the_same_regions() {
    let folder = folder("encodings-packages");
    for (field, packages) in [
        ("mandelbrot -n 256", &["zorder", "hilbert_2d"][..]),
        ("mandelbulb -n 32 -g 8 -B 4", &["zorder"]),
        ("julibrot -n 8 -g 4 -B 2", &["zorder"]),
    ] {
        let output = orthant(&folder, &format!("curves compare {field} --curves morton,hilbert --json -q"));
        let lines = text(&output.stdout);
        let rows: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let beside = rows.iter().map(|row| &row["reference"]).filter(|beside| !beside.is_null());
        let named: Vec<_> = beside.map(|beside| (beside["name"].as_str().unwrap(), beside["agrees"].clone())).collect();
        assert_eq!(named, packages.iter().map(|name| (*name, true.into())).collect::<Vec<_>>(), "{field}");
    }
}

#[test]
fn measured_speedups_stand_beside_the_equations() {
    let folder = folder("encodings-measured");
    planted(&folder, "-a n=64,128 -a strategy=exhaustive,ask -a g=2,4 -a r=2 -a B=4", |case| {
        match (case["strategy"].as_str(), case["g"].as_str()) {
            (Some("ask"), Some("4")) => 2.0,
            (Some("ask"), _) => 4.0,
            _ => 8.0,
        }
    });
    let drawn = orthant(&folder, "model plot fig4 --measured rows.jsonl -o fig4.svg");
    assert!(drawn.status.success(), "{}", text(&drawn.stderr));
    let picture = std::fs::read_to_string(folder.join("fig4.svg")).unwrap();
    assert_eq!(picture.matches("SBR measured").count(), 12, "a curve in every panel");
    let beside = "measured, g, r and B at the greatest n: mandelbrot, k = 2, dwell 512, f32 fused, u16 on ";
    assert!(picture.contains(beside), "{picture:.3000}");

    // Two machines are not one curve, and without exhaustive there is no speedup.
    let lines = std::fs::read_to_string(folder.join("rows.jsonl")).unwrap();
    let device = rows(&folder.join("rows.jsonl"))[0]["run"]["device"].to_string();
    let other = lines.replace(&format!("\"device\":{device}"), "\"device\":\"another\"");
    std::fs::write(folder.join("two.jsonl"), lines.clone() + &other).unwrap();
    let alone: String =
        lines.lines().filter(|line| line.contains("\"strategy\":\"ask\"")).map(|line| format!("{line}\n")).collect();
    std::fs::write(folder.join("alone.jsonl"), alone).unwrap();
    std::fs::write(folder.join("none.jsonl"), "").unwrap();
    for (file, why) in [
        ("two", "give those of one field and one machine"),
        ("alone", "no size has a run of exhaustive and one of ask"),
        ("none", "paper-ask.toml"),
    ] {
        let refused = orthant(&folder, &format!("model plot fig4 --measured {file}.jsonl -o no.svg"));
        let said = text(&refused.stderr);
        assert!(
            refused.status.code() == Some(2)
                && said.contains(&format!("--measured {file}.jsonl"))
                && said.contains(why),
            "{said}"
        );
        assert!(!folder.join("no.svg").exists());
    }
}
