//! How trees come to be: every way to the same regions makes the same tree.

use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use ndarray::{ArrayD, IxDyn};
use orthant::backend::{Batch, Part, Proofs, Roots, Sink};
use orthant::field::{Evaluate, FieldOptions, Labels, Payload, Prove};
use orthant::prelude::*;
use orthant::rule::Verdict;
use orthant::tree::{BottomUp, Collector, Provenance, Source, TreeError};
use orthant::{Cell, CellType, Control, Error, WordsMut, field};
use proptest::prelude::*;

use crate::patterns::awkward;
use crate::trees::survey::Lying;
use crate::trees::{Case, bottom_up, key, place, shape, top_down};

/// Along every curve, from the cells up and from the top down, whatever the run kept.
fn all_ways<T: Cell, const K: usize>(case: Case<K>) {
    let array = case.array::<T>();
    for &curve in CurveKind::ALL {
        let Some(plan) = case.plan(curve) else { continue };
        let field = ArrayField::new(array.view()).unwrap();
        let tree = bottom_up(&plan, &array);
        let run = Run::new(&plan, &field).how(How::default().keep(Keep::Regions)).start().unwrap();
        assert_eq!(Some(tree.checksum()), run.regions_checksum(), "{case:?} {curve}");
        if curve != CurveKind::Canonical {
            // The run's own list, region by region.
            let mut expected: Vec<_> = run.terminals().iter().map(|t| (t.level(), t.code)).collect();
            let mut found: Vec<_> = tree.regions().map(|region| (region.level(), region.code())).collect();
            expected.sort_unstable();
            found.sort_unstable();
            assert_eq!(found, expected, "{case:?} {curve}");
            assert_eq!(tree.bricks(), run.bricks(), "{case:?} {curve}");
        }
        assert_eq!(tree, Tree::of(run).unwrap(), "{case:?} {curve}");
        for strategy in [StrategyKind::Ask, StrategyKind::Exhaustive] {
            assert_eq!(tree, top_down(&plan, &array, How::default().strategy(strategy)), "{case:?} {curve} {strategy}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn bottom_up_is_top_down(
        line in Case::<1>::any(90), plane in Case::<2>::any(24), space in Case::<3>::any(12), four in Case::<4>::any(6),
        six in Case::<6>::any(3),
    ) {
        all_ways::<u16, 1>(line);
        all_ways::<f32, 2>(plane);
        all_ways::<u8, 2>(plane);
        all_ways::<i32, 3>(space);
        all_ways::<u64, 3>(space);
        all_ways::<f64, 4>(four);
        all_ways::<i8, 6>(six);
    }
}

/// Which cells were asked for, and how they answer.
struct Watched<'a> {
    array: &'a ArrayD<u16>,
    asked: Mutex<ArrayD<u32>>,
    /// Fails at this cell.
    broken: Option<[u32; 3]>,
}

impl Source<3> for Watched<'_> {
    fn kind(&self) -> CellType {
        CellType::U16
    }

    fn size(&self) -> [u32; 3] {
        std::array::from_fn(|j| self.array.shape()[2 - j] as u32)
    }

    fn read(&self, window: &Region<3>, bytes: &mut [u8]) -> io::Result<()> {
        assert_eq!(bytes.len() as u64, 2 * window.volume());
        if self.broken.is_some_and(|cell| window.contains_cell(cell)) {
            return Err(io::Error::other("plane 7 is torn"));
        }
        let mut asked = self.asked.lock().unwrap();
        for (cell, bytes) in window.cells().zip(bytes.chunks_exact_mut(2)) {
            asked[&place(cell)[..]] += 1;
            bytes.copy_from_slice(&self.array[&place(cell)[..]].to_ne_bytes());
        }
        Ok(())
    }
}

fn watched(array: &ArrayD<u16>) -> Watched<'_> {
    Watched { array, asked: Mutex::new(ArrayD::zeros(array.shape())), broken: None }
}

