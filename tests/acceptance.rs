//! Known answers: published counts, counts that follow from theory, and what sampled borders are known to miss.
//!
//! Run in release mode; a few of these are some billions of iterations.

use orthant::backend::ExploreOrder;
use orthant::field::mxm::MxM;
use orthant::field::{Arithmetic, FieldOptions, Job, Open, Precision};
use orthant::prelude::*;
use orthant::result::MaterialiseError;
use orthant::{Control, Error, Subdivision};

use crate::outcome::{labels, mixed};
use crate::scope::sized;

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
    type Output = Result<(Found, Option<Vec<u64>>), Error>;

    fn run<const K: usize>(self, open: Open<K>) -> Self::Output {
        let plan = self.0.plan::<K>()?;
        let field = open(plan.domain(), &self.0.options()?)?;
        let subdivision = Run::new(&plan, &*field).how(self.1.clone()).start()?;
        Ok((found(&subdivision), subdivision.array().map(labels)))
    }
}

fn found<const K: usize>(subdivision: &Subdivision<K>) -> Found {
    let totals = subdivision.totals();
    Found {
        regions: totals.regions,
        filled: totals.filled,
        leaves: totals.leaves,
        mixed: mixed(subdivision),
        iterations: totals.label_sum,
    }
}

fn request(workload: FieldKind, n: u32, (g, r, b): (u32, u32, u32), dwell: u32) -> Request {
    let request = Request::new(workload).size(Some(vec![n])).scheme(g, r, b).dwell(Some(dwell));
    request.sample(Some(Sample::Corner)).explore(Some(RuleKind::Border))
}

fn go(request: &Request, how: &How) -> (Found, Option<Vec<u64>>) {
    request.workload.dispatch(request.k(), Go(request, how)).unwrap().unwrap()
}

fn exhaustive(request: &Request) -> (Found, Vec<u64>) {
    let (found, labels) = go(request, &How::default().strategy(StrategyKind::Exhaustive));
    (found, labels.unwrap())
}

fn wrong(a: &[u64], b: &[u64]) -> usize {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).filter(|(a, b)| a != b).count()
}

#[test]
fn mandelbrot_1024_has_the_published_counts() {
    for (arithmetic, deep) in [(Arithmetic::Fused, [1680, 4872, 13721]), (Arithmetic::Plain, [1681, 4872, 13720])] {
        let mut request = request(FieldKind::Mandelbrot, 1024, (2, 2, 2), 512);
        request.computed.arithmetic = Some(arithmetic);
        let (found, labels) = go(&request, &How::default());
        assert_eq!(found.mixed[..5], [4, 14, 50, 170, 541]);
        assert_eq!(found.mixed[5..], deep);
        let (_, truth) = exhaustive(&request);
        assert_eq!(wrong(&labels.unwrap(), &truth), 5);
        request.computed.b = Some(vec![4]);
        assert_eq!(wrong(&go(&request, &How::default()).1.unwrap(), &truth), 2);
        // One level further, as the published run goes: levels 0..7 subdivide exactly those counts.
        request.computed.b = Some(vec![1]);
        let (found, _) = go(&request, &How::default().strategy(StrategyKind::Dp));
        assert_eq!(found.mixed[5..8], deep);
    }
}

#[test]
fn mandelbrot_4096_counts_and_wrong_cells() {
    let mut request = request(FieldKind::Mandelbrot, 4096, (32, 2, 2), 512);
    let (_, truth) = exhaustive(&request);
    for (b, misses) in [(16, 2), (8, 12), (4, 51), (2, 102)] {
        request.computed.b = Some(vec![b]);
        let (found, labels) = go(&request, &How::default());
        let known = [550, 1729, 5149, 15183, 44332, 126898];
        assert_eq!(found.mixed, known[..found.mixed.len()]);
        assert_eq!(wrong(&labels.unwrap(), &truth), misses, "B = {b}");
    }
}

#[test]
fn mandelbulb_256_counts_and_wrong_cells() {
    for (precision, filled, leaves) in [(Precision::F32, 34_245, 51_401), (Precision::F64, 34_252, 51_394)] {
        let mut request = request(FieldKind::Mandelbulb, 256, (4, 2, 2), 64);
        request.computed.precision = Some(precision);
        let (found, labels) = go(&request, &How::default());
        assert_eq!((found.regions, found.filled, found.leaves), (97_872, filled, leaves), "{precision}");
        assert_eq!(wrong(&labels.unwrap(), &exhaustive(&request).1), 17, "{precision}");
    }
}

#[test]
fn julibrot_64_counts_without_a_wrong_cell() {
    for precision in [Precision::F32, Precision::F64] {
        let mut request = request(FieldKind::Julibrot, 64, (4, 2, 2), 64);
        request.computed.precision = Some(precision);
        let (found, labels) = go(&request, &How::default());
        assert_eq!((found.regions, found.filled, found.leaves), (60_768, 15_466, 41_520), "{precision}");
        assert_eq!(wrong(&labels.unwrap(), &exhaustive(&request).1), 0, "{precision}");
    }
}

