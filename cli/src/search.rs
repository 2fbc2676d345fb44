//! Ways to run in the order in which the model would take them: `run --auto-scheme` takes the first, unless `model tune` has
//! measured the problem, and `model tune` measures them.
//!
//! A way is a scheme with who carries it out, or exhaustive. What was chosen stays: a strategy, a mapping.

use std::time::{Duration, Instant};

use orthant::backend::Estimate;
use orthant::field::{Field, FieldKind};
use orthant::geometry::{Domain, SampleGrid, Scheme};
use orthant::model::Code;
use orthant::model::auto::{self, Means, Ranked};
use orthant::model::observed::{Hardware, Terms};
use orthant::model::sample::{Coarse, Explore};
use orthant::{AutoScheme, Control, How, Keep, Mapping, Plan, Request, StrategyKind, Target, per_axis};

use crate::error::Error;
use crate::machine::shared;
use crate::store::{Asked, Constants, Setting, fitted, tuned};
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
    /// True if exhaustive will do: nobody asked for a strategy, or for anything that only regions have.
    pub(crate) undivided: bool,
    /// True if what was not fitted is to be tried, too, where other constants are known.
    pub(crate) unfitted: bool,
    /// Block shapes.
    pub(crate) blocks: &'a [[u32; 3]],
    /// Whose word a sample heeds.
    pub(crate) control: &'a Control,
    /// Who says that what was fitted cannot be read, where the search can do without; None where that is an error.
    pub(crate) without_fits: Option<Voice>,
}

/// What to run with.
pub(crate) struct Chosen<const K: usize> {
    pub(crate) plan: Plan<K>,
    pub(crate) strategy: StrategyKind,
    /// None: the backend's to choose.
    pub(crate) mapping: Option<Mapping>,
    /// How it was found.
    pub(crate) found: AutoScheme,
}

/// What is predicted to take this share of the time of the default, or less, takes its place: held-out predictions are up to 14 % wrong in the
/// median (docs/results/model-cpu.md).
const WORTH: f64 = 0.85;

/// The scheme that was tuned for this problem on this device, if it can be run as it is asked for. Else the best by the times that were
/// fitted for this device, if it is predicted to be worth it; else the default, which is never slower than itself. A word says which.
///
/// # Errors
/// As [`Search::new`], and as reading what was tuned.
pub(crate) fn choose<const K: usize>(
    request: &Request,
    field: &dyn Field<K>,
    wanted: Wanted<'_>,
    voice: Voice,
) -> Result<Chosen<K>, Error> {
    let start = Instant::now();
    match known(request, field, &wanted)? {
        Known::Chosen(chosen) => return Ok(*chosen),
        Known::Otherwise(how) => voice.say(format_args!("orthant: this was tuned {how}, and is not taken")),
        Known::Nothing => {}
    }
    divides(request, wanted.flag)?;
    let asked = wanted.mapping;
    let own = request.how.tuning.strategy;
    let usual = request.plan::<K>().map_err(Error::from).and_then(|plan| shared(plan, wanted.target, request, voice));
    if let (Ok(plan), true) = (&usual, constants::<K>(request, &wanted)?.are_none()) {
        if wanted.mapping == Some(Mapping::Stream) && !wanted.target.of().has_streams(plan, field, &request.how) {
            // The backend says best why not.
            wanted.target.of().prepare(plan, field, &request.how)?;
        }
        let name = match request.workload {
            FieldKind::Formula => "formula TEXT".to_owned(),
            name => name.to_string(),
        };
        voice.say(format_args!(
            "orthant: the default scheme, since nothing was measured for this on this device; `orthant model tune {name}` with the \
             same options finds the best"
        ));
        let found = of_plan(plan, own, wanted.mapping.unwrap_or(Mapping::Sbr), start, "default");
        return Ok(Chosen { found, strategy: own, mapping: asked, plan: plan.clone() });
    }
    let search = Search::new(request, field, wanted)?;
    let (Ranked { means: Means { strategy, mapping }, cost, .. }, _) = search.candidates[0];
    let found = search.choice();
    match (usual, search.usual_seconds) {
        (Ok(plan), Some(usual)) if cost > WORTH * usual => {
            let [best, seconds] = [cost, usual].map(milliseconds);
            voice.say(format_args!("orthant: the default scheme, {seconds} predicted; the best would take {best}"));
            let Scheme { g, r, b } = *plan.scheme();
            let found =
                AutoScheme { strategy: Some(own), g: g[0], r: r[0], b: b[0], predicted_seconds: Some(usual), ..found };
            Ok(Chosen { found, strategy: own, mapping: asked, plan })
        }
        (_, usual) => {
            let usual = usual.map_or(String::new(), |usual| format!(", and {} for the default", milliseconds(usual)));
            let scheme = search.plan.scheme();
            let [g, r, b] = [scheme.g, scheme.r, scheme.b].map(|axes| per_axis::text(&per_axis::shortest(&axes)));
            let options = match strategy {
                StrategyKind::Exhaustive => format!("--strategy {strategy}"),
                _ => format!("--strategy {strategy} --scheme {} -g {g} -r {r} -B {b}", found.scheme),
            };
            voice.say(format_args!("orthant: {options}: {} predicted{usual}", milliseconds(cost)));
            Ok(Chosen { found, strategy, mapping: left_open(mapping, asked), plan: search.plan })
        }
    }
}

