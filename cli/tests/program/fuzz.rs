//! Options at random: whatever is asked for, the answer is a run or a message, and full exploration finds every cell.
//!
//! Takes `ORTHANT_FUZZ_SECONDS`, or a moment.

use std::path::Path;
use std::time::{Duration, Instant};

use orthant::Computed;
use orthant::backend::{CudaTuning, Kept, Tuning};
use orthant::choice::Choice;
use orthant::field::FieldKind;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::binary::{folder, orthant, text};

/// What people write where no name is asked for, right and wrong.
const TEXTS: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "4",
    "5",
    "7",
    "9",
    "16",
    "64",
    "2^3",
    "2^99",
    "-1",
    "1.5",
    "x",
    "2x",
    "2x1",
    "2x3",
    "4x4",
    "2x2x1",
    "3x1x2",
    "2x2x2x2",
    "18446744073709551616",
    "nan",
    "1e308:2e308,0:1",
    "-1.5:0.5,-1:1",
    "0:0",
    "NaN:1,0:1",
    "-2:2,-2:2,-2:2",
    "8x8",
    "32x2",
];

/// Values that would keep a machine busy for long are left out: cells to the power of eight dimensions.
fn value(choice: &'static Choice, k: usize) -> BoxedStrategy<String> {
    let names = (choice.names)();
    let texts: Vec<String> = match choice.name {
        "dim" => vec![k.to_string()],
        "size" => (1..=[40, 40, 27, 16, 5, 4, 3, 3][k - 1]).map(|n| n.to_string()).collect(),
        "dwell" => ["0", "1", "2", "17", "300", "65536"].map(String::from).into(),
        "threads" => ["0", "1", "2", "3", "1025"].map(String::from).into(),
        _ if names.is_empty() => TEXTS.iter().map(|text| (*text).to_owned()).collect(),
        _ => names.into_iter().chain(["nonsense"]).map(String::from).collect(),
    };
    select(texts).boxed()
}

fn option(choice: &'static Choice, k: usize) -> impl Strategy<Value = String> {
    let name = if choice.name.len() == 1 { format!("-{}", choice.name) } else { format!("--{}", choice.name) };
    value(choice, k).prop_map(move |value| format!("{name}={value}").replacen("-=", "-", 1))
}

/// A workload, its dimension and its size always, five other choices at most; CUDA's now and then, to be refused.
fn arguments() -> impl Strategy<Value = String> {
    let workload = select(FieldKind::ALL.iter().map(|kind| kind.name()).collect::<Vec<_>>());
    (workload, 1usize..=8).prop_flat_map(|(workload, k)| {
        let dims = workload.parse::<FieldKind>().unwrap().dims();
        let k = if dims.contains(&k) { k } else { dims[0] };
        let always = |name| option(Computed::CHOICES.iter().find(|choice| choice.name == name).unwrap(), k);
        let groups = [Computed::CHOICES, Kept::CHOICES, Tuning::CHOICES];
        let common: Vec<_> =
            groups.concat().iter().map(|choice| choice.name).filter(|name| !["dim", "size"].contains(name)).collect();
        let cuda: Vec<_> = CudaTuning::CHOICES.iter().map(|choice| choice.name).collect();
        let find = move |name: &str| {
            groups.into_iter().chain([CudaTuning::CHOICES]).flatten().find(|choice| choice.name == name)
        };
        let chosen = (prop::sample::subsequence(common, 0..=5), prop::sample::subsequence(cuda, 0..=1), 0..12);
        (always("dim"), always("size"), chosen).prop_flat_map(move |(dim, size, (common, cuda, rare))| {
            let names = common.into_iter().chain(if rare == 0 { cuda } else { Vec::new() });
            let options: Vec<_> = names.map(|name| option(find(name).expect("a choice"), k).boxed()).collect();
            let start = format!("run {workload} {dim} {size} --mem-limit 256M");
            options.prop_map(move |options| format!("{start} {}", options.join(" ")))
        })
    })
}

fn checksum(folder: &Path, arguments: &str) -> Option<String> {
    let output = orthant(folder, arguments);
    let said = text(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 2 | 4 | 5)), "orthant {arguments}: {}: {said}", output.status);
    assert!(!said.contains("panicked"), "orthant {arguments}: {said}");
    assert!(output.status.success() || said.contains('-') || said.contains(':'), "orthant {arguments}: {said}");
    let page = text(&output.stdout);
    page.lines().find_map(|line| line.strip_prefix("checksum ")).map(str::to_owned)
}

#[test]
fn options_at_random() {
    let folder = folder("fuzz");
    let seconds = std::env::var("ORTHANT_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    let end = Instant::now() + Duration::from_secs(seconds.unwrap_or(2));
    let mut runner = TestRunner::default();
    let (mut runs, mut compared) = (0, 0);
    while Instant::now() < end {
        let arguments = arguments().new_tree(&mut runner).unwrap().current();
        let found = checksum(&folder, &arguments);
        runs += 1;
        if let (Some(found), true) = (found, arguments.contains("--explore=full")) {
            let all = arguments.split(' ').filter(|option| !option.starts_with("--strategy"));
            let all = format!("{} --strategy=exhaustive", all.collect::<Vec<_>>().join(" "));
            assert_eq!(checksum(&folder, &all), Some(found), "{arguments}");
            compared += 1;
        }
    }
    println!("{runs} runs, {compared} compared with exhaustive");
    assert!(runs > 0);
}
