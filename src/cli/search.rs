//! Schemes in the order in which the model would take them: `run --auto-scheme` takes the first, unless `model tune` has
//! measured the problem, and `model tune` measures them.

use std::time::{Duration, Instant};

use super::Voice;
use super::model::store::{Problem, Setting, fitted, tuned};
use crate::domain::Domain;
use crate::engine::Backend;
use crate::error::Error;
use crate::how::ParallelScheme;
use crate::memory::Estimate;
use crate::model::auto::{self, Candidate};
use crate::model::observed::Machine;
use crate::model::sample::{Coarse, Explore, Lattice};
use crate::plan::{Plan, Scheme};
use crate::report::AutoScheme;
use crate::request::Request;
use crate::sampler::Sampler;
use crate::strategy::StrategyKind;
use crate::workload::Workload;

/// What there is to choose from, and who asks.
pub(super) struct Wanted<'a> {
    /// What errors begin with.
    pub(super) flag: &'a str,
    /// Where it will run.
    pub(super) backend: &'a Backend,
    /// On what.
    pub(super) device: &'a str,
    /// The parallel scheme that was asked for; None: any.
    pub(super) scheme: Option<ParallelScheme>,
    /// Block shapes.
    pub(super) blocks: &'a [[u32; 3]],
}

/// A scheme to run with.
pub(super) struct Chosen<const K: usize> {
    pub(super) plan: Plan<K>,
    pub(super) scheme: ParallelScheme,
    /// How it was found.
    pub(super) found: AutoScheme,
}

/// The scheme that was tuned for this problem on this device, if it can be run as it is asked for; else, with a word on
/// it, the first one that the model takes.
///
/// # Errors
/// As [`Search::new`], and as reading what was tuned.
pub(super) fn choose<const K: usize>(
    request: &Request,
    workload: &dyn Workload<K>,
    wanted: Wanted<'_>,
    voice: Voice,
) -> Result<Chosen<K>, Error> {
    match known(request, workload, &wanted)? {
        Known::Chosen(chosen) => return Ok(*chosen),
        Known::Otherwise(how) => voice.say(format_args!("orthant: this was tuned {how}; the model chooses instead")),
        Known::Nothing => {}
    }
    let search = Search::new(request, workload, wanted)?;
    Ok(Chosen { found: search.choice(), scheme: search.candidates[0].0.scheme, plan: search.plan })
}

/// What tuning says of a run.
enum Known<const K: usize> {
    Chosen(Box<Chosen<K>>),
    /// The best is another than was asked for, or cannot be run: why.
    Otherwise(String),
    Nothing,
}

/// What was tuned, if the parallel scheme and the block's shape that are asked for are those of the best.
fn known<const K: usize>(
    request: &Request,
    workload: &dyn Workload<K>,
    wanted: &Wanted<'_>,
) -> Result<Known<K>, Error> {
    let start = Instant::now();
    let Some(tuned) = tuned(wanted.backend.name(), wanted.device, &Problem::of::<K>(request)?)? else {
        return Ok(Known::Nothing);
    };
    let scheme: ParallelScheme =
        tuned.scheme.parse().map_err(|error| Error::Input(format!("what was tuned: {error}")))?;
    if wanted.scheme.is_some_and(|asked| asked != scheme) {
        return Ok(Known::Otherwise(format!("for --scheme {scheme}")));
    }
    if let Some([x, y, z]) = tuned.block.filter(|block| !wanted.blocks.contains(block)) {
        return Ok(Known::Otherwise(format!("for --block {x}x{y}x{z}")));
    }
    let domain = request.domain::<K>()?;
    let (g, r, b) = (tuned.g, tuned.r, tuned.b);
    let plan = plan(request, &domain, workload, &Candidate { g, r, b, scheme, cost: tuned.seconds });
    let found = AutoScheme {
        sampled_cells: 0,
        seconds: start.elapsed().as_secs_f64(),
        g,
        r,
        b,
        scheme: tuned.scheme,
        predicted_seconds: Some(tuned.seconds),
        by: "tuning",
    };
    Ok(match plan {
        Some(plan) => Known::Chosen(Box::new(Chosen { plan, scheme, found })),
        None => Known::Otherwise(format!("to g {g}, r {r}, B {b}, which cannot be run here")),
    })
}

/// Candidates for a request, the most promising first, and what finding them took.
pub(super) struct Search<'a, const K: usize> {
    request: &'a Request,
    workload: &'a dyn Workload<K>,
    domain: Domain<K>,
    /// With the block shape each is meant for. The first one can be run.
    pub(super) candidates: Vec<(Candidate, [u32; 3])>,
    /// The first one's.
    pub(super) plan: Plan<K>,
    /// True if costs are seconds.
    pub(super) fitted: bool,
    sampled_cells: u64,
    time: Duration,
}

