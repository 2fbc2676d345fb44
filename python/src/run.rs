//! Runs of fields, whose number of dimensions is a number.

use std::sync::{Arc, OnceLock};

use orthant::backend::{Mapping, Part};
use orthant::field::{Defaults, Field, FieldError, FieldKind, Job, Open, OwnField};
use orthant::result::{DenseArray, RunCounts};
use orthant::{BackendKind, Control, Plan, Ran, Report, Target};
use pyo3::prelude::*;
use serde_json::Value;

use crate::array::{self, NumpyArray};
use crate::build::cells;
use crate::device::{DeviceTask, OnDevice};
use crate::error::Failure;
use crate::field::{Function, FunctionField};
use crate::finished::{CoreRun, Finished, Place};
use crate::memory::Numpy;
use crate::options::{Given, RunOptions};
use crate::watch::{Caller, Watcher, watched};

/// A run of a built-in field.
#[pyfunction]
pub(crate) fn run_field(
    py: Python<'_>,
    field: &str,
    options: Given,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<CoreRun> {
    let named = FieldKind::ALL.iter().copied().find(|kind| kind.name() == field);
    let kind = named.ok_or_else(|| {
        let known = FieldKind::ALL.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ");
        Failure::Value(format!(
            "unknown field '{field}': expected one of {known}; an array or a function can be run, too"
        ))
    })?;
    if kind == FieldKind::Array {
        let reason =
            "'array' is no field of its own: give the array itself, as in run(array), or its file to tree(path)";
        return Err(Failure::Value(reason.into()).into());
    }
    Ok(run(py, kind, &What::BuiltIn, RunOptions::of(kind, options)?, progress)?)
}

/// A run over an array of NumPy's.
#[pyfunction]
pub(crate) fn run_array(
    py: Python<'_>,
    array: &Bound<'_, PyAny>,
    options: Given,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<CoreRun> {
    let array = Numpy::of(array)?;
    let kind = FieldKind::Array;
    let mut options = RunOptions::of(kind, options)?;
    array::kind(&array)?;
    let size = array::size(&array.shape)?;
    let k = size.len();
    let computed = &mut options.request.computed;
    let same = |asked: &Vec<u32>| asked[..] == size[..] || asked.len() == 1 && size.iter().all(|n| *n == asked[0]);
    if let Some(asked) = computed.size.as_ref().filter(|asked| !same(asked)) {
        let (asked, size) = (orthant::per_axis::text(asked), orthant::per_axis::text(&size));
        return Err(Failure::Value(format!("n {asked}: the array has {size} cells, x first; leave n out")).into());
    }
    (computed.size, computed.dim) = (Some(size), computed.dim.or(Some(k)));
    if computed.dim != Some(k) {
        return Err(Failure::Value(format!("dim {}: the array has {k} axes", computed.dim.unwrap_or(k))).into());
    }
    Ok(run(py, kind, &What::Array(array), options, progress)?)
}

/// A run of a function.
#[pyfunction]
pub(crate) fn run_callable(
    py: Python<'_>,
    function: Bound<'_, PyAny>,
    max_label: u32,
    of_cells: bool,
    options: Given,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<CoreRun> {
    let kind = own("callable")?;
    let mut options = RunOptions::of(kind, options)?;
    if options.request.computed.size.is_none() {
        return Err(Failure::Type(
            "run() of a function needs n, its cells per axis, x first: n=(512, 512, 256)".into(),
        )
        .into());
    }
    // A function runs in one thread, so that more engines would wait for each other.
    options.request.how.tuning.threads.get_or_insert(1);
    let function = Function { function: function.unbind(), most: max_label, of_cells };
    Ok(run(py, kind, &What::Function(function), options, progress)?)
}

/// What is run.
enum What<'py> {
    BuiltIn,
    Array(Numpy<'py>),
    Function(Function),
}

/// The kinds of fields that Python brings, registered when the first is run.
fn own(name: &str) -> Result<FieldKind, Failure> {
    static REGISTERED: OnceLock<Result<(), FieldError>> = OnceLock::new();
    let fields = || vec![in_all_dimensions(OwnField::new("callable", "a function of Python", Defaults::unit))];
    REGISTERED.get_or_init(|| FieldKind::register(fields())).clone()?;
    Ok(name.parse()?)
}

/// What opens these fields is not asked: the run has them already.
fn in_all_dimensions(field: OwnField) -> OwnField {
    macro_rules! each {
        ($($K:literal),+) => { field$(.in_dim::<$K>(|_, _| Err(FieldError::EmptyArray)))+ };
    }
    each!(1, 2, 3, 4, 5, 6, 7, 8)
}

/// A run once its field is known.
struct Task<'t, 'py> {
    py: Python<'py>,
    what: &'t What<'py>,
    options: RunOptions,
    progress: Option<Bound<'py, PyAny>>,
}

fn run<'py>(
    py: Python<'py>,
    kind: FieldKind,
    what: &What<'py>,
    options: RunOptions,
    progress: Option<Bound<'py, PyAny>>,
) -> Result<CoreRun, Failure> {
    let reason = match what {
        What::BuiltIn => None,
        What::Array(_) => Some("an array is read only while run() lasts, and the cells stay longer"),
        What::Function(_) => Some("a function of Python runs on the CPU"),
    };
    if let (true, Some(reason)) = (options.on_device, reason) {
        return Err(Failure::Value(format!(
            "on_device True: only built-in fields can leave their cells on a GPU; {reason}; leave on_device out"
        )));
    }
    let k = options.request.k();
    kind.dispatch(k, Task { py, what, options, progress })?
}

impl Job for Task<'_, '_> {
    type Output = Result<CoreRun, Failure>;

    fn run<const K: usize>(self, open: Open<K>) -> Self::Output {
        let Self { py, what, mut options, progress } = self;
        let request = &mut options.request;
        let plan = request.plan::<K>()?;
        let domain = *plan.domain();
        let field_options = request.options()?;
        let control = Arc::new(Control::default());
        let watcher = Watcher { progress, cells: cells(&domain.size()), leave: None };
        let array = match what {
            What::Array(array) => Some(NumpyArray::<K>::new(array)?),
            _ => None,
        };
        let function = if let What::Function(function) = what { Some(function) } else { None };
        watched(py, &watcher, &control, |caller: &Caller| {
            if options.on_device {
                let field = open(&domain, &field_options)?;
                let (run, report) = OnDevice::start(DeviceTask { plan, field, options }, &control)?;
                return Ok(CoreRun { place: Place::Device(Arc::new(run)), report, note: None });
            }
            let (precision, arithmetic) = (field_options.precision, field_options.arithmetic);
            let of_python =
                function.map(|of| FunctionField { of, caller: caller.clone(), domain, precision, arithmetic });
            let built_in =
                if array.is_none() && of_python.is_none() { Some(open(&domain, &field_options)?) } else { None };
            let field: &dyn Field<K> = match (&array, &of_python, &built_in) {
                (Some(array), ..) => array,
                (_, Some(function), _) => function,
                (_, _, Some(field)) => &**field,
                _ => unreachable!("one of them is there"),
            };
            options.request.how = options.request.how.for_labels(field.labels())?;
            let (target, note) = pick(&options, field.twin().is_some())?;
            let mut prepared = target.of().prepare(&plan, field, &options.request.how)?;
            prepared.run(&Part::default(), &control)?;
            let mapping = prepared.mapping();
            let subdivision = prepared.subdivision()?;
            let checksum = subdivision.array().map(DenseArray::checksum);
            let ran = Ended { target: &target, mapping, counts: subdivision.counts(), checksum };
            let report = ran.report(&options, &plan, field)?;
            let source = options.request.workload.name();
            Ok(CoreRun { place: Place::Host(Arc::new(Finished { subdivision, source })), report, note })
        })
    }
}

/// What a run ended with.
pub(crate) struct Ended<'r, const K: usize> {
    pub(crate) target: &'r Target,
    pub(crate) mapping: Mapping,
    pub(crate) counts: &'r RunCounts<K>,
    pub(crate) checksum: Option<String>,
}

impl<const K: usize> Ended<'_, K> {
    /// The report, as `orthant run --json` prints it.
    pub(crate) fn report(&self, options: &RunOptions, plan: &Plan<K>, field: &dyn Field<K>) -> Result<Value, Failure> {
        let Self { target, mapping, counts, checksum } = self;
        let cpu = orthant_cli::Machine::look().cpu;
        let samples = [counts.times.device.unwrap_or(counts.times.wall).as_secs_f64()];
        let ran = Ran {
            backend: target.name(),
            device: target.device().unwrap_or(&cpu),
            multiprocessors: target.multiprocessors(),
            mapping: *mapping,
            samples: &samples,
            iterations: field.labels().work(),
            checksum: checksum.as_deref(),
            regions_checksum: None,
        };
        let request = &options.request;
        let report = Report::new(request.computation(plan), &request.how, counts, ran);
        Ok(serde_json::to_value(report).map_err(|error| orthant::Error::System(error.to_string()))?)
    }
}

