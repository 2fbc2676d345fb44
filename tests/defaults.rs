//! What a bare run starts from, held against what was measured: docs/results/defaults.jsonl.

use std::collections::BTreeMap;

use orthant::Mapping;
use orthant::field::FieldKind;
use orthant::prelude::*;
use serde_json::Value;

/// What a bare run may take longer than the best that was measured under its rule.
const WITHIN: f64 = 1.1;

/// What tells schemes apart that can lead to the same run: the grids of the levels per axis, r, and who shares a region.
type Way = (Vec<u64>, u64, String);

const ROWS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/results/defaults.jsonl");

fn rows() -> Vec<Value> {
    let text = std::fs::read_to_string(ROWS).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// How a row was measured; None of exhaustive.
fn way(row: &Value) -> Option<Way> {
    let grids = row["grids"].as_array()?.iter().map(|grid| grid.as_u64().unwrap()).collect();
    Some((grids, row["r"].as_u64()?, row["scheme"].as_str()?.to_owned()))
}

/// What a bare run of a field takes on a backend, by the program's own word.
fn bare<const K: usize>(request: &Request, backend: BackendKind) -> Way {
    let (plan, mapping) = match request.start_on::<K>(backend).unwrap() {
        Some(start) => (start.plan, start.mapping),
        None => {
            (request.plan::<K>().unwrap(), if backend == BackendKind::Cpu { Mapping::Sbr } else { Mapping::Stream })
        }
    };
    let grids = plan.levels().iter().map(|level| level.grid[0].into()).collect();
    (grids, plan.scheme().r[0].into(), mapping.to_string())
}

/// What a bare run takes in the case of a row.
fn taken(row: &Value) -> Way {
    let text = |key: &str| row[key].as_str().unwrap();
    let request =
        Request::new(text("workload").parse::<FieldKind>().unwrap()).size(vec![row["n"].as_u64().unwrap() as u32]);
    let backend = text("backend").parse().unwrap();
    match request.k() {
        2 => bare::<2>(&request, backend),
        3 => bare::<3>(&request, backend),
        _ => bare::<4>(&request, backend),
    }
}

/// The page names what a bare run takes by a mark. `BLESS=1` sets the marks of rows that were measured anew.
#[test]
fn rows_say_what_bare_runs_take() {
    let mut rows = rows();
    let marks: Vec<bool> = rows.iter().map(|row| way(row) == Some(taken(row))).collect();
    if std::env::var_os("BLESS").is_some() {
        rows.iter_mut().zip(&marks).for_each(|(row, &mark)| row["taken"] = mark.into());
        std::fs::write(ROWS, rows.iter().map(|row| format!("{row}\n")).collect::<String>()).unwrap();
    }
    for (row, mark) in rows.iter().zip(marks) {
        assert_eq!(row["taken"], mark, "run this test with BLESS=1: {row}");
    }
}

#[test]
fn bare_runs_are_within_a_tenth_of_the_best() {
    let mut cases = BTreeMap::<_, Vec<_>>::new();
    for row in rows() {
        let case = ["backend", "workload", "n"].map(|key| row[key].to_string());
        cases.entry(case).or_default().push(row);
    }
    for backend in ["\"cpu\"", "\"cuda\""] {
        assert_eq!(cases.keys().filter(|[of, ..]| of == backend).count(), 12, "{backend}");
    }
    for (case, rows) in &cases {
        let least = |rows: &mut dyn Iterator<Item = &Value>| {
            rows.map(|row| row["seconds"].as_f64().unwrap()).fold(f64::INFINITY, f64::min)
        };
        let best = least(&mut rows.iter().filter(|row| way(row).is_some()));
        let ratio = least(&mut rows.iter().filter(|row| way(row) == Some(taken(row)))) / best;
        assert!(ratio <= WITHIN, "{case:?}: {:?} took {ratio:.3} of the best", taken(&rows[0]));
        // A finer grid could change what a rule misses. Here it does not.
        let mut cells =
            rows.iter().filter(|row| row["taken"] == true || row["bare"] == true).map(|row| &row["checksum"]);
        let first = cells.next().unwrap();
        assert!(cells.all(|cells| cells == first), "{case:?}");
    }
}
