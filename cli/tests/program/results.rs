//! What was measured with earlier versions stays readable.

use std::path::PathBuf;

use crate::binary::{folder, lines, orthant, repository, rows, text};
use crate::scope::every;

/// The result files of the repository.
fn committed() -> Vec<PathBuf> {
    let folder = std::fs::read_dir(repository("docs/results/h200/rows")).unwrap();
    let mut paths: Vec<_> = folder.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() >= 8, "{paths:?}");
    paths
}

#[test]
fn every_committed_row_is_compared_and_drawn() {
    let folder = folder("results");
    for path in every(3, committed()) {
        let (file, measured) = (path.display(), rows(&path).len());
        let compared = lines(&folder, &format!("compare {file} {file} --json"));
        let cases = compared[0]["cases"].as_array().unwrap();
        assert_eq!(cases.len(), measured, "{file}");
        assert!(cases.iter().all(|case| case["verdict"] == "same"), "{file}");
        let drawn = orthant(&folder, &format!("report {file} -o page.html --svg figures --force"));
        assert!(drawn.status.success() && folder.join("page.html").exists(), "{file}: {}", text(&drawn.stderr));
    }
}

#[test]
fn every_committed_report_can_be_fitted() {
    let folder = folder("results-fit");
    let path = repository("docs/results/h200/rows/model-fit.jsonl");
    let fits = lines(&folder, &format!("model fit {} --json --dry-run", path.display()));
    let runs: u64 = fits.iter().map(|fit| fit["runs"].as_u64().unwrap()).sum();
    // Of three fields, exhaustive runs and those of regions.
    assert_eq!((fits.len(), runs as usize), (6, rows(&path).len()));
}
