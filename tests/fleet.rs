//! Several devices as one backend: what they find together is what one finds alone.

use std::time::{Duration, Instant};

use orthant::backend::{Batch, Part, Roots, Sink};
use orthant::field::{FieldOptions, mandelbrot};
use orthant::prelude::*;
use orthant::result::RegionsChecksum;
use orthant::{Control, Error, Mapping};

/// Processors that share the work as GPUs do.
fn fleet(members: usize) -> Target {
    Target::open_several(BackendKind::Cpu, &(0..members).collect::<Vec<_>>()).unwrap()
}

fn plan(curve: CurveKind, rule: RuleKind) -> Plan<2> {
    let plan = Plan::builder([203, 150]).window([[-1.5, 0.5], [-1.0, 1.0]]).scheme(Scheme::uniform(7, 2, 3));
    plan.curve(curve).rule(rule).build().unwrap()
}

#[test]
fn fleets_find_what_one_finds() {
    for (curve, rule, strategy, keep) in [
        (CurveKind::Morton, RuleKind::Border, StrategyKind::Ask, Keep::Regions),
        (CurveKind::Hilbert, RuleKind::Full, StrategyKind::Dp, Keep::Regions),
        (CurveKind::Canonical, RuleKind::Closed, StrategyKind::Ask, Keep::Regions),
        (CurveKind::Canonical, RuleKind::Certified, StrategyKind::Ask, Keep::Dense),
        (CurveKind::Morton, RuleKind::Border, StrategyKind::Dp, Keep::Dense),
        (CurveKind::Hilbert, RuleKind::Border, StrategyKind::Ask, Keep::Counts),
        (CurveKind::Morton, RuleKind::Full, StrategyKind::Exhaustive, Keep::Dense),
    ] {
        let plan = plan(curve, rule);
        let field = mandelbrot::open(plan.domain(), &FieldOptions::default().dwell(60)).unwrap();
        let how = How::default().strategy(strategy).mapping(Mapping::Mbr).keep(keep);
        let alone = Run::new(&plan, &*field).how(how.clone()).start().unwrap();
        for members in [1, 2, 3, 64] {
            let fleet = fleet(members);
            let mut prepared = fleet.of().prepare(&plan, &*field, &how).unwrap();
            // Twice, as runs are repeated.
            for _ in 0..2 {
                let control = Control::default();
                prepared.run(&Part::default(), &control).unwrap();
                let checksum = prepared.checksum().unwrap();
                let counts = prepared.counts().unwrap();
                let found = prepared.subdivision().unwrap();
                let of = format!("{members} members: {curve} {rule} {strategy} {keep}");
                assert_eq!(found.terminals(), alone.terminals(), "{of}");
                assert_eq!((found.bricks(), found.array()), (alone.bricks(), alone.array()), "{of}");
                assert_eq!(checksum, alone.array().map(|array| array.checksum()), "{of}");
                assert_eq!((found.cells(), found.totals()), (alone.cells(), alone.totals()), "{of}");
                if strategy != StrategyKind::Exhaustive {
                    assert!(
                        counts.levels.iter().zip(alone.levels()).all(|(one, two)| one.counts == two.counts),
                        "{of}"
                    );
                }
                assert_eq!(u128::from(control.cells_done()), alone.cells(), "{of}");
            }
        }
    }
}

/// Adds up what it is given.
#[derive(Default)]
struct Sums(Option<RegionsChecksum>);

impl Sink<2> for Sums {
    fn terminals(&mut self, batch: Batch<'_, 2>) -> Result<(), Error> {
        let more = batch.checksum();
        self.0 = self.0.zip(more).map(|(sum, more)| sum + more).or(more);
        Ok(())
    }
    fn cells(&mut self, _: &Region<2>, _: u64, _: &[u8]) -> Result<(), Error> {
        Ok(())
    }
}

/// A part is the first member's, and what is delivered to a sink is what is kept.
#[test]
fn fleets_deliver_and_take_parts() {
    let plan = plan(CurveKind::Morton, RuleKind::Border);
    let field = mandelbrot::open(plan.domain(), &FieldOptions::default()).unwrap();
    let (how, control) = (How::default().keep(Keep::Regions), Control::default());
    let alone = Run::new(&plan, &*field).how(how.clone()).start().unwrap();
    let fleet = fleet(2);
    let mut prepared = fleet.of().prepare(&plan, &*field, &how).unwrap();
    prepared.run(&Part::default(), &control).unwrap();
    let mut sums = Sums::default();
    prepared.result(&mut sums).unwrap();
    assert_eq!(sums.0, alone.regions_checksum());
    let part = Part::of(Roots::Codes { level: 0, range: 3..9 });
    prepared.run(&part, &control).unwrap();
    assert_eq!(prepared.subdivision().unwrap().levels()[0].counts.regions, 6);
    assert_eq!((fleet.devices(), fleet.device()), (2, None));
}

/// Memory that all pieces together exceed is refused, and so is a field that the members cannot evaluate.
#[test]
fn fleets_refuse_what_is_too_much() {
    let plan = plan(CurveKind::Morton, RuleKind::Border);
    let field = mandelbrot::open(plan.domain(), &FieldOptions::default()).unwrap();
    let fleet = fleet(2);
    for keep in [Keep::Dense, Keep::Regions] {
        let how = How::default().keep(keep).mem_limit(20_000);
        let refused = Run::new(&plan, &*field).how(how).on(&fleet).start();
        assert!(matches!(refused, Err(Error::Memory(_))), "{keep}: {refused:?}");
    }
}

/// A cancelled run ends soon on every member.
#[test]
fn fleets_end_when_they_are_told() {
    let plan =
        Plan::builder([1 << 12, 1 << 12]).scheme(Scheme::uniform(16, 2, 16)).rule(RuleKind::Full).build().unwrap();
    let slow = CellField::new(1, |[x, y]: [u32; 2]| {
        std::hint::black_box((0..2000u32).fold(x, |sum, i| sum.wrapping_mul(y | 1).wrapping_add(i)));
        0
    });
    let (fleet, control) = (fleet(2), Control::default());
    let begun = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(100));
            control.cancel(15);
        });
        let ended = Run::new(&plan, &slow).on(&fleet).control(&control).start();
        assert!(matches!(ended, Err(Error::Interrupted(15))), "{ended:?}");
    });
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

/// A field that panics ends the run with its panic, and no worker waits for the piece.
#[test]
fn fleets_end_by_a_panic() {
    let plan = Plan::builder([64, 64]).scheme(Scheme::uniform(16, 2, 2)).rule(RuleKind::Full).build().unwrap();
    let field = CellField::new(1, |cell: [u32; 2]| {
        assert_ne!(cell, [40, 21], "a fault of the field");
        0
    });
    let two = fleet(2);
    let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| Run::new(&plan, &field).on(&two).start()));
    assert!(ended.is_err() || ended.is_ok_and(|ended| ended.is_err()));
}