impl<'a, const K: usize> Search<'a, K> {
    /// Samples the workload and ranks every scheme in every block shape, until the first that can be run is known.
    ///
    /// The time begins when kernels are compiled, buffers allocated and threads started, as that of a run.
    ///
    /// # Errors
    /// [`Error::Input`] if there is nothing to choose from; as reading a fit, and as [`Sampler::new`].
    pub(super) fn new(request: &'a Request, workload: &'a dyn Workload<K>, wanted: Wanted<'_>) -> Result<Self, Error> {
        let Wanted { flag, backend, device, scheme, blocks } = wanted;
        if request.how.strategy == StrategyKind::Exhaustive {
            return Err(Error::Input(format!("{flag}: --strategy exhaustive has no scheme; use ask or dp")));
        }
        let constants = fitted(backend.name(), device, &Setting::of(request, K))?;
        let domain = request.domain::<K>()?;
        let machines: Vec<_> = blocks.iter().map(|&block| machine(request, backend, block)).collect();
        // How much a block looks at before it may stop is nearly the same for all shapes.
        let rounds = machines[0].rounds();
        let explore = Explore { rule: request.rule(K), order: request.how.order, rounds };
        let schemes = scheme.map_or(ParallelScheme::ALL.to_vec(), |scheme| vec![scheme]);
        let lattice = Lattice::new(domain.size(), auto::budget(domain.cells()));
        let mut sampler = Sampler::new(backend, lattice, workload, &domain, &request.how)?;
        let start = Instant::now();
        let coarse = Coarse::new(&sampler.labels()?, lattice, workload, &domain, explore);
        let mut candidates = Vec::new();
        for (&block, machine) in blocks.iter().zip(machines) {
            let ranked = auto::rank(&coarse, &schemes, &request.how, machine, constants)?;
            candidates.extend(ranked.into_iter().map(|candidate| (candidate, block)));
        }
        if blocks.len() > 1 {
            candidates.sort_by(|(a, _), (b, _)| a.cost.total_cmp(&b.cost));
        }
        let mut runnable = candidates.iter().enumerate();
        let first = runnable.find_map(|(i, (candidate, _))| Some((i, plan(request, &domain, workload, candidate)?)));
        let time = start.elapsed();
        let Some((first, plan)) = first else {
            return Err(Error::Input(format!(
                "{flag}: no g, r and B of 2, 4, .., 1024 with g r B <= n can be run with --curve {} within --mem-limit; use run with -g, -r and -B",
                request.curve
            )));
        };
        candidates.drain(..first);
        let (fitted, sampled_cells) = (constants.is_some(), coarse.cells());
        Ok(Self { request, workload, domain, candidates, plan, fitted, sampled_cells, time })
    }

    /// The plan of a candidate, if the curve can serve it and it fits into memory.
    pub(super) fn plan(&self, candidate: &Candidate) -> Option<Plan<K>> {
        plan(self.request, &self.domain, self.workload, candidate)
    }

    /// What a report says of the first candidate.
    pub(super) fn choice(&self) -> AutoScheme {
        let (best, _) = &self.candidates[0];
        AutoScheme {
            sampled_cells: self.sampled_cells,
            seconds: self.time.as_secs_f64(),
            g: best.g,
            r: best.r,
            b: best.b,
            scheme: best.scheme.to_string(),
            predicted_seconds: self.fitted.then_some(best.cost),
            by: if self.fitted { "fit" } else { "model" },
        }
    }
}

/// The plan of a candidate, if there is one that fits into memory.
fn plan<const K: usize>(
    request: &Request,
    domain: &Domain<K>,
    workload: &dyn Workload<K>,
    &Candidate { g, r, b, .. }: &Candidate,
) -> Option<Plan<K>> {
    let plan = Plan::new(*domain, Scheme::uniform(g, r, b), request.curve, request.rule(K)).ok()?;
    Estimate::new(&plan, workload, &request.how).check(request.how.mem_limit).ok()?;
    Some(plan)
}

fn machine(request: &Request, backend: &Backend, block: [u32; 3]) -> Machine {
    match backend.multiprocessors() {
        None => {
            let threads = request.how.threads.unwrap_or_else(rayon::current_num_threads);
            Machine::Cpu { threads: threads as u32 }
        }
        Some([multiprocessors, threads]) => {
            Machine::Gpu { multiprocessors, threads, block: block.into_iter().product() }
        }
    }
}