/// The backend: as asked for, else CUDA if it is there and the field has a twin. Also says why `auto` takes the CPU.
pub(crate) fn pick(options: &RunOptions, has_twin: bool) -> Result<(Target, Option<String>), Failure> {
    let number = options.device.unwrap_or(0);
    let (target, note) = match options.backend {
        Some(kind) => (Target::open(kind, number)?, None),
        None if !has_twin => (Target::cpu(), None),
        None => match Target::open(BackendKind::Cuda, number) {
            Ok(target) => (target, None),
            Err(reason) => {
                let reason = reason.to_string();
                let reason = reason.strip_prefix("backend cuda: ").unwrap_or(&reason);
                (Target::cpu(), Some(format!("on the CPU, since {reason}")))
            }
        },
    };
    let gpu = options.device.map(|_| "device").into_iter().chain(options.of_cuda.iter().copied());
    let names: Vec<String> = gpu.map(|name| name.replace('-', "_")).collect();
    if target.kind() == BackendKind::Cpu && !names.is_empty() {
        let why = note.map(|note| note.replace("on the CPU", "")).unwrap_or_default();
        let reason = format!(
            "{}: understood by a GPU alone, and this runs on the backend cpu{why}; leave out, or use backend=\"cuda\"",
            names.join(", ")
        );
        return Err(orthant_cli::Error::Unavailable(reason).into());
    }
    Ok((target, note))
}
