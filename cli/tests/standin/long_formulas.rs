//! Formulas that are too long to be lines of source: what a block bounds and shortens, against the CPU.

use std::fmt::Write as _;
use std::path::Path;

use crate::binary::{empty, orthant, text};
use crate::formulas::{equal, random::Random};
use crate::scope::sized;

/// A number between -1 and 1.
fn between(random: &mut Random) -> f64 {
    random.below(2000) as f64 / 1000.0 - 1.0
}

/// A shape on the axes that `axes` names: below 0 inside.
fn shape(random: &mut Random, axes: &[&str]) -> String {
    let size = (random.below(90) + 10) as f64 / 400.0;
    let places: Vec<String> = axes.iter().map(|axis| format!("({axis} - {})", between(random))).collect();
    let squares = || places.iter().map(|place| format!("{place}^2")).collect::<Vec<_>>().join(" + ");
    match random.below(5) {
        0 => format!("{} - {size}", squares()),
        1 => format!("|sqrt({}) - {size}| - 0.02", squares()),
        2 => format!("{} + sin(9*{}) - {size}", places[0], places[places.len() - 1]),
        _ => places.iter().fold(format!("-{size}"), |most, place| format!("max({most}, |{place}| - {size})")),
    }
}

/// Many shapes, most of them united, some taken away, and what is said of them: a truth, classes, or the value.
fn scene(random: &mut Random, axes: &[&str], shapes: usize, kind: usize) -> String {
    let mut text = format!("let s0 = {};\n", shape(random, axes));
    for number in 1..shapes {
        let (before, next) = (number - 1, shape(random, axes));
        let joined = match random.below(6) {
            0 => format!("max(s{before}, -({next}))"),
            _ => format!("min(s{before}, {next})"),
        };
        writeln!(text, "let s{number} = {joined};").unwrap();
    }
    let (last, middle, axis) = (shapes - 1, shapes / 2, axes[0]);
    text + &match kind {
        0 => format!("s{last} < 0"),
        1 => format!("s{last} < 0.01 and not (s{middle} < -0.05 or {axis} < -0.7) or s{last} <= -0.2"),
        2 => format!("classes(s{last}, -0.1, 0, 0.02, 0.3)"),
        _ => format!("min(max(s{last}, 0.25), 0.5)"),
    }
}

/// In 1 to 4 dimensions, by every strategy and mapping, in either precision: the CPU's cells and counts. Where proofs alone decide,
/// regions have tapes of their own.
pub(super) fn they_have_the_cpus_cells_and_counts(folder: &Path) {
    const HOW: [(&str, usize); 8] = [
        ("--scheme stream", 2),
        ("--scheme sbr", 3),
        ("--scheme mbr --curve hilbert", 4),
        ("--strategy dp", 2),
        ("--scheme stream --curve canonical", 3),
        ("--strategy dp --dp-launch tail", 1),
        ("--scheme sbr --explore closed --prove yes", 2),
        ("--strategy exhaustive", 1),
    ];
    let (files, axes) = (empty("long-scenes"), ["x", "y", "z", "w"]);
    let mut proven = 0;
    for (number, (how, k)) in HOW.into_iter().enumerate() {
        let mut random = Random::new(90_000 + number as u64);
        let path = files.join("scene.txt");
        std::fs::write(&path, scene(&mut random, &axes[..k], [260, 150, 110, 90][k - 1], number % 4)).unwrap();
        let plan = format!(
            "{} --dim {k} -n {} -g 3 -r 2 -B 1 --precision {} --arithmetic {}",
            path.display(),
            sized([700, 75, 21, 9], [200, 37, 13, 6])[k - 1],
            ["f32", "f64"][usize::from(number % 3 == 1)],
            ["fused", "plain"][number / 2 % 2],
        );
        let (regions, there) = equal(folder, &plan, how);
        proven += regions;
        let certified = !how.contains("closed") && !how.contains("exhaustive");
        assert_eq!(there["tapes"].as_u64().unwrap() > 0, certified, "{number}: {how}");
    }
    assert!(proven > sized(500, 100), "{proven}");
}

/// Regions that find no room for a tape go on with the one above. Cells and counts are the same, and the report says how many they are.
pub(super) fn those_that_find_no_room_are_counted(folder: &Path) {
    let files = empty("long-scenes-full");
    let (path, cache) = (files.join("scene.txt"), files.join("cache"));
    std::fs::write(&path, scene(&mut Random::new(90_100), &["x", "y"], 150, 1)).unwrap();
    let run = format!("run formula --source {} -n 90 -g 3 -r 2 -B 1 --json", path.display());
    let small = ("STANDIN_FAULT", "fields/formula_forest.cuh|taken + words <= forest.room|taken + words <= 9000");
    let cache = ("ORTHANT_CACHE_DIR", cache.to_str().unwrap());
    let told = |run: &str, variables: &[(&str, &str)]| -> serde_json::Value {
        let output = orthant(folder, run, variables);
        assert!(output.status.success(), "{}", text(&output).1);
        serde_json::from_str(&text(&output).0).unwrap()
    };
    let cpu = told(&format!("{run} --backend cpu"), &[]);
    let (usual, full) =
        (told(&format!("{run} --backend cuda"), &[]), told(&format!("{run} --backend cuda"), &[small, cache]));
    let left_out = |page: &serde_json::Value| page["tapes_left_out"].as_u64().unwrap();
    assert!(left_out(&usual) == 0 && left_out(&full) > 0, "{usual} {full}");
    assert_eq!((&usual["checksum"], &full["checksum"]), (&cpu["checksum"], &cpu["checksum"]));
}
