//! Formulas: their CUDA source through the whole host code, against the CPU.

use std::path::Path;

use crate::binary::{empty, line, orthant, text};
use crate::scope::{every, sized};

#[path = "../../../src/field/formula/random.rs"]
pub(super) mod random;

use random::Random;

/// What is told of a level.
const FOUND: [&str; 4] = ["subdivided", "filled", "leaves", "proven"];

/// The report of a run, without a checksum that depends on how it is kept.
pub(super) fn report(folder: &Path, run: &str) -> serde_json::Value {
    let output = orthant(folder, &format!("run formula --source {run} --json"), &[]);
    let (out, err) = text(&output);
    assert!(output.status.success(), "{run}: {err}");
    serde_json::from_str(&out).unwrap()
}

/// The same cells and, where the same regions are looked at, the same counts; how many regions were proven, and the GPU's report.
pub(super) fn equal(folder: &Path, plan: &str, gpu: &str) -> (u64, serde_json::Value) {
    let levels = |report: &serde_json::Value| -> Vec<u64> {
        let level = |level: &serde_json::Value| FOUND.map(|key| level[key].as_u64().unwrap());
        report["levels"].as_array().unwrap().iter().flat_map(level).collect()
    };
    let how = gpu.replace("--scheme stream", "").replace("--dp-launch tail", "");
    let cpu = report(folder, &format!("{plan} {how} --backend cpu"));
    let there = report(folder, &format!("{plan} {gpu} --backend cuda"));
    assert!(cpu["checksum"].is_string(), "{plan}");
    assert_eq!((&there["checksum"], levels(&there)), (&cpu["checksum"], levels(&cpu)), "{plan} {gpu}");
    (levels(&cpu).chunks(4).map(|level| level[3]).sum(), there)
}

/// Random ones in 1 to 4 dimensions, by every strategy and mapping in turn. Every third one has all of these, too.
pub(super) fn random_ones_have_the_cpus_cells_and_proofs(folder: &Path) {
    const HOW: [&str; 7] = [
        "--scheme stream",
        "--scheme sbr --explore full",
        "--scheme mbr --curve hilbert",
        "--strategy dp",
        "--strategy exhaustive",
        "--scheme stream --curve canonical",
        "--strategy dp --dp-launch tail --prove yes --explore closed",
    ];
    let files = empty("formulas");
    let mut proven = 0;
    for seed in every(3, 70_000..70_028) {
        let (mut random, number) = (Random::new(seed), seed as usize - 70_000);
        let k = 1 + number % 4;
        let path = files.join("random.txt");
        let text = if number % 5 == 2 { random::iteration } else { random::text };
        std::fs::write(&path, text(&mut random, k)).unwrap();
        let [low, high] = random.window();
        let precision = ["f32", "f32", "f64"][number % 3];
        let arithmetic = ["fused", "plain"][number / 2 % 2];
        let plan = format!(
            "{} --dim {k} -n {} -g 3 -r 2 -B 1 --domain={} --precision {precision} --arithmetic {arithmetic}",
            path.display(),
            [200, 37, 13, 7][k - 1],
            vec![format!("{low:e}:{high:e}"); k].join(","),
        );
        proven += equal(folder, &plan, HOW[number % HOW.len()]).0;
    }
    assert!(proven > sized(500, 100), "{proven}");
}

/// A formula of more clauses than become lines is a loop over them, and one that needs too much at once is refused in words.
pub(super) fn long_ones_are_loops_or_refused(folder: &Path) {
    let files = empty("long-formulas");
    let path = files.join("long.txt");
    let terms = (0..700).map(|n| format!("min(s, |x - {}| + y*{n})", f64::from(n) / 350.0 - 1.0));
    let lets = terms.enumerate().map(|(n, term)| format!("let s{n} = {};\n", term.replace("(s,", &before(n))));
    std::fs::write(&path, lets.collect::<String>() + "s699 < 0.001 or sin(9*s698) < -0.9").unwrap();
    let plan = format!("{} --dim 2 -n 40x31 -g 4 -r 2 -B 1", path.display());
    assert!(equal(folder, &plan, "--scheme sbr").0 > 0);
    assert!(equal(folder, &format!("{plan} --precision f64"), "--scheme stream").0 > 0);
    // Every value of these is read after all of them were made.
    let lets = (0..600).map(|n| format!("let a{n} = x + {n};\n")).collect::<String>();
    let used = (0..600).map(|n| format!("*a{n}*a{}", 599 - n)).collect::<String>();
    std::fs::write(&path, format!("{lets}1{used} < 0")).unwrap();
    let run = format!("run formula --source {} -n 64", path.display());
    let output = orthant(folder, &format!("{run} --backend cuda"), &[]);
    let (_, err) = text(&output);
    assert_eq!(output.status.code(), Some(4), "{err}");
    assert!(
        ["values at once", "more than 1000 steps", "256", "--backend cpu"].iter().all(|part| err.contains(part)),
        "{err}"
    );
    let output = orthant(folder, &run, &[]);
    assert!(text(&output).1.contains("formula on the CPU, since it has 1800 steps"), "{:?}", text(&output));
    assert!(line(&output, "formula").contains(" on cpu "));
}

/// The sum that a term of a long formula goes on with.
fn before(n: usize) -> String {
    if n == 0 { "(9,".into() } else { format!("(s{},", n - 1) }
}

/// In eight dimensions, and what is left open: a GPU is taken.
pub(super) fn they_run_on_a_gpu_in_every_dimension(folder: &Path) {
    for k in 1..=8 {
        let run = |backend: &str| {
            let output = orthant(
                folder,
                &format!("run formula --dim {k} -n {} -g 2 -r 2 -B 1 {backend}", [64, 32, 16, 8, 6, 4, 4, 4][k - 1]),
                &[],
            );
            (line(&output, "formula"), line(&output, "checksum"))
        };
        // A run that is measured takes the GPU, however short it is.
        let (left_open, cpu) = (run("--repeat 1"), run("--backend cpu"));
        assert!(left_open.0.contains("on cuda") && cpu.0.contains("on cpu"), "{left_open:?}");
        assert_eq!(left_open.1, cpu.1, "k {k}");
    }
}
