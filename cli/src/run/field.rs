//! A run of a field.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use orthant::backend::{Part, Prepared};
use orthant::curve::CurveKind;
use orthant::field::{Field, Job, Open};
use orthant::geometry::{Domain, Scheme};
use orthant::result::Times;
use orthant::rule::RuleKind;
use orthant::tree::{TreeAxis, TreeInfo};
use orthant::{AutoScheme, BackendKind, Control, Mapping, Plan, Request, StageClock, StrategyKind, Target};

use super::field_outputs::RanField;
use super::mesh::remark;
use super::outputs::Outputs;
use super::sooner;
use crate::data::{WholeArray, read_for};
use crate::error::Error;
use crate::hint::{Chosen, choose};
use crate::interrupt::cancels;
use crate::machine::{self, Machine};
use crate::measure::{Patience, Samples, repeat};
use crate::options::RunOptions;
use crate::output::legend::DrawnValues;
use crate::output::tree::{MadeOf, TreeOutput};
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
    fn drawn_values(&self) -> DrawnValues<'_> {
        let gradient = self.args.output.palette;
        match &self.array {
            None => DrawnValues { gradient, are_labels: Some(false), labels: &[], nodata: None },
            Some(array) => array.drawn_values(gradient, &self.args.input.reading),
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

    /// The files to write, and the slice that pictures show.
    fn outputs<const K: usize>(&self, domain: &Domain<K>) -> Result<(Outputs, Slice<K>), Error> {
        let axes = match &self.array {
            Some(array) => {
                array.info(&Plan::new(*domain, Scheme::uniform(1, 2, 1), CurveKind::Morton, RuleKind::Full)?).axes
            }
            None => TreeAxis::of(domain),
        };
        let read = self.array.as_ref().map(WholeArray::files).unwrap_or_default();
        Outputs::with_slice(&self.args.output, self.request.how.kept.keep, &read, domain.size(), &axes, self.voice)
    }

    /// Where the field runs.
    fn target<const K: usize>(&self, field: &dyn Field<K>, domain: &Domain<K>) -> Result<Target, Error> {
        let backend = machine::without_twin(self.args.how.backend, self.request.workload, field, self.voice);
        let backend = backend.or_else(|| self.sooner(field, domain));
        let target = machine::pick(backend, self.args.how.device.as_ref(), self.voice)?;
        self.args.how.understood_by(&target)?;
        Ok(target)
    }

    /// The device in words.
    fn device<'t>(&'t self, target: &'t Target) -> &'t str {
        target.device().unwrap_or(&self.machine.cpu)
    }

    /// The plan that suits `target`, with its mapping from now on, where `cells` alone are asked for.
    fn suited<const K: usize>(&mut self, plan: Plan<K>, target: &Target, cells: bool) -> Result<Plan<K>, Error> {
        let (plan, mapping) = machine::suited(plan, target, &self.request, cells, self.voice)?;
        self.request.how = std::mem::take(&mut self.request.how).mapping(mapping);
        machine::shared(plan, target, &self.request, self.voice)
    }

    /// The plan that `--auto-scheme` chooses, with its strategy and its mapping from now on, and how it was found.
    fn chosen<const K: usize>(
        &mut self,
        field: &dyn Field<K>,
        target: &Target,
        cells: bool,
    ) -> Result<(Plan<K>, AutoScheme), Error> {
        let wanted = Wanted {
            flag: "--auto-scheme",
            target,
            device: self.device(target),
            mapping: self.args.how.mapping()?,
            undivided: self.args.may_be_exhaustive(self.request.how.kept.keep),
            cells,
            unfitted: false,
            blocks: &[self.request.how.on_cuda().block],
            control: &self.control,
            without_fits: None,
        };
        let Chosen { plan, strategy, mapping, found } = choose(&self.request, field, wanted, self.voice)?;
        self.request.how = std::mem::take(&mut self.request.how).strategy(strategy).mapping(mapping);
        Ok((plan, found))
    }

    /// Opens the trees of a plan.
    fn open_trees<const K: usize>(
        &self,
        paths: &[PathBuf],
        plan: &Plan<K>,
    ) -> Result<Vec<(TreeOutput<K>, PathBuf)>, Error> {
        let name = self.request.title();
        let made_of = || {
            let info = match &self.array {
                Some(array) => array.info(plan),
                None => TreeInfo::of(plan).source(name.as_str()),
            };
            MadeOf { exactly: None, info }
        };
        let (force, kind) = (self.args.output.force, self.request.how.kept.cell);
        tree::open_all(paths, force, plan, kind, &made_of, &self.control, self.voice)
    }

    /// Runs as often as was asked for.
    fn repeated(&self, cells: u128, run: &mut dyn FnMut() -> Result<Times, orthant::Error>) -> Result<Samples, Error> {
        let rule = Patience::exactly(self.args.how.repeat.unwrap_or(NonZeroUsize::MIN));
        let progress = Progress::start(&self.control, cells, rule.warm_up + rule.max_samples, self.voice);
        repeat(&rule, &mut || Ok(run().inspect(|_| progress.ran())?))
    }

    /// Says what ran in place of what would have.
    fn say_stand_ins<const K: usize>(&self, prepared: &dyn Prepared<K>) {
        if let Some(refused) = prepared.mapping_refused() {
            let mapping = prepared.mapping();
            self.voice.say(format_args!("orthant: --scheme {mapping}, which nobody chose, since {refused}"));
        }
        if let Some(reason) = prepared.stopped() {
            self.voice.say(format_args!("orthant: a device stopped, and the others did its work, since {reason}"));
        }
    }
}

