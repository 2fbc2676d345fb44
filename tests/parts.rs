//! Runs over parts of a plan add up to the run of the whole.

use orthant::backend::{Batch, Part, PartError, Prepared, Roots, Sink};
use orthant::conformance::{Cut, in_parts};
use orthant::prelude::*;
use orthant::result::{LevelCounts, RegionsChecksum, Terminal};
use proptest::prelude::*;

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
    let tuning = (keep, strategy, prop::sample::select(Mapping::ALL), prop::sample::select(Insertion::ALL));
    let how = tuning.prop_map(|(keep, strategy, mapping, insertion)| {
        How::default().keep(keep).strategy(strategy).mapping(mapping).insertion(insertion).poison(0x5a)
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
        let scheme = Scheme { g: std::array::from_fn(|j| self.g[j]), r: std::array::from_fn(|j| self.r[j]), b: self.b };
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

fn plan() -> Plan<2> {
    let domain = Domain::new([100, 77], [[0.0, 1.0]; 2], Sample::Corner).unwrap();
    Plan::new(domain, Scheme { g: [3, 2], r: [2, 2], b: 2 }, CurveKind::Morton, RuleKind::Full).unwrap()
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
    let wrong = |corner, extent| PartError::Window { axis: 1, corner, extent, size: 77 };
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

/// Windows show what the whole array shows there, one after the other in the same memory, and limits of memory follow them.
#[test]
fn windows_show_what_lies_in_them() {
    let (plan, cpu) = (plan(), Target::cpu());
    let field = Balls { n: plan.domain().size(), carries: false };
    for strategy in StrategyKind::ALL {
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
            let layers: Vec<u64> =
                regions.layers(500).unwrap().flat_map(|layer| crate::outcome::labels(&layer)).collect();
            assert_eq!(layers, crate::outcome::labels(&array));
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
            assert!(!batch.terminals.is_empty() && batch.terminals.len() <= 1 << 16);
            // A leaf more than a full batch at most.
            assert!(batch.bricks.len() < (1 << 20) + 64 && batch.start == self.next);
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
                    self.seen[(cell[0] + 1200 * cell[1]) as usize] = true;
                }
                self.next += region.volume();
            }
            Ok(())
        }

        fn cells(&mut self, _: &Region<2>, _: u64, _: &[u8]) -> Result<(), Error> {
            panic!("no array is kept")
        }
    }

    let domain = Domain::new([1200, 1100], [[0.0, 1.0]; 2], Sample::Corner).unwrap();
    let cpu = Target::cpu();
    for (curve, b) in [(CurveKind::Hilbert, 4), (CurveKind::Canonical, 2)] {
        let plan = Plan::new(domain, Scheme::uniform(4, 2, b), curve, RuleKind::Border).unwrap();
        let field = CellField::new(200, label);
        let how = How::default().keep(Keep::Regions).insertion(Insertion::Atomic);
        let mut prepared = cpu.of::<2>().prepare(&plan, &field, &how).unwrap();
        prepared.run(&Part::default(), &Control::default()).unwrap();
        let mut painted = Painted { batches: 0, next: 0, last: None, seen: vec![false; 1200 * 1100] };
        prepared.result(&mut painted).unwrap();
        assert!(painted.batches > 1 && painted.seen.iter().all(|&seen| seen), "{} batches", painted.batches);
    }
}
