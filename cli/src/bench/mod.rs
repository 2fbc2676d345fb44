//! `orthant bench`: sweeps of runs, measured and written line by line.

mod args;
mod axis;
mod constraint;
pub(crate) mod energy;
mod provenance;
pub(crate) mod row;
pub(crate) mod settings;
mod sweep;

pub(crate) use args::BenchOptions;

use std::collections::HashSet;
use std::collections::hash_map::{Entry, HashMap};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use orthant::backend::DeviceFacts;
use orthant::field::{Job, Open};
use orthant::{BackendKind, Control, Ran, Report, Request, Target};

use crate::error::Error;
use crate::machine::{self, Machine};
use crate::measure::{Patience, repeat};
use crate::options::{OrAuto, RunOptions};
use crate::output::journal::Journal;
use crate::progress::cancel_on_signals;
use crate::voice::{Voice, print};

use energy::{Energy, Metering};
use provenance::Provenance;
use row::{CaseTimes, Row, SCHEMA};
use settings::{Case, Settings};
use sweep::Sweep;

/// Measures the cases of a sweep.
pub(super) fn bench(args: BenchOptions, voice: Voice) -> Result<(), Error> {
    let settings = Settings::new();
    if args.sweep.is_none() && args.axis.is_empty() {
        return Err(Error::Input(
            "bench: name a SWEEP.toml, or axes as in -a workload=mandelbrot -a n=2^10,2^12".into(),
        ));
    }
    if let Some(path) = args.output.as_ref().filter(|path| path.extension().is_none_or(|found| found != "jsonl")) {
        return Err(Error::Input(format!("--output {}: the extension must be .jsonl", path.display())));
    }
    let sweep = Sweep::read(args.sweep.as_deref(), &args.axis, &settings)?;
    let (rule, energy) = (args.rule(&sweep.measure)?, args.energy(&sweep.measure)?);
    let found = sweep.cases(&settings);
    let excluded = match found.excluded {
        0 => String::new(),
        many => format!(", {many} excluded by constraints"),
    };
    let announced = format!("orthant: {}: cases: {}{excluded}", sweep.name, found.cases.len());
    if args.list {
        voice.say(announced);
        return found.cases.iter().try_for_each(|case| print(format_args!("{}\n", case.key())));
    }
    let mut planned = found
        .cases
        .into_iter()
        .map(|case| match settings.parse(&case) {
            Ok(run) => Ok((case, run)),
            Err(wrong) => Err(Error::Input(format!("{}: {wrong} (in the case {})", sweep.name, case.key()))),
        })
        .collect::<Result<Vec<_>, _>>()?;
    let machine = Machine::look();
    let control = Arc::new(Control::default());
    cancel_on_signals(&control)?;
    let mut backends = Backends::open(planned.iter().map(|(_, run)| run), voice)?;
    if let Some(time) = energy {
        backends.meter(time, voice)?;
    }
    for (case, run) in &mut planned {
        // A key says where a case ran, however that was chosen.
        case.set("backend", backends.of(run).target.name());
        settings.sort(case);
    }
    let (mut sink, measured) = Sink::open(&args, &settings, backends.metered())?;
    let before = planned.len();
    planned.retain(|(case, _)| !measured.contains(&case.key()));
    let skipped = match before - planned.len() {
        0 => String::new(),
        many => format!(", {many} measured already"),
    };
    voice.say(format_args!("{announced}{skipped}"));
    let bench = Measuring {
        rule,
        provenance: Provenance::look(&machine),
        varying: varying(planned.iter().map(|(case, _)| case)),
        total: planned.len(),
        machine,
        backends,
        control,
        voice,
        sweep: sweep.name,
    };
    bench.all(planned, &mut sink)
}

/// The backends that cases ask for, each opened once.
struct Backends(HashMap<(OrAuto, usize), Testbed>);

/// An open backend, the GPU that it is, and its meter if energy is measured there.
struct Testbed {
    target: Target,
    gpu: Option<DeviceFacts>,
    meter: Option<Metering>,
}