/// More cells than a block has, in regions that blocks do not divide.
fn case() -> Case<3> {
    Case { size: [130, 67, 101], scheme: Scheme { g: [3, 1, 2], r: [2, 3, 2], b: [5, 3, 5] }, seed: 11 }
}

#[test]
fn every_cell_is_read_once() {
    let (case, array) = (case(), case().array::<u16>());
    let plan = case.plan(CurveKind::Morton).unwrap();
    let source = watched(&array);
    let control = Control::default();
    let tree = BottomUp::new(&plan, &source).unwrap().control(&control).tree().unwrap();
    assert!(source.asked.into_inner().unwrap().iter().all(|&asked| asked == 1));
    assert_eq!(u128::from(control.cells_done()), plan.domain().cells());
    assert_eq!(tree, top_down(&plan, &array, How::default().keep(Keep::Regions)));
    assert!(tree.regions().all(|region| region.provenance() == Provenance::Proved));
}

/// Runs of the initial grid's codes, in any order, through a sink.
#[test]
fn shards_come_to_the_whole() {
    let (case, array) = (case(), case().array::<u16>());
    for curve in [CurveKind::Morton, CurveKind::Canonical] {
        let plan = case.plan(curve).unwrap();
        let source = watched(&array);
        let building = BottomUp::new(&plan, &source).unwrap();
        let tree = building.tree().unwrap();
        let mut collector = Collector::new(tree.plan());
        for codes in [3..6, 0..1, 1..3] {
            building.shard(0, codes, &mut collector).unwrap();
        }
        assert_eq!(collector.tree().unwrap(), tree, "{curve}");
        let mut some = Collector::new(tree.plan());
        building.shard(0, 1..6, &mut some).unwrap();
        assert!(matches!(some.tree(), Err(TreeError::Tiling { total: 879_710, .. })));
        let beyond = building.shard(0, 2..7, &mut Collector::new(tree.plan())).unwrap_err();
        assert_eq!(beyond.to_string(), "code 6 on level 0, whose codes are 0 to 5");
    }
}

/// Sees that batches come along the curve, and collects them.
struct InOrder<'c>(&'c mut Collector<2>, Option<u64>);

impl Sink<2> for InOrder<'_> {
    fn terminals(&mut self, batch: Batch<'_, 2>) -> Result<(), Error> {
        let deepest = batch.plan.levels().len() as u32 - 1;
        for terminal in batch.terminals {
            let first = terminal.code * 4u64.pow(deepest - terminal.level());
            assert!(self.1 < Some(first));
            self.1 = Some(first);
        }
        self.0.terminals(batch)
    }

    fn cells(&mut self, _: &Region<2>, _: u64, _: &[u8]) -> Result<(), Error> {
        panic!("no array is kept")
    }
}

