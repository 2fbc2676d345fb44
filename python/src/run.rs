//! Runs of fields, whose number of dimensions is a number.

use std::sync::{Arc, OnceLock};

use orthant::backend::Part;
use orthant::field::{Defaults, Field, FieldError, FieldKind, Job, Open, OwnField};
use orthant::result::{Content, DenseArray};
use orthant::tree::TreeInfo;
use orthant::{BackendKind, CellType, Control, Ran, Report, Subdivision, Target, Tree};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use serde_json::Value;

use crate::array::{self, NumpyArray};
use crate::arrow::{self, Table};
use crate::build::cells;
use crate::error::{Failure, guarded};
use crate::field::{Function, FunctionField};
use crate::memory::{Cells, Numpy, Owner, typestr};
use crate::options::{Given, RunOptions};
use crate::regions::{self, Row};
use crate::tree::{CoreTree, Held, Stock};
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
            let how = &options.request.how;
            let mut prepared = target.of().prepare(&plan, field, how)?;
            prepared.run(&Part::default(), &control)?;
            let mapping = prepared.mapping();
            let subdivision = prepared.subdivision()?;
            let counts = subdivision.counts();
            let checksum = subdivision.array().map(DenseArray::checksum);
            let cpu = orthant_cli::Machine::look().cpu;
            let samples = [counts.times.device.unwrap_or(counts.times.wall).as_secs_f64()];
            let ran = Ran {
                backend: target.name(),
                device: target.device().unwrap_or(&cpu),
                multiprocessors: target.multiprocessors(),
                mapping,
                samples: &samples,
                iterations: field.labels().work(),
                checksum: checksum.as_deref(),
                regions_checksum: None,
            };
            let report = Report::new(options.request.computation(&plan), how, counts, ran);
            let report = serde_json::to_value(report).map_err(|error| orthant::Error::System(error.to_string()))?;
            let source = options.request.workload.name();
            Ok(CoreRun { run: Arc::new(Finished { subdivision, source }), report, note })
        })
    }
}

/// The backend: as asked for, else CUDA if it is there and the field has a twin. Also says why `auto` takes the CPU.
fn pick(options: &RunOptions, has_twin: bool) -> Result<(Target, Option<String>), Failure> {
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
        let reason = format!(
            "{}: understood by a GPU alone, and this runs on the backend cpu; leave out, or use backend=\"cuda\"",
            names.join(", ")
        );
        return Err(orthant_cli::Error::Unavailable(reason).into());
    }
    Ok((target, note))
}

/// A finished run.
struct Finished<const K: usize> {
    subdivision: Subdivision<K>,
    source: &'static str,
}

/// A dense array that was made of regions.
struct Dense<const K: usize>(DenseArray<K>);

/// A finished run of some number of dimensions.
trait AnyRun: Send + Sync {
    fn size(&self) -> Vec<u32>;
    fn kind(&self) -> CellType;
    fn cells(self: Arc<Self>) -> Result<Arc<dyn Owner>, Failure>;
    fn rows(&self) -> usize;
    fn regions(&self, bytes: &mut [u8]);
    fn tree(&self) -> Result<CoreTree, Failure>;
}

impl<const K: usize> Owner for Dense<K> {
    fn address(&self) -> usize {
        self.0.cells().as_bytes().as_ptr() as usize
    }

    fn size(&self) -> Vec<u32> {
        self.0.size().to_vec()
    }

    fn kind(&self) -> CellType {
        self.0.cells().kind()
    }
}

impl<const K: usize> Owner for Finished<K> {
    fn address(&self) -> usize {
        let array = self.subdivision.array();
        array.expect("asked of a run that kept its array").cells().as_bytes().as_ptr() as usize
    }

    fn size(&self) -> Vec<u32> {
        AnyRun::size(self)
    }

    fn kind(&self) -> CellType {
        AnyRun::kind(self)
    }
}

impl<const K: usize> AnyRun for Finished<K> {
    fn size(&self) -> Vec<u32> {
        self.subdivision.plan().domain().size().to_vec()
    }

    fn kind(&self) -> CellType {
        self.subdivision.array().map_or(self.subdivision.bricks().kind(), |array| array.cells().kind())
    }

