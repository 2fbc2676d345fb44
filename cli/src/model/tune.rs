//! `orthant model tune`: the best way to run by measuring, in the order in which the model would take them.

use std::sync::Arc;
use std::time::Instant;

use orthant::backend::Part;
use orthant::field::{Field, Job, Open};
use orthant::result::Times;
use orthant::{AutoScheme, Control, Mapping, Plan, Request, StrategyKind, Target, per_axis};
use orthant_lab::model::auto::Ranked;
use serde_json::{Value, json};

use crate::data::read_for;
use crate::error::Error;
use crate::interrupt::cancels;
use crate::machine::{self, Machine};
use crate::measure::{Patience, repeat};
use crate::model::args::TuneOptions;
use crate::search::{Search, Wanted};
use crate::store::{self, Asked, Tuned};
use crate::voice::{Voice, align_right, print, table};

/// A gain below this does not count as one.
const GAIN: f64 = 0.01;

/// A candidate whose first run takes so many times the best is not run again.
const HOPELESS: f64 = 10.0;

/// Runs per candidate unless told otherwise.
const RUNS: std::num::NonZeroUsize = std::num::NonZeroUsize::new(5).expect("five is not zero");

/// Candidates that are measured again at the end, beside the first.
const FINALISTS: usize = 4;

/// Measures until nothing better turns up.
pub(crate) fn tune(args: TuneOptions, voice: Voice) -> Result<(), Error> {
    let machine = Machine::look();
    args.how.divides()?;
    let mut request = args.how.request(args.workload, &args.computed.0, machine.default_limit())?;
    request.source = args.formula.source(args.workload, args.how.source.as_deref())?;
    read_for(&args.input, &mut request, voice)?;
    let (workload, k) = (request.workload, request.k());
    workload.dispatch(k, TuneTask { args, request, machine, voice })?
}

struct TuneTask {
    args: TuneOptions,
    request: Request,
    machine: Machine,
    voice: Voice,
}

/// A candidate that can be run, and its time; of a finalist the mean of the two times that it was measured.
struct Tried {
    candidate: Ranked,
    block: [u32; 3],
    /// What ran: who left a mapping open chose one.
    mapping: Mapping,
    seconds: f64,
}

impl Tried {
    /// The strategy, the mapping of one that divides, and the scheme; of exhaustive it has no meaning.
    fn name(&self) -> [String; 2] {
        let Ranked { g, r, b, means, .. } = self.candidate;
        match means.strategy {
            StrategyKind::Exhaustive => [means.strategy.to_string(), "-".to_owned()],
            strategy => [format!("{strategy} {}", self.mapping), format!("{g} {r} {b}")],
        }
    }
}

impl Job for TuneTask {
    type Output = Result<(), Error>;

    fn run<const K: usize>(self, open: Open<K>) -> Self::Output {
        let field = open(&self.request.domain::<K>()?, &self.request.options()?)?;
        let backend = machine::without_twin(self.args.how.backend, self.request.workload, &*field, self.voice);
        let target = machine::pick(backend, self.args.how.device.as_ref(), self.voice)?;
        self.args.how.understood_by(&target)?;
        let device = target.device().unwrap_or(&self.machine.cpu);
        let blocks = match target.multiprocessors() {
            None if !self.args.blocks.is_empty() => {
                return Err(Error::Unavailable(
                    "--blocks: understood by a GPU alone; leave out, or use --backend cuda".into(),
                )
                .about(&["blocks", "backend"]));
            }
            None => vec![self.request.how.on_cuda().block],
            Some(_) if !self.args.blocks.is_empty() => self.args.blocks.clone(),
            Some(_) if self.args.how.cuda.0.get("block").is_some() => vec![self.request.how.on_cuda().block],
            Some(_) => shapes(K),
        };
        let control = Arc::new(Control::default());
        cancels(&control);
        let mapping = self.args.how.mapping()?;
        let without_fits = self.args.dry_run.then_some(self.voice);
        let wanted = Wanted {
            flag: "tune",
            target: &target,
            device,
            mapping,
            undivided: self.args.how.may_be_exhaustive(self.request.how.kept.keep),
            cells: true,
            unfitted: true,
            blocks: &blocks,
            control: &control,
            without_fits,
        };
        let search = Search::new(&self.request, &*field, wanted)?;
        let auto = search.choice();
        let candidates = order(&search.candidates, search.usual);
        let count = candidates.iter().filter(|(candidate, _)| search.plan(candidate).is_some()).count();
        let measure = |entry: &Tried, least| {
            let plan = search.plan(&entry.candidate).expect("it can be run");
            self.measure(&target, &plan, &*field, entry, least, &control)
        };
        let runs = |candidate: &Ranked| search.plan(candidate).is_some();
        let Searched { tried, best, end } = self.search(&candidates, &runs, &measure)?;
        let found = Found { k: K, tried, best, count, end, auto, cuda: target.multiprocessors().is_some() };
        if self.args.json {
            let mut line = found.json();
            line["workload"] = json!(self.request.workload);
            line["size"] = json!(self.request.domain::<K>()?.size().to_vec());
            (line["backend"], line["device"]) = (json!(target.name()), json!(device));
            print(format_args!("{line}\n"))?;
        } else {
            print(found.page())?;
        }
        if !self.args.dry_run {
            let path = store::keep(target.name(), device, vec![found.tuned(Asked::of::<K>(&self.request)?)])?;
            self.voice.say(format_args!("orthant: wrote {}", path.display()));
        }
        Ok(())
    }
}

