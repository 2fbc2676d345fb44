//! A run of a field.

use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::Arc;

use orthant::backend::Part;
use orthant::curve::CurveKind;
use orthant::field::{Field, Job, Open};
use orthant::geometry::{Domain, Scheme};
use orthant::rule::RuleKind;
use orthant::tree::{TreeAxis, TreeInfo};
use orthant::{BackendKind, Control, Mapping, Plan, Request, StageClock, StrategyKind};

use super::field_outputs::RanField;
use super::mesh::remark;
use super::outputs::Outputs;
use super::sooner;
use crate::data::{WholeArray, read_for};
use crate::error::Error;
use crate::hint::choose;
use crate::interrupt::cancels;
use crate::machine::{self, Machine};
use crate::measure::{Patience, repeat};
use crate::options::RunOptions;
use crate::output::legend::Shown;
use crate::output::tree::MadeOf;
use crate::output::{Slice, tree};
use crate::progress::Progress;
use crate::search::Wanted;
use crate::voice::Voice;

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
        let outputs = Outputs::open(&self.args.output, self.request.how.kept.keep, &read)?;
        outputs.say_shown(&slice, domain.size(), &axes, self.voice)?;
        let field = open(&domain, &options)?;
        self.request.how = self.request.how.for_labels(field.labels())?;
        outputs.fit(&slice, domain.size(), &self.request.how.kept, self.request.how.mem_limit)?;
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
        let ran = RanField {
            field: &*field,
            how,
            computation: self.request.computation(&plan),
            input: self.array.as_ref().map(|array| array.from.clone()),
            target: &target,
            device,
            samples,
            auto_scheme: found,
            prover: how.tuning.asks_proofs(of_tree.rule()).then_some(&*field),
            slice: &slice,
            shown: self.shown(),
            control: &self.control,
            voice: self.voice,
        };
        ran.write(&mut *prepared, outputs, trees, clock)
    }
}