impl Backends {
    /// Opens them, before any work.
    fn open<'a>(runs: impl Iterator<Item = &'a RunOptions>, voice: Voice) -> Result<Self, Error> {
        let mut opened = HashMap::new();
        for run in runs {
            if let Entry::Vacant(vacant) = opened.entry(Self::key(run)) {
                let target = machine::pick(run.how.backend, run.how.device, voice)?;
                let gpu = target.facts();
                vacant.insert(Testbed { target, gpu, meter: None });
            }
        }
        Ok(Self(opened))
    }

    /// Puts a meter to every GPU, before anything runs there.
    ///
    /// # Errors
    /// [`Error::Unavailable`] if there is none, or no meter in this program.
    fn meter(&mut self, time: Duration, voice: Voice) -> Result<(), Error> {
        if self.0.values().all(|testbed| testbed.gpu.is_none()) {
            return Err(energy::unavailable(time, "it is measured on GPUs, and every case runs on the CPU"));
        }
        for testbed in self.0.values_mut() {
            if let Some(gpu) = &testbed.gpu {
                testbed.meter = Metering::open(gpu, time, voice)?;
            }
        }
        Ok(())
    }

    /// True if energy is measured anywhere.
    fn metered(&self) -> bool {
        self.0.values().any(|testbed| testbed.meter.is_some())
    }

    fn key(run: &RunOptions) -> (OrAuto, usize) {
        match run.how.backend {
            Some(BackendKind::Cpu) => (run.how.backend, 0),
            _ => (run.how.backend, run.how.device),
        }
    }

    fn of(&self, run: &RunOptions) -> &Testbed {
        &self.0[&Self::key(run)]
    }
}

/// Where rows go.
enum Sink {
    Stdout,
    File(Journal),
}

impl Sink {
    /// Opens it; with the keys of the rows that are there already, which must have energy if it is measured now.
    fn open(args: &BenchOptions, settings: &Settings, metered: bool) -> Result<(Self, HashSet<String>), Error> {
        let Some(path) = &args.output else { return Ok((Self::Stdout, HashSet::new())) };
        if !args.resume {
            return Ok((Self::File(Journal::create(path, args.force)?), HashSet::new()));
        }
        let (journal, text) = Journal::resume(path)?;
        let rows: Vec<Row<serde::de::IgnoredAny>> = row::parse(path, &text)?;
        let lacking = rows.iter().filter(|row| row.lacks_energy()).count();
        if metered && lacking > 0 {
            return Err(Error::Input(format!(
                "{}: {lacking} of its {} cases ran on a GPU and have no energy; measure it into another file, or resume with --energy 0",
                path.display(),
                rows.len()
            )));
        }
        // In today's order, which may not be that of whoever wrote them.
        let key = |row: Row<_>| {
            let mut case: Case = row.case.into_iter().collect();
            settings.sort(&mut case);
            case.key()
        };
        Ok((Self::File(journal), rows.into_iter().map(key).collect()))
    }

    fn put(&mut self, row: &Row<Report>) -> Result<(), Error> {
        let line = serde_json::to_string(row).map_err(|error| Error::System(format!("writing JSON: {error}")))?;
        match self {
            Self::Stdout => print(format_args!("{line}\n")),
            Self::File(journal) => journal.append(&line),
        }
    }

    fn path(&self) -> Option<&Path> {
        match self {
            Self::Stdout => None,
            Self::File(journal) => Some(journal.path()),
        }
    }
}

/// The names of the settings that are not the same in all cases.
fn varying<'a>(cases: impl Iterator<Item = &'a Case> + Clone) -> HashSet<String> {
    let names: HashSet<&String> = cases.clone().flat_map(|case| case.settings()).map(|(name, _)| name).collect();
    let differs = |name: &&String| {
        let mut values = cases.clone().map(|case| case.get(name));
        values.next().is_some_and(|first| values.any(|value| value != first))
    };
    names.into_iter().filter(differs).cloned().collect()
}

/// A sweep on its way.
struct Measuring {
    sweep: String,
    rule: Patience,
    provenance: Provenance,
    /// What is worth saying of a case.
    varying: HashSet<String>,
    total: usize,
    machine: Machine,
    backends: Backends,
    control: Arc<Control>,
    voice: Voice,
}

