//! `orthant shard run`: the pieces that are missing.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex};
use std::thread::{Builder, ScopedJoinHandle};
use std::time::Instant;

use clap::Args;
use orthant::field::{Field, FieldKind, Job, Open};
use orthant::tree::PieceFolder;
use orthant::{BackendKind, Control, Mapping, Plan, StrategyKind, Target};

use super::chosen::ChosenPieces;
use super::finisher::{Finished, finish, finishers};
use super::making::Making;
use super::planned::{PlannedRun, ReadRun, made_of};
use super::status::FoundPieces;
use super::worker::{Worker, Works};
use crate::error::Error;
use crate::interrupt::cancels;
use crate::machine::{self, Machine};
use crate::options::{CudaOptions, Devices, HowOptions, OrAuto, TuningOptions, bytes, or_auto, times};
use crate::voice::Voice;

/// Threads that share a GPU, so that one piece is read back while another is computed.
const WORKERS_OF_A_GPU: usize = 2;

/// Options of `shard run`.
#[derive(Debug, Args)]
pub(crate) struct MakeOptions {
    /// The folder that `orthant shard plan` made
    folder: PathBuf,
    /// Which pieces: 17, 0-63, a share as in 0/8, or auto in the tasks of a job array [default: all that are missing]
    ///
    /// A process leaves finished pieces alone. It takes the most expensive piece that nobody makes, until every piece is finished or in
    /// progress. Start as many processes as you like, by hand, by mpirun or by a scheduler, at any time.
    #[arg(long, value_name = "PIECES")]
    shard: Option<ChosenPieces>,
    /// Where to run: auto, cpu, cuda
    #[arg(long, value_parser = or_auto(), default_value = "auto", env = "ORTHANT_BACKEND", hide_possible_values = true)]
    backend: OrAuto,
    /// Which GPUs: a number, several as in 0,1 or 0-3, or all [default: 0, or of several processes of a host one each]
    #[arg(long, alias = "devices", value_name = "NUMBERS", env = "ORTHANT_DEVICE")]
    device: Option<Devices>,
    /// Pieces that are computed at the same time on each GPU, or on the CPU [default: 2 on a GPU, 1 on the CPU]
    #[arg(long, value_parser = times, value_name = "N")]
    workers: Option<NonZeroUsize>,
    /// The most memory for the pieces that are made at the same time: bytes, or 512MiB, 8G [default: 80 % of what is available]
    #[arg(long, value_parser = bytes, value_name = "BYTES", env = "ORTHANT_MEM_LIMIT")]
    mem_limit: Option<u64>,
    #[command(flatten)]
    tuning: TuningOptions,
    #[command(flatten)]
    cuda: CudaOptions,
}

/// Makes pieces.
pub(super) fn run(args: MakeOptions, voice: Voice) -> Result<(), Error> {
    let pieces = PieceFolder::open(&args.folder)?;
    let planned: PlannedRun = serde_json::from_value(pieces.request().clone())
        .map_err(|error| Error::Input(format!("{}: its plan is of another program: {error}", args.folder.display())))?;
    let chosen = args
        .shard
        .clone()
        .map_or_else(|| Ok(pieces.partition().order()), |shard| shard.of(&pieces.partition().order()))?;
    let MakeOptions { backend, device, workers, mem_limit, tuning, cuda, .. } = args;
    let machine = Machine::look();
    let how = HowOptions { backend, device, mem_limit, tuning, cuda, ..HowOptions::default() };
    let run = planned.read(&how, machine.default_limit(), voice)?;
    if run.request.how.tuning.strategy == StrategyKind::Exhaustive {
        let reason = "--strategy exhaustive: pieces are regions, which it does not know; use ask or dp";
        return Err(Error::Input(reason.into()).about(&["strategy"]));
    }
    let control = Arc::new(Control::default());
    cancels(&control);
    let (workload, k): (FieldKind, _) = (run.request.workload, run.request.k());
    workload.dispatch(k, MakingPieces { pieces, chosen, run, how, workers, machine, control, voice })?
}

/// The run once its dimension is a type.
struct MakingPieces {
    pieces: PieceFolder,
    chosen: Vec<usize>,
    run: ReadRun,
    how: HowOptions,
    workers: Option<NonZeroUsize>,
    machine: Machine,
    control: Arc<Control>,
    voice: Voice,
}

