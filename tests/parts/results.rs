//! Windows, batches and checksums.

use orthant::backend::Insertion;
use orthant::backend::{Batch, Part, Roots, Sink};
use orthant::prelude::*;
use orthant::result::Content;
use orthant::result::{RegionsChecksum, Terminal};
use orthant::{Control, Error};

use crate::parts::{Balls, Listed, plan};

/// Windows show what the whole array shows there, one after the other in the same memory, and limits of memory follow them.
#[test]
fn windows_show_what_lies_in_them() {
    let (plan, cpu) = (plan(), Target::cpu());
    let field = Balls { n: plan.domain().size(), carries: false };
    for strategy in StrategyKind::ON_BACKENDS {
        let how = How::default().strategy(*strategy);
        let whole = Run::new(&plan, &field).how(how.clone()).start().unwrap();
        let mut prepared = cpu.of::<2>().prepare(&plan, &field, &how).unwrap();
        let windows = [([0, 0], [100, 77]), ([13, 5], [40, 60]), ([99, 76], [1, 1]), ([0, 30], [90, 21])];
        for (corner, extent) in windows {
            let window = Region { corner, extent };
            let control = Control::default();
            prepared.run(&Part::default().window(window), &control).unwrap();
            let cells = if *strategy == StrategyKind::Exhaustive { window.volume() } else { 7700 };
            let totals = prepared.counts().unwrap().totals();
            assert_eq!(totals.filled_cells + totals.leaf_cells, cells, "{strategy}");
            let mut listed = Listed::default();
            let shown = prepared.subdivision().unwrap();
            let array = shown.array().unwrap();
            let same = |cell: &[u32; 2]| array.label(*cell) == whole.array().unwrap().label(*cell);
            assert!(window.cells().all(|cell| same(&cell)), "{strategy} {window:?}");
            prepared.run(&Part::default().window(window), &control).unwrap();
            prepared.result(&mut listed).unwrap();
            assert_eq!(listed.bytes, 2 * window.volume());
            // A leaf that is not all there has no checksum.
            assert_eq!(
                shown.regions_checksum().is_some(),
                *strategy != StrategyKind::Exhaustive && cells == window.volume()
            );
        }
        if *strategy != StrategyKind::Exhaustive {
            // Nothing is left of the run before where no root is.
            let control = Control::default();
            prepared.run(&Part::default(), &control).unwrap();
            prepared.result(&mut Listed::default()).unwrap();
            prepared.run(&Part::of(Roots::Codes { level: 0, range: 0..1 }), &control).unwrap();
            let part = prepared.subdivision().unwrap();
            let (array, whole, root) = (part.array().unwrap(), whole.array().unwrap(), plan.region(0, 0));
            assert!(
                plan.domain()
                    .region()
                    .cells()
                    .all(|cell| { array.label(cell) == if root.contains_cell(cell) { whole.label(cell) } else { 0 } })
            );
        }
        if *strategy != StrategyKind::Exhaustive {
            // Regions show the same window when they are made an array.
            let how = How::default().strategy(*strategy).keep(Keep::Regions);
            let window = Region { corner: [13, 5], extent: [40, 60] };
            let mut prepared = cpu.of::<2>().prepare(&plan, &field, &how).unwrap();
            prepared.run(&Part::default().window(window), &Control::default()).unwrap();
            let regions = prepared.subdivision().unwrap();
            let array = regions.materialise(None).unwrap();
            assert!(window.cells().all(|cell| array.label(cell) == whole.array().unwrap().label(cell)));
            assert_eq!(regions.regions_checksum(), whole.regions_checksum());
        }
    }
    let how = How::default().strategy(StrategyKind::Exhaustive).mem_limit(1000);
    let mut prepared = cpu.of::<2>().prepare(&plan, &field, &how).unwrap();
    assert!(matches!(prepared.run(&Part::default(), &Control::default()), Err(Error::Memory(_))));
    let window = Region { corner: [0, 0], extent: [50, 10] };
    prepared.run(&Part::default().window(window), &Control::default()).unwrap();
}

