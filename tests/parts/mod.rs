//! Runs over parts of a plan, and what they hand over.

mod results;
mod sums;

use orthant::backend::{Batch, Part, PartError, Prepared, Roots, Sink};
use orthant::field::{Carry, Evaluate, Labels, Payload, Prove};
use orthant::geometry::WindowError;
use orthant::prelude::*;
use orthant::result::Content;
use orthant::result::{LevelCounts, RegionsChecksum, Terminal};
use orthant::rule::Verdict;
use orthant::{Control, Error, WordsMut};

/// Balls around points of a lattice: mixed regions all over the domain, in any dimension. Regions carry how deep they are.
struct Balls<const K: usize> {
    n: [u32; K],
    carries: bool,
}

impl<const K: usize> Field<K> for Balls<K> {
    fn labels(&self) -> Labels {
        Labels::counts(200)
    }

    fn host(&self) -> Option<&dyn Evaluate<K>> {
        Some(self)
    }

    fn prover(&self) -> Option<&dyn Prove<K>> {
        Some(self)
    }

    fn carrier(&self) -> Option<&dyn Carry<K>> {
        self.carries.then_some(self)
    }
}

impl<const K: usize> Evaluate<K> for Balls<K> {
    fn evaluate(&self, cells: &[[u32; K]], labels: WordsMut<'_>) {
        let label = |cell: &[u32; K]| {
            let square: u64 = (0..K).map(|j| u64::from(cell[j] % 19).abs_diff(7).pow(2)).sum();
            u32::from(square < 30) * (1 + (0..K).map(|j| cell[j] / 19).sum::<u32>() % 9)
        };
        labels.put(cells.iter().map(label));
    }
}

impl<const K: usize> Prove<K> for Balls<K> {
    /// Proves nothing, but that what was carried down is what the region's ancestors are.
    fn prove(&self, region: &Region<K>, payload: Payload) -> Verdict {
        if self.carries {
            assert_eq!(payload, carried(region, payload.0 as u32), "{region:?}");
        }
        Verdict::Unknown
    }
}

impl<const K: usize> Carry<K> for Balls<K> {
    fn root(&self, region: &Region<K>) -> Payload {
        carried(region, 0)
    }

    fn split(&self, parent: &Region<K>, payload: Payload, children: &[Region<K>], payloads: &mut [Payload]) {
        assert!(self.n.iter().zip(parent.corner).all(|(n, c)| c < *n));
        for (child, slot) in children.iter().zip(payloads) {
            *slot = carried(child, payload.0 as u32 + 1);
        }
    }
}

/// The depth, and something of the region.
fn carried<const K: usize>(region: &Region<K>, depth: u32) -> Payload {
    let place = region.corner.iter().fold(17u32, |sum, &c| sum.wrapping_mul(31).wrapping_add(c));
    Payload(u64::from(place) << 32 | u64::from(depth))
}

/// A sink of one's own: regions by level, code and content, and the sum over the batches.
struct Listed {
    terminals: Vec<(u32, u64, Content)>,
    checksum: Option<RegionsChecksum>,
    /// Cells of bricks, and bytes of the array, so far.
    bricks: u64,
    bytes: u64,
}

impl Default for Listed {
    fn default() -> Self {
        Self { terminals: Vec::new(), checksum: Some(RegionsChecksum::default()), bricks: 0, bytes: 0 }
    }
}

impl<const K: usize> Sink<K> for Listed {
    fn terminals(&mut self, batch: Batch<'_, K>) -> Result<(), Error> {
        assert_eq!(batch.start, self.bricks);
        self.bricks += batch.bricks.len() as u64;
        // Without a place, which counts within a run.
        let content = |terminal: &Terminal| match terminal.content() {
            Content::Leaf { .. } => Content::Leaf { brick: None },
            uniform => uniform,
        };
        self.terminals.extend(batch.terminals.iter().map(|t| (t.level(), t.code, content(t))));
        self.checksum = self.checksum.zip(batch.checksum()).map(|(a, b)| a + b);
        Ok(())
    }

    fn cells(&mut self, window: &Region<K>, start: u64, bytes: &[u8]) -> Result<(), Error> {
        assert_eq!(2 * start, self.bytes);
        self.bytes += bytes.len() as u64;
        assert!(self.bytes <= 2 * window.volume());
        Ok(())
    }
}