/// Measures a candidate, where the least time so far is known: its time, and the mapping that ran.
type MeasureTried<'m> = dyn Fn(&Tried, f64) -> Result<(f64, Mapping), Error> + 'm;

impl TuneTask {
    /// Measures candidates until nothing better turns up; returns them, and which is the fastest.
    fn search(
        &self,
        candidates: &[(Ranked, [u32; 3])],
        runs: &dyn Fn(&Ranked) -> bool,
        measure: &MeasureTried<'_>,
    ) -> Result<Searched, Error> {
        let start = Instant::now();
        let mut tried: Vec<Tried> = Vec::new();
        let (mut least, mut since, mut end) = (f64::INFINITY, 0, End::All);
        for &(candidate, block) in candidates {
            if !runs(&candidate) {
                continue;
            }
            if !tried.is_empty() && self.args.budget.is_some_and(|budget| start.elapsed() >= budget) {
                end = End::Budget;
                break;
            }
            let mapping = candidate.means.mapping.unwrap_or(Mapping::Sbr);
            let mut entry = Tried { candidate, block, mapping, seconds: 0.0 };
            (entry.seconds, entry.mapping) = measure(&entry, least)?;
            let seconds = entry.seconds;
            (least, since) =
                if seconds < least * (1.0 - GAIN) { (seconds, 0) } else { (least.min(seconds), since + 1) };
            tried.push(entry);
            if !self.args.all && since >= self.args.patience {
                end = End::Patience;
                break;
            }
        }
        // The fastest of many measurements is too fast by chance: the best and the model's first run once more.
        let finalists = finalists(&tried.iter().map(|tried| tried.seconds).collect::<Vec<_>>());
        for &i in &finalists {
            let (again, _) = measure(&tried[i], f64::INFINITY)?;
            tried[i].seconds = (tried[i].seconds + again) / 2.0;
        }
        let fastest = finalists.into_iter().min_by(|&a, &b| tried[a].seconds.total_cmp(&tried[b].seconds));
        Ok(Searched { tried, best: fastest.expect("the first candidate is a finalist"), end })
    }

    /// The median of some runs, or the time of the first where that takes far longer than the `least` so far; and the mapping that ran.
    fn measure<const K: usize>(
        &self,
        target: &Target,
        plan: &Plan<K>,
        field: &dyn Field<K>,
        entry: &Tried,
        least: f64,
        control: &Control,
    ) -> Result<(f64, Mapping), Error> {
        let means = entry.candidate.means;
        let mut how = self.request.how.clone().strategy(means.strategy).mapping(means.mapping);
        if target.multiprocessors().is_some() {
            how = how.block(entry.block);
        }
        let runs = self.args.how.repeat.unwrap_or(RUNS);
        let mut prepared = target.of().prepare(plan, field, &how)?;
        let mut run = || Ok(prepared.run(&Part::default(), control)?);
        let mut rule = Patience::exactly(runs);
        if rule.warm_up > 0 {
            let first: Times = run()?;
            let seconds = first.device.unwrap_or(first.wall).as_secs_f64();
            if seconds > HOPELESS * least {
                return Ok((seconds, prepared.mapping()));
            }
            rule.warm_up = 0;
        }
        Ok((repeat(&rule, &mut run)?.median(), prepared.mapping()))
    }
}

/// The order in which candidates are measured: the model's, but that the default, which the best must not lose to, and exhaustive, with which all
/// is compared, are third at the latest.
fn order(candidates: &[(Ranked, [u32; 3])], usual: Option<Ranked>) -> Vec<(Ranked, [u32; 3])> {
    let mut order = candidates.to_vec();
    let way = |ranked: &Ranked| (ranked.g, ranked.r, ranked.b, ranked.means.strategy, ranked.means.mapping);
    if let (Some(usual), Some(&(_, block))) = (usual, order.first())
        && !order.iter().take(2).any(|(candidate, _)| way(candidate) == way(&usual))
    {
        order.retain(|(candidate, shape)| way(candidate) != way(&usual) || *shape != block);
        order.insert(order.len().min(1), (usual, block));
    }
    let undivided = |(candidate, _): &(Ranked, _)| candidate.means.strategy == StrategyKind::Exhaustive;
    if let Some(place @ 2..) = order.iter().position(undivided) {
        order[1..=place].rotate_right(1);
    }
    order
}

/// Block shapes that are tried unless told otherwise.
fn shapes(k: usize) -> Vec<[u32; 3]> {
    match k {
        1 => vec![[64, 1, 1], [128, 1, 1], [256, 1, 1]],
        2 => vec![[8, 8, 1], [16, 8, 1], [16, 16, 1], [32, 8, 1]],
        _ => vec![[8, 8, 1], [4, 4, 4], [8, 4, 4], [8, 8, 4]],
    }
}

