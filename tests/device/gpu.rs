//! The CUDA backend on a GPU, through the same seam as everything else.

use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use orthant::backend::Pass;
use orthant::backend::{DpLaunch, Part, Prepared, Proofs, Roots, Table};
use orthant::field::{Arithmetic, FieldOptions, Job, Open};
use orthant::prelude::*;
use orthant::result::Content;
use orthant::result::LevelStats;
use orthant::{Control, Error, Mapping, field};
use orthant_lab::conformance::{self, Scope, Suite};

/// All of them; of a test that runs in several processes at once, so that kernels are compiled by as many threads, the share that
/// `ORTHANT_GPU_PART` names, as in 0/12.
pub(super) fn share_of<T>(all: Vec<T>) -> Vec<T> {
    let Ok(text) = std::env::var("ORTHANT_GPU_PART") else { return all };
    let numbers = text.split_once('/').and_then(|(i, n)| Some((i.parse::<usize>().ok()?, n.parse::<usize>().ok()?)));
    let Some((i, n)) = numbers.filter(|(i, n)| i < n) else { panic!("ORTHANT_GPU_PART is {text}, not as in 0/12") };
    all.into_iter().skip(i).step_by(n).collect()
}

/// Everything that `verify` varies, against the CPU.
pub fn every_choice_gives_the_cpus_cells(gpu: &Target, scope: Scope) {
    let suite = Suite::new(share_of(conformance::cases()), BackendKind::Cuda, scope);
    let mut runs = 0;
    let mut each = |checked: &conformance::Checked| {
        assert_eq!(checked.fault, None, "{checked:?}");
        runs += 1;
    };
    suite.run(gpu, &Control::default(), &mut each).unwrap();
    println!("{runs} rows on {}", gpu.device().unwrap_or("nothing"));
    assert_eq!(runs, suite.rows().len());
}

/// The counts that were published with the ASK authors' code, in plain arithmetic, and those of exact sums.
pub fn published_counts(gpu: &Target, _: Scope) {
    for (arithmetic, counts) in [
        (Arithmetic::Fused, [4, 14, 50, 170, 541, 1680, 4872, 13721]),
        (Arithmetic::Plain, [4, 14, 50, 170, 541, 1681, 4872, 13720]),
    ] {
        let domain = Domain::new([1024; 2], [[-1.5, 0.5], [-1.0, 1.0]], Sample::Corner).unwrap();
        let plan = Plan::new(domain, Scheme::uniform(2, 2, 1), CurveKind::Hilbert, RuleKind::Border).unwrap();
        let options = FieldOptions::default().arithmetic(arithmetic);
        let field = field::mandelbrot::open(&domain, &options).unwrap();
        let how = How::default().keep(Keep::Counts);
        let run = Run::new(&plan, &*field).how(how.clone()).on(gpu).start().unwrap();
        let found: Vec<u64> = run.levels()[..8].iter().map(|level| level.counts.subdivided).collect();
        assert_eq!(found, counts, "{arithmetic}");
    }
}