/// A run that samples, on parts of the plan, in any order, and what the tree says of it.
#[test]
fn runs_are_collected() {
    let domain = Domain::new([90, 70], [[-1.5, 0.5], [-1.0, 1.0]], Sample::Corner).unwrap();
    let field = field::mandelbrot::open(&domain, &FieldOptions::default().dwell(60)).unwrap();
    let how = How::default().keep(Keep::Regions);
    let cpu = Target::cpu();
    for &curve in CurveKind::ALL {
        let plan = Plan::new(domain, Scheme::uniform(4, 2, 2), curve, RuleKind::Border).unwrap();
        let whole = Run::new(&plan, &*field).how(how.clone()).start().unwrap();
        let mut prepared = cpu.of().prepare(&plan, &*field, &how).unwrap();
        let mut collector = Collector::new(&plan);
        for range in [12..16, 0..5, 5..12] {
            prepared.run(&Part::of(Roots::Codes { level: 0, range }), &Control::default()).unwrap();
            prepared.result(&mut collector).unwrap();
        }
        let tree = collector.tree().unwrap();
        // The same by way of shards, each put in order and handed on.
        let mut shards = Collector::new(tree.plan());
        for range in [0..9, 9..16] {
            let mut shard = Collector::new(&plan);
            prepared.run(&Part::of(Roots::Codes { level: 0, range }), &Control::default()).unwrap();
            prepared.result(&mut shard).unwrap();
            shard.deliver(&mut InOrder(&mut shards, None)).unwrap();
        }
        assert_eq!(shards.tree().unwrap(), tree, "{curve}");
        assert_eq!(Some(tree.checksum()), whole.regions_checksum(), "{curve}");
        assert_eq!(tree.plan().rule(), RuleKind::Border);
        for region in tree.regions() {
            let seen = region.uniform().is_none() || region.cells().extent.iter().any(|&side| side <= 2);
            let expected = if seen { Provenance::Proved } else { Provenance::Sampled };
            assert_eq!(region.provenance(), expected, "{region:?}");
        }
        assert_eq!(tree, Tree::of(whole).unwrap());
        // A tree of an exhaustive run is exact, whatever the rule was.
        let exhaustive = How::default().strategy(StrategyKind::Exhaustive);
        let exact = Tree::of(Run::new(&plan, &*field).how(exhaustive).start().unwrap()).unwrap();
        assert_eq!(exact.plan().rule(), RuleKind::Full);
        assert!(exact.regions().all(|region| region.provenance() == Provenance::Proved));
    }
}

/// What a run with proofs proved, and no other region, is proved in its tree; another field is found out.
#[test]
fn regions_that_are_proven_are_proved() {
    let domain = Domain::new([300, 260], [[-1.5, 0.5], [-1.0, 1.0]], Sample::Corner).unwrap();
    let open = |dwell| field::mandelbrot::open(&domain, &FieldOptions::default().dwell(dwell)).unwrap();
    let (field, control) = (open(200), Control::default());
    let how = How::default().keep(Keep::Regions).prove(Some(Proofs::Yes));
    for rule in [RuleKind::Border, RuleKind::Closed] {
        let plan = Plan::new(domain, Scheme::uniform(4, 2, 4), CurveKind::Morton, rule).unwrap();
        let run = Run::new(&plan, &*field).how(how.clone()).start().unwrap();
        let proven = run.totals().proven;
        let tree = Tree::of(run).unwrap();
        let known = |tree: &Tree<2>| -> Vec<_> { tree.regions().map(|region| region.provenance()).collect() };
        let before = known(&tree);
        let tree = tree.proved_by(&*field, &control).unwrap();
        let after = known(&tree);
        let prover = field.prover().unwrap();
        let uniform = |region: &Region<2>| matches!(prover.prove(region, Payload::default()), Verdict::Uniform(_));
        let mut found = 0;
        for (region, (before, after)) in tree.regions().zip(before.iter().zip(&after)) {
            let provable = region.uniform().is_some() && uniform(&region.cells());
            found += u64::from(provable);
            let expected = if provable { Provenance::Proved } else { *before };
            assert_eq!((*after, region.uniform().is_some()), (expected, region.brick().is_none()));
        }
        assert!(proven > 100 && before != after && after.contains(&Provenance::Sampled));
        // A rule that looks at the closure asks for a proof of the closure.
        assert!(
            if rule == RuleKind::Border { found == proven } else { found >= proven },
            "{rule}: {found} of {proven}"
        );
        assert_eq!(tree.checksum(), Tree::of(Run::new(&plan, &*field).start().unwrap()).unwrap().checksum());
    }
    let plan = Plan::new(domain, Scheme::uniform(4, 2, 4), CurveKind::Morton, RuleKind::Border).unwrap();
    let tree = Tree::of(Run::new(&plan, &*field).start().unwrap()).unwrap();
    let error = tree.clone().proved_by(&*open(100), &control).unwrap_err();
    assert!(matches!(error, TreeError::Disproved { found: 200, proven: 100, .. }), "{error}");
    control.cancel(2);
    assert!(matches!(tree.proved_by(&*field, &control), Err(TreeError::Run(Error::Interrupted(2)))));
}