/// Runs a part into a sink; all levels together.
fn sum<const K: usize>(prepared: &mut dyn Prepared<K>, part: &Part<'_, K>, sink: &mut Listed) -> LevelCounts {
    prepared.run(part, &Control::default()).unwrap();
    prepared.result(sink).unwrap();
    prepared.counts().unwrap().totals()
}

fn plan() -> Plan<2> {
    let domain = Domain::new([100, 77], [[0.0, 1.0]; 2], Sample::Corner).unwrap();
    Plan::new(domain, Scheme { g: [3, 2], r: [2, 2], b: [2, 2] }, CurveKind::Morton, RuleKind::Full).unwrap()
}

#[test]
fn what_does_not_fit_is_refused() {
    let (plan, cpu) = (plan(), Target::cpu());
    let codes = plan.levels()[1].regions() as u64;
    let deepest = plan.levels().len() as u32 - 1;
    let refused = |carries, strategy, part: Part<'_, 2>| -> PartError {
        let field = Balls { n: plan.domain().size(), carries };
        let how = How::default().strategy(strategy);
        let error = cpu.of::<2>().prepare(&plan, &field, &how).unwrap().run(&part, &Control::default()).unwrap_err();
        match error {
            Error::Part(error) => error,
            other => panic!("{other}"),
        }
    };
    let ask = |roots: Roots<'_>| refused(false, StrategyKind::Ask, Part::of(roots));
    fn table(codes: &[u64]) -> Roots<'_> {
        Roots::Table { level: 1, codes, payloads: &[] }
    }
    assert_eq!(ask(Roots::Codes { level: deepest + 1, range: 0..1 }), PartError::Level { level: deepest + 1, deepest });
    let code = PartError::Code { level: 1, code: codes, last: codes - 1 };
    assert_eq!(ask(Roots::Codes { level: 1, range: 3..codes + 1 }), code);
    assert_eq!(ask(table(&[1, codes])), code);
    #[expect(clippy::reversed_empty_ranges, reason = "what is refused")]
    let reversed = ask(Roots::Codes { level: 1, range: 3..2 });
    assert_eq!(reversed, PartError::Reversed { start: 3, end: 2 });
    assert_eq!(ask(table(&[1, 5, 5])), PartError::Order { before: 5, code: 5 });
    assert_eq!(ask(table(&[5, 4])), PartError::Order { before: 5, code: 4 });
    let given = Roots::Table { level: 1, codes: &[1, 2], payloads: &[Payload(1)] };
    assert_eq!(ask(given.clone()), PartError::Payloads { given: 1, codes: 2, needed: 0 });
    let carrying = |roots: Roots<'_>| refused(true, StrategyKind::Dp, Part::of(roots));
    assert_eq!(carrying(given), PartError::Payloads { given: 1, codes: 2, needed: 2 });
    assert_eq!(carrying(Roots::Codes { level: 1, range: 0..1 }), PartError::UnknownPayloads { level: 1 });
    let window = |corner, extent| refused(false, StrategyKind::Ask, Part::default().window(Region { corner, extent }));
    let wrong = |corner, extent| PartError::Window(WindowError { axis: 1, corner, extent, size: 77 });
    assert_eq!(window([0, 70], [100, 8]), wrong(70, 8));
    assert_eq!(window([0, 3], [1, 0]), wrong(3, 0));
    assert_eq!(window([0, 1], [1, u32::MAX]), wrong(1, u32::MAX));
    assert_eq!(refused(false, StrategyKind::Exhaustive, Part::of(table(&[1]))), PartError::Exhaustive);
    let said = PartError::Order { before: 5, code: 4 }.to_string();
    assert_eq!(said, "roots: code 4 follows 5; the codes of a table ascend, each once");
}

/// No roots: nothing is found, and nothing is missing.
#[test]
fn a_part_may_be_empty() {
    let (plan, cpu) = (plan(), Target::cpu());
    let field = Balls { n: plan.domain().size(), carries: false };
    for strategy in [StrategyKind::Ask, StrategyKind::Dp] {
        let mut prepared = cpu.of::<2>().prepare(&plan, &field, &How::default().strategy(strategy)).unwrap();
        for roots in [Roots::Codes { level: 1, range: 4..4 }, Roots::Table { level: 1, codes: &[], payloads: &[] }] {
            prepared.run(&Part::of(roots), &Control::default()).unwrap();
            let none = prepared.subdivision().unwrap();
            assert_eq!((none.terminals().len(), none.totals()), (0, LevelCounts::default()), "{strategy}");
            assert_eq!(none.regions_checksum(), Some(RegionsChecksum::default()));
        }
    }
}
