//! Parts of a plan come to the whole.

use orthant::backend::{Insertion, Pass};
use orthant::backend::{Part, Roots};
use orthant::field::Payload;
use orthant::prelude::*;
use orthant::result::{LevelCounts, RegionsChecksum};
use orthant::{Control, Mapping, Subdivision};
use orthant_lab::conformance::{Cut, in_parts};
use proptest::prelude::*;

use crate::parts::{Balls, Listed, carried, plan, sum};

/// What a cut is made of, before its dimension is a type.
#[derive(Debug, Clone)]
struct Chosen {
    n: [u32; 4],
    g: [u32; 4],
    r: [u32; 4],
    b: u32,
    curve: CurveKind,
    rule: RuleKind,
    how: How,
    cut: Cut,
}

fn chosen() -> impl Strategy<Value = Chosen> {
    let split = prop_oneof![Just([2; 4]), Just([4; 4]), Just([3; 4]), Just([2, 3, 2, 2]), Just([4, 2, 2, 2])];
    let keep = prop::sample::select(Keep::ALL);
    let strategy = prop::sample::select(vec![StrategyKind::Ask, StrategyKind::Dp]);
    let (mapping, pass) =
        (prop::sample::select(&Mapping::OF_THE_PAPERS[..]), prop::option::of(prop::sample::select(Pass::ALL)));
    let tuning = (keep, strategy, mapping, pass, prop::sample::select(Insertion::ALL));
    let how = tuning.prop_map(|(keep, strategy, mapping, pass, insertion)| {
        How::default().keep(keep).strategy(strategy).mapping(Some(mapping)).pass(pass).insertion(insertion).poison(0x5a)
    });
    let rules = vec![RuleKind::Border, RuleKind::Closed, RuleKind::Full];
    let scheme = (prop::array::uniform4(1u32..7), split, 1u32..5);
    let cut = (0u32..4, prop::sample::select(vec![1, 2, 3, 7, 64]), 1usize..3);
    let plan =
        (prop::array::uniform4(6u32..90), scheme, prop::sample::select(CurveKind::ALL), prop::sample::select(rules));
    (plan, how, cut).prop_map(|((n, (g, r, b), curve, rule), how, (level, parts, windows))| Chosen {
        n,
        g,
        r,
        b,
        curve,
        rule,
        how,
        cut: Cut { level, parts, windows },
    })
}

impl Chosen {
    fn plan<const K: usize>(&self) -> Option<Plan<K>> {
        // About as many cells in any dimension.
        let most = [4000, 90, 30, 14][K - 1];
        let n: [u32; K] = std::array::from_fn(|j| if K == 1 { self.n[0] * 40 } else { self.n[j].min(most) });
        let domain = Domain::new(n, [[0.0, 1.0]; K], Sample::Corner).unwrap();
        let scheme =
            Scheme { g: std::array::from_fn(|j| self.g[j]), r: std::array::from_fn(|j| self.r[j]), b: [self.b; K] };
        // Hilbert does not serve every r.
        Plan::new(domain, scheme, self.curve, self.rule).ok()
    }

    fn check<const K: usize>(&self) -> Result<(), TestCaseError> {
        let Some(plan) = self.plan::<K>() else { return Ok(()) };
        let field = Balls { n: plan.domain().size(), carries: false };
        let (cpu, control) = (Target::cpu(), Control::default());
        let backend = cpu.of::<K>();
        let known = run(&plan, &field).unwrap();
        let whole = Run::new(&plan, &field).how(self.how.clone()).start().unwrap();
        let mut prepared = backend.prepare(&plan, &field, &self.how).unwrap();
        let how = (self.cut, self.how.kept.cell, 0x5a);
        let (parts, fault) = in_parts(&mut *prepared, &plan, &known, how, &control).unwrap();
        prop_assert_eq!(fault, None);
        let counts =
            |run: &Subdivision<K>| -> Vec<LevelCounts> { run.levels().iter().map(|level| level.counts).collect() };
        prop_assert_eq!(counts(&parts), counts(&whole));
        prop_assert_eq!(parts.regions_checksum(), whole.regions_checksum());
        prop_assert_eq!(parts.regions_checksum().is_some(), self.how.kept.keep != Keep::Counts);
        prop_assert_eq!(parts.terminals(), whole.terminals());
        prop_assert_eq!(parts.bricks(), whole.bricks());
        prop_assert_eq!(parts.array(), whole.array());
        Ok(())
    }

