//! Schemes in the order in which the model would take them: `run --auto-scheme` takes the first, unless `model tune` has
//! measured the problem, and `model tune` measures them.

use std::time::{Duration, Instant};

use orthant::backend::Estimate;
use orthant::field::Field;
use orthant::geometry::{Domain, SampleGrid, Scheme};
use orthant::model::auto::{self, Ranked};
use orthant::model::observed::Hardware;
use orthant::model::sample::{Coarse, Explore};
use orthant::{AutoScheme, Control, How, Mapping, Plan, Request, StrategyKind, Target, per_axis};

use crate::error::Error;
use crate::store::{Asked, Setting, fitted, tuned};
use crate::voice::Voice;

/// What there is to choose from, and who asks.
pub(crate) struct Wanted<'a> {
    /// What errors begin with.
    pub(crate) flag: &'a str,
    /// Where it will run.
    pub(crate) target: &'a Target,
    /// On what.
    pub(crate) device: &'a str,
    /// The mapping that was asked for; None: any.
    pub(crate) mapping: Option<Mapping>,
    /// Block shapes.
    pub(crate) blocks: &'a [[u32; 3]],
    /// Whose word a sample heeds.
    pub(crate) control: &'a Control,
    /// Who says that what was fitted cannot be read, where the search can do without; None where that is an error.
    pub(crate) without_fits: Option<Voice>,
}

/// A scheme to run with.
pub(crate) struct Chosen<const K: usize> {
    pub(crate) plan: Plan<K>,
    pub(crate) mapping: Mapping,
    /// How it was found.
    pub(crate) found: AutoScheme,
}

/// The scheme that was tuned for this problem on this device, if it can be run as it is asked for; else, with a word on
/// it, the first one that the model takes.
///
/// # Errors
/// As [`Search::new`], and as reading what was tuned.
pub(crate) fn choose<const K: usize>(
    request: &Request,
    field: &dyn Field<K>,
    wanted: Wanted<'_>,
    voice: Voice,
) -> Result<Chosen<K>, Error> {
    match known(request, field, &wanted)? {
        Known::Chosen(chosen) => return Ok(*chosen),
        Known::Otherwise(how) => voice.say(format_args!("orthant: this was tuned {how}; the model chooses instead")),
        Known::Nothing => {}
    }
    let search = Search::new(request, field, wanted)?;
    Ok(Chosen { found: search.choice(), mapping: search.candidates[0].0.mapping, plan: search.plan })
}

/// What tuning says of a run.
enum Known<const K: usize> {
    Chosen(Box<Chosen<K>>),
    /// The best is another than was asked for, or cannot be run: why.
    Otherwise(String),
    Nothing,
}

/// What was tuned, if the parallel scheme and the block's shape that are asked for are those of the best.
fn known<const K: usize>(request: &Request, field: &dyn Field<K>, wanted: &Wanted<'_>) -> Result<Known<K>, Error> {
    let start = Instant::now();
    let Some(tuned) = tuned(wanted.target.name(), wanted.device, &Asked::of::<K>(request)?)? else {
        return Ok(Known::Nothing);
    };
    let mapping: Mapping = tuned.scheme.parse().map_err(|error| Error::Input(format!("what was tuned: {error}")))?;
    if wanted.mapping.is_some_and(|asked| asked != mapping) {
        return Ok(Known::Otherwise(format!("for --scheme {mapping}")));
    }
    if let Some(block) = tuned.block.filter(|block| !wanted.blocks.contains(block)) {
        return Ok(Known::Otherwise(format!("for --block {}", per_axis::text(&block))));
    }
    let domain = request.domain::<K>()?;
    let (g, r, b) = (tuned.g, tuned.r, tuned.b);
    let plan = plan(request, &domain, field, &Ranked { g, r, b, mapping, cost: tuned.seconds });
    let found = AutoScheme {
        sampled_cells: 0,
        seconds: start.elapsed().as_secs_f64(),
        g,
        r,
        b,
        scheme: tuned.scheme,
        predicted_seconds: Some(tuned.seconds),
        by: "tuning".into(),
    };
    Ok(match plan {
        Some(plan) => Known::Chosen(Box::new(Chosen { plan, mapping, found })),
        None => Known::Otherwise(format!("to g {g}, r {r}, B {b}, which cannot be run here")),
    })
}

/// Schemes ranked for a request, the most promising first, and what finding them took.
pub(crate) struct Search<'a, const K: usize> {
    request: &'a Request,
    field: &'a dyn Field<K>,
    domain: Domain<K>,
    /// With the block shape each is meant for. The first one can be run.
    pub(crate) candidates: Vec<(Ranked, [u32; 3])>,
    /// The first one's.
    pub(crate) plan: Plan<K>,
    /// True if costs are seconds.
    pub(crate) fitted: bool,
    sampled_cells: u64,
    time: Duration,
}

