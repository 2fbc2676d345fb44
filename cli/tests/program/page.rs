//! Result files of `bench` as a page.

use std::path::Path;

use serde_json::{Value, json};

use crate::binary::{files, folder, orthant, rows, sweeps, text};

/// Checks that tags open and close in order.
fn balanced(html: &str) {
    const VOID: [&str; 2] = ["meta", "br"];
    let mut open: Vec<&str> = Vec::new();
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        let end = start + rest[start..].find('>').expect("a tag ends");
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        let name = tag.trim_start_matches('/').split_whitespace().next().unwrap_or_default().trim_end_matches('/');
        match tag {
            _ if tag.starts_with('!') || tag.ends_with('/') || VOID.contains(&name) => {}
            _ if tag.starts_with('/') => assert_eq!(open.pop(), Some(name), "</{name}> before {rest:.80}"),
            _ => open.push(name),
        }
        if matches!(tag, "style" | "script") {
            rest = &rest[rest.find(&format!("</{tag}>")).expect("it ends")..];
        }
    }
    assert_eq!(open, [""; 0]);
}

#[test]
fn the_small_sweeps_have_their_figures() {
    let folder = folder("report");
    let expected = [
        ("paper-ask-small", &["time-n", "speedup-n", "time-g", "time-B", "landscape-ask-sbr", "density"][..]),
        ("nvidia-blog-small", &["speedup-dwell", "throughput-dwell", "time-n"]),
        ("zhong-small", &["throughput-n", "throughput-dwell"]),
        ("encodings-small", &["encodings-time", "encodings-bytes"]),
        ("dimensions-small", &["dimensions-simplex", "dimensions-time"]),
        ("throttle-small", &["throttle-max-kernels"]),
    ];
    for (name, figures) in expected {
        let path = sweeps().into_iter().find(|path| path.file_stem().unwrap() == name).unwrap();
        let once = "--warm-up 0 --min-samples 1 --max-samples 1";
        let measured = orthant(&folder, &format!("bench {} {once} -o {name}.jsonl", path.display()));
        assert!(measured.status.success(), "{name}: {}", text(&measured.stderr));
        let output = orthant(&folder, &format!("report {name}.jsonl -o {name}.html --svg {name} --md {name}.md"));
        assert!(output.status.success(), "{name}: {}", text(&output.stderr));
        let drawn = files(&folder.join(name));
        for figure in figures {
            assert!(drawn.iter().any(|file| file.contains(figure)), "{name} lacks {figure}: {drawn:?}");
        }
        let html = std::fs::read_to_string(folder.join(format!("{name}.html"))).unwrap();
        balanced(&html);
        assert_eq!(html.matches("<svg").count(), drawn.len());
        assert_eq!(html.matches("<desc>").count(), drawn.len());
        assert_eq!(html.matches("<p class=\"found\">").count(), 1, "{name} has one experiment");
        let captions = html.matches(".</b> ").count();
        assert_eq!((html.matches("<figcaption><b>").count(), captions), (drawn.len(), drawn.len()), "{name}");
        assert!(!html.contains("Bars:"), "{name}: one sample has no spread");
        for outside in ["src=", "href=", "@import", "url("] {
            assert!(!html.contains(outside), "{name}.html has {outside}");
        }
        let titles: Vec<&str> =
            html.split("<figcaption><b>").skip(1).map(|rest| rest.split_once('<').unwrap().0).collect();
        let told_apart: std::collections::BTreeSet<_> = titles.iter().collect();
        assert_eq!(told_apart.len(), titles.len(), "{name} has two figures of one title: {titles:?}");
        let markdown = std::fs::read_to_string(folder.join(format!("{name}.md"))).unwrap();
        assert_eq!(markdown.matches("![").count(), drawn.len());
        for file in drawn {
            balanced(&std::fs::read_to_string(folder.join(name).join(file)).unwrap());
        }
    }
    let again = orthant(&folder, "report zhong-small.jsonl -o zhong-small.html");
    assert_eq!(again.status.code(), Some(2), "{}", text(&again.stderr));
}