    /// Ranges of codes of a level below the first, against all of its codes at once: a border may then miss less than in a
    /// run of the whole, so that is no oracle.
    fn check_ranges<const K: usize>(&self) -> Result<(), TestCaseError> {
        let Some(plan) = self.plan::<K>() else { return Ok(()) };
        let field = Balls { n: plan.domain().size(), carries: false };
        let cpu = Target::cpu();
        let mut prepared = cpu.of::<K>().prepare(&plan, &field, &self.how).unwrap();
        let level = self.cut.level.min(plan.levels().len() as u32 - 1).min(2);
        let codes = plan.levels()[level as usize].regions() as u64;
        let mut run = |range| {
            let mut listed = Listed::default();
            let counts = sum(&mut *prepared, &Part::of(Roots::Codes { level, range }), &mut listed);
            (counts, listed)
        };
        let (whole, all) = run(0..codes);
        let (mut counts, mut listed) = (LevelCounts::default(), Listed::default());
        for i in 0..self.cut.parts as u64 {
            let of = |i| i * codes / self.cut.parts as u64;
            let (more, next) = run(of(i)..of(i + 1));
            counts += more;
            listed.terminals.extend(next.terminals);
            listed.checksum = listed.checksum.zip(next.checksum).map(|(a, b)| a + b);
        }
        prop_assert_eq!(counts, whole);
        prop_assert_eq!(listed.checksum, all.checksum);
        // Level by level, parts follow each other.
        listed.terminals.sort_by_key(|terminal| terminal.0);
        if self.curve != CurveKind::Canonical {
            prop_assert_eq!(listed.terminals, all.terminals);
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn parts_come_to_the_whole(chosen in chosen()) {
        chosen.check::<1>()?;
        chosen.check::<2>()?;
        chosen.check::<3>()?;
        chosen.check::<4>()?;
    }

    #[test]
    fn ranges_of_a_level_come_to_all_of_it(chosen in chosen()) {
        chosen.check_ranges::<1>()?;
        chosen.check_ranges::<2>()?;
        chosen.check_ranges::<3>()?;
    }
}

/// Tables hand payloads over to a part, and those go on from there.
#[test]
fn payloads_go_with_a_table() {
    let (plan, cpu) = (plan(), Target::cpu());
    let field = Balls { n: plan.domain().size(), carries: true };
    for strategy in [StrategyKind::Ask, StrategyKind::Dp] {
        let how = How::default().strategy(strategy).keep(Keep::Regions);
        let mut prepared = cpu.of::<2>().prepare(&plan, &field, &how).unwrap();
        for (level, depth) in [(0, 0), (2, 2)] {
            let codes: Vec<u64> = (0..plan.levels()[level as usize].regions() as u64).collect();
            let of = |code: &u64| carried(&plan.region(level, *code), depth);
            let payloads: Vec<Payload> = codes.iter().map(of).collect();
            let mut sums = [LevelCounts::default(); 2];
            let mut checksums = [RegionsChecksum::default(); 2];
            for (parts, (sum_of, checksum)) in [1, 5].into_iter().zip(sums.iter_mut().zip(&mut checksums)) {
                for i in 0..parts {
                    let mine = i * codes.len() / parts..(i + 1) * codes.len() / parts;
                    let roots = Roots::Table { level, codes: &codes[mine.clone()], payloads: &payloads[mine] };
                    let mut listed = Listed::default();
                    *sum_of += sum(&mut *prepared, &Part::of(roots), &mut listed);
                    *checksum += listed.checksum.unwrap();
                }
            }
            assert_eq!((sums[0], checksums[0]), (sums[1], checksums[1]));
            assert_eq!(sums[0].filled_cells + sums[0].leaf_cells, 7700);
            // On level 0 the field knows them itself, and a run of codes needs none.
            if level == 0 {
                let mut listed = Listed::default();
                let range = Roots::Codes { level, range: 0..codes.len() as u64 };
                assert_eq!(sum(&mut *prepared, &Part::of(range), &mut listed), sums[0]);
                assert_eq!(listed.checksum, Some(checksums[0]));
            }
        }
    }
}
