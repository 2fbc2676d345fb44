//! Known answers: published counts, counts that follow from theory, and what sampled borders are known to miss.
//!
//! Run in release mode; a few of these are some billions of iterations.

use orthant::Control;
use orthant::conformance::differing;
use orthant::curve::CurveKind;
use orthant::domain::{Domain, Sample};
use orthant::engine::run;
use orthant::error::Error;
use orthant::escape::{Arithmetic, Precision};
use orthant::field::Field;
use orthant::how::{ExploreOrder, How, Keep};
use orthant::plan::{ExploreRule, Plan, Scheme};
use orthant::region::Region;
use orthant::request::Request;
use orthant::strategy::StrategyKind;
use orthant::subdivision::Subdivision;
use orthant::workload::mxm::MxM;
use orthant::workload::{DigitSet, FieldOptions, Job, Open, Payload, Verdict, Workload, WorkloadKind};

/// What a run found, without its dimension.
#[derive(Debug, Clone, PartialEq)]
struct Found {
    regions: u64,
    filled: u64,
    leaves: u64,
    mixed: Vec<u64>,
    iterations: u64,
}

/// A field whose dimension only this test knows.
struct Go<'a>(&'a Request, &'a How);

impl Job for Go<'_> {
    type Output = Result<(Found, Option<Vec<u32>>), Error>;

    fn run<const K: usize>(self, open: Open<K>) -> Self::Output {
        let plan = self.0.plan::<K>()?;
        let workload = open(plan.domain(), &self.0.options()?)?;
        let subdivision = run(&plan, &*workload, self.1, &Control::default())?;
        Ok((found(&subdivision), subdivision.field().map(labels)))
    }
}

fn found<const K: usize>(subdivision: &Subdivision<K>) -> Found {
    let totals = subdivision.totals();
    Found {
        regions: totals.regions,
        filled: totals.filled,
        leaves: totals.leaves,
        mixed: subdivision.levels().iter().map(|l| l.counts.subdivided + l.counts.leaves).collect(),
        iterations: totals.label_sum,
    }
}

fn labels<const K: usize>(field: &Field<K>) -> Vec<u32> {
    (0..field.cells().len()).map(|i| field.cells().label(i)).collect()
}

fn request(workload: WorkloadKind, n: u32, (g, r, b): (u32, u32, u32), dwell: u32) -> Request {
    let mut request = Request::new(workload);
    request.size = Some(vec![n]);
    (request.g, request.r, request.b) = (Some(vec![g]), Some(vec![r]), Some(b));
    request.dwell = Some(dwell);
    request.sample = Some(Sample::Corner);
    request.explore = Some(ExploreRule::Border);
    request
}

fn go(request: &Request, how: &How) -> (Found, Option<Vec<u32>>) {
    request.workload.dispatch(request.dim(), Go(request, how)).unwrap().unwrap()
}

fn exhaustive(request: &Request) -> (Found, Vec<u32>) {
    let (found, labels) = go(request, &How { strategy: StrategyKind::Exhaustive, ..How::default() });
    (found, labels.unwrap())
}

fn wrong(a: &[u32], b: &[u32]) -> usize {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).filter(|(a, b)| a != b).count()
}

#[test]
fn mandelbrot_1024_has_the_published_counts() {
    for (arithmetic, deep) in [(Arithmetic::Fused, [1680, 4872, 13721]), (Arithmetic::Plain, [1681, 4872, 13720])] {
        let mut request = request(WorkloadKind::Mandelbrot, 1024, (2, 2, 2), 512);
        request.arithmetic = arithmetic;
        let (found, labels) = go(&request, &How::default());
        assert_eq!(found.mixed[..5], [4, 14, 50, 170, 541]);
        assert_eq!(found.mixed[5..], deep);
        let (_, truth) = exhaustive(&request);
        assert_eq!(wrong(&labels.unwrap(), &truth), 5);
        request.b = Some(4);
        assert_eq!(wrong(&go(&request, &How::default()).1.unwrap(), &truth), 2);
        // One level further, as the published run goes: levels 0..7 subdivide exactly those counts.
        request.b = Some(1);
        let (found, _) = go(&request, &How { strategy: StrategyKind::Dp, ..How::default() });
        assert_eq!(found.mixed[5..8], deep);
    }
}