/// What is not a number is proved in any of its patterns.
#[test]
fn what_is_no_number_is_proved() {
    struct Half;
    const AWKWARD: u32 = 0xffc1_2345;
    impl Field<2> for Half {
        fn labels(&self) -> Labels {
            Labels::values(CellType::F32)
        }
        fn host(&self) -> Option<&dyn Evaluate<2>> {
            Some(self)
        }
        fn prover(&self) -> Option<&dyn Prove<2>> {
            Some(self)
        }
    }
    impl Evaluate<2> for Half {
        fn evaluate(&self, cells: &[[u32; 2]], labels: WordsMut<'_>) {
            labels.put(cells.iter().map(|&[x, _]| if x < 32 { f32::from_bits(AWKWARD) } else { 1.5 }));
        }
    }
    impl Prove<2> for Half {
        fn prove(&self, region: &Region<2>, _: Payload) -> Verdict {
            match region.corner[0] {
                32.. => Verdict::Uniform(1.5f32.to_bits().into()),
                x if x + region.extent[0] <= 32 => Verdict::Uniform(AWKWARD.into()),
                _ => Verdict::Unknown,
            }
        }
    }
    let domain = Domain::new([64; 2], [[0.0, 1.0]; 2], Sample::Corner).unwrap();
    let plan = Plan::new(domain, Scheme::uniform(1, 2, 4), CurveKind::Hilbert, RuleKind::Border).unwrap();
    let tree = Tree::of(Run::new(&plan, &Half).start().unwrap()).unwrap();
    assert!(tree.len() == 4 && tree.regions().all(|region| region.provenance() == Provenance::Sampled));
    let tree = tree.proved_by(&Half, &Control::default()).unwrap();
    assert!(tree.regions().all(|region| region.provenance() == Provenance::Proved));
    assert!(tree.word([3, 3]).is_some_and(|word| f32::from_bits(word as u32).is_nan()));
}

/// Regions of the last level that are larger than a block: of one value, of one that is no number in two patterns, and mixed at
/// the first cell, at the last, and in the middle.
#[test]
fn large_regions_are_read_in_slabs() {
    let size = [1030, 300];
    let domain = Domain::new(size, [[0.0, 1.0]; 2], Sample::Corner).unwrap();
    let plan = Plan::new(domain, Scheme::uniform(1, 2, 2000), CurveKind::Hilbert, RuleKind::Full).unwrap();
    assert_eq!(plan.levels().len(), 1);
    let other_nan = f32::from_bits(f32::NAN.to_bits() | 0x8000_0001);
    for ground in [1.5, f32::NAN] {
        let mut array = ArrayD::from_elem(shape(size), ground);
        for (cell, value, leaf) in [
            ([0, 0], ground, false),
            ([1029, 299], other_nan, !ground.is_nan()),
            ([500, 280], other_nan, !ground.is_nan()),
            ([0, 0], other_nan, !ground.is_nan()),
            ([3, 7], -0.0, true),
            ([1029, 299], 0.0, true),
        ] {
            array[&place(cell)[..]] = value;
            let tree = bottom_up(&plan, &array);
            assert_eq!((tree.len(), tree.region(0).uniform().is_none()), (1, leaf), "{ground} {value}");
            assert_eq!(tree, top_down(&plan, &array, How::default().keep(Keep::Regions)));
            assert_eq!(tree.word([1029, 0]), Some(key(ground)));
            let field = ArrayField::new(array.view()).unwrap();
            // Box by box, as what does not lie in memory.
            let boxes = Lying::new(&field, &array, None);
            assert_eq!(BottomUp::new(&plan, &boxes).unwrap().tree().unwrap(), tree);
            let limited = BottomUp::new(&plan, &boxes).unwrap().mem_limit(1 << 20).tree();
            // Cells are kept from the first on that has other bits.
            let same = array.iter().all(|cell| cell.word() == array[[0, 0]].word());
            assert_eq!(matches!(limited, Err(TreeError::Run(Error::Memory(_)))), !same);
        }
    }
}