/// What a search measured.
struct Searched {
    /// In the order of the model.
    tried: Vec<Tried>,
    /// The fastest of them.
    best: usize,
    end: End,
}

/// Why a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    All,
    Patience,
    Budget,
}

impl End {
    /// What a search is ended by, if it left anything out.
    fn name(self) -> Option<&'static str> {
        match self {
            Self::All => None,
            Self::Patience => Some("patience"),
            Self::Budget => Some("budget"),
        }
    }
}

/// What a search found.
struct Found {
    /// The number of axes.
    k: usize,
    /// In the order of the model.
    tried: Vec<Tried>,
    /// The fastest of them.
    best: usize,
    /// Candidates in all.
    count: usize,
    /// Why the others were left out.
    end: End,
    /// The first as `run --auto-scheme` would report it.
    auto: AutoScheme,
    /// True if block shapes matter.
    cuda: bool,
}

impl Found {
    /// What later runs are told of the best.
    fn tuned(&self, asked: Asked) -> Tuned {
        let best = &self.tried[self.best];
        Tuned {
            asked,
            strategy: Some(best.candidate.means.strategy),
            g: best.candidate.g,
            r: best.candidate.r,
            b: best.candidate.b,
            scheme: best.mapping.to_string(),
            block: self.cuda.then_some(best.block),
            seconds: best.seconds,
        }
    }

    /// The share of the best time that the model's first choice takes longer, and the same with finding it.
    fn loss(&self) -> [f64; 2] {
        [0.0, self.auto.seconds].map(|find| (self.tried[0].seconds + find) / self.tried[self.best].seconds - 1.0)
    }

    /// What is compared with.
    fn exhaustive(&self) -> Option<&Tried> {
        self.tried.iter().find(|entry| entry.candidate.means.strategy == StrategyKind::Exhaustive)
    }

    fn json(&self) -> Value {
        let entry = |entry: &Tried| {
            let Ranked { g, r, b, means, cost, fitted } = &entry.candidate;
            json!({
                "strategy": means.strategy, "g": g, "r": r, "B": b, "scheme": entry.mapping,
                "block": self.cuda.then_some(entry.block), "seconds": entry.seconds,
                "predicted_seconds": fitted.then_some(cost),
            })
        };
        let [loss, with_search] = self.loss();
        json!({
            "k": self.k, "best": entry(&self.tried[self.best]), "first": entry(&self.tried[0]), "auto_scheme": self.auto,
            "exhaustive": self.exhaustive().map(entry), "loss": loss, "loss_with_search": with_search, "candidates": self.count, "ended_by": self.end.name(),
            "tried": self.tried.iter().map(entry).collect::<Vec<_>>(),
        })
    }

    /// All that was tried, in the order in which it was, and what came of it.
    fn page(&self) -> String {
        let best = &self.tried[self.best];
        let mut rows = table(&["by", "g r B", "block", "ms", "predicted", "of the best"]);
        for entry in &self.tried {
            let Ranked { cost, fitted, .. } = entry.candidate;
            let ([by, scheme], block) = (entry.name(), per_axis::text(&entry.block));
            rows.add_row([
                by,
                scheme,
                if self.cuda { block } else { "-".into() },
                format!("{:.3}", entry.seconds * 1e3),
                if fitted { format!("{:.3}", cost * 1e3) } else { "-".into() },
                format!("{:.3}", entry.seconds / best.seconds),
            ]);
        }
        align_right(&mut rows);
        let left_out = match self.end.name() {
            None => String::new(),
            Some(by) => format!(" (--{by} left out {})", self.count - self.tried.len()),
        };
        let of = |entry: &Tried| match entry.name() {
            [by, scheme] if scheme == "-" => by,
            [by, scheme] => format!("{by} g r B {scheme}"),
        };
        let ms = |seconds: f64| format!("{:.3} ms", seconds * 1e3);
        let exhaustive =
            self.exhaustive().map_or(String::new(), |entry| format!("exhaustive: {}\n", ms(entry.seconds)));
        let [loss, with_search] = self.loss().map(|share| format!("{:.1} %", share * 1e2));
        format!(
            "{}\n\n{} of {} candidates measured{left_out}\n{exhaustive}best: {}, {}\nthe model's first: {}, {}, {loss} lost; {} to find it, {with_search} lost with that\n",
            rows.trim_fmt(),
            self.tried.len(),
            self.count,
            of(best),
            ms(best.seconds),
            of(&self.tried[0]),
            ms(self.tried[0].seconds),
            ms(self.auto.seconds),
        )
    }
}

/// The first of some measurements, and the fastest of the others.
fn finalists(seconds: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (1..seconds.len()).collect();
    order.sort_by(|&a, &b| seconds[a].total_cmp(&seconds[b]));
    [0].into_iter().chain(order.into_iter().take(FINALISTS)).collect()
}
