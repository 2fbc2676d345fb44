//! Trees from arrays and from files.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use orthant::disk::Remote;
use orthant::field::FieldKind;
use orthant::threads::worker;
use orthant::tree::{BottomUp, Census, NotANumber, Source, TreeFile, TreeJob, TreeLabel, TreeStore};
use orthant::with_dimensions;
use orthant::{Built, CellType, Control, Keep, ReadFrom, Report, Request};
use orthant_formats::input::{
    About, AboutAxis, Access, ArrayFile, Endian, Format, IndexOrder, LabelTable, Layout, Numbers,
};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::array::{self, NumpyArray};
use crate::error::{Failure, guarded};
use crate::memory::Numpy;
use crate::options::{ArrayOptions, Given};
use crate::remote::Objects;
use crate::tree::{CoreTree, Held, Stock};
use crate::watch::{Watcher, watched};

/// Name, unit, spacing and origin of an axis, as far as they are known.
type Axis = (Option<String>, Option<String>, Option<f64>, Option<f64>);

/// A tree of an array of NumPy's. `axes` has axis 0 first, or nothing; `names` are names of labels, by the value in digits.
#[pyfunction]
pub(crate) fn build_array(
    py: Python<'_>,
    array: &Bound<'_, PyAny>,
    options: Given,
    axes: Vec<Axis>,
    names: Vec<(String, String)>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<CoreTree> {
    let options = ArrayOptions::of(options)?;
    if let [first, ..] = options.reading.given()[..] {
        return Err(
            Failure::Type(format!("tree() has '{first}' for files of cells alone; an array says so itself")).into()
        );
    }
    let array = Numpy::of(array)?;
    let (kind, size) = (array::kind(&array)?.0, array::size(&array.shape)?);
    let labels = match table(&options, kind)? {
        Some(_) if !names.is_empty() => {
            return Err(Failure::Type("label_names and label_table both name labels; leave one out".into()).into());
        }
        Some(table) => table.labels,
        None => labels(kind, names)?,
    };
    let about = About { axes: axes.into_iter().map(axis).collect(), labels, ..About::default() };
    let watcher = Watcher { progress, cells: cells(&size), leave: None };
    let control = Arc::new(Control::default());
    let bytes = cells(&size) as u64 * kind.bytes();
    let read = ReadFrom {
        path: PathBuf::new(),
        member: None,
        order: IndexOrder::C,
        endian: Endian::HERE,
        bytes,
        nan: options.nan,
    };
    let build = Build { options: &options, about: &about, read, name: None, control: &control };
    let array = &array;
    let tree = with_dimensions!(
        size.len(), K => {
            let source = NumpyArray::<K>::new(array)?;
            watched(py, &watcher, &control, |_| build.tree::<K>(&source, &|| Ok(())))?
        },
        else return Err(Failure::Value("the number of axes was checked".into()).into())
    );
    Ok(tree)
}

/// A tree of an array in a file.
#[pyfunction]
pub(crate) fn build_file(
    py: Python<'_>,
    path: PathBuf,
    options: Given,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<CoreTree> {
    let options = ArrayOptions::of(options)?;
    let (file, part) = py.detach(|| guarded(|| open(&path, &options)))?;
    let layout = file.layout();
    let about = file.about();
    let (from, member) = Format::parts(&path);
    let bytes = (cells(&layout.size) as u64).saturating_mul(layout.kind.bytes());
    let read = ReadFrom {
        path: from.clone(),
        member: part,
        order: layout.order,
        endian: layout.endian,
        bytes,
        nan: options.nan,
    };
    let name = from.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let name = member.map_or(name.clone(), |member| format!("{name}::{member}"));
    let watcher = Watcher { progress, cells: cells(&layout.size), leave: None };
    let control = Arc::new(Control::default());
    let build = Build { options: &options, about, read, name: Some(name), control: &control };
    let tree = with_dimensions!(
        layout.size.len(), K => {
            let source = file.source::<K>().map_err(Failure::from)?;
            let unchanged = || Ok(file.unchanged()?);
            watched(py, &watcher, &control, |_| build.tree::<K>(&source, &unchanged))?
        },
        else return Err(Failure::Value(format!("{} axes; between 1 and {} can be", layout.size.len(), orthant::MAX_DIM)).into())
    );
    Ok(tree)
}

/// Opens a tree in a folder or in a file.
#[pyfunction]
pub(crate) fn open_tree(py: Python<'_>, path: PathBuf) -> PyResult<CoreTree> {
    Ok(py.detach(|| guarded(|| Ok(TreeStore::open(&path)?.dispatch(Open(path, None))?)))?)
}

/// Opens a tree behind a URL that the program reads.
#[pyfunction]
pub(crate) fn open_url(py: Python<'_>, url: PathBuf) -> PyResult<CoreTree> {
    open_objects(py, Objects::of_url(&url)?)
}

/// Opens a tree in a store of Python's, an object with `ask`. Errors call it `path`.
#[pyfunction]
pub(crate) fn open_store(py: Python<'_>, path: PathBuf, store: Py<PyAny>) -> PyResult<CoreTree> {
    open_objects(py, Objects::of_store(store, path))
}

fn open_objects(py: Python<'_>, objects: Arc<Objects>) -> PyResult<CoreTree> {
    objects.asked(py, &mut || {
        let open = Open(objects.path().to_owned(), Some(objects.clone()));
        Ok(TreeStore::open_remote(objects.clone())?.dispatch(open)?)
    })
}

/// Makes a tree of Python's of one in a file.
struct Open(PathBuf, Option<Arc<Objects>>);

impl TreeJob for Open {
    type Output = CoreTree;

    fn run<const K: usize>(self, tree: TreeFile<K>) -> CoreTree {
        let info = tree.info().clone();
        let parts = Stock::File(Box::new(tree));
        CoreTree(Arc::new(Held { parts, info, report: None, path: Some(self.0), objects: self.1 }))
    }
}

/// Cells in all.
pub(crate) fn cells(size: &[u32]) -> u128 {
    size.iter().fold(1u128, |cells, &n| cells.saturating_mul(n.into()))
}

fn axis((name, unit, spacing, origin): Axis) -> AboutAxis {
    AboutAxis { name, unit, spacing, origin }
}

/// Names of labels of cells of a type.
fn labels(kind: CellType, names: Vec<(String, String)>) -> Result<Vec<TreeLabel>, Failure> {
    let label = |(value, name): (String, String)| {
        let word = value.parse().ok().and_then(|number: orthant::tree::Number| number.word(kind));
        let word =
            word.ok_or_else(|| Failure::Value(format!("label_names: {value} is no value of cells of type {kind}")))?;
        Ok(TreeLabel { word, name, colour: None })
    };
    names.into_iter().map(label).collect()
}

/// Names and colours of labels, if a table of them was given.
fn table(options: &ArrayOptions, kind: CellType) -> Result<Option<LabelTable>, Failure> {
    Ok(options.label_table.as_ref().map(|path| LabelTable::open(path, kind)).transpose()?)
}

/// Opens an array, names its labels by a table if one was given, and says which of several arrays in the file it is.
fn open(path: &Path, options: &ArrayOptions) -> Result<(ArrayFile, Option<String>), Failure> {
    let (mut file, part) = open_unnamed(path, options)?;
    if let Some(table) = table(options, file.layout().kind)? {
        file.name_labels(table);
    }
    Ok((file, part))
}

fn open_unnamed(path: &Path, options: &ArrayOptions) -> Result<(ArrayFile, Option<String>), Failure> {
    let (file, part) = Format::parts(path);
    let reading = &options.reading;
    if !file.exists() {
        let source = std::io::Error::from_raw_os_error(2);
        return Err(orthant_cli::Error::File { path: file, source }.into());
    }
    if Format::of(&file).is_some() {
        if let [first, ..] = reading.given()[..] {
            return Err(Failure::Type(format!(
                "tree() has '{first}' for files of cells alone; {} says so itself",
                file.display()
            )));
        }
        let room = |_| -> std::io::Result<File> { tempfile::tempfile() };
        let array = ArrayFile::open_with(&file, part.as_deref(), Access::follow(reading.follow), room);
        return Ok((array.map_err(|error| wrong(error, &file))?, part));
    }
    let (Some(kind), Some(size)) = (reading.dtype, options.computed.size.clone()) else {
        return Err(Failure::Value(format!(
            "{}: its name says no format that is known; of cells alone, dtype=.. and n=(x, y, ..) say what they are",
            file.display()
        )));
    };
    let layout = Layout {
        kind,
        order: reading.order.unwrap_or(IndexOrder::C),
        endian: reading.endian.unwrap_or(Endian::Little),
        offset: reading.offset.unwrap_or(0),
        size,
    };
    Ok((ArrayFile::raw(&file, layout)?, None))
}

/// What is wrong with a file, in terms of Python.
fn wrong(error: orthant_formats::input::InputError, file: &Path) -> Failure {
    use orthant_formats::input::{InputError, InputFault};
    match error {
        InputError { wrong: wrong @ InputFault::Tree, .. } => {
            Failure::Value(format!("{}: {wrong}; pyorthant.open() opens it", file.display()))
        }
        InputError { path, wrong: wrong @ InputFault::Outside { .. } } => {
            Failure::Value(format!("{}: {wrong}; follow=True reads it", path.display()))
        }
        error => error.into(),
    }
}

/// A build.
struct Build<'b> {
    options: &'b ArrayOptions,
    about: &'b About,
    read: ReadFrom,
    /// What the tree says that it is made of.
    name: Option<String>,
    control: &'b Control,
}

impl Build<'_> {
    fn tree<const K: usize>(
        &self,
        cells: &dyn Source<K>,
        unchanged: &dyn Fn() -> Result<(), Failure>,
    ) -> Result<CoreTree, Failure> {
        let Self { options, about, .. } = self;
        let kind = cells.kind();
        let plan = options.computed.array_plan::<K>(cells.size(), about)?;
        let (predicate, nodata) = options.predicate(kind, about.nodata)?;
        let numbers = Numbers(cells);
        let cells: &dyn Source<K> = if options.nan == NotANumber::Error { &numbers } else { cells };
        let (source, nodata) = (predicate.over(cells)?, predicate.nodata_word(kind, nodata)?);
        let kind = source.kind();
        let limit = options.mem_limit.unwrap_or(u64::MAX);
        let builder = BottomUp::new(&plan, &source)?.predicate(&predicate, nodata)?.mem_limit(limit);
        let builder = builder.control(self.control);
        let pool = options.threads.map(pool).transpose()?;
        let start = Instant::now();
        let work = || {
            let tree = builder.tree()?;
            let mut census = Census::new(&plan, 0, true);
            let wall = start.elapsed();
            census.add(&tree);
            let (mut counts, checksum) = census.counts();
            counts.times.wall = wall;
            Ok::<_, Failure>((tree, counts, checksum))
        };
        let (tree, counts, checksum) = match &pool {
            Some(pool) => pool.install(work),
            None => work(),
        }?;
        unchanged()?;
        let threads = pool.as_ref().map_or_else(rayon::current_num_threads, ThreadPool::current_num_threads);
        let device = orthant_cli::Machine::look().cpu;
        let (input, points, keep) = (Some(self.read.clone()), None, Keep::Regions);
        let (counts, device) = (&counts, &*device);
        let built = Built { input, points, counts, cell: kind, predicate, keep, threads, device, checksum };
        let report = Report::bottom_up(Request::new(FieldKind::Array).computation(&plan), built);
        let info = about.info(&plan).predicate(predicate, nodata);
        let info = self.name.iter().fold(info, |info, name| info.source(name));
        let report = serde_json::to_value(report).ok();
        Ok(CoreTree(Arc::new(Held { parts: Stock::Memory(Box::new(tree)), info, report, path: None, objects: None })))
    }
}

/// A pool of just so many threads.
pub(crate) fn pool(threads: usize) -> Result<ThreadPool, Failure> {
    let start = ThreadPoolBuilder::new().num_threads(threads).spawn_handler(worker).build();
    Ok(start.map_err(|error| orthant::Error::System(format!("{threads} threads cannot be started: {error}")))?)
}