#[test]
fn mandelbrot_4096_counts_and_wrong_cells() {
    let mut request = request(WorkloadKind::Mandelbrot, 4096, (32, 2, 2), 512);
    let (_, truth) = exhaustive(&request);
    for (b, misses) in [(16, 2), (8, 12), (4, 51), (2, 102)] {
        request.b = Some(b);
        let (found, labels) = go(&request, &How::default());
        let known = [550, 1729, 5149, 15183, 44332, 126898];
        assert_eq!(found.mixed, known[..found.mixed.len()]);
        assert_eq!(wrong(&labels.unwrap(), &truth), misses, "B = {b}");
    }
}

#[test]
fn mandelbulb_256_counts_and_wrong_cells() {
    for (precision, filled, leaves) in [(Precision::F32, 34_245, 51_401), (Precision::F64, 34_252, 51_394)] {
        let mut request = request(WorkloadKind::Mandelbulb, 256, (4, 2, 2), 64);
        request.precision = precision;
        let (found, labels) = go(&request, &How::default());
        assert_eq!((found.regions, found.filled, found.leaves), (97_872, filled, leaves), "{precision}");
        assert_eq!(wrong(&labels.unwrap(), &exhaustive(&request).1), 17, "{precision}");
    }
}

#[test]
fn julibrot_64_counts_without_a_wrong_cell() {
    for precision in [Precision::F32, Precision::F64] {
        let mut request = request(WorkloadKind::Julibrot, 64, (4, 2, 2), 64);
        request.precision = precision;
        let (found, labels) = go(&request, &How::default());
        assert_eq!((found.regions, found.filled, found.leaves), (60_768, 15_466, 41_520), "{precision}");
        assert_eq!(wrong(&labels.unwrap(), &exhaustive(&request).1), 0, "{precision}");
    }
}

#[test]
fn early_exit_saves_iterations() {
    let counts = How { keep: Keep::Counts, strategy: StrategyKind::Exhaustive, ..How::default() };
    // Regions of the last level have sides of 8 cells in all three.
    for (workload, n, dwell, least) in [
        (WorkloadKind::Mandelbrot, 4096, 512, 9.0),
        (WorkloadKind::Mandelbulb, 512, 64, 2.0),
        (WorkloadKind::Julibrot, 128, 64, 1.1),
    ] {
        let request = request(workload, n, (4, 2, 4), dwell);
        let all = go(&request, &counts).0.iterations;
        let spent = go(&request, &How::default()).0.iterations;
        let omega = all as f64 / spent as f64;
        assert!(omega >= least, "{workload}: {omega:.2}");
    }
}

#[test]
fn m_by_m_in_four_dimensions_is_known_from_two() {
    let mut request = request(WorkloadKind::Mxm, 128, (4, 2, 1), 64);
    (request.dim, request.explore) = (Some(4), Some(ExploreRule::Full));
    let known = [252, 3_583, 48_039, 564_289, 5_415_511];
    let (found, _) = go(&request, &How { keep: Keep::Counts, ..How::default() });
    assert_eq!(found.mixed, known);

    let plan = request.plan::<4>().unwrap();
    let field = MxM::new(plan.domain(), &request.options().unwrap()).unwrap();
    let predicted: Vec<_> = plan.levels().iter().map(|level| field.mixed_regions(level)).collect();
    assert_eq!(predicted, known.map(u128::from));
}

#[test]
fn m_by_m_in_six_dimensions_is_known_from_two() {
    let mut request = request(WorkloadKind::Mxm, 8, (2, 2, 1), 64);
    (request.dim, request.explore) = (Some(6), Some(ExploreRule::Full));
    let plan = request.plan::<6>().unwrap();
    let field = MxM::new(plan.domain(), &request.options().unwrap()).unwrap();
    let predicted: Vec<_> = plan.levels().iter().map(|level| field.mixed_regions(level) as u64).collect();
    assert_eq!(go(&request, &How { keep: Keep::Counts, ..How::default() }).0.mixed, predicted);
}

