//! The laws of the engine, callable: `cargo test` and `orthant verify` run the same ones.
//!
//! A case fixes a plan; a run of it fixes everything that must not change a cell. All runs of a case must agree in
//! their checksum, their counts per level and what they tile; all but Exhaustive, which may differ in the cells that
//! exploration misses. Those are counted and shown, never hidden, and must be none where the case says so. A coarse sample
//! has the same labels wherever it is taken.

mod choices;

use crate::cpu::Control;
use crate::curve::{CurveError, CurveKind};
use crate::domain::Domain;
use crate::engine::Backend;
use crate::error::Error;
use crate::escape::{Arithmetic, Precision};
use crate::field::Field;
use crate::how::How;
use crate::model::auto;
use crate::model::sample::Lattice;
use crate::plan::{ExploreRule, PlanError};
use crate::request::Request;
use crate::sampler::Sampler;
use crate::strategy::StrategyKind;
use crate::subdivision::Subdivision;
use crate::workload::{Job, Open, Workload, WorkloadKind};

/// A plan whose runs must agree.
#[derive(Debug, Clone)]
pub struct Case {
    /// The plan.
    pub request: Request,
    /// Mixed regions per level, where they are known.
    pub mixed: Option<Vec<u64>>,
    /// True if no cell may differ from Exhaustive.
    pub exact: bool,
}

/// One run of a case.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The case in words.
    pub case: String,
    /// Where it ran.
    pub backend: &'static str,
    /// What was varied.
    pub curve: CurveKind,
    /// What was varied.
    pub how: How,
    /// The checksum of the dense array.
    pub checksum: String,
    /// Regions examined.
    pub regions: u64,
    /// Cells that differ from Exhaustive.
    pub differing: u64,
    /// What broke a law; None if nothing did.
    pub fault: Option<String>,
}

impl Case {
    /// A small run of a workload in `k` dimensions.
    pub fn new(workload: WorkloadKind, k: usize, size: &[u32], scheme: (u32, u32, u32), explore: ExploreRule) -> Self {
        let mut request = Request::new(workload);
        request.dim = Some(k);
        request.size = Some(size.to_vec());
        (request.g, request.r, request.b) = (Some(vec![scheme.0]), Some(vec![scheme.1]), Some(scheme.2));
        request.explore = Some(explore);
        Self { request, mixed: None, exact: explore == ExploreRule::Full }
    }

    fn mixed(mut self, mixed: &[u64]) -> Self {
        self.mixed = Some(mixed.to_vec());
        self
    }

    fn precision(mut self, precision: Precision) -> Self {
        self.request.precision = precision;
        self
    }

    fn plain(mut self) -> Self {
        self.request.arithmetic = Arithmetic::Plain;
        self
    }

    /// The case in words.
    pub fn name(&self) -> String {
        let request = &self.request;
        let join = |v: &Option<Vec<u32>>| v.iter().flatten().map(u32::to_string).collect::<Vec<_>>().join("x");
        format!(
            "{} k={} n={} g={} r={} B={} {} {}{}",
            request.workload,
            request.dim(),
            join(&request.size),
            join(&request.g),
            join(&request.r),
            request.b.unwrap_or(0),
            request.explore.map_or("", ExploreRule::name),
            request.precision,
            if request.arithmetic == Arithmetic::Plain { " plain" } else { "" },
        )
    }
}

