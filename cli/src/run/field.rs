//! A run of a field.

use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::Arc;
use std::time::Duration;

use orthant::backend::{Part, Prepared};
use orthant::curve::CurveKind;
use orthant::field::{Field, Job, Open};
use orthant::geometry::{Domain, Scheme};
use orthant::result::{DenseArray, RunCounts};
use orthant::rule::RuleKind;
use orthant::tree::{TreeAxis, TreeInfo, tree_order};
use orthant::{
    AutoScheme, BackendKind, Control, Keep, Mapping, Plan, Ran, Report, Request, StageClock, StrategyKind, Tree,
};
use orthant_formats::export::npy;

use super::array_outputs::{ArrayOutputs, ShownAs};
use super::mesh::remark;
use super::outputs::{Outputs, finish, write_report};
use super::painted::Painted;
use super::run_trees::RunTrees;
use super::sooner;
use super::summary;
use crate::data::{WholeArray, read_for};
use crate::error::Error;
use crate::hint::choose;
use crate::interrupt::cancels;
use crate::machine::{self, Machine};
use crate::measure::{Patience, repeat};
use crate::options::RunOptions;
use crate::output::legend::Shown;
use crate::output::png::Caption;
use crate::output::tree::MadeOf;
use crate::output::{Slice, tree};
use crate::progress::Progress;
use crate::search::Wanted;
use crate::statistics::median;
use crate::voice::{Voice, print};

/// Runs a field as asked.
pub(super) fn run(args: RunOptions, voice: Voice) -> Result<(), Error> {
    let machine = Machine::look();
    let control = Arc::new(Control::default());
    cancels(&control);
    let mut clock = StageClock::start();
    args.how.divides()?;
    let mut request = args.request(machine.default_limit())?;
    let array = read_for(&args.input, &mut request, voice)?;
    remark(&request, voice);
    clock.ends(|seconds| &mut seconds.opening);
    let (workload, k) = (request.workload, request.k());
    workload.dispatch(k, Task { args, request, array, clock, machine, control, voice })?
}

/// The run once its dimension is a type.
struct Task {
    args: RunOptions,
    request: Request,
    /// The array that is divided, if it is one.
    array: Option<WholeArray>,
    clock: StageClock,
    machine: Machine,
    control: Arc<Control>,
    voice: Voice,
}

impl Task {
    /// What is known of values that are drawn.
    fn shown(&self) -> Shown<'_> {
        let gradient = self.args.output.palette;
        match &self.array {
            None => Shown { gradient, are_labels: Some(false), labels: &[], nodata: None },
            Some(array) => array.shown(gradient, &self.args.input.reading),
        }
    }

    /// The CPU, where a run that nobody gave a backend is predicted to end before a GPU is open; says so. What asks for a GPU, or for
    /// its times, gets it.
    fn sooner<const K: usize>(&self, field: &dyn Field<K>, domain: &Domain<K>) -> Option<BackendKind> {
        let Self { args, request, array, voice, .. } = self;
        let of_a_gpu =
            args.how.device.is_some() || request.how.cuda.is_some() || request.how.tuning.mapping() == Mapping::Stream;
        if !cfg!(feature = "cuda") || of_a_gpu || args.auto_scheme || args.how.repeat.is_some() || array.is_some() {
            return None;
        }
        let threads = request.how.tuning.threads.unwrap_or_else(rayon::current_num_threads);
        let predicted = sooner::on_cpu(field, domain, threads)?.as_secs_f64() * 1e3;
        voice.say(format_args!(
            "orthant: on the CPU, where all cells together are predicted to take {predicted:.1} ms; a GPU takes 200 ms to open"
        ));
        Some(BackendKind::Cpu)
    }
}

impl Job for Task {
    type Output = Result<(), Error>;