/// Mixed regions per level of the base-2 digit set given by a mask of kept children.
fn mask_counts<const K: usize>(mask: &[u64], levels: u32, how: &How) -> Vec<u64> {
    let n = 2u32.pow(levels + 1);
    let keeps = move |digits: &[u32; K]| {
        let child: usize = (0..K).map(|j| (digits[j] as usize) << j).sum();
        mask[child / 64] >> (child % 64) & 1 == 1
    };
    let domain = Domain::new([n; K], [[0.0, 1.0]; K], Sample::Corner).unwrap();
    let plan = Plan::new(domain, Scheme::uniform(2, 2, 1), CurveKind::Hilbert, ExploreRule::Full).unwrap();
    let field = DigitSet::new(2, [n; K], keeps);
    found(&run(&plan, &field, how, &Control::default()).unwrap()).mixed
}

fn check_mask<const K: usize>(mask: &[u64], levels: u32) {
    let m = mask.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
    let expected: Vec<u64> = (1..=levels).map(|i| m.pow(i)).collect();
    for strategy in [StrategyKind::Ask, StrategyKind::Dp] {
        let how = How { strategy, keep: Keep::Counts, ..How::default() };
        assert_eq!(mask_counts::<K>(mask, levels, &how), expected, "k = {K}, mask {mask:x?}, {strategy}");
    }
}

#[test]
fn every_digit_mask_has_m_to_the_i_mixed_regions() {
    // Neither empty nor full: those are constant fields.
    (1..3).for_each(|mask| check_mask::<1>(&[mask], 5));
    (1..15).for_each(|mask| check_mask::<2>(&[mask], 4));
    (1..255).for_each(|mask| check_mask::<3>(&[mask], 3));
    // A sample of the 2^16 .. 2^256 others, from a fixed multiplicative sequence.
    let mut word = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        word = word.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1);
        word ^ word >> 32
    };
    for _ in 0..40 {
        check_mask::<4>(&[(next() & 0xffff).clamp(1, 0xfffe)], 2);
        check_mask::<5>(&[(next() & 0xffff_ffff) | 1], 2);
        check_mask::<6>(&[next() | 2], 1);
    }
    for _ in 0..4 {
        check_mask::<7>(&[next(), next() | 1], 1);
        check_mask::<8>(&[next(), next(), next(), next() | 1], 1);
    }
}

/// A sphere of radius R about the middle of the domain, in exact integers: doubled coordinates, so that the centre is
/// one. A cell is 1 if the sphere cuts it, 0 inside and 2 outside.
struct Shell<const K: usize> {
    n: u32,
    radius: i64,
}

impl<const K: usize> Shell<K> {
    fn side(&self, region: &Region<K>) -> u32 {
        let (mut least, mut most) = (0i64, 0i64);
        for j in 0..K {
            let low = 2 * i64::from(region.corner[j]) - i64::from(self.n);
            let high = low + 2 * i64::from(region.extent[j]);
            most += low.abs().max(high.abs()).pow(2);
            least += if low <= 0 && high >= 0 { 0 } else { low.abs().min(high.abs()).pow(2) };
        }
        let square = 4 * self.radius * self.radius;
        if most < square {
            0
        } else if least > square {
            2
        } else {
            1
        }
    }
}

impl<const K: usize> Workload<K> for Shell<K> {
    fn evaluate(&self, cells: &[[u32; K]], labels: &mut [u32]) {
        for (&corner, label) in cells.iter().zip(labels) {
            *label = self.side(&Region { corner, extent: [1; K] });
        }
    }

    fn max_label(&self) -> u32 {
        2
    }

    fn classify(&self, region: &Region<K>, _: Payload) -> Verdict {
        match self.side(region) {
            1 => Verdict::Mixed,
            label => Verdict::Uniform(label),
        }
    }
}