#[test]
fn what_cannot_be_made_says_why() {
    let (case, array) = (case(), case().array::<u16>());
    let plan = case.plan(CurveKind::Morton).unwrap();
    let says = |error: TreeError| error.to_string();
    let mut source = watched(&array);
    let control = Control::default();
    control.cancel(2);
    let interrupted = BottomUp::new(&plan, &source).unwrap().control(&control).tree();
    assert!(matches!(interrupted, Err(TreeError::Run(Error::Interrupted(2)))));
    assert!(source.asked.lock().unwrap().iter().all(|&asked| asked == 0));
    let little = BottomUp::new(&plan, &source).unwrap().mem_limit(100).tree().unwrap_err();
    assert!(says(little).ends_with("more than the limit of 100 B"));
    source.broken = Some([100, 3, 99]);
    let torn = BottomUp::new(&plan, &source).unwrap().tree().unwrap_err();
    assert!(std::error::Error::source(&torn).is_none());
    assert_eq!(says(torn), "the source: plane 7 is torn");
    let border = Plan::new(*plan.domain(), *plan.scheme(), CurveKind::Morton, RuleKind::Border).unwrap();
    let refused = BottomUp::new(&border, &source).err().unwrap();
    assert!(says(refused).starts_with("rule border: "));
    let domain = Domain::new([130, 66, 101], [[0.0, 1.0]; 3], Sample::Corner).unwrap();
    let other = Plan::new(domain, *plan.scheme(), CurveKind::Morton, RuleKind::Full).unwrap();
    let refused = BottomUp::new(&other, &source).err().unwrap();
    assert_eq!(says(refused), "the source has 67 cells on axis 1, and the domain of the plan 66");
    // What runs did not keep.
    let field = ArrayField::new(array.view()).unwrap();
    let kept = |keep| Run::new(&plan, &field).how(How::default().keep(keep)).start().unwrap();
    assert!(matches!(Tree::of(kept(Keep::Counts)), Err(TreeError::Run(Error::NotKept(_)))));
    // A part that starts from no regions leaves an array that nobody wrote to.
    let how = How::default().keep(Keep::Dense);
    let cpu = Target::cpu();
    let mut prepared = cpu.of().prepare(&plan, &field, &how).unwrap();
    prepared.run(&Part::of(Roots::Codes { level: 0, range: 0..0 }), &Control::default()).unwrap();
    assert!(matches!(Tree::of(prepared.subdivision().unwrap()), Err(TreeError::Tiling { found: 0, cells: 0, .. })));
    let cpu = Target::cpu();
    let mut prepared = cpu.of().prepare(&plan, &field, &How::default()).unwrap();
    prepared.run(&Part::default(), &Control::default()).unwrap();
    assert!(matches!(prepared.result(&mut Collector::new(&plan)), Err(Error::NotKept(_))));
    let window = Region { corner: [0; 3], extent: [40, 40, 40] };
    prepared.run(&Part::default().window(window), &Control::default()).unwrap();
    assert!(matches!(Tree::of(prepared.subdivision().unwrap()), Err(TreeError::Run(Error::NotKept(_)))));
    // Twice the same, and of two types.
    let mut twice = Collector::new(&plan);
    let building = BottomUp::new(&plan, &field).unwrap();
    building.shard(0, 0..6, &mut twice).unwrap();
    building.shard(0, 5..6, &mut twice).unwrap();
    let bytes = ArrayD::<u8>::zeros(array.shape());
    let bytes = ArrayField::new(bytes.view()).unwrap();
    let mixed = BottomUp::new(&plan, &bytes).unwrap().shard(0, 0..6, &mut twice).unwrap_err();
    assert_eq!(says(mixed), "cell u8: the cells that came before are u16");
    assert!(matches!(twice.tree(), Err(TreeError::Tiling { .. })));
    // Runs of codes that there are not.
    let run = |level, codes| says(building.part(level, codes).unwrap_err());
    assert_eq!(run(0, 2..7), "code 6 on level 0, whose codes are 0 to 5");
    assert_eq!(run(0, 2..2), "the codes 2..2: a run of codes ends after it starts");
    assert!(run(9, 0..1).starts_with("level 9: the tree has levels 0 to "));
}

