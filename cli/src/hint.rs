//! What `run --auto-scheme` takes: what was tuned, what is predicted to be worth it, or the default. It must not lose to a run without it.

use std::time::Instant;

use orthant::field::{Field, FieldKind};
use orthant::geometry::Scheme;
use orthant::{AutoScheme, Mapping, Plan, Request, StrategyKind, per_axis};
use orthant_lab::model::auto::{Means, Ranked};
use orthant_lab::model::observed::Hardware;

use crate::error::Error;
use crate::machine::{options, shared, suited};
use crate::search::{Search, Wanted, constants, divides, hardware, plan};
use crate::store::{Asked, tuned};
use crate::voice::Voice;

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

/// Regions of the last level that a thread should have at least: with fewer the last ones run alone, of which the fitted times of a CPU know
/// nothing. 8 regions of a Mandelbulb of 64³ on two threads were predicted to be 15 % faster than the default, and were slower.
const EACH: u128 = 16;

/// True if threads would wait for each other at the end of such a run.
fn is_uneven<const K: usize>(plan: &Plan<K>, strategy: StrategyKind, hardware: Hardware) -> bool {
    let Hardware::Cpu { threads } = hardware else { return false };
    let last = plan.levels().last().map_or(1, |level| level.regions());
    strategy != StrategyKind::Exhaustive && last < EACH * u128::from(threads)
}

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
    let (target, cells, block) = (wanted.target, wanted.cells, wanted.blocks[0]);
    let usual = request.plan::<K>().map_err(Error::from).and_then(|plan| {
        let (plan, mapping) = suited(plan, target, request, cells, voice)?;
        Ok((shared(plan, target, request, voice)?, mapping))
    });
    if let (Ok((plan, mapping)), true) = (&usual, constants::<K>(request, &wanted)?.are_none()) {
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
        let found = of_plan(plan, own, mapping.unwrap_or(Mapping::Sbr), start, "default");
        return Ok(Chosen { found, strategy: own, mapping: *mapping, plan: plan.clone() });
    }
    let search = Search::new(request, field, wanted)?;
    let (Ranked { means: Means { strategy, mapping }, cost, .. }, _) = search.candidates[0];
    let machine = hardware(&request.how, target, block);
    let found = search.choice();
    match (usual, search.usual_seconds) {
        (Ok((plan, mapping)), Some(usual)) if cost > WORTH * usual || is_uneven(&search.plan, strategy, machine) => {
            let [best, seconds] = [cost, usual].map(milliseconds);
            voice.say(format_args!("orthant: the default scheme, {seconds} predicted; the best would take {best}"));
            let Scheme { g, r, b } = *plan.scheme();
            let found =
                AutoScheme { strategy: Some(own), g: g[0], r: r[0], b: b[0], predicted_seconds: Some(usual), ..found };
            Ok(Chosen { found, strategy: own, mapping, plan })
        }
        (_, usual) => {
            let usual = usual.map_or(String::new(), |usual| format!(", and {} for the default", milliseconds(usual)));
            let chosen = options(search.plan.scheme());
            let options = match strategy {
                StrategyKind::Exhaustive => format!("--strategy {strategy}"),
                _ => format!("--strategy {strategy} --scheme {} {chosen}", found.scheme),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_regions_are_uneven_on_a_cpu() {
        let plan = |g| Plan::builder([64; 3]).scheme(Scheme::uniform(g, 2, 16)).build().unwrap();
        let cpu = Hardware::Cpu { threads: 2 };
        let uneven = |g, hardware| is_uneven(&plan(g), StrategyKind::Ask, hardware);
        // 8 regions, and 64.
        assert!(uneven(2, cpu) && !uneven(4, cpu) && uneven(4, Hardware::Cpu { threads: 5 }));
        assert!(!is_uneven(&plan(2), StrategyKind::Exhaustive, cpu));
        assert!(!uneven(2, Hardware::Gpu { multiprocessors: 132, threads: 2048, block: 64 }));
    }
}