fn check_shell<const K: usize>(n: u32, unit_ball_below: f64) {
    let shell = Shell::<K> { n, radius: i64::from(n) * 2 / 5 };
    let domain = Domain::new([n; K], [[-1.0, 1.0]; K], Sample::Centre).unwrap();
    let plan = Plan::new(domain, Scheme::uniform(2, 2, 1), CurveKind::Morton, ExploreRule::Full).unwrap();
    let subdivision = run(&plan, &shell, &How::default(), &Control::default()).unwrap();
    for stats in subdivision.levels() {
        let lattice = Region { corner: [0; K], extent: stats.level.grid };
        let cut = lattice.cells().filter(|&p| shell.side(&stats.level.region(p)) == 1).count() as u64;
        assert_eq!(stats.counts.subdivided + stats.counts.leaves, cut, "k = {K}, level {}", stats.level.index);
    }
    let cut = labels(subdivision.field().unwrap()).iter().filter(|&&label| label == 1).count() as f64;
    let expected = 2.0 * K as f64 * unit_ball_below * (shell.radius as f64).powi(K as i32 - 1);
    assert!((cut / expected - 1.0).abs() < 0.01, "k = {K}: {cut} cells are cut, {expected:.0} expected");
}

#[test]
fn shells_have_the_counts_of_their_surface() {
    use std::f64::consts::PI;
    check_shell::<2>(1000, 2.0);
    check_shell::<3>(240, PI);
    check_shell::<4>(80, 4.0 * PI / 3.0);
}

/// A field that only payloads know: a region carries how often it was divided; its label is not looked at.
struct Depth;

impl Workload<2> for Depth {
    fn evaluate(&self, cells: &[[u32; 2]], labels: &mut [u32]) {
        for (cell, label) in cells.iter().zip(labels) {
            *label = (cell[0] ^ cell[1]) & 1;
        }
    }

    fn max_label(&self) -> u32 {
        100
    }

    fn classify(&self, region: &Region<2>, payload: Payload) -> Verdict {
        let depth = payload.0 & 0xff;
        assert_eq!(
            payload.0 >> 8,
            u64::from(region.corner[0]) << 24 | u64::from(region.corner[1]),
            "a payload went astray"
        );
        if depth == 3 { Verdict::Uniform(7) } else { Verdict::Mixed }
    }

    fn carries_payload(&self) -> bool {
        true
    }

    fn root(&self, region: &Region<2>) -> Payload {
        Payload((u64::from(region.corner[0]) << 24 | u64::from(region.corner[1])) << 8)
    }

    fn split(&self, _: &Region<2>, payload: Payload, children: &[Region<2>], payloads: &mut [Payload]) {
        for (child, handed) in children.iter().zip(payloads) {
            *handed = Payload(self.root(child).0 | ((payload.0 & 0xff) + 1));
        }
    }
}

#[test]
fn payloads_travel_from_parent_to_child() {
    let domain = Domain::new([100, 90], [[0.0, 1.0]; 2], Sample::Corner).unwrap();
    for curve in CurveKind::ALL {
        let plan = Plan::new(domain, Scheme::uniform(3, 2, 1), *curve, ExploreRule::Full).unwrap();
        for strategy in [StrategyKind::Ask, StrategyKind::Dp] {
            let subdivision = run(&plan, &Depth, &How { strategy, ..How::default() }, &Control::default()).unwrap();
            assert_eq!(found(&subdivision).mixed, [9, 36, 144, 0]);
            assert!(labels(subdivision.field().unwrap()).iter().all(|&label| label == 7));
        }
    }
}

#[test]
fn closed_borders_miss_no_more_than_open_ones() {
    let mut request = request(WorkloadKind::Mandelbrot, 512, (4, 2, 2), 512);
    let (_, truth) = exhaustive(&request);
    let open = wrong(&go(&request, &How::default()).1.unwrap(), &truth);
    request.explore = Some(ExploreRule::Closed);
    let closed = wrong(&go(&request, &How::default()).1.unwrap(), &truth);
    request.explore = Some(ExploreRule::Full);
    assert_eq!(wrong(&go(&request, &How::default()).1.unwrap(), &truth), 0);
    assert!(closed <= open, "{closed} against {open}");
}