impl<'a, const K: usize> Search<'a, K> {
    /// Samples the workload and ranks every scheme in every block shape, until the first that can be run is known.
    ///
    /// The time begins when kernels are compiled, buffers allocated and threads started, as that of a run.
    ///
    /// # Errors
    /// [`Error::Input`] if there is nothing to choose from; as reading a fit, and as preparing a sample.
    pub(crate) fn new(request: &'a Request, field: &'a dyn Field<K>, wanted: Wanted<'_>) -> Result<Self, Error> {
        let Wanted { flag, target, device, mapping, blocks, control, without_fits } = wanted;
        let how = &request.how;
        if how.tuning.strategy == StrategyKind::Exhaustive {
            let error = Error::Input(format!("{flag}: --strategy exhaustive has no scheme; use ask or dp"));
            return Err(error.about(&["auto-scheme", "strategy"]));
        }
        if mapping == Some(Mapping::Stream) {
            let error = Error::Input(format!(
                "{flag}: the cost model does not know --scheme stream; use sbr or mbr, or -g, -r and -B"
            ));
            return Err(error.about(&["auto-scheme", "scheme"]));
        }
        let domain = request.domain::<K>()?;
        // Constants do not depend on the scheme: any will do.
        let some = Plan::new(domain, Scheme::uniform(1, 2, u32::MAX), request.computed.curve, request.rule(K))?;
        let setting = Setting::of(&request.computation(&some), how.kept.keep);
        let constants = match (fitted(target.name(), device, &setting), without_fits) {
            (Err(error), Some(voice)) => {
                voice.say(format_args!("orthant: without what was fitted, which cannot be read: {error}"));
                None
            }
            (constants, _) => constants?,
        };
        let hardware: Vec<_> = blocks.iter().map(|&block| hardware(how, target, block)).collect();
        // How much a block looks at before it may stop is nearly the same for all shapes.
        let rounds = hardware[0].rounds();
        let rule = request.rule(K);
        let proves = how.tuning.asks_proofs(rule);
        let explore = Explore { rule, proves, order: how.tuning.explore_order, rounds };
        let mappings = mapping.map_or(Mapping::OF_THE_PAPERS.to_vec(), |mapping| vec![mapping]);
        let grid = SampleGrid::new(domain.size(), auto::budget(domain.cells()));
        let mut sample = target.of().sample(&domain, field, grid, how)?;
        let start = Instant::now();
        let coarse = Coarse::new(&sample(control)?, grid, field, &domain, explore);
        let mut candidates = Vec::new();
        for (&block, hardware) in blocks.iter().zip(hardware) {
            let ranked = auto::rank(&coarse, &mappings, how, hardware, constants)?;
            candidates.extend(ranked.into_iter().map(|candidate| (candidate, block)));
        }
        if blocks.len() > 1 {
            candidates.sort_by(|(a, _), (b, _)| a.cost.total_cmp(&b.cost));
        }
        let mut runnable = candidates.iter().enumerate();
        let first = runnable.find_map(|(i, (candidate, _))| Some((i, plan(request, &domain, field, candidate)?)));
        let time = start.elapsed();
        let Some((first, plan)) = first else {
            return Err(Error::Input(format!(
                "{flag}: no g, r and B of 2, 4, .., 1024 with g r B <= n can be run with --curve {} within --mem-limit; use run with -g, -r and -B",
                request.computed.curve
            ))
            .about(&["auto-scheme", "size", "curve", "mem-limit"]));
        };
        candidates.drain(..first);
        let (fitted, sampled_cells) = (constants.is_some(), coarse.cells());
        Ok(Self { request, field, domain, candidates, plan, fitted, sampled_cells, time })
    }

    /// The plan of a candidate, if the curve can serve it and it fits into memory.
    pub(crate) fn plan(&self, candidate: &Ranked) -> Option<Plan<K>> {
        plan(self.request, &self.domain, self.field, candidate)
    }

    /// What a report says of the first candidate.
    pub(crate) fn choice(&self) -> AutoScheme {
        let (best, _) = &self.candidates[0];
        AutoScheme {
            sampled_cells: self.sampled_cells,
            seconds: self.time.as_secs_f64(),
            g: best.g,
            r: best.r,
            b: best.b,
            scheme: best.mapping.to_string(),
            predicted_seconds: self.fitted.then_some(best.cost),
            by: if self.fitted { "fit" } else { "model" }.into(),
        }
    }
}

/// The plan of a candidate, if there is one that fits into memory.
fn plan<const K: usize>(
    request: &Request,
    domain: &Domain<K>,
    field: &dyn Field<K>,
    &Ranked { g, r, b, .. }: &Ranked,
) -> Option<Plan<K>> {
    let plan = Plan::new(*domain, Scheme::uniform(g, r, b), request.computed.curve, request.rule(K)).ok()?;
    Estimate::new(&plan, field, &request.how).check(request.how.mem_limit).ok()?;
    Some(plan)
}

fn hardware(how: &How, target: &Target, block: [u32; 3]) -> Hardware {
    match target.multiprocessors() {
        None => {
            let threads = how.tuning.threads.unwrap_or_else(rayon::current_num_threads);
            Hardware::Cpu { threads: threads as u32 }
        }
        Some([multiprocessors, threads]) => {
            Hardware::Gpu { multiprocessors, threads, block: block.into_iter().product() }
        }
    }
}