    fn run<const K: usize>(mut self, open: Open<K>) -> Self::Output {
        let mut clock = self.clock.clone();
        let planned = (!self.args.auto_scheme).then(|| self.request.plan::<K>()).transpose()?;
        let domain = self.request.domain::<K>()?;
        let options = self.request.options()?;
        let axes = match &self.array {
            Some(array) => {
                array.info(&Plan::new(domain, Scheme::uniform(1, 2, 1), CurveKind::Morton, RuleKind::Full)?).axes
            }
            None => TreeAxis::of(&domain),
        };
        let slice = Slice::new(domain.size(), &self.args.output.slice, &axes)?;
        let slice = slice.scaled(self.args.output.scale.map_or(1, NonZeroU32::get));
        let read = self.array.as_ref().map(WholeArray::files).unwrap_or_default();
        let mut outputs = Outputs::open(&self.args.output, self.request.how.kept.keep, &read)?;
        outputs.say_shown(&slice, domain.size(), &axes, self.voice)?;
        let field = open(&domain, &options)?;
        self.request.how = self.request.how.for_labels(field.labels())?;
        outputs.fit(domain.size(), domain.size(), &self.request.how.kept, self.request.how.mem_limit)?;
        let backend = machine::without_twin(self.args.how.backend, self.request.workload, &*field, self.voice);
        let backend = backend.or_else(|| self.sooner(&*field, &domain));
        let target = machine::pick(backend, self.args.how.device.as_ref(), self.voice)?;
        self.args.how.understood_by(&target)?;
        clock.ends(|seconds| &mut seconds.opening);
        let device = target.device().unwrap_or(&self.machine.cpu);
        // Whoever sees regions sees those of the field's own scheme.
        let cells = outputs.trees.is_empty() && self.args.output.overlay.is_none();
        let (plan, found) = match planned {
            Some(plan) => {
                let (plan, mapping) = machine::suited(plan, &target, &self.request, cells, self.voice)?;
                self.request.how = self.request.how.mapping(mapping);
                (machine::shared(plan, &target, &self.request, self.voice)?, None)
            }
            None => {
                let mapping = self.args.how.mapping()?;
                let blocks = &[self.request.how.on_cuda().block];
                let (flag, control) = ("--auto-scheme", &*self.control);
                let undivided = self.args.may_be_exhaustive(self.request.how.kept.keep);
                let wanted = Wanted {
                    flag,
                    target: &target,
                    device,
                    mapping,
                    undivided,
                    cells,
                    unfitted: false,
                    blocks,
                    control,
                    without_fits: None,
                };
                let chosen = choose(&self.request, &*field, wanted, self.voice)?;
                self.request.how = self.request.how.strategy(chosen.strategy).mapping(chosen.mapping);
                (chosen.plan, Some(chosen.found))
            }
        };
        let how = &self.request.how;
        // What an exhaustive run leaves is made a tree from the cells up.
        let rule = if how.tuning.strategy == StrategyKind::Exhaustive { RuleKind::Full } else { plan.rule() };
        let of_tree = Plan::new(*plan.domain(), *plan.scheme(), plan.curve(), rule)?;
        let of = (&of_tree, how.kept.cell);
        let name = self.request.title();
        let trees = outputs.trees.iter().map(|path| {
            let info = match &self.array {
                Some(array) => array.info(&of_tree),
                None => TreeInfo::of(&of_tree).source(name.as_str()),
            };
            let made_of = MadeOf { exactly: None, info };
            Ok((tree::open(path, self.args.output.force, of, made_of, (&self.control, self.voice))?, path.clone()))
        });
        let trees = trees.collect::<Result<Vec<_>, Error>>()?;
        let rule = Patience::exactly(self.args.how.repeat.unwrap_or(NonZeroUsize::MIN));
        let mut prepared = target.of().prepare(&plan, &*field, how)?;
        clock.ends(|seconds| &mut seconds.preparing);
        let progress =
            Progress::start(&self.control, plan.domain().cells(), rule.warm_up + rule.max_samples, self.voice);
        let done =
            repeat(&rule, &mut || Ok(prepared.run(&Part::default(), &self.control).inspect(|_| progress.ran())?));
        drop(progress);
        let samples = done?;
        clock.ends(|seconds| &mut seconds.running);
        if let Some(refused) = prepared.instead() {
            let mapping = prepared.mapping();
            self.voice.say(format_args!("orthant: --scheme {mapping}, which nobody chose, since {refused}"));
        }
        if let Some(reason) = prepared.stopped() {
            self.voice.say(format_args!("orthant: a device stopped, and the others did its work, since {reason}"));
        }
        let input = self.array.as_ref().map(|array| array.from.clone());
        let computation = self.request.computation(&plan);
        let report_of = |prepared: &dyn Prepared<K>, counts: &RunCounts<K>, checksum: Option<&str>| {
            let mut counts = counts.clone();
            let middle = |times: &[f64]| Duration::from_secs_f64(median(times));
            counts.times.wall = middle(&samples.wall);
            counts.times.device = counts.times.device.map(|_| middle(&samples.device));
            let ran = Ran {
                backend: target.name(),
                device,
                multiprocessors: target.multiprocessors(),
                mapping: prepared.mapping(),
                samples: samples.times(),
                iterations: field.labels().work(),
                checksum,
                regions_checksum: None,
            };
            let report = Report::new(computation.clone(), how, &counts, ran);
            // What ran: a mapping may be the backend's choice.
            let found = found.clone().map(|found| AutoScheme { scheme: prepared.mapping().to_string(), ..found });
            let busy_seconds = prepared.busy().iter().map(Duration::as_secs_f64).collect();
            let copied_bytes = prepared.copied();
            Report { auto_scheme: found, input: input.clone(), busy_seconds, copied_bytes, ..report }
        };
        let proves = how.tuning.asks_proofs(of_tree.rule());
        let alone = outputs.arrays.is_empty() && outputs.overlay.is_none() && !trees.is_empty();
        if alone && how.kept.keep == Keep::Regions && how.tuning.strategy != StrategyKind::Exhaustive {
            let report = report_of(&*prepared, &prepared.counts()?, None);
            let prover = proves.then_some(&*field);
            let trees = RunTrees { trees, prover, control: &self.control, voice: self.voice };
            return trees.write(&mut *prepared, (report, outputs), clock);
        }
        let subdivision =
            if trees.is_empty() { prepared.subdivision()? } else { prepared.subdivision_in(&tree_order(&plan))? };
        clock.ends(|seconds| &mut seconds.collecting);
        let caption = Caption::new(&computation, &slice);
        let pictures = outputs.pictures();
        let array = ArrayOutputs::dense(&subdivision, pictures, how.mem_limit)?;
        let drawn = array.as_deref().filter(|_| pictures);
        let painted = Painted::of(field.labels(), drawn, &slice, &self.shown());
        let drawn = ShownAs { slice: &slice, painted: &painted, caption: &caption };
        let shown = ArrayOutputs::new(&subdivision, &array, how.mem_limit, drawn);
        // Stdout comes last: whoever reads it may leave, and files must not suffer.
        let (files, last) = outputs.arrays.drain(..).partition::<Vec<_>, _>(|(_, staged)| !staged.is_stdout());
        let overlay = outputs.overlay.take();
        // A checksum is one long sum: a thread adds it up while the others write, if one can be had.
        let sum = || subdivision.array().map(DenseArray::checksum);
        let (checksum, written) = std::thread::scope(|scope| {
            let adding = std::thread::Builder::new().spawn_scoped(scope, sum).ok();
            let written = shown.write_all(overlay, files, &self.control, self.voice);
            let checksum = adding.map(|adding| adding.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            (checksum.unwrap_or_else(sum), written)
        });
        clock.ends(|seconds| &mut seconds.writing);
        if let (true, Some(array)) = (K > 2 && pictures, array.as_deref())
            && slice.is_uniform(array)
        {
            self.voice.say("orthant: every cell of the picture has one value; --slice names another slice");
        }
        let report = report_of(&*prepared, subdivision.counts(), checksum.as_deref());
        // Only a report shows it, and trees have it, too.
        let hashed = trees.is_empty() && outputs.report.is_some();
        let regions = if hashed { subdivision.regions_checksum() } else { None };
        let has_regions = !subdivision.terminals().is_empty();
        let mut report = Report { regions_checksum: regions.map(|sum| sum.to_string()), ..report };
        if !self.voice.quiet && !outputs.stdout {
            print(summary::of_field(&report))?;
        }
        clock.ends(|seconds| &mut seconds.reporting);
        written?;
        let mut write_report = |report: &Report, clock: &StageClock, last: bool| {
            if self.voice.verbose && !last {
                self.voice.say(summary::of_stages(&clock.seconds()));
            }
            let staged = outputs.report.take_if(|staged| last || !staged.is_stdout());
            let report = Report { seconds_by_stage: Some(clock.seconds()), ..report.clone() };
            write_report(staged, &report, &self.control, self.voice)
        };
        if trees.is_empty() {
            write_report(&report, &clock, false)?;
            shown.write_all(None, last, &self.control, self.voice)?;
        } else {
            // What the run left becomes the tree; it is never there twice.
            drop(array);
            let mut tree = Tree::of(subdivision)?;
            if proves {
                tree = tree.proved_by(&*field, &self.control)?;
            }
            clock.ends(|seconds| &mut seconds.ordering);
            for (mut writer, path) in trees {
                writer.write(&tree)?;
                report.regions_checksum = has_regions.then(|| writer.checksum().to_string());
                tree::finish(writer, &path, self.voice)?;
            }
            clock.ends(|seconds| &mut seconds.writing);
            write_report(&report, &clock, false)?;
            for (_, staged) in last {
                finish(staged, &self.control, self.voice, &mut |out| Ok(npy::write(&tree, out)?))?;
            }
        }
        write_report(&report, &clock, true)
    }
}
