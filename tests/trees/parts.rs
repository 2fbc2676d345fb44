//! Partial trees: what they cover answers as the whole does, and nothing else answers.

use ndarray::ArrayD;
use orthant::backend::{Part, Roots};
use orthant::prelude::*;
use orthant::tree::{BottomUp, Collector, Parts, Representative, TreeError};
use orthant::{Cell, Control, Error};
use proptest::prelude::*;

use crate::trees::{Below, Case, bottom_up, shape};

/// A tree in runs of codes of a level, against the whole tree.
fn in_parts<T: Cell, const K: usize>(case: Case<K>) {
    let array = case.array::<T>();
    let plan = case.plan([CurveKind::Morton, CurveKind::Canonical][case.seed as usize % 2]).unwrap();
    let whole = bottom_up(&plan, &array);
    assert!(whole.is_whole() && Parts::part(&whole, 0).unwrap().len() == whole.len());
    let field = ArrayField::new(array.view()).unwrap();
    let building = BottomUp::new(&plan, &field).unwrap();
    let (domain, cpu) = (plan.domain().region(), Target::cpu());
    let mut below = Below(case.seed);
    let level = below.next(plan.levels().len() as u32);
    let (codes, mut start, mut end) = (plan.levels()[level as usize].regions(), 0, 0);
    // What all parts write into one array, and what they count.
    let mut painted = vec![T::from_word(0); domain.volume() as usize];
    let mut counted = std::collections::BTreeMap::new();
    while start < codes {
        let next = codes.min(start + 1 + u128::from(below.next(codes.min(20) as u32)));
        let part = building.part(level, start..next).unwrap();
        if plan.curve() != CurveKind::Canonical {
            // From the top down, from the same regions on.
            let mut prepared = cpu.of().prepare(&plan, &field, &How::default().keep(Keep::Regions)).unwrap();
            let range = start as u64..next as u64;
            prepared.run(&Part::of(Roots::Codes { level, range }), &Control::default()).unwrap();
            let mut collector = Collector::new(&plan);
            prepared.result(&mut collector).unwrap();
            below_roots(&collector.part(level, start..next).unwrap(), &part, level);
        }
        start = next;
        assert_eq!(part.codes().start, end);
        end = part.codes().end;
        assert_eq!(part.is_whole(), next == codes && part.codes().start == 0);
        let mut mine = 0u64;
        for cell in domain.cells() {
            let Some(region) = part.region_at(cell) else {
                assert_eq!(part.word(cell), None);
                continue;
            };
            mine += 1;
            assert_eq!(part.word(cell), whole.word(cell));
            let holder = whole.region_at(cell).unwrap();
            // Regions are the whole tree's, or of one that reaches beyond the part.
            assert!(region.cells() == holder.cells() || holder.uniform().is_some() && holder.level() < level);
        }
        assert_eq!(mine, part.regions().map(|region| region.cells().volume()).sum::<u64>());
        for label in part.labels(100).unwrap() {
            let (cells, leaves) = counted.entry(label.word).or_insert((0, 0));
            (*cells, *leaves) = (*cells + label.cells, *leaves + label.leaves);
        }
        part.read(&domain, &mut painted).unwrap();
        for number in 0..6 {
            let window = below.window(case.size, number == 5);
            let mut found: Vec<u64> =
                window.cells().filter_map(|cell| Some(part.region_at(cell)?.word(cell))).collect();
            found.iter_mut().for_each(|word| *word = orthant::rule::exact::key(T::TYPE, *word));
            let first = found.first().copied();
            let same = first.filter(|word| found.iter().all(|other| other == word));
            assert_eq!(part.uniform(&window).unwrap(), same, "{window:?}");
        }
        for to in 0..plan.levels().len() as u32 {
            let cut = match part.cut(to, Representative::Mode) {
                Ok(cut) => cut,
                Err(TreeError::Beyond { level: named, .. }) => {
                    assert!(named == to && to < level);
                    continue;
                }
                Err(error) => panic!("{error}"),
            };
            assert_eq!(cut.codes(), part.codes());
            let expected = whole.cut(to, Representative::Mode).unwrap();
            let kept = |region: &orthant::tree::TreeRegion<'_, K>| region.level() >= level;
            for region in cut.regions().filter(kept) {
                assert_eq!(expected.word(region.cells().corner), region.uniform());
            }
        }
    }
    assert_eq!(end, whole.codes().end);
    let mut cells = vec![T::from_word(0); painted.len()];
    whole.read(&domain, &mut cells).unwrap();
    assert!(painted.iter().zip(&cells).all(|(a, b)| a.word() == b.word()));
    let expected: Vec<_> =
        whole.labels(100).unwrap().iter().map(|label| (label.word, (label.cells, label.leaves))).collect();
    let mut found: Vec<_> = counted.into_iter().collect();
    found.sort_by_key(|(word, _)| expected.iter().position(|(other, _)| other == word));
    assert_eq!(found, expected);
}