/// Rows of a sweep whose times are given: its cases are run once, and what they took is replaced.
fn timed(folder: &Path, axes: &str, millis: impl Fn(usize) -> Vec<f64>) {
    let once = "-a backend=cpu --warm-up 0 --min-samples 1 --max-samples 1";
    let measured = orthant(folder, &format!("bench -a workload=mandelbrot {axes} {once} -o once.jsonl --force"));
    assert!(measured.status.success(), "{}", text(&measured.stderr));
    let timed = |(i, mut row): (usize, Value)| {
        let seconds: Vec<f64> = millis(i).into_iter().map(|ms| ms / 1e3).collect();
        let mut sorted = seconds.clone();
        sorted.sort_by(f64::total_cmp);
        row["samples"]["median"] = json!(sorted[sorted.len() / 2]);
        row["samples"]["wall"] = json!(seconds);
        format!("{row}\n")
    };
    let rows: String = rows(&folder.join("once.jsonl")).into_iter().enumerate().map(timed).collect();
    std::fs::write(folder.join("rows.jsonl"), rows).unwrap();
    let output = orthant(folder, "report rows.jsonl -o page.html --md page.md --svg figures --force");
    assert!(output.status.success(), "{}", text(&output.stderr));
}

/// The lines of a page's table under a heading, cells apart.
fn table(markdown: &str, title: &str) -> Vec<Vec<String>> {
    let (_, rest) = markdown.split_once(&format!("# {title}\n")).expect("the table is there");
    let rest = rest.split("\n#").next().unwrap();
    let cells = |line: &str| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect();
    rest.lines().filter(|line| line.starts_with('|')).map(cells).collect()
}

#[test]
fn an_experiment_says_what_it_found_with_its_spread_and_outliers() {
    let folder = folder("page-found");
    // Deviations from 2: 0.02 in the median, and one sample that something else held up.
    let ask = vec![2.0, 1.98, 2.02, 1.98, 2.02, 2.0, 9.0];
    timed(&folder, "-a n=64,128 -a strategy=exhaustive,ask -a g=4 -a r=2 -a B=4", |case| match case {
        0 => vec![1.0; 7], // exhaustive at 64
        1 => ask.clone(),
        2 => vec![8.0; 4], // exhaustive at 128: too few for a spread
        _ => ask.clone(),
    });
    let page = std::fs::read_to_string(folder.join("page.md")).unwrap();
    let found = "ask sbr {4, 2, 4} was the fastest with 2.000 ms (± 1.00 %, 7 samples), 4.000 times as fast as exhaustive \
                 with 8.000 ms (4 samples), at n = 128, dwell 512 (mandelbrot, k = 2, ";
    assert!(page.contains(found), "{page}");
    assert!(page.contains("; of all 2 problems ask sbr won 1, exhaustive won 1.\n"), "{page}");

    // What was measured stands first, then what differs; the rest is told once.
    let cases = table(&page, "All cases");
    assert_eq!(cases[0][..5], ["ms", "± %", "outliers", "n", "strategy"], "{cases:?}");
    let numbers: Vec<_> = cases[2..].iter().map(|row| row[..3].join(" ")).collect();
    assert_eq!(numbers, ["1.000 0.00 0", "2.000 1.00 1", "8.000 - -", "2.000 1.00 1"]);
    let same = page.lines().filter(|line| line.starts_with("In every row: ")).nth(1).unwrap();
    assert!(same.contains("; workload **mandelbrot**; clock **wall**."), "{same}");
    let fastest = table(&page, "The fastest of every method");
    assert_eq!(fastest[0], ["ms", "± %", "gain", "method", "n", "{g, r, B}", "Mcells/s"]);
    let order: Vec<_> = fastest[2..].iter().map(|row| format!("{} {}", row[3], row[4])).collect();
    assert_eq!(order, ["exhaustive 64", "ask sbr 64", "ask sbr 128", "exhaustive 128"]);
    let machines = table(&page, "Where and when");
    assert_eq!((&machines[0][0][..], &machines[2][0][..]), ("rows", "4"));

    // The same in the page, and rings in the figure of times.
    let html = std::fs::read_to_string(folder.join("page.html")).unwrap();
    balanced(&html);
    assert!(html.contains(found) && html.contains("Bars: the median absolute deviation. Rings: outliers."));
    let drawn = std::fs::read_to_string(folder.join("figures/01-time-n.svg")).unwrap();
    assert_eq!(drawn.matches("<circle").count(), 2, "one outlier at either n");
}