/// Small cases over every workload, dimension and rule; sizes that divide and that do not.
pub fn cases() -> Vec<Case> {
    use ExploreRule::{Border, Closed, Full};
    use WorkloadKind::{Cantor, Carpet, Diagonal, Julibrot, Mandelbrot, Mandelbulb, Menger, Mxm, Simplex};
    let mut cases = vec![
        Case::new(Mandelbrot, 2, &[128], (2, 2, 1), Border),
        Case::new(Mandelbrot, 2, &[128], (2, 2, 4), Border).precision(Precision::F64),
        Case::new(Mandelbrot, 2, &[120, 64], (2, 4, 2), Border).plain(),
        Case::new(Mandelbrot, 2, &[100, 77], (3, 2, 3), Border),
        Case::new(Mandelbrot, 2, &[100, 77], (5, 4, 1), Closed),
        Case::new(Mandelbrot, 2, &[90], (3, 3, 2), Full),
        // One leaf that is larger than what is evaluated at a time.
        Case::new(Mandelbrot, 2, &[20_000, 7], (1, 2, 8), Border),
        Case::new(Mandelbulb, 3, &[31, 29, 43], (1, 2, 64), Border),
        Case::new(Mandelbulb, 3, &[24], (3, 2, 2), Border),
        Case::new(Mandelbulb, 3, &[19], (2, 2, 2), Border).plain(),
        Case::new(Mandelbulb, 3, &[20, 17, 23], (2, 2, 2), Border).precision(Precision::F64),
        Case::new(Julibrot, 4, &[12], (2, 2, 1), Border),
        Case::new(Julibrot, 4, &[9, 8, 7, 10], (2, 2, 1), Full).precision(Precision::F64),
        Case::new(Mxm, 4, &[16], (2, 2, 1), Full),
        Case::new(Mxm, 6, &[4], (2, 2, 1), Border),
        Case::new(Cantor, 1, &[729], (3, 3, 1), Full).mixed(&[2, 4, 8, 16, 32]),
        Case::new(Cantor, 2, &[81], (3, 9, 1), Full).mixed(&[4, 64]),
        Case::new(Cantor, 2, &[81], (3, 3, 1), Border).mixed(&[4, 16, 64]),
        Case::new(Cantor, 3, &[27], (3, 3, 1), Border).mixed(&[8, 64]),
        Case::new(Carpet, 2, &[81], (3, 3, 1), Full).mixed(&[8, 64, 512]),
        Case::new(Menger, 2, &[27], (3, 3, 1), Full).mixed(&[8, 64]),
        Case::new(Menger, 3, &[27], (3, 3, 1), Border).mixed(&[20, 400]),
        Case::new(Menger, 4, &[9], (3, 3, 1), Full).mixed(&[48]),
        Case::new(Simplex, 2, &[64], (2, 2, 1), Border).mixed(&[3, 9, 27, 81, 243]),
        Case::new(Simplex, 3, &[32], (2, 4, 1), Full).mixed(&[4, 64]),
        Case::new(Simplex, 4, &[16], (4, 2, 1), Full).mixed(&[25, 125]),
        Case::new(Simplex, 5, &[8], (2, 2, 1), Full).mixed(&[6, 36]),
        Case::new(Diagonal, 3, &[48], (3, 2, 1), Border).mixed(&[3, 6, 12, 24]),
        Case::new(Diagonal, 6, &[8], (2, 2, 1), Full).mixed(&[2, 4]),
        Case::new(Diagonal, 7, &[4], (2, 2, 1), Full).mixed(&[2]),
        Case::new(Diagonal, 8, &[4], (2, 2, 1), Full).mixed(&[2]),
    ];
    for case in &mut cases {
        // Fields whose surface test is exact, beside those explored in full.
        case.exact |= matches!(case.request.workload, Cantor | Menger | Simplex | Diagonal);
    }
    cases
}

/// How much is varied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Everything.
    Full,
    /// One block shape per curve on CUDA.
    Brief,
    /// The same without launches from the device, for tools that cannot follow those.
    Static,
}

/// Runs a case on `backend` with every curve that can serve it and every choice, and reports each run to `each`. Off the
/// CPU, the runs are compared with one run of each strategy on the CPU, which are reported too.
///
/// # Errors
/// If a run itself fails, or `control` is cancelled.
pub fn verify(
    case: &Case,
    backend: &Backend,
    scope: Scope,
    control: &Control,
    each: impl FnMut(&Outcome),
) -> Result<(), Error> {
    case.request.workload.dispatch(case.request.dim(), Verify { case, backend, scope, control, each })?
}

struct Verify<'a, F> {
    case: &'a Case,
    backend: &'a Backend,
    scope: Scope,
    control: &'a Control,
    each: F,
}

impl<F: FnMut(&Outcome)> Job for Verify<'_, F> {
    type Output = Result<(), Error>;

    fn run<const K: usize>(mut self, open: Open<K>) -> Self::Output {
        let case = self.case;
        let mut request = case.request.clone();
        let domain = request.domain::<K>()?;
        let workload = open(&domain, &request.options()?)?;
        let mut sampling = sampling(self.backend, &*workload, &domain)?;
        let mut reference: Option<Subdivision<K>> = None;
        let mut exhaustive: Option<Field<K>> = None;
        for &curve in CurveKind::ALL {
            request.curve = curve;
            let plan = match request.plan::<K>() {
                // Hilbert needs equal power-of-two r; every other error is one.
                Err(Error::Plan(PlanError::Curve(
                    CurveError::RadixNotPowerOfTwo { .. } | CurveError::UnequalRadix { .. },
                ))) => continue,
                plan => plan?,
            };
            let choices = match self.backend {
                Backend::Cpu => choices::cpu(),
                Backend::Cuda(_) => choices::cuda(curve, self.scope),
            };
            let first = exhaustive.is_none() && !matches!(self.backend, Backend::Cpu);
            let oracles =
                [StrategyKind::Exhaustive, StrategyKind::Ask].map(|strategy| How { strategy, ..How::default() });
            let oracles = oracles.iter().filter(|_| first).map(|how| (&Backend::Cpu, *how));
            for (backend, how) in oracles.chain(choices.into_iter().map(|how| (self.backend, how))) {
                let subdivision = backend.run(&plan, &*workload, &how, self.control)?;
                let field = subdivision.materialise(None)?;
                let mut outcome = Outcome {
                    case: case.name(),
                    backend: backend.name(),
                    curve,
                    how,
                    checksum: field.checksum(),
                    regions: subdivision.totals().regions,
                    differing: 0,
                    fault: sampling.take(),
                };
                if how.strategy == StrategyKind::Exhaustive {
                    exhaustive.get_or_insert_with(|| field.clone());
                } else {
                    let reference = reference.get_or_insert_with(|| subdivision.clone());
                    outcome.fault = outcome.fault.or(disagreement(case, reference, &subdivision, &field)?);
                }
                outcome.differing = exhaustive.as_ref().map_or(0, |exhaustive| differing(exhaustive, &field));
                let may_differ = !case.exact && how.strategy != StrategyKind::Exhaustive;
                if outcome.differing > 0 && !may_differ {
                    outcome.fault.get_or_insert_with(|| format!("{} cells differ from exhaustive", outcome.differing));
                }
                (self.each)(&outcome);
            }
        }
        Ok(())
    }
}

