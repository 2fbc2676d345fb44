//! The order of schemes by what a coarse sample says of them.

use orthant::Mapping;
use orthant::field::{FieldOptions, mandelbrot};
use orthant::prelude::*;
use orthant_lab::model::auto::{Means, Ranked, budget, rank};
use orthant_lab::model::features;
use orthant_lab::model::observed::{Hardware, Terms};
use orthant_lab::model::sample::{Coarse, Explore};

use super::taken;

const MACHINE: Hardware = Hardware::Cpu { threads: 2 };

fn sampled(n: u32) -> (Domain<2>, Coarse<2>) {
    let domain = Domain::new([n; 2], [[-1.5, 0.5], [-1.0, 1.0]], Sample::Corner).unwrap();
    let field = mandelbrot::open(&domain, &FieldOptions::default()).unwrap();
    let explore = Explore {
        rule: RuleKind::Border,
        proves: false,
        order: How::default().tuning.explore_order,
        rounds: MACHINE.rounds(),
    };
    (domain, taken(&*field, &domain, 1 << 12, explore))
}

const ASK: StrategyKind = StrategyKind::Ask;

fn means(strategy: StrategyKind, mapping: Mapping) -> Means {
    Means { strategy, mapping: Some(mapping) }
}

fn by(coarse: &Coarse<2>, means: &[(Means, Option<Terms>)], hardware: Hardware) -> Vec<Ranked> {
    let ranked = rank(coarse, means, &How::default(), hardware).unwrap();
    assert!(ranked.windows(2).all(|pair| pair[0].cost <= pair[1].cost));
    ranked
}

fn ranked(coarse: &Coarse<2>, constants: Option<Terms>) -> Vec<Ranked> {
    by(coarse, &Mapping::OF_THE_PAPERS.map(|mapping| (means(ASK, mapping), constants)), MACHINE)
}

#[test]
fn candidates_can_be_run_and_differ() {
    let (domain, coarse) = sampled(256);
    let mut seen = std::collections::HashSet::new();
    for candidate in ranked(&coarse, None) {
        let Ranked { g, r, b, means, .. } = candidate;
        assert!(g * r * b <= 256);
        let plan = Plan::new(domain, Scheme::uniform(g, r, b), CurveKind::Hilbert, RuleKind::Border).unwrap();
        let levels: Vec<_> = plan.levels().iter().map(|level| level.grid).collect();
        assert!(seen.insert((levels, r, means.mapping)), "{candidate:?}");
    }
    assert!(seen.len() > 40);
    assert!(ranked(&sampled(3).1, None).is_empty());
    assert_eq!(ranked(&sampled(4).1, None).len(), Mapping::OF_THE_PAPERS.len());
}

#[test]
fn costs_are_those_of_the_levels() {
    let (_, coarse) = sampled(1000);
    let constants = Terms { alpha: 1.0, nu: 20.0, gamma: 0.5, kappa: 1e5, beta: 900.0, ..Terms::default() };
    let gpu = Hardware::Gpu { multiprocessors: 4, threads: 2048, block: 64 };
    for (mapping, hardware) in [(Mapping::Sbr, MACHINE), (Mapping::Mbr, gpu), (Mapping::Stream, gpu)] {
        for candidate in by(&coarse, &[(means(ASK, mapping), Some(constants))], hardware) {
            let Ranked { g, r, b, means, cost, fitted } = candidate;
            let (scheme, keep) = (Scheme::uniform(g, r, b), How::default().kept.keep);
            let levels = match mapping {
                Mapping::Stream => coarse.levels_of_streams(&scheme, keep),
                _ => coarse.levels(&scheme, keep),
            };
            assert_eq!(cost, features(means.strategy, mapping, hardware, &levels).times(constants));
            assert!(fitted);
        }
    }
}

#[test]
fn constants_decide_and_so_does_the_paper() {
    let (_, coarse) = sampled(1024);
    let best = |constants| ranked(&coarse, constants)[0];
    // Where only cells cost, exploring goes deep; where only regions do, it hardly begins.
    let deep = best(Some(Terms { nu: 1.0, ..Terms::default() }));
    assert!(deep.r == 2 && deep.b <= 16);
    assert_eq!(best(Some(Terms { beta: 1.0, ..Terms::default() })).g, 2);
    let paper = best(None);
    assert!(paper.g * paper.r * paper.b <= 1024 && !paper.fitted);
}

#[test]
fn dividing_has_to_pay() {
    let (_, coarse) = sampled(1024);
    let whole =
        (Means { strategy: StrategyKind::Exhaustive, mapping: None }, Some(Terms { nu: 1.0, ..Terms::default() }));
    let dividing = |nu| (means(ASK, Mapping::Sbr), Some(Terms { nu, ..Terms::default() }));
    let best = |nu| by(&coarse, &[whole, dividing(nu)], MACHINE)[0];
    assert_eq!((best(1.0).means.strategy, best(100.0).means.strategy), (ASK, StrategyKind::Exhaustive));
    assert_eq!((best(100.0).cost, best(100.0).b), (f64::from(1u32 << 20) / 2.0, 1024));
    let all = by(&coarse, &[whole, dividing(1.0)], MACHINE);
    assert_eq!(all.iter().filter(|candidate| candidate.means.strategy == StrategyKind::Exhaustive).count(), 1);
    // Where nothing is large enough to be divided, it is all there is.
    assert_eq!(by(&sampled(3).1, &[whole, dividing(1.0)], MACHINE).len(), 1);
}

#[test]
fn what_was_not_fitted_begins_beside_the_best() {
    let (_, coarse) = sampled(1024);
    let known = (means(ASK, Mapping::Sbr), Some(Terms { nu: 1.0, beta: 1.0, ..Terms::default() }));
    let whole = Means { strategy: StrategyKind::Exhaustive, mapping: None };
    let all = by(&coarse, &[known, (means(ASK, Mapping::Stream), None), (whole, None)], MACHINE);
    let alone = by(&coarse, &[known], MACHINE);
    assert_eq!(all.len(), 2 * alone.len() + 1);
    assert_eq!((all[0].cost, all[1].means, all[1].fitted), (alone[0].cost, whole, false));
    let streams = all.iter().find(|candidate| candidate.means.mapping == Some(Mapping::Stream)).unwrap();
    assert!((streams.cost / all[0].cost - 1.0).abs() < 1e-12 && !streams.fitted);
}

#[test]
fn samples_are_a_small_share() {
    assert_eq!(budget(1 << 20, RuleKind::Closed), 1 << 11);
    assert_eq!((budget(100, RuleKind::Full), budget(1 << 60, RuleKind::Border)), (1 << 10, 1 << 14));
    assert_eq!(budget(1 << 60, RuleKind::Certified), 1 << 12);
}