impl MakingPieces {
    /// The GPUs, or the CPU, and what they are called.
    fn targets<const K: usize>(&self, field: &dyn Field<K>) -> Result<Vec<(Target, String)>, Error> {
        let backend = machine::without_twin(self.how.backend, self.run.request.workload, field, self.voice);
        // What is missing of CUDA is the answer to a field that nothing else runs.
        let backend = backend.or(field.host().is_none().then_some(BackendKind::Cuda));
        let numbers = match &self.how.device {
            Some(Devices::These(numbers)) => numbers.clone(),
            Some(Devices::All) => (0..Target::count(BackendKind::Cuda)?).collect(),
            None => mine(backend),
        };
        let name = |target: &Target| target.device().unwrap_or(&self.machine.cpu).to_owned();
        if numbers.is_empty() {
            let target = machine::pick(backend, None, self.voice)?;
            let name = name(&target);
            return Ok(vec![(target, name)]);
        }
        let several = numbers.len() > 1;
        let pick = |number: usize| {
            let target = machine::pick(backend, Some(&Devices::These(vec![number])), self.voice)?;
            // Those of a host are of one make.
            let name = if several { format!("GPU {number}, {}", name(&target)) } else { name(&target) };
            Ok((target, name))
        };
        numbers.into_iter().map(pick).collect()
    }

    /// Lets all workers of all devices make pieces: how many each device made, and what kept one from going on.
    fn work<const K: usize>(
        &self,
        plan: &Plan<K>,
        field: &dyn Field<K>,
        targets: &[(Target, String)],
    ) -> Result<(BTreeMap<String, usize>, Option<Error>), Error> {
        let of_each = |target: &Target| match (self.workers, target.kind()) {
            (Some(workers), _) => workers.get(),
            (None, BackendKind::Cuda) => WORKERS_OF_A_GPU,
            (None, _) => 1,
        };
        let workers: Vec<(&Target, &String)> = targets
            .iter()
            .flat_map(|(target, name)| std::iter::repeat_n((target, name), of_each(target)))
            .take(self.chosen.len().max(1))
            .collect();
        let mut how = self.run.request.how.clone().for_labels(field.labels())?;
        if self.how.mapping()?.is_none() {
            // Streams take as long, and memory for maps of the whole plan (docs/results/shards.md).
            how = how.mapping(Mapping::Sbr);
        }
        let finishers = finishers(how.tuning.threads.unwrap_or_else(rayon::current_num_threads));
        how.mem_limit = how.mem_limit.map(|limit| limit / (workers.len() + finishers) as u64);
        let making = Making {
            pieces: &self.pieces,
            plan,
            field,
            how: &how,
            control: &self.control,
            stop: AtomicBool::new(false),
            voice: self.voice,
        };
        let worker = workers.into_iter().map(|(target, name)| Worker {
            making: &making,
            chosen: &self.chosen,
            target,
            device: name.clone(),
        });
        let workers: Vec<Worker<'_, K>> = worker.collect();
        all(&workers.iter().map(|worker| worker as &dyn Works).collect::<Vec<_>>(), finishers, self.voice)
    }
}

/// Lets all of them work: the pieces that each device made, and what kept one from going on.
fn all(
    workers: &[&dyn Works],
    finishers: usize,
    voice: Voice,
) -> Result<(BTreeMap<String, usize>, Option<Error>), Error> {
    let (ended, finished) = together(workers, finishers)?;
    let mut made: BTreeMap<String, usize> = workers.iter().map(|worker| (worker.device().to_owned(), 0)).collect();
    let mut failure = None;
    for (worker, ended) in workers.iter().zip(ended) {
        if let Err(error) = ended {
            if workers.len() > 1 && error.signal().is_none() {
                voice.say(format_args!("orthant: {}: {error}", worker.device()));
            }
            failure.get_or_insert(error);
        }
    }
    for (pieces, ended) in finished {
        pieces.into_iter().for_each(|(device, pieces)| *made.entry(device).or_insert(0) += pieces);
        // A device that failed before is no reason for what happened to a file.
        failure = ended.err().or(failure);
    }
    Ok((made, failure))
}

/// How a worker ended.
type Ended = Result<(), Error>;