/// 2^33 cells: indices beyond 32 bits, in every way that a run can be kept, over poisoned memory; every cell is the CPU's.
pub fn more_cells_than_32_bits_count(gpu: &Target, _: Scope) {
    let domain = Domain::new([1 << 17, 1 << 16], [[-1.5, 0.5], [-1.0, 1.0]], Sample::Corner).unwrap();
    let plan = Plan::new(domain, Scheme::uniform(64, 4, 16), CurveKind::Morton, RuleKind::Border).unwrap();
    let field = field::mandelbrot::open(&domain, &FieldOptions::default()).unwrap();
    let level = |l: &LevelStats<2>| {
        let counts = l.counts;
        (counts.subdivided, counts.filled, counts.leaves, counts.filled_cells, counts.leaf_cells)
    };
    let there = run(&plan, &*field).unwrap();
    let counts: Vec<_> = there.levels().iter().map(level).collect();
    let (cells, regions) = (there.array().unwrap().checksum(), there.regions_checksum());
    drop(there);
    assert!(regions.is_some());
    for (keep, mapping, pass) in [
        (Keep::Dense, Mapping::Sbr, Pass::InPlace),
        (Keep::Dense, Mapping::Mbr, Pass::Level),
        (Keep::Dense, Mapping::Mbr, Pass::Deferred),
        (Keep::Regions, Mapping::Sbr, Pass::InPlace),
        (Keep::Counts, Mapping::Sbr, Pass::InPlace),
    ] {
        for poison in [0x5a, 0xa5] {
            let how = How::default().keep(keep).mapping(Some(mapping)).pass(Some(pass)).poison(poison);
            let mut prepared = gpu.of().prepare(&plan, &*field, &how).unwrap();
            for _ in 0..5 {
                prepared.run(&Part::default(), &Control::default()).unwrap();
                assert!(
                    prepared.counts().unwrap().levels.iter().map(level).eq(counts.iter().copied()),
                    "{keep} {mapping}"
                );
            }
            if keep == Keep::Dense {
                assert_eq!(prepared.checksum().unwrap().as_ref(), Some(&cells), "{mapping} {pass} over {poison:#x}");
            }
        }
        if keep == Keep::Regions {
            let how = How::default().keep(keep).mapping(Some(mapping)).pass(Some(pass));
            assert_eq!(Run::new(&plan, &*field).how(how).on(gpu).start().unwrap().regions_checksum(), regions);
        }
    }
}

/// 2^36 cells as regions and bricks: codes of more than 32 bits, visits of more than 2^32 cells; as on the CPU.
pub fn wide_codes_and_visits(gpu: &Target, scope: Scope) {
    let (size, g) = if scope == Scope::Full { ([1 << 12; 3], 128) } else { ([1 << 6; 3], 16) };
    let domain = Domain::new(size, [[0.0, 1.0]; 3], Sample::Centre).unwrap();
    let field = field::diagonal::open(&domain, &FieldOptions::default()).unwrap();
    for (g, explore) in [(2, RuleKind::Border), (g, RuleKind::Border), (g, RuleKind::Full)] {
        for &curve in CurveKind::ALL {
            let plan = Plan::new(domain, Scheme::uniform(g, 2, 1), curve, explore).unwrap();
            let how = How::default().keep(Keep::Regions);
            let here = Run::new(&plan, &*field).how(how.clone()).on(gpu).start().unwrap();
            let there = Run::new(&plan, &*field).how(how.clone()).start().unwrap();
            // Bricks lie in the order of their regions, wherever they lay on the device.
            assert!(here.terminals() == there.terminals(), "{curve} g {g} {explore}");
            assert!(here.bricks() == there.bricks(), "{curve} g {g} {explore}");
            assert!(there.terminals().iter().any(|terminal| matches!(terminal.content(), Content::Leaf { .. })));
        }
    }
}

/// A table of coordinates gives the same terminal regions as scalar codes.
pub fn tables_of_coordinates_name_the_same_regions(gpu: &Target, _: Scope) {
    let domain = Domain::new([64; 3], [[-1.2, 1.2]; 3], Sample::Centre).unwrap();
    let plan = Plan::new(domain, Scheme::uniform(2, 2, 2), CurveKind::Hilbert, RuleKind::Border).unwrap();
    let field = field::mandelbulb::open(&domain, &FieldOptions::default().dwell(32)).unwrap();
    let terminals = Table::ALL.iter().map(|&table| {
        let how = How::default().table(table);
        Run::new(&plan, &*field).how(how).on(gpu).start().unwrap().terminals().to_vec()
    });
    let terminals: Vec<_> = terminals.collect();
    assert!(terminals[0].len() > 100 && terminals[0] == terminals[1]);
}