/// A run that starts at some regions finds none above them.
fn below_roots<const K: usize>(run: &Tree<K>, part: &Tree<K>, level: u32) {
    assert_eq!((run.codes(), run.bricks()), (part.codes(), part.bricks()));
    for region in run.regions() {
        let holder = part.region_at(region.cells().corner).unwrap();
        assert_eq!(region.uniform(), holder.uniform());
        assert!(region.cells() == holder.cells() || region.level() == level && holder.level() < level);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn parts_come_to_the_whole(
        line in Case::<1>::any(60), plane in Case::<2>::any(18), space in Case::<3>::any(9), four in Case::<4>::any(5),
    ) {
        in_parts::<u64, 1>(line);
        in_parts::<f32, 2>(plane);
        in_parts::<i32, 3>(space);
        in_parts::<u16, 4>(four);
    }
}

/// A collector keeps to its limit, with what it takes to put things in order, and hears when a batch is of another plan.
#[test]
fn collectors_refuse_what_they_cannot_take() {
    let case = Case { size: [40, 30], scheme: Scheme::uniform(2, 2, 2), seed: 5 };
    let (plan, array) = (case.plan(CurveKind::Morton).unwrap(), case.array::<u16>());
    let field = ArrayField::new(array.view()).unwrap();
    let building = BottomUp::new(&plan, &field).unwrap();
    let tree = building.tree().unwrap();
    let made = |limit| {
        let mut collector = Collector::new(&plan).mem_limit(limit);
        building.shard(0, 0..4, &mut collector)?;
        collector.tree()
    };
    assert_eq!(made(1 << 20).unwrap(), tree);
    for limit in [0, 100, tree.bytes()] {
        let refused = made(limit).unwrap_err();
        assert!(matches!(refused, TreeError::Run(Error::Memory(_))), "{refused}");
    }
    let domain = |size| Domain::new(size, [[0.0, 1.0]; 2], Sample::Centre).unwrap();
    let other = |size, scheme, curve, rule| Plan::new(domain(size), scheme, curve, rule).unwrap();
    let scheme = *plan.scheme();
    for (other, says) in [
        (other([40, 31], scheme, CurveKind::Morton, RuleKind::Full), "batch: size [40, 31], where "),
        (
            other(case.size, Scheme { b: [3; 2], ..scheme }, CurveKind::Morton, RuleKind::Full),
            "batch: B [3, 3], where ",
        ),
        (other(case.size, scheme, CurveKind::Hilbert, RuleKind::Full), "batch: curve hilbert, where "),
        (other(case.size, scheme, CurveKind::Morton, RuleKind::Border), "batch: rule border, where "),
    ] {
        let size = other.domain().size();
        let array = ArrayD::<u16>::zeros(shape(size));
        let field = ArrayField::new(array.view()).unwrap();
        let cpu = Target::cpu();
        let how = How::default().keep(Keep::Regions);
        let mut prepared = cpu.of().prepare(&other, &field, &how).unwrap();
        prepared.run(&Part::default(), &Control::default()).unwrap();
        let refused = prepared.result(&mut Collector::new(&plan)).unwrap_err().to_string();
        assert!(refused.starts_with(says), "{refused}");
    }
}