/// Lets all workers compute pieces, and `finishers` threads write them. Returns how each worker ended and what each thread wrote.
///
/// # Errors
/// [`Error::System`] if the system starts no more threads. Those that run end first.
fn together(workers: &[&dyn Works], finishers: usize) -> Result<(Vec<Ended>, Vec<Finished>), Error> {
    let refused = |error| Error::System(format!("shard run: a thread cannot be started: {error}; try --workers 1"));
    std::thread::scope(|scope| {
        // A worker keeps its piece until a thread takes it. So memory holds at most one piece for each thread.
        let (hand, computed) = sync_channel(0);
        let computed = Arc::new(Mutex::new(computed));
        let finishing: Vec<ScopedJoinHandle<'_, Finished>> = (0..finishers)
            .map(|_| {
                let computed = Arc::clone(&computed);
                Builder::new().spawn_scoped(scope, move || finish(&computed))
            })
            .collect::<std::io::Result<_>>()
            .map_err(refused)?;
        // The channel closes when the last finisher ends. A worker would wait forever otherwise.
        drop(computed);
        let working: Vec<ScopedJoinHandle<'_, Ended>> = workers
            .iter()
            .map(|worker| {
                let hand = hand.clone();
                Builder::new().spawn_scoped(scope, move || worker.work(&hand))
            })
            .collect::<std::io::Result<_>>()
            .map_err(refused)?;
        drop(hand);
        Ok((working.into_iter().map(joined).collect(), finishing.into_iter().map(joined).collect()))
    })
}

/// What a thread returns. It panics as the thread did.
fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

impl Job for MakingPieces {
    type Output = Result<(), Error>;

    fn run<const K: usize>(self, open: Open<K>) -> Self::Output {
        let Self { pieces, run, .. } = &self;
        let plan = pieces.plan::<K>()?;
        let given = run.request.plan::<K>()?;
        if made_of(&run.request, &given)? != pieces.made_of() {
            let path = pieces.path().display();
            return Err(Error::Input(format!(
                "{path}: what it is made of has changed since it was planned; plan it again, by `orthant shard plan`"
            )));
        }
        let field = open(plan.domain(), &run.request.options()?)?;
        let targets = self.targets(&*field)?;
        self.how.understood_by(&targets[0].0)?;
        let begun = Instant::now();
        let (made, failure) = self.work(&plan, &*field, &targets)?;
        self.say(&made, failure, begun.elapsed().as_secs_f64())
    }
}

impl MakingPieces {
    /// Says what was made in so many seconds, and what is left.
    ///
    /// # Errors
    /// What kept a worker from going on, if pieces are missing; [`Error::Difference`] if they are missing for another reason.
    fn say(&self, made: &BTreeMap<String, usize>, failure: Option<Error>, seconds: f64) -> Result<(), Error> {
        let Self { pieces, voice, .. } = self;
        let all: usize = made.values().sum();
        let found = FoundPieces::of(pieces, self.chosen.iter().copied(), false)?;
        let (there, busy) = (found.done.len(), found.busy.len());
        let missing = self.chosen.len() - there - busy;
        if let Some(error) = failure.filter(|error| error.signal().is_some() || missing > 0) {
            return Err(error);
        }
        let (of, path) = (self.chosen.len(), pieces.path().display());
        let devices: Vec<String> = made.iter().map(|(device, made)| format!("{made} on {device}")).collect();
        let devices = if devices.len() > 1 { format!(" ({})", devices.join(", ")) } else { String::new() };
        voice.say(format_args!("orthant: pieces made here {all}{devices} in {seconds:.3} s; finished {there} of {of}"));
        match (busy, missing) {
            (0, 0) if of == pieces.len() => {
                voice.say(format_args!("orthant: `orthant shard merge {path} -o X.tree.zarr` puts them together"));
            }
            (0, 0) => {}
            (busy, 0) => voice.say(format_args!("orthant: pieces that other processes make {busy}")),
            (_, missing) => {
                let reason =
                    format!("{path}: pieces that are missing again {missing}; run the same command to make them");
                return Err(Error::Difference(reason));
            }
        }
        Ok(())
    }
}

/// The variables of launchers that number the processes of a host.
const LOCAL_RANKS: [&str; 4] = ["OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "PALS_LOCAL_RANKID", "SLURM_LOCALID"];

/// The GPU of this process, where a launcher numbers those of a host and there are several GPUs; else nothing is said of it.
fn mine(backend: OrAuto) -> Vec<usize> {
    if backend == Some(BackendKind::Cpu) {
        return Vec::new();
    }
    let rank = LOCAL_RANKS.iter().find_map(|name| std::env::var(name).ok()?.trim().parse::<usize>().ok());
    let several = rank.and_then(|rank| Some((rank, Target::count(BackendKind::Cuda).ok().filter(|&count| count > 1)?)));
    several.map_or(Vec::new(), |(rank, count)| vec![rank % count])
}