/// A scheme that no sample found.
fn of_plan<const K: usize>(
    plan: &Plan<K>,
    strategy: StrategyKind,
    mapping: Mapping,
    start: Instant,
    by: &str,
) -> AutoScheme {
    let Scheme { g, r, b } = *plan.scheme();
    AutoScheme {
        sampled_cells: 0,
        seconds: start.elapsed().as_secs_f64(),
        strategy: Some(strategy),
        g: g[0],
        r: r[0],
        b: b[0],
        scheme: mapping.to_string(),
        predicted_seconds: None,
        by: by.into(),
    }
}

/// Fails if the strategy that was asked for has no scheme to choose.
fn divides(request: &Request, flag: &str) -> Result<(), Error> {
    if request.how.tuning.strategy != StrategyKind::Exhaustive {
        return Ok(());
    }
    let error = Error::Input(format!(
        "{flag}: --strategy exhaustive has no scheme; use ask or dp, or leave it out to have the strategy chosen, too"
    ));
    Err(error.about(&["auto-scheme", "strategy"]))
}

/// The constants that were fitted for the problem on the device.
fn constants<const K: usize>(request: &Request, wanted: &Wanted<'_>) -> Result<Constants, Error> {
    let some = default_plan(request, &request.domain::<K>()?)?;
    let setting = Setting::of(&request.computation(&some), request.how.kept.keep);
    match (fitted(wanted.target.name(), wanted.device, &setting), wanted.without_fits) {
        (Err(error), Some(voice)) => {
            voice.say(format_args!("orthant: without what was fitted, which cannot be read: {error}"));
            Ok(Constants::default())
        }
        (constants, _) => constants,
    }
}

fn milliseconds(seconds: f64) -> String {
    format!("{:.3} ms", seconds * 1e3)
}

/// The mapping to ask a backend for: streams that nobody asked for are its default where it has them, and give way where there is no
/// room for them.
fn left_open(mapping: Option<Mapping>, asked: Option<Mapping>) -> Option<Mapping> {
    mapping.filter(|&mapping| mapping != Mapping::Stream || asked.is_some())
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
    let strategy = tuned.strategy.unwrap_or(request.how.tuning.strategy);
    if strategy == StrategyKind::Exhaustive && !wanted.undivided {
        return Ok(Known::Otherwise(format!("for --strategy {strategy}")));
    }
    if wanted.mapping.is_some_and(|asked| asked != mapping) {
        return Ok(Known::Otherwise(format!("for --scheme {mapping}")));
    }
    if let Some(block) = tuned.block.filter(|block| !wanted.blocks.contains(block)) {
        return Ok(Known::Otherwise(format!("for --block {}", per_axis::text(&block))));
    }
    let domain = request.domain::<K>()?;
    let (g, r, b) = (tuned.g, tuned.r, tuned.b);
    let means = Means { strategy, mapping: Some(mapping) };
    let plan =
        plan(request, &domain, field, wanted.target, &Ranked { g, r, b, means, cost: tuned.seconds, fitted: true });
    let Some(plan) = plan else {
        return Ok(Known::Otherwise(format!("to g {g}, r {r}, B {b}, which cannot be run here")));
    };
    let found = of_plan(&plan, strategy, mapping, start, "tuning");
    let found = AutoScheme { predicted_seconds: Some(tuned.seconds), ..found };
    let mapping = left_open(Some(mapping), wanted.mapping);
    Ok(Known::Chosen(Box::new(Chosen { plan, strategy, mapping, found })))
}