/// A mapping that is left open is a stream where there is one, and a block per region from roots below its tiles; the cells are the CPU's.
pub fn what_is_left_open_is_chosen(gpu: &Target, _: Scope) {
    let domain = Domain::new([64; 3], [[-1.2, 1.2]; 3], Sample::Centre).unwrap();
    let plan = Plan::new(domain, Scheme::uniform(2, 2, 1), CurveKind::Morton, RuleKind::Certified).unwrap();
    let field = field::mandelbulb::open(&domain, &FieldOptions::default()).unwrap();
    let last = plan.levels().len() as u32 - 1;
    let regions = plan.levels()[last as usize].regions() as u64;
    let cpu = Target::cpu();
    for (part, mapping) in [
        (Part::default(), Mapping::Stream),
        (Part::of(Roots::Codes { level: last, range: 0..regions }), Mapping::Sbr),
        (Part::default(), Mapping::Sbr),
    ] {
        let found = [gpu, &cpu].map(|target| {
            let mut prepared = target.of().prepare(&plan, &*field, &How::default()).unwrap();
            if mapping == Mapping::Sbr {
                // What was chosen once stays.
                let below = Part::of(Roots::Codes { level: last, range: 0..1 });
                prepared.run(&below, &Control::default()).unwrap();
            }
            prepared.run(&part, &Control::default()).unwrap();
            (prepared.mapping(), prepared.checksum().unwrap())
        });
        assert_eq!((found[0].0, &found[0].1), (mapping, &found[1].1));
    }
}

/// Every float for which reciprocals and roots are computed without checks of range: they are the correctly rounded ones. Seeds
/// alone are not, which shows that differences are seen.
pub fn unchecked_arithmetic_is_correctly_rounded(gpu: &Target, _: Scope) {
    let domain = Domain::new([1 << 23, 103], [[0.0, f64::from(1 << 23)], [27.0, 130.0]], Sample::Corner).unwrap();
    let plan = Plan::new(domain, Scheme::uniform(103, 2, 1), CurveKind::Canonical, RuleKind::Full).unwrap();
    let differing = |dwell| {
        let field =
            field::kernel::open(&domain, &FieldOptions::default().dwell(dwell).source(include_str!("unchecked.cuh")));
        let how = How::default().keep(Keep::Regions);
        let field = field.unwrap();
        let run = Run::new(&plan, &*field).how(how).on(gpu).start().unwrap();
        assert_eq!(run.terminals().len(), 103 * 103);
        run.terminals().iter().filter(|terminal| !matches!(terminal.content(), Content::Uniform(0))).count()
    };
    assert_eq!((differing(3), differing(4) > 0), (0, true));
}

/// Runs a prepared plan that takes longer than 0.3 s, and tells it to end then.
fn ends_soon<const K: usize>(what: &str, prepared: &mut dyn Prepared<K>) {
    let (control, wait) = (Control::default(), Duration::from_millis(300));
    let start = Instant::now();
    let outcome = scope(|scope| {
        scope.spawn(|| {
            sleep(wait);
            control.cancel(2);
        });
        prepared.run(&Part::default(), &control)
    });
    let late = start.elapsed().saturating_sub(wait);
    println!("{what}: ended {:.1} ms after it was told to", late.as_secs_f64() * 1e3);
    assert!(matches!(outcome, Err(Error::Interrupted(2))), "{what}: {outcome:?}");
    assert!(late < Duration::from_secs(1), "{what}: ended {late:?} after it was told to");
}

/// A run that would take minutes.
struct Endless<'a> {
    gpu: &'a Target,
    what: &'a str,
    request: Request,
}

impl Job for Endless<'_> {
    type Output = ();

    fn run<const K: usize>(self, open: Open<K>) {
        let Self { gpu, what, request } = self;
        let plan = request.plan::<K>().unwrap();
        let field = open(plan.domain(), &request.options().unwrap()).unwrap();
        ends_soon(what, &mut *gpu.of().prepare(&plan, &*field, &request.how).unwrap());
    }
}