#[test]
fn a_difference_within_the_spread_is_called_so() {
    let folder = folder("page-within");
    timed(&folder, "-a n=64 -a strategy=exhaustive,ask", |case| {
        [9.0, 9.5, 10.0, 10.5, 11.0].map(|ms| ms + 0.3 * case as f64).to_vec()
    });
    let page = std::fs::read_to_string(folder.join("page.md")).unwrap();
    let found = "exhaustive was the fastest with 10.00 ms (± 5.00 %, 5 samples), 1.030 times as fast, a difference within the \
                 spread, as ask sbr with 10.30 ms";
    assert!(page.contains(found), "{page}");
}

#[test]
fn a_chosen_pass_is_part_of_the_method() {
    let folder = folder("page-passes");
    timed(&folder, "-a n=64 -a strategy=ask,dp -a pass=in-place,deferred", |case| vec![[4.0, 2.0, 8.0, 16.0][case]; 5]);
    let page = std::fs::read_to_string(folder.join("page.md")).unwrap();
    let found = "2.000 times as fast as ask sbr in-place with 4.000 ms";
    assert!(page.contains("ask sbr deferred {") && page.contains(found), "{page}");
    let fastest = table(&page, "The fastest of every method");
    let column = fastest[0].iter().position(|name| name == "method").unwrap();
    let methods: Vec<_> = fastest[2..].iter().map(|row| &row[column][..]).collect();
    assert_eq!(methods, ["ask sbr deferred", "ask sbr in-place", "dp sbr in-place", "dp sbr deferred"]);
}

#[test]
fn one_method_is_told_by_what_varies_and_equal_curves_are_named() {
    let folder = folder("page-curves");
    timed(&folder, "-a n=64,128 -a curve=canonical,hilbert,morton", |case| match case % 3 {
        0 => vec![10.0; 5],
        1 => vec![20.0; 5],
        _ => vec![10.1; 5],
    });
    let page = std::fs::read_to_string(folder.join("page.md")).unwrap();
    let found = "Of 3 cases of ask sbr the fastest was curve canonical with 10.00 ms (± 0.00 %, 5 samples), 2.000 times as \
                 fast as curve hilbert, the slowest, with 20.00 ms (± 0.00 %, 5 samples), at n = 128";
    assert!(page.contains(found), "{page}");
    let named = "**Time of ask by encoding.** ";
    let caption = page.lines().find(|line| line.starts_with(named)).unwrap();
    assert!(caption.ends_with(" Within 2 % of each other everywhere: canonical, morton."), "{caption}");
}

#[test]
fn every_sweep_is_an_experiment_of_its_own() {
    let folder = folder("page-experiments");
    timed(&folder, "-a n=64,128 -a strategy=exhaustive,ask", |_| vec![3.0; 5]);
    let other = std::fs::read_to_string(folder.join("rows.jsonl")).unwrap();
    let sweep = rows(&folder.join("rows.jsonl"))[0]["sweep"].as_str().unwrap().to_owned();
    let named = |name: &str| other.replace(&format!("\"sweep\":\"{sweep}\""), &format!("\"sweep\":\"{name}\""));
    std::fs::write(folder.join("two.jsonl"), named("first") + &named("second")).unwrap();
    let output = orthant(&folder, "report two.jsonl --md two.md --svg two");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let page = std::fs::read_to_string(folder.join("two.md")).unwrap();
    let headings: Vec<_> = page.lines().filter(|line| line.starts_with("## ")).collect();
    assert_eq!(headings, ["## first", "## second", "## Where and when"]);
    let drawn = files(&folder.join("two"));
    let linked: Vec<_> = page.lines().filter_map(|line| line.split_once("(two/")?.1.strip_suffix(')')).collect();
    assert_eq!(linked, drawn, "no figure takes another's name");
}