/// What a request can be run by, ranked, the most promising first, and what finding it took.
pub(crate) struct Search<'a, const K: usize> {
    request: &'a Request,
    field: &'a dyn Field<K>,
    target: &'a Target,
    domain: Domain<K>,
    /// With the block shape each is meant for. The first one can be run.
    pub(crate) candidates: Vec<(Ranked, [u32; 3])>,
    /// The first one's.
    pub(crate) plan: Plan<K>,
    /// What the default scheme should take, if constants are known of who carries it out.
    usual_seconds: Option<f64>,
    sampled_cells: u64,
    time: Duration,
}

impl<'a, const K: usize> Search<'a, K> {
    /// Samples the workload and ranks what it can be run by in every block shape, until the first that can be run is known.
    ///
    /// The time begins when kernels are compiled, buffers allocated and threads started, as that of a run.
    ///
    /// # Errors
    /// [`Error::Input`] if there is nothing to choose from; as reading a fit, and as preparing a sample.
    pub(crate) fn new(request: &'a Request, field: &'a dyn Field<K>, wanted: Wanted<'a>) -> Result<Self, Error> {
        let Wanted { flag, target, blocks, control, .. } = wanted;
        let how = &request.how;
        divides(request, flag)?;
        let domain = request.domain::<K>()?;
        let some = default_plan(request, &domain)?;
        let constants = constants::<K>(request, &wanted)?;
        let means = means(request, field, &wanted, &some, &constants)?;
        let hardware: Vec<_> = blocks.iter().map(|&block| hardware(how, target, block)).collect();
        // How much a block looks at before it may stop is nearly the same for all shapes.
        let rounds = hardware[0].rounds();
        let rule = request.rule(K);
        let proves = how.tuning.asks_proofs(rule);
        let explore = Explore { rule, proves, order: how.tuning.explore_order, rounds };
        let grid = SampleGrid::new(domain.size(), auto::budget(domain.cells(), rule));
        let mut sample = target.of().sample(&domain, field, grid, how)?;
        let start = Instant::now();
        let coarse = Coarse::new(&sample(control)?, grid, field, &domain, explore);
        let usual_seconds = means.first().and_then(|&(first, constants)| {
            let same = first.strategy == how.tuning.strategy;
            let plan = request.plan::<K>().ok()?;
            Some(auto::predicted(
                &coarse,
                plan.scheme(),
                first,
                constants.filter(|_| same)?,
                how.kept.keep,
                hardware[0],
            ))
        });
        let mut candidates = Vec::new();
        for (nth, (&block, hardware)) in blocks.iter().zip(hardware).enumerate() {
            // Streams have blocks of their own.
            let shaped = |means: &Means| nth == 0 || means.mapping != Some(Mapping::Stream);
            let means: Vec<_> = means.iter().copied().filter(|(means, _)| shaped(means)).collect();
            let ranked = auto::rank(&coarse, &means, how, hardware)?;
            candidates.extend(ranked.into_iter().map(|candidate| (candidate, block)));
        }
        if blocks.len() > 1 {
            by_cost(&mut candidates);
        }
        let mut runnable = candidates.iter().enumerate();
        let first =
            runnable.find_map(|(i, (candidate, _))| Some((i, plan(request, &domain, field, target, candidate)?)));
        let time = start.elapsed();
        let Some((first, plan)) = first else {
            return Err(Error::Input(format!(
                "{flag}: no g and r of 2, 4, .., 1024 and B of 1, 2, .., 1024 with g r B <= n can be run with --curve {} within --mem-limit; use run with -g, -r and -B",
                request.computed.curve
            ))
            .about(&["auto-scheme", "size", "curve", "mem-limit"]));
        };
        candidates.drain(..first);
        let sampled_cells = coarse.cells();
        Ok(Self { request, field, target, domain, candidates, plan, usual_seconds, sampled_cells, time })
    }