/// What a coarse sample on `backend` and one on the CPU disagree in, if in anything.
fn sampling<const K: usize>(
    backend: &Backend,
    workload: &dyn Workload<K>,
    domain: &Domain<K>,
) -> Result<Option<String>, Error> {
    if matches!(backend, Backend::Cpu) {
        return Ok(None);
    }
    let lattice = Lattice::new(domain.size(), auto::budget(domain.cells()));
    let of = |backend| Sampler::new(backend, lattice, workload, domain, &How::default())?.labels();
    let (here, cpu) = (of(backend)?, of(&Backend::Cpu)?);
    let differing = here.iter().zip(&cpu).filter(|(a, b)| a != b).count();
    Ok((here.len() != cpu.len() || differing > 0).then(|| format!("{differing} sampled labels differ from the CPU's")))
}

/// What two runs of one plan disagree in, if in anything.
fn disagreement<const K: usize>(
    case: &Case,
    reference: &Subdivision<K>,
    subdivision: &Subdivision<K>,
    field: &Field<K>,
) -> Result<Option<String>, Error> {
    if differing(field, &reference.materialise(None)?) > 0 {
        return Ok(Some("the array differs from the first run's".into()));
    }
    let counts = |s: &Subdivision<K>| {
        s.levels().iter().map(|l| (l.counts.subdivided, l.counts.filled, l.counts.leaves)).collect::<Vec<_>>()
    };
    if counts(subdivision) != counts(reference) {
        return Ok(Some(format!("the counts {:?} differ from {:?}", counts(subdivision), counts(reference))));
    }
    let tiled: u64 = subdivision.terminals().iter().map(|terminal| subdivision.region(terminal).volume()).sum();
    if u128::from(tiled) != subdivision.plan().domain().cells() {
        return Ok(Some(format!("the terminal regions hold {tiled} cells")));
    }
    let mixed: Vec<_> = subdivision.levels().iter().map(|l| l.counts.subdivided + l.counts.leaves).collect();
    match &case.mixed {
        Some(known) if *known != mixed => Ok(Some(format!("{mixed:?} regions are mixed; {known:?} are known to be"))),
        _ => Ok(None),
    }
}

/// The number of cells in which two fields differ.
pub fn differing<const K: usize>(a: &Field<K>, b: &Field<K>) -> u64 {
    (0..a.cells().len()).filter(|&i| a.cells().label(i) != b.cells().label(i)).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_agrees() {
        for case in cases() {
            verify(&case, &Backend::Cpu, Scope::Full, &Control::default(), |outcome| {
                assert_eq!(outcome.fault, None, "{outcome:?}");
            })
            .unwrap_or_else(|error| panic!("{}: {error}", case.name()));
        }
    }

    #[test]
    fn border_fails_where_it_must() {
        // A kept region of the carpet has a uniform border: nothing is subdivided and the holes are lost.
        for (workload, missed) in [(WorkloadKind::Carpet, 81 * 81 - 8u64.pow(4) - 27 * 27), (WorkloadKind::Menger, 0)] {
            let mut case = Case::new(workload, 2, &[81], (3, 3, 1), ExploreRule::Border);
            case.mixed = Some(vec![0]);
            let mut differing = 0;
            verify(&case, &Backend::Cpu, Scope::Full, &Control::default(), |outcome| {
                assert_eq!(outcome.fault, None, "{outcome:?}");
                differing = differing.max(outcome.differing);
            })
            .unwrap();
            assert!(differing >= missed && differing > 0, "{workload}: {differing}");
        }
    }

    #[test]
    fn the_checker_sees_a_wrong_count_and_a_wrong_cell() {
        let mut case = Case::new(WorkloadKind::Simplex, 2, &[16], (2, 2, 1), ExploreRule::Border).mixed(&[3, 9, 26]);
        let mut faults = 0;
        let mut count = |case: &Case| {
            verify(case, &Backend::Cpu, Scope::Full, &Control::default(), |outcome| {
                faults += u32::from(outcome.fault.is_some())
            })
            .unwrap();
            std::mem::take(&mut faults)
        };
        assert!(count(&case) > 0);
        case = Case::new(WorkloadKind::Carpet, 2, &[27], (3, 3, 1), ExploreRule::Border);
        assert_eq!(count(&case), 0);
        case.exact = true;
        assert!(count(&case) > 0);
    }
}