/// Hands batches on in another state than they came in.
struct Altered<'c, F>(&'c mut Collector<2>, F);

impl<F: FnMut(&mut Batch<'_, 2>)> Sink<2> for Altered<'_, F> {
    fn terminals(&mut self, mut batch: Batch<'_, 2>) -> Result<(), Error> {
        self.1(&mut batch);
        self.0.terminals(batch)
    }

    fn cells(&mut self, _: &Region<2>, _: u64, _: &[u8]) -> Result<(), Error> {
        panic!("no array is kept")
    }
}

/// Bricks that are not those of the regions are refused, and leave nothing behind.
#[test]
fn batches_that_do_not_go_together_are_refused() {
    let array = ArrayD::from_shape_fn(IxDyn(&[8, 8]), |at| u16::from(at[0] == at[1]));
    let field = ArrayField::new(array.view()).unwrap();
    let domain = Domain::new([8, 8], [[0.0, 1.0]; 2], Sample::Corner).unwrap();
    let plan = Plan::new(domain, Scheme::uniform(2, 2, 1), CurveKind::Morton, RuleKind::Full).unwrap();
    let building = BottomUp::new(&plan, &field).unwrap();
    let mut collector = Collector::new(&plan);
    let mut says = |alter: fn(&mut Batch<'_, 2>)| {
        building.shard(0, 0..4, &mut Altered(&mut collector, alter)).unwrap_err().to_string()
    };
    assert_eq!(
        says(|batch| batch.start += 1),
        "batch: the brick of code 0 on level 1 begins at cell 0, where 1 comes next"
    );
    assert_eq!(
        says(|batch| batch.terminals = &batch.terminals[1..]),
        "batch: the brick of code 3 on level 1 begins at cell 4, where 0 comes next"
    );
    let last = |batch: &mut Batch<'_, 2>| batch.terminals = &batch.terminals[..batch.terminals.len() - 1];
    assert_eq!(says(last), "batch: 16 cells in bricks, and the leaves have 12");
    building.shard(0, 0..4, &mut collector).unwrap();
    assert_eq!(collector.tree().unwrap(), building.tree().unwrap());
}

/// The last region of 2^64, in a shard that has more cells than a block.
#[test]
fn shards_end_with_the_last_of_all_codes() {
    const SIDE: u32 = 12 << 16;
    struct Corner;
    impl Source<4> for Corner {
        fn kind(&self) -> CellType {
            CellType::U8
        }
        fn size(&self) -> [u32; 4] {
            [SIDE; 4]
        }
        fn read(&self, window: &Region<4>, bytes: &mut [u8]) -> io::Result<()> {
            bytes.fill(window.contains_cell([SIDE - 1; 4]).into());
            Ok(())
        }
    }
    struct Last(Vec<(u32, u64)>);
    impl Sink<4> for Last {
        fn terminals(&mut self, batch: Batch<'_, 4>) -> Result<(), Error> {
            self.0.extend(batch.terminals.iter().map(|terminal| (terminal.level(), terminal.code)));
            Ok(())
        }
        fn cells(&mut self, _: &Region<4>, _: u64, _: &[u8]) -> Result<(), Error> {
            panic!("no array is kept")
        }
    }
    let domain = Domain::new([SIDE; 4], [[0.0, 1.0]; 4], Sample::Corner).unwrap();
    let scheme = Scheme { g: [1 << 15; 4], r: [2; 4], b: [11; 4] };
    let plan = Plan::new(domain, scheme, CurveKind::Morton, RuleKind::Full).unwrap();
    assert_eq!(plan.levels().last().unwrap().regions(), 1 << 64);
    let mut last = Last(Vec::new());
    BottomUp::new(&plan, &Corner).unwrap().shard(0, (1 << 60) - 1..1 << 60, &mut last).unwrap();
    let expected: Vec<_> = (0..16).rev().map(|back| (1, u64::MAX - back)).collect();
    assert_eq!(last.0, expected);
    // The last code itself, whose end has 65 bits.
    let part = BottomUp::new(&plan, &Corner).unwrap().part(1, u64::MAX.into()..1 << 64).unwrap();
    assert_eq!((part.len(), part.codes()), (1, u64::MAX.into()..1 << 64));
    assert_eq!((part.word([SIDE - 1; 4]), part.word([0; 4])), (Some(1), None));
}

/// Told to end while blocks are being read.
#[test]
fn an_interrupt_is_heard_between_blocks() {
    struct Long<'a>(&'a Control, AtomicBool);
    impl Source<1> for Long<'_> {
        fn kind(&self) -> CellType {
            CellType::U8
        }
        fn size(&self) -> [u32; 1] {
            [u32::MAX]
        }
        fn read(&self, _: &Region<1>, bytes: &mut [u8]) -> io::Result<()> {
            bytes.fill(7);
            self.0.cancel(0);
            self.1.store(true, Ordering::Relaxed);
            Ok(())
        }
    }
    let control = Control::default();
    let source = Long(&control, AtomicBool::new(false));
    let domain = Domain::new([u32::MAX], [[0.0, 1.0]], Sample::Corner).unwrap();
    for b in [1000, u32::MAX] {
        let plan = Plan::new(domain, Scheme::uniform(1, 2, b), CurveKind::Morton, RuleKind::Full).unwrap();
        let ended = BottomUp::new(&plan, &source).unwrap().control(&control).tree();
        assert!(matches!(ended, Err(TreeError::Run(Error::Interrupted(0)))));
    }
    assert!(source.1.into_inner() && control.cells_done() < 1 << 20);
}