    /// The plan of a candidate, if the curve can serve it, it fits into memory, and the backend has a way to carry it out.
    pub(crate) fn plan(&self, candidate: &Ranked) -> Option<Plan<K>> {
        plan(self.request, &self.domain, self.field, self.target, candidate)
    }

    /// What a report says of the first candidate.
    pub(crate) fn choice(&self) -> AutoScheme {
        let (Ranked { means, cost, fitted, .. }, _) = self.candidates[0];
        let scheme = self.plan.scheme();
        AutoScheme {
            sampled_cells: self.sampled_cells,
            seconds: self.time.as_secs_f64(),
            strategy: Some(means.strategy),
            g: scheme.g[0],
            r: scheme.r[0],
            b: scheme.b[0],
            scheme: means.mapping.unwrap_or(Mapping::Sbr).to_string(),
            predicted_seconds: fitted.then_some(cost),
            by: if fitted { "fit" } else { "model" }.into(),
        }
    }
}

fn by_cost(candidates: &mut [(Ranked, [u32; 3])]) {
    candidates.sort_by(|(a, _), (b, _)| a.cost.total_cmp(&b.cost));
}

/// Whoever may carry the request out, with the constants of each. Without any, the mapping is left as it is.
fn means<const K: usize>(
    request: &Request,
    field: &dyn Field<K>,
    wanted: &Wanted<'_>,
    some: &Plan<K>,
    constants: &Constants,
) -> Result<Vec<(Means, Option<Terms>)>, Error> {
    let (how, backend, rule) = (&request.how, wanted.target.of(), request.rule(K));
    let streams = backend.has_streams(some, field, how);
    if wanted.mapping == Some(Mapping::Stream) && !streams {
        // The backend says best why not.
        backend.prepare(some, field, how)?;
    }
    let strategy = how.tuning.strategy;
    let mut means: Vec<Means> = match wanted.mapping {
        Some(mapping) => vec![Means { strategy, mapping: Some(mapping) }],
        // The default first, where constants do not decide.
        None => {
            let streams = (streams && how.kept.keep == Keep::Dense).then_some(Mapping::Stream);
            let mappings = streams.into_iter().chain(Mapping::OF_THE_PAPERS);
            mappings.map(|mapping| Means { strategy, mapping: Some(mapping) }).collect()
        }
    };
    if wanted.undivided {
        means.push(Means { strategy: StrategyKind::Exhaustive, mapping: None });
    }
    let with_constants = |means: Means| {
        let proves = how.tuning.asks_proofs(rule);
        let code = Code::of(means.strategy, means.mapping.unwrap_or(Mapping::Sbr), rule, proves);
        (means, constants.of(code))
    };
    let mut means: Vec<_> = means.into_iter().map(with_constants).collect();
    if !wanted.unfitted {
        means.retain(|(_, constants)| constants.is_some());
    }
    if means.is_empty() {
        means.push((Means { strategy, mapping: wanted.mapping }, None));
    }
    Ok(means)
}

/// The plan where no scheme is chosen; any other where its curve cannot serve that.
fn default_plan<const K: usize>(request: &Request, domain: &Domain<K>) -> Result<Plan<K>, Error> {
    let whole = || Plan::new(*domain, Scheme::uniform(1, 2, u32::MAX), request.computed.curve, request.rule(K));
    Ok(request.plan::<K>().or_else(|_| whole())?)
}

/// The plan of a candidate, if there is one that fits into memory and that can be carried out so.
fn plan<const K: usize>(
    request: &Request,
    domain: &Domain<K>,
    field: &dyn Field<K>,
    target: &Target,
    &Ranked { g, r, b, means, .. }: &Ranked,
) -> Option<Plan<K>> {
    let plan = match means.strategy {
        StrategyKind::Exhaustive => default_plan(request, domain).ok()?,
        _ => Plan::new(*domain, Scheme::uniform(g, r, b), request.computed.curve, request.rule(K)).ok()?,
    };
    let how = request.how.clone().strategy(means.strategy).mapping(means.mapping);
    Estimate::new(&plan, field, &how).check(how.mem_limit).ok()?;
    let streams = means.mapping == Some(Mapping::Stream);
    (!streams || target.of().has_streams(&plan, field, &how)).then_some(plan)
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