/// The sum does not see order, curve, kind of result or threads, and sees a cell.
#[test]
fn a_checksum_without_an_order() {
    let domain = Domain::new([64; 2], [[0.0, 1.0]; 2], Sample::Corner).unwrap();
    let sums = |field: &dyn Field<2>| -> Vec<RegionsChecksum> {
        let curves = CurveKind::ALL.iter().flat_map(|&curve| [(curve, Keep::Dense), (curve, Keep::Regions)]);
        let sum = |(curve, keep)| {
            let plan = Plan::new(domain, Scheme::uniform(2, 2, 4), curve, RuleKind::Full).unwrap();
            let how = How::default().keep(keep).threads(Some(1 + curve as usize));
            Run::new(&plan, field).how(how).start().unwrap().regions_checksum().unwrap()
        };
        let mut sums: Vec<_> = curves.map(sum).collect();
        sums.dedup();
        sums
    };
    let balls = sums(&Balls { n: [64; 2], carries: false });
    assert_eq!(balls.len(), 1);
    let spot = |at: [u32; 2]| sums(&CellField::new(1, move |cell| u32::from(cell == at)));
    let (a, b) = (spot([5, 5]), spot([5, 6]));
    assert_eq!((a.len(), b.len()), (1, 1));
    assert_ne!(a, b);
    // Where a region is counts, too: in these two the same leaves and values are elsewhere.
    assert_ne!(spot([5, 5]), spot([5 + 32, 5]));
    // By hand, as docs/concepts.md says it.
    let plan = Plan::new(domain, Scheme::uniform(2, 2, 4), CurveKind::Hilbert, RuleKind::Full).unwrap();
    let field = Balls { n: [64; 2], carries: false };
    let run = Run::new(&plan, &field).how(How::default().keep(Keep::Regions)).start().unwrap();
    let hash = |terminal: &Terminal| {
        let [x, y] = plan.encoding().decode(terminal.level(), terminal.code);
        let mut bytes: Vec<u8> = [terminal.level(), x, y].into_iter().flat_map(u32::to_le_bytes).collect();
        match terminal.content() {
            Content::Uniform(word) => {
                bytes.extend([0; 4]);
                bytes.extend(word.to_le_bytes());
            }
            Content::Leaf { brick } => {
                bytes.extend([1, 0, 0, 0]);
                let (start, cells) = (brick.unwrap(), run.bricks().as_slice::<u16>().unwrap());
                let end = start + run.region(terminal).volume();
                bytes.extend(cells[start as usize..end as usize].iter().flat_map(|cell| cell.to_le_bytes()));
            }
        }
        xxhash_rust::xxh3::xxh3_64(&bytes)
    };
    let by_hand = run.terminals().iter().map(hash).fold(0, u64::wrapping_add);
    assert_eq!(balls[0], RegionsChecksum(by_hand));
    let text = balls[0].to_string();
    assert_eq!((text.len(), text.starts_with("xxh3sum:")), (24, true), "{text}");
}

/// More than a batch holds: batches follow each other, none is larger than it may be, and together they are the domain.
#[test]
fn results_come_in_batches() {
    struct Painted {
        batches: usize,
        next: u64,
        last: Option<(u32, u64)>,
        seen: Vec<bool>,
    }

    fn label([x, y]: [u32; 2]) -> u32 {
        1 + (x * 31 + y * 17) % 200
    }

    impl Sink<2> for Painted {
        fn terminals(&mut self, batch: Batch<'_, 2>) -> Result<(), Error> {
            assert!(!batch.terminals.is_empty() && batch.terminals.len() <= 1 << 18);
            assert!(batch.bricks.len() <= 1 << 20 && batch.start == self.next);
            self.batches += 1;
            for terminal in batch.terminals {
                let (key, region) =
                    ((terminal.level(), terminal.code), batch.plan.region(terminal.level(), terminal.code));
                assert!(self.last < Some(key));
                self.last = Some(key);
                let Content::Leaf { brick: Some(place) } = terminal.content() else {
                    panic!("{terminal:?} is no leaf")
                };
                assert_eq!(place, self.next);
                for (i, cell) in region.cells().enumerate() {
                    assert_eq!(batch.bricks.label((place - batch.start) as usize + i), u64::from(label(cell)));
                    self.seen[(cell[0] + 2400 * cell[1]) as usize] = true;
                }
                self.next += region.volume();
            }
            Ok(())
        }

        fn cells(&mut self, _: &Region<2>, _: u64, _: &[u8]) -> Result<(), Error> {
            panic!("no array is kept")
        }
    }

    let domain = Domain::new([2400, 2200], [[0.0, 1.0]; 2], Sample::Corner).unwrap();
    let cpu = Target::cpu();
    for (curve, b) in [(CurveKind::Hilbert, 4), (CurveKind::Canonical, 2)] {
        let plan = Plan::new(domain, Scheme::uniform(4, 2, b), curve, RuleKind::Border).unwrap();
        let field = CellField::new(200, label);
        let how = How::default().keep(Keep::Regions).insertion(Insertion::Atomic);
        let mut prepared = cpu.of::<2>().prepare(&plan, &field, &how).unwrap();
        prepared.run(&Part::default(), &Control::default()).unwrap();
        let mut painted = Painted { batches: 0, next: 0, last: None, seen: vec![false; 2400 * 2200] };
        prepared.result(&mut painted).unwrap();
        assert!(painted.batches > 1 && painted.seen.iter().all(|&seen| seen), "{} batches", painted.batches);
    }
}
