//! `orthant bench`: sweeps of runs, measured and written line by line.

mod args;
mod axis;
mod constraint;
pub(crate) mod energy;
mod from_cells;
pub(crate) mod provenance;
pub(crate) mod ran;
pub(crate) mod row;
pub(crate) mod settings;
pub(crate) mod sweep;

pub(crate) use args::BenchOptions;

use std::collections::HashSet;
use std::collections::hash_map::{Entry, HashMap};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use orthant::backend::{DeviceFacts, Part};
use orthant::field::{Job, Open};
use orthant::{Control, Ran, Report, Request, StrategyKind, Target};

use crate::data::read_for;
use crate::error::Error;
use crate::interrupt::{cancels, undisturbed};
use crate::machine::{self, Machine};
use crate::measure::{Patience, repeat};
use crate::options::{Devices, OrAuto, RunOptions};
use crate::output::expect_extension;
use crate::output::journal::Journal;
use crate::stdout;
use crate::voice::{Voice, print};

use energy::{Energy, Metering};
use provenance::Provenance;
use ran::RanRow;
use row::{CaseTimes, Row, SCHEMA};
use settings::{Apart, Case, Settings};
use sweep::Sweep;

/// Measures the cases of a sweep.
pub(super) fn bench(args: BenchOptions, voice: Voice) -> Result<(), Error> {
    let settings = Settings::new();
    if args.sweep.is_none() && args.axis.is_empty() {
        return Err(Error::Input(
            "bench: name a SWEEP.toml, or axes as in -a workload=mandelbrot -a n=2^10,2^12".into(),
        ));
    }
    if let Some(path) = &args.output {
        expect_extension("--output", path, &["jsonl"])?;
    }
    let sweep = Sweep::read(args.sweep.as_deref(), &args.axis, &settings)?;
    let (rule, energy) = (args.rule(&sweep.measure)?, args.energy(&sweep.measure)?);
    let (mut planned, mut cases, mut excluded) = (Vec::new(), 0, 0);
    for found in sweep.cases(&settings) {
        let Some(case) = found else {
            excluded += 1;
            continue;
        };
        cases += 1;
        let parsed = settings.parse(&case).and_then(from_cells::placed);
        match parsed {
            _ if args.list => print(format_args!("{}\n", case.key()))?,
            Ok(run) => planned.push((case, run)),
            Err(wrong) => return Err(Error::Input(format!("{}: {wrong} (in the case {})", sweep.name, case.key()))),
        }
    }
    let excluded = match excluded {
        0 => String::new(),
        many => format!(", {many} excluded by constraints"),
    };
    let announced = format!("orthant: {}: cases: {cases}{excluded}", sweep.name);
    if args.list {
        voice.say(announced);
        return Ok(());
    }
    let machine = Machine::look();
    let control = Arc::new(Control::default());
    cancels(&control);
    let mut backends = Backends::open(planned.iter().map(|(_, run)| run), voice)?;
    if let Some(time) = energy {
        backends.meter(time, voice)?;
    }
    for (case, run) in &mut planned {
        // A key says where a case ran, however that was chosen.
        case.set("backend", backends.of(run).target.name());
        settings.sort(case);
    }
    let (mut sink, measured) = Sink::open(&args, &settings, backends.metered(), voice)?;
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
        apart: Apart::of(planned.iter().map(|(case, _)| case)),
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
struct Backends(HashMap<(OrAuto, Option<Devices>), Testbed>);

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
                let (backend, device) = Self::key(run);
                let target = machine::pick(backend, device.as_ref(), voice)?;
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

    fn key(run: &RunOptions) -> (OrAuto, Option<Devices>) {
        (run.how.backend, run.how.device.clone())
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
    fn open(
        args: &BenchOptions,
        settings: &Settings,
        metered: bool,
        voice: Voice,
    ) -> Result<(Self, HashSet<String>), Error> {
        let Some(path) = &args.output else {
            stdout::is_open()?;
            return Ok((Self::Stdout, HashSet::new()));
        };
        if !args.resume {
            return Ok((Self::File(Journal::create(path, args.force)?), HashSet::new()));
        }
        let (mut journal, bytes) = Journal::resume(path)?;
        let (rows, whole) = row::parse(path, &bytes).map_err(|error| error.about(&["output"]))?;
        let lacking = rows.iter().filter(|row| row.lacks_energy()).count();
        if metered && lacking > 0 {
            return Err(Error::Input(format!(
                "{}: {lacking} of its {} cases ran on a GPU and have no energy; measure it into another file, or resume with --energy 0",
                path.display(),
                rows.len()
            ))
            .about(&["energy", "output"]));
        }
        if whole < bytes.len() {
            let (path, torn) = (path.display(), bytes.len() - whole);
            voice.say(format_args!(
                "orthant: {path}: the last line is torn; its {torn} bytes go, and its case is measured again"
            ));
        }
        journal.mend(&bytes, whole)?;
        // In today's order, which may not be that of whoever wrote them.
        let key = |row: Row<RanRow>| {
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

/// A sweep on its way.
struct Measuring {
    sweep: String,
    rule: Patience,
    provenance: Provenance,
    /// What is worth saying of a case.
    apart: Apart,
    total: usize,
    machine: Machine,
    backends: Backends,
    control: Arc<Control>,
    voice: Voice,
}

impl Measuring {
    fn all(&self, planned: Vec<(Case, RunOptions)>, sink: &mut Sink) -> Result<(), Error> {
        let (mut done, mut failed) = (0, 0);
        let path = sink.path().map(Path::to_owned);
        let suspended = |signal, rows| match path.clone() {
            Some(path) => Error::Suspended { signal, rows, path },
            None => orthant::Error::Interrupted(signal).into(),
        };
        undisturbed().words(suspended(0, done).to_string());
        for (case, run) in planned {
            let row = match self.one(&case, &run) {
                Err(error) => {
                    if let Some(signal) = error.signal() {
                        return Err(suspended(signal, done));
                    }
                    failed += 1;
                    Row::failed(&self.sweep, &case, &error, self.provenance(&run))
                }
                Ok(row) => row,
            };
            let mut ending = path.as_deref().map(|path| (path, undisturbed()));
            if let Some((path, ending)) = &mut ending {
                ending.keep(path);
            }
            sink.put(&row)?;
            done += 1;
            if let Some((_, mut ending)) = ending {
                ending.words(suspended(0, done).to_string());
            }
            self.tell(done, &case, &row);
        }
        match failed {
            0 => Ok(()),
            _ => Err(Error::System(format!("{failed} of {done} cases failed; their rows say why"))),
        }
    }

    fn one(&self, case: &Case, run: &RunOptions) -> Result<Row<Report>, Error> {
        self.control.check()?;
        let mut request = run.request(self.machine.default_limit())?;
        read_for(&run.input, &mut request, self.voice)?;
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
            phases: None,
            error: None,
            provenance: self.provenance(run),
        })
    }

    fn provenance(&self, run: &RunOptions) -> Provenance {
        self.provenance.now(self.backends.of(run).gpu.clone())
    }

    /// One line per case.
    fn tell(&self, done: usize, case: &Case, row: &Row<Report>) {
        let outcome = match (&row.samples, &row.error) {
            (Some(times), _) => {
                let error = times
                    .standard_error
                    .map_or(String::new(), |error| format!(" ± {:.1} %", error / times.median * 100.0));
                let stop = if times.stop == "settled" { "" } else { &format!(", {}", times.stop) };
                let energy = row.energy.as_ref();
                let energy = energy.map_or(String::new(), |energy| format!(", {} J", energy.text()));
                format!("{:.3} ms{error} ({} samples{stop}){energy}", times.median * 1e3, times.wall.len())
            }
            (None, Some(failure)) => format!("failed: {}", failure.message),
            (None, None) => String::new(),
        };
        let width = self.total.to_string().len();
        self.voice.say(format_args!("[{done:width$}/{}] {}: {outcome}", self.total, self.apart.name(case)));
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
        let Self { mut request, testbed, bench } = self;
        let target = &testbed.target;
        if request.how.tuning.strategy == StrategyKind::BottomUp {
            let (times, report) =
                from_cells::measure(&request, &request.plan::<K>()?, &bench.rule, &bench.control, &bench.machine.cpu)?;
            return Ok((times, None, report));
        }
        let (plan, mapping) = machine::suited(request.plan::<K>()?, target, &request, true, bench.voice)?;
        request.how = request.how.mapping(mapping);
        let plan = machine::shared(plan, target, &request, bench.voice)?;
        let field = open(plan.domain(), &request.options()?)?;
        request.how = request.how.for_labels(field.labels())?;
        let mut prepared = target.of().prepare(&plan, &*field, &request.how)?;
        let part = Part::default();
        let samples = repeat(&bench.rule, &mut || Ok(prepared.run(&part, &bench.control)?))?;
        let energy = match &testbed.meter {
            Some(meter) => meter.of(|| Ok(prepared.run(&part, &bench.control).map(drop)?))?,
            None => None,
        };
        let device = target.device().unwrap_or(&bench.machine.cpu);
        let (counts, checksum) = (prepared.counts()?, prepared.checksum()?);
        let ran = Ran {
            backend: target.name(),
            device,
            multiprocessors: target.multiprocessors(),
            mapping: prepared.mapping(),
            // Rows carry every sample, with wall and device time apart.
            samples: &[],
            iterations: field.labels().work(),
            checksum: checksum.as_deref(),
            // The cells stay where they are.
            regions_checksum: None,
        };
        let report = Report::new(request.computation(&plan), &request.how, &counts, ran);
        Ok((CaseTimes::new(samples, bench.rule.warm_up), energy, report))
    }
}