impl Job for Task {
    type Output = Result<(), Error>;

    fn run<const K: usize>(mut self, open: Open<K>) -> Self::Output {
        let mut clock = self.clock.clone();
        let planned = (!self.args.auto_scheme).then(|| self.request.plan::<K>()).transpose()?;
        let domain = self.request.domain::<K>()?;
        let options = self.request.options()?;
        let (outputs, slice) = self.outputs(&domain)?;
        let field = open(&domain, &options)?;
        self.request.how = self.request.how.for_labels(field.labels())?;
        outputs.fit(&slice, domain.size(), &self.request.how.kept, self.request.how.mem_limit)?;
        let target = self.target(&*field, &domain)?;
        clock.ends(|seconds| &mut seconds.opening);
        // Whoever sees regions sees those of the field's own scheme.
        let cells = outputs.trees.is_empty() && self.args.output.overlay.is_none();
        let (plan, found) = match planned {
            Some(plan) => (self.suited(plan, &target, cells)?, None),
            None => {
                let (plan, found) = self.chosen(&*field, &target, cells)?;
                (plan, Some(found))
            }
        };
        let how = &self.request.how;
        // What an exhaustive run leaves is made a tree from the cells up.
        let rule = if how.tuning.strategy == StrategyKind::Exhaustive { RuleKind::Full } else { plan.rule() };
        let of_tree = Plan::new(*plan.domain(), *plan.scheme(), plan.curve(), rule)?;
        let trees = self.open_trees(&outputs.trees, &of_tree)?;
        let mut prepared = target.of().prepare(&plan, &*field, how)?;
        clock.ends(|seconds| &mut seconds.preparing);
        let samples = self.repeated(plan.domain().cells(), &mut || prepared.run(&Part::default(), &self.control))?;
        clock.ends(|seconds| &mut seconds.running);
        self.say_stand_ins(&*prepared);
        let ran = RanField {
            field: &*field,
            how,
            computation: self.request.computation(&plan),
            input: self.array.as_ref().map(|array| array.from.clone()),
            target: &target,
            device: self.device(&target),
            samples,
            auto_scheme: found,
            prover: how.tuning.asks_proofs(of_tree.rule()).then_some(&*field),
            slice: &slice,
            drawn: self.drawn_values(),
            control: &self.control,
            voice: self.voice,
        };
        ran.write(&mut *prepared, outputs, trees, clock)
    }
}