/// A run ends within a second of being told to, whatever its kernels are at; the next run of the same plan is whole.
pub fn a_run_ends_in_the_midst(gpu: &Target, _: Scope) {
    let of = |workload, n| {
        let mut request = Request::new(workload).size(Some(vec![n]));
        request.how = How::default().keep(Keep::Counts).prove(Some(Proofs::No));
        request
    };
    let huge = || of(FieldKind::Mandelbrot, 1 << 31).scheme(64, 2, 1 << 22);
    let full = |workload, n| of(workload, n).explore(Some(RuleKind::Full));
    let mut requests = vec![
        ("one block per huge region", huge()),
        ("every cell of a plane", full(FieldKind::Mandelbrot, 1 << 17)),
        ("every cell of a space", full(FieldKind::Mandelbulb, 1 << 12)),
    ];
    requests.extend(DpLaunch::ALL.iter().map(|&launch| {
        let mut request = huge();
        request.how = request.how.strategy(StrategyKind::Dp).dp_launch(launch);
        ("launches from the device", request)
    }));
    for (what, request) in requests {
        request.workload.dispatch(request.k(), Endless { gpu, what, request: request.clone() }).unwrap();
    }
    // Orbits of the Mandelbrot set come back to a state, and would be over too soon.
    let domain = Domain::new([512; 3], [[-1.2, 1.2]; 3], Sample::Centre).unwrap();
    let plan = Plan::new(domain, Scheme::uniform(32, 2, 4), CurveKind::Morton, RuleKind::Border).unwrap();
    let field = field::mandelbulb::open(&domain, &FieldOptions::default().dwell(32768)).unwrap();
    let how = How::default().strategy(StrategyKind::Exhaustive).poison(0x5a);
    let mut prepared = gpu.of().prepare(&plan, &*field, &how).unwrap();
    let whole = |prepared: &mut Box<dyn Prepared<3>>| {
        prepared.run(&Part::default(), &Control::default()).unwrap();
        prepared.checksum().unwrap()
    };
    let before = whole(&mut prepared);
    ends_soon("a dense array", &mut *prepared);
    assert_eq!(whole(&mut prepared), before);
}

/// Plans of several fields, dimensions and strategies, prepared at once and run by turns.
pub fn several_plans_live_side_by_side(gpu: &Target, scope: Scope) {
    let other = How::default();
    let other =
        if scope == Scope::Static { other.mapping(Some(Mapping::Mbr)) } else { other.strategy(StrategyKind::Dp) };
    side_by_side(&[gpu], &other);
}

/// The same on several devices, from a thread each.
pub fn several_devices_live_side_by_side(gpus: [&'static Target; 2]) {
    let dp = How::default().strategy(StrategyKind::Dp);
    side_by_side(&gpus, &dp);
    std::thread::scope(|scope| gpus.iter().for_each(|gpu| drop(scope.spawn(|| side_by_side(&[*gpu], &dp)))));
}

fn side_by_side(gpus: &[&Target], other: &How) {
    let plane = Domain::new([300; 2], [[-1.5, 0.5], [-1.0, 1.0]], Sample::Corner).unwrap();
    let space = Domain::new([48; 3], [[-1.2, 1.2]; 3], Sample::Centre).unwrap();
    let options = FieldOptions::default().dwell(100);
    let (flat, bulb) =
        (field::mandelbrot::open(&plane, &options).unwrap(), field::mandelbulb::open(&space, &options).unwrap());
    let plane = Plan::new(plane, Scheme::uniform(3, 2, 2), CurveKind::Hilbert, RuleKind::Border).unwrap();
    let space = Plan::new(space, Scheme::uniform(3, 2, 2), CurveKind::Morton, RuleKind::Full).unwrap();
    let hows = [How::default(), other.clone()].map(|how| how.poison(0xa5));
    let mut flats = Vec::new();
    let mut bulbs = Vec::new();
    for gpu in gpus {
        for how in &hows {
            flats.push(gpu.of().prepare(&plane, &*flat, how).unwrap());
            bulbs.push(gpu.of().prepare(&space, &*bulb, how).unwrap());
        }
    }
    let [flat, bulb] = [
        run(&plane, &*flat).unwrap().array().unwrap().checksum(),
        run(&space, &*bulb).unwrap().array().unwrap().checksum(),
    ];
    for _ in 0..3 {
        for prepared in &mut flats {
            prepared.run(&Part::default(), &Control::default()).unwrap();
        }
        for prepared in &mut bulbs {
            prepared.run(&Part::default(), &Control::default()).unwrap();
        }
        flats.iter().for_each(|prepared| assert_eq!(prepared.checksum().unwrap().as_ref(), Some(&flat)));
        bulbs.iter().for_each(|prepared| assert_eq!(prepared.checksum().unwrap().as_ref(), Some(&bulb)));
    }
}