/// Views with strides, as transposed arrays have them, and windows of arrays.
#[test]
fn arrays_of_any_layout_are_sources() {
    let values = awkward::<u32>();
    let array = ArrayD::from_shape_fn(IxDyn(&[9, 14]), |at| values[(at[0] / 4 + at[1] / 5) % values.len()]);
    let turned = array.t();
    let domain = Domain::new([9, 14], [[0.0, 1.0]; 2], Sample::Corner).unwrap();
    let plan = Plan::new(domain, Scheme::uniform(2, 2, 1), CurveKind::Morton, RuleKind::Full).unwrap();
    let field = ArrayField::<2, u32>::new(turned).unwrap();
    let tree = BottomUp::new(&plan, &field).unwrap().tree().unwrap();
    let expected = |[x, y]: [u32; 2]| Some(array[[x as usize, y as usize]].into());
    assert!(domain.region().cells().all(|cell| tree.word(cell) == expected(cell)));
    let window = Region { corner: [2, 3], extent: [6, 9] };
    let part = tree.array(&window, None).unwrap();
    let domain = Domain::new([6, 9], [[0.0, 1.0]; 2], Sample::Corner).unwrap();
    let plan = Plan::new(domain, Scheme::uniform(2, 2, 1), CurveKind::Morton, RuleKind::Full).unwrap();
    let small = BottomUp::new(&plan, &part).unwrap().tree().unwrap();
    assert!(window.cells().all(|[x, y]| small.word([x - 2, y - 3]) == tree.word([x, y])));
}