    fn cells(self: Arc<Self>) -> Result<Arc<dyn Owner>, Failure> {
        match self.subdivision.array() {
            Some(_) => Ok(self),
            None => Ok(Arc::new(Dense(self.subdivision.materialise(None)?))),
        }
    }

    fn rows(&self) -> usize {
        self.subdivision.terminals().len()
    }

    fn regions(&self, bytes: &mut [u8]) {
        let kind = AnyRun::kind(self);
        let rows = bytes.chunks_exact_mut(regions::bytes(K, kind));
        for (terminal, to) in self.subdivision.terminals().iter().zip(rows) {
            let (value, brick) = match terminal.content() {
                Content::Uniform(word) => (Some(word), None),
                // Cells of leaves are in the array.
                Content::Leaf { brick } => (None, Some(brick.unwrap_or(0))),
            };
            let cells = self.subdivision.region(terminal);
            Row { level: terminal.level(), code: terminal.code, cells, value }.write(kind, brick, to);
        }
    }

    fn tree(&self) -> Result<CoreTree, Failure> {
        let tree = Tree::of(self.subdivision.clone())?;
        let info = TreeInfo::of(tree.plan()).source(self.source);
        Ok(CoreTree(Arc::new(Held {
            parts: Stock::Memory(Box::new(tree)),
            info,
            report: None,
            path: None,
            objects: None,
        })))
    }
}

/// A finished run. Use `pyorthant.Subdivision` instead.
#[pyclass(frozen, module = "pyorthant._core")]
pub(crate) struct CoreRun {
    run: Arc<dyn AnyRun>,
    report: Value,
    note: Option<String>,
}

#[pymethods]
impl CoreRun {
    /// Cells per axis, axis 0 first.
    #[getter]
    fn size(&self) -> Vec<u32> {
        self.run.size()
    }

    /// The type of a cell as NumPy writes it.
    #[getter]
    fn typestr(&self) -> String {
        typestr(self.run.kind())
    }

    /// Why `auto` took the CPU.
    #[getter]
    fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// The report, as JSON.
    fn report(&self) -> String {
        self.report.to_string()
    }

    /// All cells.
    fn cells(&self, py: Python<'_>) -> PyResult<Cells> {
        Ok(Cells(py.detach(|| guarded(|| self.run.clone().cells()))?))
    }

    /// The number of terminal regions.
    fn rows(&self) -> usize {
        self.run.rows()
    }

    /// The fields of a row of regions: name, type, offset; and the bytes of a row.
    fn row(&self) -> (Vec<(&'static str, String, usize)>, usize) {
        regions::layout(self.run.size().len(), self.run.kind())
    }

    /// Writes the regions into an array of rows.
    fn regions(&self, py: Python<'_>, out: &Bound<'_, PyAny>) -> PyResult<()> {
        let out = Numpy::of(out)?;
        let bytes = out.bytes_mut()?;
        py.detach(|| {
            guarded(|| {
                self.run.regions(bytes);
                Ok(())
            })
        })?;
        Ok(())
    }

    /// The columns of regions as Arrow's schema. Axes have the names given, x last.
    fn arrow_schema<'py>(&self, py: Python<'py>, axes: Vec<String>) -> PyResult<Bound<'py, PyCapsule>> {
        arrow::schema(py, &regions::columns(self.run.kind(), &axes))
    }

    /// The regions as Arrow's stream.
    fn arrow_stream<'py>(&self, py: Python<'py>, axes: Vec<String>) -> PyResult<Bound<'py, PyCapsule>> {
        let (kind, k) = (self.run.kind(), self.run.size().len());
        let width = regions::bytes(k, kind);
        let rows = py.detach(|| {
            guarded(|| {
                let mut rows = vec![0; self.run.rows() * width];
                self.run.regions(&mut rows);
                Ok(rows)
            })
        })?;
        arrow::stream(py, Table { columns: regions::columns(kind, &axes), width, rows })
    }

    /// The tree of the run.
    fn tree(&self, py: Python<'_>) -> PyResult<CoreTree> {
        Ok(py.detach(|| guarded(|| self.run.tree()))?)
    }
}
