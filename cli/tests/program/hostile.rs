//! Files that were damaged by chance: whatever they say, they are used or refused.
//!
//! `PROPTEST_CASES=2000` looks longer.

use std::path::Path;

use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{Config, TestError, TestRunner};

use crate::binary::{folder, orthant, text};
use crate::scope::sized;

/// What happens to a file.
#[derive(Debug, Clone)]
enum Damage {
    Byte(Index, u8),
    Cut(Index),
    /// A number becomes another, or none.
    Number(Index, &'static str),
}

const EXTREMES: [&str; 18] = [
    "0",
    "-0",
    "-1",
    "1",
    "2",
    "99",
    "0.5",
    "1e-320",
    "1e18",
    "1e308",
    "-1e308",
    "1e999",
    "4294967295",
    "4294967296",
    "18446744073709551615",
    "18446744073709551616",
    "null",
    "[]",
];

fn damage() -> impl Strategy<Value = Vec<Damage>> {
    let index = || any::<Index>();
    let one = prop_oneof![
        2 => (index(), any::<u8>()).prop_map(|(at, byte)| Damage::Byte(at, byte)),
        1 => index().prop_map(Damage::Cut),
        6 => (index(), select(&EXTREMES[..])).prop_map(|(at, number)| Damage::Number(at, number)),
    ];
    prop::collection::vec(one, 1..4)
}

impl Damage {
    fn done_to(&self, content: &mut Vec<u8>) {
        let len = content.len();
        match self {
            _ if len == 0 => {}
            Self::Byte(at, byte) => content[at.index(len)] = *byte,
            Self::Cut(at) => content.truncate(at.index(len)),
            Self::Number(at, number) => {
                let numeric = |byte: &u8| byte.is_ascii_digit() || b"+-.".contains(byte);
                let starts = |i: &usize| content[*i].is_ascii_digit() && (*i == 0 || !numeric(&content[i - 1]));
                let starts: Vec<usize> = (0..len).filter(starts).collect();
                if starts.is_empty() {
                    return;
                }
                let start = starts[at.index(starts.len())];
                let len = content[start..].iter().take_while(|byte| numeric(byte)).count();
                content.splice(start..start + len, number.bytes());
            }
        }
    }
}

/// Damages `file` in many ways; after each, every command must succeed or refuse.
fn survives(folder: &Path, file: &Path, commands: &[&str]) {
    let whole = std::fs::read(file).unwrap();
    // A command takes milliseconds: so many are a second or two.
    let some = sized(96, 24);
    let cases = std::env::var("PROPTEST_CASES").map_or(some, |cases| cases.parse().unwrap());
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let found = runner.run(&damage(), |damage| {
        let mut content = whole.clone();
        damage.iter().for_each(|damage| damage.done_to(&mut content));
        for command in commands {
            std::fs::write(file, &content).unwrap();
            let output = orthant(folder, command);
            let error = text(&output.stderr);
            let known = [Some(0), Some(2)].contains(&output.status.code()) && !error.contains("panicked");
            prop_assert!(known, "{command}: {:?} {error}", output.status);
        }
        Ok(())
    });
    if let Err(TestError::Fail(reason, damage)) = found {
        panic!("{reason}\n{damage:?} to {}", file.display());
    }
    std::fs::write(file, whole).unwrap();
}

#[test]
fn rows_of_a_sweep() {
    let folder = folder("hostile-rows");
    let sweep =
        "bench -a workload=mandelbrot -a backend=cpu -a n=16,64 -a g=2,4 -a B=2 --min-samples 6 --max-samples 6";
    assert!(orthant(&folder, &format!("{sweep} -o rows.jsonl")).status.success());
    std::fs::copy(folder.join("rows.jsonl"), folder.join("whole.jsonl")).unwrap();
    survives(
        &folder,
        &folder.join("rows.jsonl"),
        &[
            "compare whole.jsonl rows.jsonl",
            "compare rows.jsonl whole.jsonl --rounds --json",
            "report rows.jsonl -o page.html --md page.md --force",
            "model fit rows.jsonl --dry-run",
            "bench -a workload=mandelbrot -a backend=cpu -a n=16 -a g=2 -a B=2 --max-samples 1 --min-samples 1 \
             -o rows.jsonl --resume",
        ],
    );
}

#[test]
fn reports_of_runs() {
    let folder = folder("hostile-reports");
    let mut reports = String::new();
    for scheme in ["-g 2 -B 2", "-g 4 -B 2", "-g 2 -B 8 --scheme mbr", "--strategy exhaustive", "--strategy dp"] {
        for n in [32, 64] {
            reports += &format!("{}\n", crate::binary::report(&folder, &format!("mandelbrot -n {n} {scheme}")));
        }
    }
    let file = folder.join("runs.jsonl");
    std::fs::write(&file, reports).unwrap();
    survives(&folder, &file, &["model fit runs.jsonl --dry-run", "model fit runs.jsonl --dry-run --json"]);
}

#[test]
fn sweeps_as_toml() {
    let folder = folder("hostile-sweeps");
    let file = folder.join("sweep.toml");
    let sweep = r#"
        constraints = ["g*r*B <= n", "n / 4 - 6 != 0", "n^2 >= 2^8"]
        [measure]
        min-samples = 5
        timeout = 2.5
        [base]
        workload = "mandelbrot"
        domain = "-1.5:0.5,-1:1"
        [axes]
        n = "64:128:x2"
        'g[pow2]' = "1:4:2"
        r = [2, "2^2"]
        B = "8:16:4"
        [[cases]]
        strategy = "exhaustive"
        n = "64x32"
    "#;
    std::fs::write(&file, sweep).unwrap();
    survives(&folder, &file, &["bench sweep.toml --list"]);
}

#[test]
fn what_was_learnt() {
    let folder = folder("hostile-store");
    let mut reports = String::new();
    for scheme in ["-g 2 -B 2", "-g 4 -B 2", "-g 2 -B 8", "-g 8 -B 1", "-g 2 -r 4 -B 1", "--strategy exhaustive"] {
        for n in [16, 32, 64] {
            reports += &format!("{}\n", crate::binary::report(&folder, &format!("mandelbrot -n {n} {scheme}")));
        }
    }
    std::fs::write(folder.join("runs.jsonl"), reports).unwrap();
    for (learn, kind) in
        [("model fit runs.jsonl", "fits"), ("model tune mandelbrot -n 32 --repeat 1 --patience 1", "tuned")]
    {
        let output = orthant(&folder, learn);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let mut files = std::fs::read_dir(folder.join("data").join(kind)).unwrap();
        let file = files.next().unwrap().unwrap().path();
        survives(&folder, &file, &["run mandelbrot -n 32 --auto-scheme"]);
    }
}