impl Measuring {
    fn all(&self, planned: Vec<(Case, RunOptions)>, sink: &mut Sink) -> Result<(), Error> {
        let (mut done, mut failed) = (0, 0);
        for (case, run) in planned {
            let row = match self.one(&case, &run) {
                Err(error) if error.signal().is_some() => {
                    return Err(match (sink.path(), error.signal()) {
                        (Some(path), Some(signal)) => Error::Suspended { signal, rows: done, path: path.to_owned() },
                        _ => error,
                    });
                }
                Err(error) => {
                    failed += 1;
                    Row::failed(&self.sweep, &case, &error, self.provenance(&run))
                }
                Ok(row) => row,
            };
            sink.put(&row)?;
            done += 1;
            self.tell(done, &case, &row);
        }
        match failed {
            0 => Ok(()),
            _ => Err(Error::System(format!("{failed} of {done} cases failed; their rows say why"))),
        }
    }

    fn one(&self, case: &Case, run: &RunOptions) -> Result<Row<Report>, Error> {
        self.control.check()?;
        let request = run.request(self.machine.default_limit())?;
        let (workload, k) = (request.workload, request.k());
        let testbed = self.backends.of(run);
        run.how.understood_by(&testbed.target)?;
        let (times, energy, report) = workload.dispatch(k, MeasureCase { request, testbed, bench: self })??;
        Ok(Row {
            schema: SCHEMA,
            sweep: self.sweep.clone(),
            key: case.key(),
            case: case.settings().to_vec(),
            samples: Some(times),
            energy,
            run: Some(report),
            error: None,
            provenance: self.provenance(run),
        })
    }

    fn provenance(&self, run: &RunOptions) -> Provenance {
        self.provenance.now(self.backends.of(run).gpu.clone())
    }

    /// One line per case.
    fn tell(&self, done: usize, case: &Case, row: &Row<Report>) {
        let told = case.settings().iter().filter(|(name, _)| self.varying.contains(name));
        let settings: Vec<_> = told.map(|(name, value)| format!("{name}={value}")).collect();
        let outcome = match (&row.samples, &row.error) {
            (Some(times), _) => {
                let error = times
                    .standard_error
                    .map_or(String::new(), |error| format!(" ± {:.1} %", error / times.median * 100.0));
                let stop = if times.stop == "settled" { "" } else { &format!(", {}", times.stop) };
                let energy = row.energy.as_ref();
                let energy = energy.map_or(String::new(), |energy| format!(", {} J", energy.told()));
                format!("{:.3} ms{error} ({} samples{stop}){energy}", times.median * 1e3, times.wall.len())
            }
            (None, Some(failure)) => format!("failed: {}", failure.message),
            (None, None) => String::new(),
        };
        let width = self.total.to_string().len();
        self.voice.say(format_args!("[{done:width$}/{}] {}: {outcome}", self.total, settings.join(" ")));
    }
}

/// The measuring of one case once its dimension is a type.
struct MeasureCase<'a> {
    request: Request,
    testbed: &'a Testbed,
    bench: &'a Measuring,
}

impl Job for MeasureCase<'_> {
    type Output = Result<(CaseTimes, Option<Energy>, Report), Error>;

    fn run<const K: usize>(self, open: Open<K>) -> Self::Output {
        let Self { request, testbed, bench } = self;
        let target = &testbed.target;
        let plan = request.plan::<K>()?;
        let field = open(plan.domain(), &request.options()?)?;
        let mut prepared = target.of().prepare(&plan, &*field, &request.how)?;
        let samples = repeat(&bench.rule, || Ok(prepared.run(&bench.control)?))?;
        let energy = match &testbed.meter {
            Some(meter) => meter.of(|| Ok(prepared.run(&bench.control).map(drop)?))?,
            None => None,
        };
        let device = target.device().unwrap_or(&bench.machine.cpu);
        let (counts, checksum) = (prepared.counts()?, prepared.checksum()?);
        let ran = Ran {
            backend: target.name(),
            device,
            multiprocessors: target.multiprocessors(),
            // Rows carry every sample, with wall and device time apart.
            samples: &[],
            iterations: field.labels_count_iterations(),
            checksum: checksum.as_deref(),
        };
        let report = Report::new(request.computation(&plan), &request.how, &counts, ran);
        Ok((CaseTimes::new(samples, bench.rule.warm_up), energy, report))
    }
}
