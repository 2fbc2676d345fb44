//! Ways to run in the order in which the model would take them: `run --auto-scheme` takes the first, unless `model tune` has
//! measured the problem, and `model tune` measures them.
//!
//! A way is a scheme with who carries it out, or exhaustive. What was chosen stays: a strategy, a mapping.

use std::time::{Duration, Instant};

use orthant::backend::Estimate;
use orthant::field::Field;
use orthant::geometry::{Domain, SampleGrid, Scheme};
use orthant::{AutoScheme, Control, How, Keep, Mapping, Plan, Request, StrategyKind, Target};
use orthant_lab::model::Code;
use orthant_lab::model::auto::{self, Means, Ranked};
use orthant_lab::model::observed::{Hardware, Terms};
use orthant_lab::model::sample::{Coarse, Explore};

use crate::error::Error;
use crate::store::{Constants, Setting, fitted};
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
    /// True if nothing is asked for but cells: the default is then what suits the backend.
    pub(crate) cells: bool,
    /// True if what was not fitted is to be tried, too, where other constants are known.
    pub(crate) unfitted: bool,
    /// Block shapes.
    pub(crate) blocks: &'a [[u32; 3]],
    /// Whose word a sample heeds.
    pub(crate) control: &'a Control,
    /// Who says that what was fitted cannot be read, where the search can do without; None where that is an error.
    pub(crate) without_fits: Option<Voice>,
}

/// Fails if the strategy that was asked for has no scheme to choose.
pub(crate) fn divides(request: &Request, flag: &str) -> Result<(), Error> {
    if request.how.tuning.strategy != StrategyKind::Exhaustive {
        return Ok(());
    }
    let error = Error::Input(format!(
        "{flag}: --strategy exhaustive has no scheme; use ask or dp, or leave it out to have the strategy chosen, too"
    ));
    Err(error.about(&["auto-scheme", "strategy"]))
}

/// The constants that were fitted for the problem on the device.
pub(crate) fn constants<const K: usize>(request: &Request, wanted: &Wanted<'_>) -> Result<Constants, Error> {
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
    pub(crate) usual_seconds: Option<f64>,
    /// The default as a candidate, if its scheme is the same on every axis.
    pub(crate) usual: Option<Ranked>,
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
        let usual = usual::<K>(request, &wanted);
        let usual_seconds = usual.as_ref().and_then(|(plan, mapping)| {
            let runs = |means: &Means| {
                means.strategy == how.tuning.strategy && (mapping.is_none() || means.mapping == *mapping)
            };
            let &(means, constants) = means.iter().find(|(means, _)| runs(means))?;
            let keep = how.kept.keep;
            Some(auto::predicted(&coarse, plan.scheme(), means, constants?, keep, hardware[0]))
        });
        let usual = usual.and_then(|(plan, mapping)| {
            let Scheme { g, r, b } = *plan.scheme();
            let alike = [g, r, b].iter().all(|axes| axes.iter().all(|&axis| axis == axes[0]));
            let mapping = mapping.or_else(|| Some(means.first()?.0.mapping.unwrap_or(Mapping::Sbr)));
            let means = Means { strategy: how.tuning.strategy, mapping };
            let cost = usual_seconds.unwrap_or(f64::INFINITY);
            alike.then_some(Ranked { g: g[0], r: r[0], b: b[0], means, cost, fitted: usual_seconds.is_some() })
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
        Ok(Self { request, field, target, domain, candidates, plan, usual_seconds, usual, sampled_cells, time })
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

/// The plan and the mapping of a run without a hint; None where its curve cannot serve the field's own scheme.
fn usual<const K: usize>(request: &Request, wanted: &Wanted<'_>) -> Option<(Plan<K>, Option<Mapping>)> {
    let start = if wanted.cells { request.start_on::<K>(wanted.target.kind()).ok()? } else { None };
    match start {
        Some(start) => Some((start.plan, Some(start.mapping))),
        None => Some((request.plan::<K>().ok()?, wanted.mapping)),
    }
}

/// The plan where no scheme is chosen; any other where its curve cannot serve that.
fn default_plan<const K: usize>(request: &Request, domain: &Domain<K>) -> Result<Plan<K>, Error> {
    let whole = || Plan::new(*domain, Scheme::uniform(1, 2, u32::MAX), request.computed.curve, request.rule(K));
    Ok(request.plan::<K>().or_else(|_| whole())?)
}

/// The plan of a candidate, if there is one that fits into memory and that can be carried out so.
pub(crate) fn plan<const K: usize>(
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

pub(crate) fn hardware(how: &How, target: &Target, block: [u32; 3]) -> Hardware {
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