#[test]
fn regions_and_bricks_hold_the_dense_array() {
    let request = request(WorkloadKind::Mandelbulb, 60, (3, 2, 2), 32);
    struct Both<'a>(&'a Request);
    impl Job for Both<'_> {
        type Output = ();
        fn run<const K: usize>(self, open: Open<K>) {
            let plan = self.0.plan::<K>().unwrap();
            let workload = open(plan.domain(), &self.0.options().unwrap()).unwrap();
            let keep = |keep| run(&plan, &*workload, &How { keep, ..How::default() }, &Control::default()).unwrap();
            let (dense, regions, counts) = (keep(Keep::Dense), keep(Keep::Regions), keep(Keep::Counts));
            assert_eq!(differing(dense.field().unwrap(), &regions.materialise(None).unwrap()), 0);
            assert!(regions.compact_bytes() < plan.domain().cells() as u64 * 2);
            assert!(matches!(counts.materialise(None), Err(Error::Input(_))));
            assert!(matches!(regions.materialise(Some(1000)), Err(Error::Memory { .. })));
            assert_eq!(found(&dense).mixed, found(&counts).mixed);
        }
    }
    request.workload.dispatch(3, Both(&request)).unwrap();
}

#[test]
fn a_domain_too_large_to_be_dense_is_counted() {
    // 2^60 cells; the diagonal has g·r^i mixed regions on every level.
    let domain = Domain::new([1 << 20; 3], [[0.0, 1.0]; 3], Sample::Corner).unwrap();
    let plan = Plan::new(domain, Scheme::uniform(2, 2, 64), CurveKind::Hilbert, ExploreRule::Full).unwrap();
    let field = DigitSet::new(2, [1 << 20; 3], |digits: &[u32; 3]| digits.iter().all(|&d| d == digits[0]));
    let how = How { mem_limit: Some(1 << 28), ..How::default() };
    let refused = run(&plan, &field, &how, &Control::default());
    assert!(matches!(refused, Err(Error::Memory { what: "the dense array", .. })), "{refused:?}");
    let how = How { keep: Keep::Counts, ..how };
    let counted = run(&plan, &field, &how, &Control::default()).unwrap();
    assert_eq!(found(&counted).mixed, (1..14).map(|i| 1u64 << i).collect::<Vec<_>>());
}

#[test]
fn a_cancelled_run_stops() {
    let request = request(WorkloadKind::Mandelbrot, 2048, (4, 2, 2), 512);
    struct Cancelled<'a>(&'a Request);
    impl Job for Cancelled<'_> {
        type Output = ();
        fn run<const K: usize>(self, open: Open<K>) {
            let plan = self.0.plan::<K>().unwrap();
            let workload = open(plan.domain(), &self.0.options().unwrap()).unwrap();
            for &strategy in StrategyKind::ALL {
                let control = Control::default();
                control.cancel(2);
                let stopped = run(&plan, &*workload, &How { strategy, ..How::default() }, &control);
                assert!(matches!(stopped, Err(Error::Interrupted(2))), "{strategy}");
            }
        }
    }
    request.workload.dispatch(2, Cancelled(&request)).unwrap();
}

#[test]
fn scattered_and_whole_visits_decide_alike() {
    let request = request(WorkloadKind::Mandelbrot, 512, (2, 2, 2), 256);
    let scattered = go(&request, &How::default());
    let whole = go(&request, &How { order: ExploreOrder::Paper, ..How::default() });
    assert_eq!(scattered.1, whole.1);
    assert_eq!(scattered.0.mixed, whole.0.mixed);
    assert!(scattered.0.iterations < whole.0.iterations);
}

#[test]
fn options_default_to_the_workload() {
    assert_eq!(FieldOptions::default().dwell, 512);
    assert_eq!(Request::new(WorkloadKind::Mxm).dim(), 4);
    assert_eq!(Request::new(WorkloadKind::Menger).dim(), 2);
}
