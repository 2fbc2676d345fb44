//! `orthant model tune`: the best scheme by measuring, in the order in which the model would take them.

use std::sync::Arc;

use orthant::backend::Part;
use orthant::field::{Field, Job, Open};
use orthant::model::auto::Ranked;
use orthant::{AutoScheme, Control, Plan, Request, Target, per_axis};
use serde_json::{Value, json};

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

/// Runs per candidate unless told otherwise.
const RUNS: std::num::NonZeroUsize = std::num::NonZeroUsize::new(5).expect("five is not zero");

/// Candidates that are measured again at the end, beside the first.
const FINALISTS: usize = 4;

/// Measures until nothing better turns up.
pub(crate) fn tune(args: TuneOptions, voice: Voice) -> Result<(), Error> {
    let machine = Machine::look();
    let request = args.how.request(args.workload, &args.computed.0, machine.default_limit())?;
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
struct Tried<const K: usize> {
    candidate: Ranked,
    plan: Plan<K>,
    block: [u32; 3],
    seconds: f64,
}

impl Job for TuneTask {
    type Output = Result<(), Error>;

    fn run<const K: usize>(self, open: Open<K>) -> Self::Output {
        let field = open(&self.request.domain::<K>()?, &self.request.options()?)?;
        let target = machine::pick(self.args.how.backend, self.args.how.device, self.voice)?;
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
        let wanted =
            Wanted { flag: "tune", target: &target, device, mapping, blocks: &blocks, control: &control, without_fits };
        let search = Search::new(&self.request, &*field, wanted)?;
        let (auto, fitted) = (search.choice(), search.fitted);
        let count = search.candidates.iter().filter(|(candidate, _)| search.plan(candidate).is_some()).count();
        let (tried, best) = self.search(&target, &*field, &search, &control)?;
        let found = Found { tried, best, count, auto, fitted, cuda: target.multiprocessors().is_some() };
        if self.args.json {
            let mut line = found.json();
            line["workload"] = json!(self.request.workload);
            line["strategy"] = json!(self.request.how.tuning.strategy);
            line["size"] = json!(self.request.domain::<K>()?.size().to_vec());
            (line["backend"], line["device"]) = (json!(target.name()), json!(device));
            print(format_args!("{line}\n"))?;
        } else {
            print(found.page())?;
        }
        if !self.args.dry_run {
            let path = store::keep(target.name(), device, vec![self.tuned(&found)?])?;
            self.voice.say(format_args!("orthant: wrote {}", path.display()));
        }
        Ok(())
    }
}

impl TuneTask {
    /// Measures candidates until nothing better turns up; returns them, and which is the fastest.
    fn search<const K: usize>(
        &self,
        target: &Target,
        field: &dyn Field<K>,
        search: &Search<'_, K>,
        control: &Control,
    ) -> Result<(Vec<Tried<K>>, usize), Error> {
        let mut tried: Vec<Tried<K>> = Vec::new();
        let (mut least, mut since) = (f64::INFINITY, 0);
        for &(candidate, block) in &search.candidates {
            let Some(plan) = search.plan(&candidate) else { continue };
            let mut entry = Tried { candidate, plan, block, seconds: 0.0 };
            entry.seconds = self.measure(target, field, &entry, control)?;
            let seconds = entry.seconds;
            (least, since) =
                if seconds < least * (1.0 - GAIN) { (seconds, 0) } else { (least.min(seconds), since + 1) };
            tried.push(entry);
            if !self.args.all && since >= self.args.patience {
                break;
            }
        }
        // The fastest of many measurements is too fast by chance: the best and the model's first run once more.
        let mut order: Vec<usize> = (1..tried.len()).collect();
        order.sort_by(|&a, &b| tried[a].seconds.total_cmp(&tried[b].seconds));
        let finalists: Vec<usize> = [0].into_iter().chain(order.into_iter().take(FINALISTS)).collect();
        for &i in &finalists {
            let again = self.measure(target, field, &tried[i], control)?;
            tried[i].seconds = (tried[i].seconds + again) / 2.0;
        }
        let fastest = finalists.into_iter().min_by(|&a, &b| tried[a].seconds.total_cmp(&tried[b].seconds));
        Ok((tried, fastest.expect("the first candidate is a finalist")))
    }

    /// The median of some runs.
    fn measure<const K: usize>(
        &self,
        target: &Target,
        field: &dyn Field<K>,
        entry: &Tried<K>,
        control: &Control,
    ) -> Result<f64, Error> {
        let mut how = self.request.how.clone().mapping(Some(entry.candidate.mapping));
        if target.multiprocessors().is_some() {
            how = how.block(entry.block);
        }
        let runs = self.args.how.repeat.unwrap_or(RUNS);
        let mut prepared = target.of().prepare(&entry.plan, field, &how)?;
        Ok(repeat(&Patience::exactly(runs), || Ok(prepared.run(&Part::default(), control)?))?.median())
    }

    fn tuned<const K: usize>(&self, found: &Found<K>) -> Result<Tuned, Error> {
        let best = &found.tried[found.best];
        Ok(Tuned {
            asked: Asked::of::<K>(&self.request)?,
            g: best.candidate.g,
            r: best.candidate.r,
            b: best.candidate.b,
            scheme: best.candidate.mapping.to_string(),
            block: found.cuda.then_some(best.block),
            seconds: best.seconds,
        })
    }
}

/// Block shapes that are tried unless told otherwise.
fn shapes(k: usize) -> Vec<[u32; 3]> {
    match k {
        1 => vec![[64, 1, 1], [128, 1, 1], [256, 1, 1]],
        2 => vec![[8, 8, 1], [16, 8, 1], [16, 16, 1], [32, 8, 1]],
        _ => vec![[8, 8, 1], [4, 4, 4], [8, 4, 4], [8, 8, 4]],
    }
}

/// What a search found.
struct Found<const K: usize> {
    /// In the order of the model.
    tried: Vec<Tried<K>>,
    /// The fastest of them.
    best: usize,
    /// Candidates in all.
    count: usize,
    /// The first as `run --auto-scheme` would report it.
    auto: AutoScheme,
    /// True if costs are seconds.
    fitted: bool,
    /// True if block shapes matter.
    cuda: bool,
}

impl<const K: usize> Found<K> {
    /// The share of the best time that the model's first choice takes longer, finding it included.
    fn loss(&self) -> f64 {
        (self.tried[0].seconds + self.auto.seconds) / self.tried[self.best].seconds - 1.0
    }

    fn json(&self) -> Value {
        let entry = |entry: &Tried<K>| {
            let Ranked { g, r, b, mapping, cost, .. } = &entry.candidate;
            json!({
                "g": g, "r": r, "B": b, "scheme": mapping, "block": self.cuda.then_some(entry.block),
                "seconds": entry.seconds, "predicted_seconds": self.fitted.then_some(cost),
            })
        };
        json!({
            "k": K, "best": entry(&self.tried[self.best]), "first": entry(&self.tried[0]), "auto_scheme": self.auto,
            "loss": self.loss(), "candidates": self.count, "tried": self.tried.iter().map(entry).collect::<Vec<_>>(),
        })
    }

    /// All that was tried, in the order in which it was, and what came of it.
    fn page(&self) -> String {
        let best = &self.tried[self.best];
        let mut rows = table(&["g r B", "scheme", "block", "ms", "predicted", "of the best"]);
        for entry in &self.tried {
            let Ranked { g, r, b, mapping, cost, .. } = &entry.candidate;
            let block = per_axis::text(&entry.block);
            rows.add_row([
                format!("{g} {r} {b}"),
                mapping.to_string(),
                if self.cuda { block } else { "-".into() },
                format!("{:.3}", entry.seconds * 1e3),
                if self.fitted { format!("{:.3}", cost * 1e3) } else { "-".into() },
                format!("{:.3}", entry.seconds / best.seconds),
            ]);
        }
        align_right(&mut rows);
        let Ranked { g, r, b, mapping, .. } = &best.candidate;
        format!(
            "{}\n\n{} of {} candidates measured; best g {g} r {r} B {b} {mapping}, {:.3} ms\nthe model's first: {:.3} ms, and {:.3} ms to find it: {:.1} % lost\n",
            rows.trim_fmt(),
            self.tried.len(),
            self.count,
            best.seconds * 1e3,
            self.tried[0].seconds * 1e3,
            self.auto.seconds * 1e3,
            self.loss() * 1e2,
        )
    }
}