#[test]
fn early_exit_saves_iterations() {
    let counts = How::default().keep(Keep::Counts);
    let everywhere = counts.clone().strategy(StrategyKind::Exhaustive);
    // Regions of the last level have sides of 8 cells in all three.
    for (workload, n, dwell, least) in [
        (FieldKind::Mandelbrot, 4096, 512, 9.0),
        (FieldKind::Mandelbulb, sized(512, 256), 64, 2.0),
        (FieldKind::Julibrot, 128, 64, 1.1),
    ] {
        let request = request(workload, n, (4, 2, 4), dwell);
        let all = go(&request, &everywhere).0.iterations;
        let spent = go(&request, &counts).0.iterations;
        let omega = all as f64 / spent as f64;
        assert!(omega >= least, "{workload}: {omega:.2}");
    }
}

#[test]
fn m_by_m_in_four_dimensions_is_known_from_two() {
    let mut request = request(FieldKind::Mxm, 128, (4, 2, 1), 64);
    request = request.dim(Some(4)).explore(Some(RuleKind::Full));
    let known = [252, 3_583, 48_039, 564_289, 5_415_511];
    let (found, _) = go(&request, &How::default().keep(Keep::Counts));
    assert_eq!(found.mixed, known);

    let plan = request.plan::<4>().unwrap();
    let field = MxM::new(plan.domain(), &request.options().unwrap()).unwrap();
    let predicted: Vec<_> = plan.levels().iter().map(|level| field.mixed_regions(level)).collect();
    assert_eq!(predicted, known.map(u128::from));
}

#[test]
fn m_by_m_in_six_dimensions_is_known_from_two() {
    let mut request = request(FieldKind::Mxm, 8, (2, 2, 1), 64);
    request = request.dim(Some(6)).explore(Some(RuleKind::Full));
    let plan = request.plan::<6>().unwrap();
    let field = MxM::new(plan.domain(), &request.options().unwrap()).unwrap();
    let predicted: Vec<_> = plan.levels().iter().map(|level| field.mixed_regions(level) as u64).collect();
    assert_eq!(go(&request, &How::default().keep(Keep::Counts)).0.mixed, predicted);
}

#[test]
fn closed_borders_miss_no_more_than_open_ones() {
    let mut request = request(FieldKind::Mandelbrot, 512, (4, 2, 2), 512);
    let (_, truth) = exhaustive(&request);
    let open = wrong(&go(&request, &How::default()).1.unwrap(), &truth);
    request.computed.explore = Some(RuleKind::Closed);
    let closed = wrong(&go(&request, &How::default()).1.unwrap(), &truth);
    request.computed.explore = Some(RuleKind::Full);
    assert_eq!(wrong(&go(&request, &How::default()).1.unwrap(), &truth), 0);
    assert!(closed <= open, "{closed} against {open}");
}

#[test]
fn regions_and_bricks_hold_the_dense_array() {
    let request = request(FieldKind::Mandelbulb, 60, (3, 2, 2), 32);
    struct Both<'a>(&'a Request);
    impl Job for Both<'_> {
        type Output = ();
        fn run<const K: usize>(self, open: Open<K>) {
            let plan = self.0.plan::<K>().unwrap();
            let field = open(plan.domain(), &self.0.options().unwrap()).unwrap();
            let keep = |keep| Run::new(&plan, &*field).how(How::default().keep(keep)).start().unwrap();
            let (dense, regions, counts) = (keep(Keep::Dense), keep(Keep::Regions), keep(Keep::Counts));
            assert_eq!(dense.array().unwrap().differing(&regions.materialise(None).unwrap()), 0);
            assert!(regions.compact_bytes() < plan.domain().cells() as u64 * 2);
            assert!(matches!(counts.materialise(None), Err(MaterialiseError::NotKept)));
            let need = regions.compact_bytes() + plan.domain().cells() as u64 * 2;
            assert!(regions.materialise(Some(need)).is_ok());
            for limit in [1000, need - 1] {
                assert!(matches!(regions.materialise(Some(limit)), Err(MaterialiseError::Memory(_))));
            }
            assert_eq!(found(&dense).mixed, found(&counts).mixed);
        }
    }
    request.workload.dispatch(3, Both(&request)).unwrap();
}

#[test]
fn a_cancelled_run_stops() {
    let request = request(FieldKind::Mandelbrot, 2048, (4, 2, 2), 512);
    struct Cancelled<'a>(&'a Request);
    impl Job for Cancelled<'_> {
        type Output = ();
        fn run<const K: usize>(self, open: Open<K>) {
            let plan = self.0.plan::<K>().unwrap();
            let field = open(plan.domain(), &self.0.options().unwrap()).unwrap();
            for &strategy in StrategyKind::ON_BACKENDS {
                let control = Control::default();
                control.cancel(2);
                let run = Run::new(&plan, &*field).how(How::default().strategy(strategy));
                let stopped = run.control(&control).start();
                assert!(matches!(stopped, Err(Error::Interrupted(2))), "{strategy}");
            }
        }
    }
    request.workload.dispatch(2, Cancelled(&request)).unwrap();
}

#[test]
fn scattered_and_whole_visits_decide_alike() {
    let request = request(FieldKind::Mandelbrot, 512, (2, 2, 2), 256);
    let scattered = go(&request, &How::default());
    let whole = go(&request, &How::default().explore_order(ExploreOrder::Paper));
    assert_eq!(scattered.1, whole.1);
    assert_eq!(scattered.0.mixed, whole.0.mixed);
    assert!(scattered.0.iterations < whole.0.iterations);
}

#[test]
fn options_default_to_the_workload() {
    assert_eq!(FieldOptions::default().dwell, 512);
    assert_eq!(Request::new(FieldKind::Mxm).k(), 4);
    assert_eq!(Request::new(FieldKind::Menger).k(), 2);
}
