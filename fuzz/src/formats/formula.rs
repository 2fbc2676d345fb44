//! Formulas: read, and held over a few cells.

use orthant::WordsMut;
use orthant::field::{Field, FieldOptions, Formula, Payload, Precision, formula};
use orthant::geometry::{Domain, Region, Sample};
use orthant::rule::Verdict;

/// Cells of each axis.
const SIDE: u32 = 5;

/// Reads a formula, or a model in the format `.vm`.
pub fn read(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match Formula::parse(text) {
        Err(error) => {
            let lines = text.matches('\n').count() + 1;
            assert!(!error.reason().is_empty() && error.line() <= lines && error.column() > 0, "{error}");
            assert!(!error.to_string().is_empty());
        }
        Ok(read) => {
            // The text of a formula is a formula.
            assert_eq!(read.dims(), Formula::parse(read.text()).expect("it was read").dims());
            let names: Vec<String> = read.params().map(String::from).collect();
            for name in &names {
                assert!(read.with(name, 0.25).is_ok_and(|other| other.params().any(|known| known == name)), "{name}");
            }
            match read.dims() {
                1 => lay::<1>(text),
                2 => lay::<2>(text),
                3 => lay::<3>(text),
                _ => {}
            }
        }
    }
}

/// What is proven of regions is what their cells say, before and after regions have tapes of their own.
fn lay<const K: usize>(text: &str) {
    let domain = Domain::new([SIDE; K], [[-1.0, 1.0]; K], Sample::Centre).expect("a small domain");
    for &precision in Precision::ALL {
        let field = match formula::open(&domain, &FieldOptions::default().source(text).precision(precision)) {
            Err(error) => return assert!(!error.to_string().is_empty()),
            Ok(field) => field,
        };
        // An iteration may have billions of steps.
        if text.contains("iterate") {
            continue;
        }
        let regions: Vec<Region<K>> =
            [1, 2, SIDE].iter().map(|&side| Region { corner: [SIDE - side; K], extent: [side; K] }).collect();
        let mut verdicts = vec![Verdict::Unknown; regions.len()];
        let prover = field.prover().expect("formulas prove");
        prover.prove_all(&regions, &vec![Payload::default(); regions.len()], &mut verdicts);
        for (region, verdict) in regions.iter().zip(verdicts) {
            if let Verdict::Uniform(word) = verdict {
                assert!(words(&*field, region).iter().all(|&other| other == word), "{region:?} of {text}");
            }
        }
    }
}

/// The labels of a region's cells.
fn words<const K: usize>(field: &dyn Field<K>, region: &Region<K>) -> Vec<u64> {
    let cells: Vec<[u32; K]> = region.cells().collect();
    let (mut narrow, mut wide) = (vec![0; cells.len()], vec![0; cells.len()]);
    let host = field.host().expect("it runs here");
    if field.labels().kind().bytes() == 8 {
        host.evaluate(&cells, WordsMut::Wide(&mut wide));
        return wide;
    }
    host.evaluate(&cells, WordsMut::Narrow(&mut narrow));
    narrow.iter().map(|&word| word.into()).collect()
}
