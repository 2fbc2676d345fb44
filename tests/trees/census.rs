//! Counts of trees: those of a run from the top down, whole and part by part.

use orthant::Cell;
use orthant::prelude::*;
use orthant::result::LevelCounts;
use orthant::tree::{BottomUp, Census};
use proptest::prelude::*;

use crate::trees::{Below, Case};

/// What does not depend on which cells are looked at.
fn found(counts: LevelCounts) -> [u64; 6] {
    let LevelCounts { regions, subdivided, filled, leaves, filled_cells, leaf_cells, .. } = counts;
    [regions, subdivided, filled, leaves, filled_cells, leaf_cells]
}

fn counted<T: Cell, const K: usize>(case: Case<K>) {
    let array = case.array::<T>();
    let plan = case.plan([CurveKind::Morton, CurveKind::Canonical][case.seed as usize % 2]).unwrap();
    let field = ArrayField::new(array.view()).unwrap();
    let run = Run::new(&plan, &field).how(How::default().keep(Keep::Regions)).start().unwrap();
    let expected: Vec<_> = run.levels().iter().map(|level| (level.level, found(level.counts))).collect();
    let building = BottomUp::new(&plan, &field).unwrap();
    let mut below = Below(case.seed);
    for level in 0..plan.levels().len() as u32 {
        let mut census = Census::new(&plan, level, true);
        let (codes, mut start) = (plan.levels()[level as usize].regions(), 0);
        while start < codes {
            let end = codes.min(start + 1 + u128::from(below.next(codes.min(9) as u32)));
            census.add(&building.part(level, start..end).unwrap());
            start = end;
        }
        let (counts, checksum) = census.counts();
        let levels: Vec<_> = counts.levels.iter().map(|level| (level.level, found(level.counts))).collect();
        assert_eq!((levels, checksum), (expected.clone(), run.regions_checksum()), "cut on level {level}");
        assert_eq!(u128::from(counts.totals().explored_cells), plan.domain().cells());
    }
    let mut census = Census::new(&plan, 0, false);
    census.add(&building.tree().unwrap());
    let (counts, checksum) = census.counts();
    assert_eq!((found(counts.totals()), checksum), (found(run.totals()), None));
    let (counts, checksum) = building.counts(true).unwrap();
    assert_eq!((found(counts.totals()), checksum), (found(run.totals()), run.regions_checksum()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn parts_count_as_a_run_does(line in Case::<1>::any(60), plane in Case::<2>::any(24), space in Case::<3>::any(9)) {
        counted::<u16, 1>(line);
        counted::<f32, 2>(plane);
        counted::<i64, 3>(space);
    }
}

/// A region of one value that all parts share is one region.
#[test]
fn what_parts_share_counts_once() {
    let array = ndarray::ArrayD::from_elem(vec![32, 32], 7u8);
    let field = ArrayField::<2, u8>::new(array.view()).unwrap();
    let domain = Domain::new([32; 2], [[0.0, 1.0]; 2], Sample::Centre).unwrap();
    let plan = Plan::new(domain, Scheme::uniform(1, 2, 2), CurveKind::Hilbert, RuleKind::Full).unwrap();
    let building = BottomUp::new(&plan, &field).unwrap();
    let mut census = Census::new(&plan, 3, true);
    (0..64).for_each(|code| census.add(&building.part(3, code..code + 1).unwrap()));
    let (counts, checksum) = census.counts();
    assert_eq!((counts.levels.len(), found(counts.totals())), (1, [1, 0, 1, 0, 1024, 0]));
    assert_eq!(checksum, Some(building.tree().unwrap().checksum()));
}
