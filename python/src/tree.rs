//! Trees whose number of dimensions is a number.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use orthant::geometry::Region;
use orthant::tree::{LabelStatistics, Parts, Representative, Source, TreeFile, TreeInfo, TreeSource, TreeTarget};
use orthant::{CellType, Control, Tree};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyTuple};
use serde_json::{Value, json};

use crate::arrow::{self, Table};
use crate::error::{Failure, guarded};
use crate::memory::{Numpy, typestr};
use crate::regions::{self, Row};
use crate::remote::Objects;
use crate::watch::{Watcher, watched};

/// Cells that are looked up at a time where a tree has several parts.
const BATCH: usize = 1 << 16;

/// Points that are looked up together.
const TOGETHER: usize = 256;

/// A tree in memory or in a file, with what is known of it.
pub(crate) struct Held<const K: usize> {
    pub(crate) parts: Stock<K>,
    pub(crate) info: TreeInfo,
    pub(crate) report: Option<Value>,
    /// The file, if it is in one.
    pub(crate) path: Option<PathBuf>,
    /// The objects, if a server has it.
    pub(crate) objects: Option<Arc<Objects>>,
}

/// Where a tree is.
pub(crate) enum Stock<const K: usize> {
    Memory(Box<Tree<K>>),
    File(Box<TreeFile<K>>),
}

/// A tree of some number of dimensions. Sizes, corners and extents have axis 0 first.
pub(crate) trait AnyTree: Send + Sync {
    fn size(&self) -> Vec<u32>;
    fn kind(&self) -> CellType;
    fn held(&self) -> (&TreeInfo, Option<&Value>, Option<&PathBuf>);
    fn objects(&self) -> Option<&Objects>;
    fn facts(&self) -> Value;
    fn read(&self, corner: &[u32], extent: &[u32], bytes: &mut [u8]) -> Result<(), Failure>;
    fn look_up(&self, points: &[i64], bytes: &mut [u8]) -> Result<(), Failure>;
    fn rows(&self) -> Result<u64, Failure>;
    fn regions(&self, bytes: &mut [u8]) -> Result<(), Failure>;
    fn labels(&self, most: usize) -> Result<Vec<Stats>, Failure>;
    fn cut(&self, level: u32, by: Representative) -> Result<Arc<dyn AnyTree>, Failure>;
    fn checksum(&self) -> Result<String, Failure>;
    fn save(&self, path: &Path, overwrite: bool, control: &Arc<Control>) -> Result<(), Failure>;
}

impl<const K: usize> Held<K> {
    fn parts(&self) -> &dyn Parts<K> {
        match &self.parts {
            Stock::Memory(tree) => &**tree,
            Stock::File(file) => &**file,
        }
    }
}

/// A cell of NumPy's indices, in which x is last and numbers below 0 count from the end.
#[inline]
fn cell<const K: usize>(point: &[i64], size: [u32; K]) -> Result<[u32; K], Failure> {
    let mut cell = [0; K];
    for j in 0..K {
        let (index, n) = (point[K - 1 - j], i64::from(size[j]));
        let from_start = if index < 0 { index + n } else { index };
        if !(0..n).contains(&from_start) {
            return Err(outside(index, K - 1 - j, n));
        }
        cell[j] = from_start as u32;
    }
    Ok(cell)
}

#[cold]
fn outside(index: i64, axis: usize, n: i64) -> Failure {
    Failure::Index(format!("index {index} is out of bounds for axis {axis} with size {n}"))
}

/// Looks up all points of one part. `W` is the width of a cell.
fn look_up_in<const K: usize, const W: usize>(tree: &Tree<K>, points: &[i64], bytes: &mut [u8]) -> Result<(), Failure> {
    let size = tree.plan().domain().size();
    let low = if cfg!(target_endian = "big") { 8 - W } else { 0 };
    let (mut cells, mut words) = ([[0; K]; TOGETHER], [0; TOGETHER]);
    for (points, to) in points.chunks(TOGETHER * K).zip(bytes.as_chunks_mut::<W>().0.chunks_mut(TOGETHER)) {
        for (cell, point) in cells.iter_mut().zip(points.chunks_exact(K)) {
            *cell = self::cell(point, size)?;
        }
        tree.words(&cells[..to.len()], &mut words);
        for (to, word) in to.iter_mut().zip(words) {
            to.copy_from_slice(&word.to_ne_bytes()[low..low + W]);
        }
    }
    Ok(())
}

impl<const K: usize> AnyTree for Held<K> {
    fn size(&self) -> Vec<u32> {
        self.parts().plan().domain().size().to_vec()
    }

    fn kind(&self) -> CellType {
        self.parts().kind()
    }

    fn held(&self) -> (&TreeInfo, Option<&Value>, Option<&PathBuf>) {
        (&self.info, self.report.as_ref(), self.path.as_ref())
    }

    fn objects(&self) -> Option<&Objects> {
        self.objects.as_deref()
    }

    fn facts(&self) -> Value {
        let plan = self.parts().plan();
        let (domain, scheme) = (plan.domain(), plan.scheme());
        json!({
            "size": domain.size().to_vec(),
            "domain": domain.window().to_vec(),
            "sample": domain.sample(),
            "curve": plan.curve(),
            "rule": plan.rule(),
            "g": scheme.g.to_vec(),
            "r": scheme.r.to_vec(),
            "B": scheme.b.to_vec(),
            "levels": plan.levels().iter().map(|level| level.grid.to_vec()).collect::<Vec<_>>(),
            "cell": self.kind(),
        })
    }

    fn read(&self, corner: &[u32], extent: &[u32], bytes: &mut [u8]) -> Result<(), Failure> {
        let window = Region { corner: std::array::from_fn(|j| corner[j]), extent: std::array::from_fn(|j| extent[j]) };
        TreeSource(self.parts()).read(&window, bytes).map_err(|error| {
            match error.downcast::<orthant::tree::TreeError>() {
                Ok(error) => error.into(),
                Err(error) => orthant::tree::TreeError::Source(error).into(),
            }
        })
    }

    fn look_up(&self, points: &[i64], bytes: &mut [u8]) -> Result<(), Failure> {
        let (parts, width) = (self.parts(), self.kind().bytes() as usize);
        if parts.parts() == 1 {
            let tree = parts.part(0)?;
            return match width {
                1 => look_up_in::<K, 1>(&tree, points, bytes),
                2 => look_up_in::<K, 2>(&tree, points, bytes),
                4 => look_up_in::<K, 4>(&tree, points, bytes),
                _ => look_up_in::<K, 8>(&tree, points, bytes),
            };
        }
        let size = parts.plan().domain().size();
        for (points, bytes) in points.chunks(BATCH * K).zip(bytes.chunks_mut(BATCH * width)) {
            let cells = points.chunks_exact(K).map(|point| cell(point, size)).collect::<Result<Vec<_>, _>>()?;
            for (found, to) in parts.look_up(&cells)?.iter().zip(bytes.chunks_exact_mut(width)) {
                regions::put(to, found.as_ref().map_or(0, |found| found.word));
            }
        }
        Ok(())
    }

    fn rows(&self) -> Result<u64, Failure> {
        match &self.parts {
            Stock::Memory(tree) => Ok(tree.len() as u64),
            Stock::File(file) => Ok(file.len()),
        }
    }

    fn regions(&self, bytes: &mut [u8]) -> Result<(), Failure> {
        let (parts, kind) = (self.parts(), self.kind());
        if parts.list_layout().is_some() {
            let reason = "the tree of a list of cells has no bricks, which regions are shown with; read boxes of it";
            return Err(Failure::Value(reason.into()));
        }
        let mut rows = bytes.chunks_exact_mut(regions::bytes(K, kind));
        let mut cells = 0;
        for index in 0..parts.parts() {
            let part = parts.part(index)?;
            for region in part.regions() {
                let Some(to) = rows.next() else { return Ok(()) };
                let (box_of, brick) = (region.cells(), region.brick());
                let row = Row { level: region.level(), code: region.code(), cells: box_of, value: region.uniform() };
                row.write(kind, brick.map(|brick| cells + brick.start as u64), to);
            }
            cells += part.bricks().len() as u64;
        }
        Ok(())
    }

    fn labels(&self, most: usize) -> Result<Vec<Stats>, Failure> {
        let kind = self.parts().kind();
        let row = |label: LabelStatistics<K>| {
            let LabelStatistics { word, cells, share, regions, leaves, bounds, centroid, .. } = label;
            let place = (0..K).rev().map(|j| (centroid[j], bounds.corner[j], bounds.extent[j])).collect();
            (kind.text(word), cells, share, regions, leaves, place)
        };
        Ok(self.parts().labels(most)?.into_iter().map(row).collect())
    }

    fn cut(&self, level: u32, by: Representative) -> Result<Arc<dyn AnyTree>, Failure> {
        let tree = self.parts().cut(level, by)?;
        Ok(Arc::new(Self {
            parts: Stock::Memory(Box::new(tree)),
            info: self.info.clone(),
            report: None,
            path: None,
            objects: None,
        }))
    }

    fn checksum(&self) -> Result<String, Failure> {
        Ok(match &self.parts {
            Stock::Memory(tree) => tree.checksum().to_string(),
            Stock::File(file) => file.checksum().to_string(),
        })
    }

    fn save(&self, path: &Path, overwrite: bool, control: &Arc<Control>) -> Result<(), Failure> {
        let parts = self.parts();
        let target = TreeTarget::new(path).overwrite(overwrite).like(parts);
        let mut writer = target.open(parts.plan(), parts.kind(), &self.info)?.control(control.clone());
        for index in 0..parts.parts() {
            writer.write(&*parts.part(index)?)?;
        }
        Ok(writer.finish()?)
    }
}

/// The value in digits, its cells, its share, regions filled with it, leaves that it occurs in; and for each axis in NumPy's order
/// the mean place, the first cell and the number of cells of the box that holds it.
type Stats = (String, u128, f64, u64, u64, Vec<(f64, u32, u32)>);

/// A tree. Use `pyorthant.Tree` instead.
#[pyclass(frozen, module = "pyorthant._core")]
pub(crate) struct CoreTree(pub(crate) Arc<dyn AnyTree>);

impl CoreTree {
    /// Does some work without the interpreter's lock. If it asks a server, signals are heard meanwhile, and it may be done again.
    fn work<R: Send>(&self, py: Python<'_>, mut work: impl FnMut() -> Result<R, Failure> + Send) -> PyResult<R> {
        match self.0.objects() {
            Some(objects) => objects.asked(py, &mut work),
            None => Ok(py.detach(|| guarded(work))?),
        }
    }
}

#[pymethods]
impl CoreTree {
    /// Cells per axis, axis 0 first.
    #[getter]
    fn size(&self) -> Vec<u32> {
        self.0.size()
    }

    /// The type of a cell as NumPy writes it.
    #[getter]
    fn typestr(&self) -> String {
        typestr(self.0.kind())
    }

    /// The file that it is in.
    #[getter]
    fn path(&self) -> Option<OsString> {
        // A `pathlib.Path` would take a URL apart.
        self.0.held().2.map(|path| path.clone().into_os_string())
    }

    /// What the plan says, as JSON.
    fn facts(&self) -> String {
        self.0.facts().to_string()
    }

    /// The report of the build, as JSON.
    fn report(&self) -> Option<String> {
        self.0.held().1.map(Value::to_string)
    }

    /// Name, unit, spacing and origin of each axis, axis 0 first.
    fn axes(&self) -> Vec<(String, Option<String>, f64, f64)> {
        let axes = self.0.held().0.axes.iter();
        axes.map(|axis| (axis.name.clone(), axis.unit.clone(), axis.spacing, axis.origin)).collect()
    }

    /// What else is known: `source`, `predicate`, `nodata`, `scale` and `directions`.
    fn about<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (info, kind) = (self.0.held().0, self.0.kind());
        let about = PyDict::new(py);
        about.set_item("source", &info.source)?;
        about.set_item("predicate", info.predicate.to_string())?;
        about.set_item("nodata", info.nodata.map(|word| kind.text(word)))?;
        about.set_item("scale", info.scale.map(|scale| (scale.slope, scale.intercept)))?;
        about.set_item("directions", &info.directions)?;
        Ok(about)
    }

    /// Labels that have names: the value in digits, the name, the colour.
    fn label_table(&self) -> Vec<(String, String, Option<[u8; 4]>)> {
        let kind = self.0.kind();
        self.0.held().0.labels.iter().map(|label| (kind.text(label.word), label.name.clone(), label.colour)).collect()
    }

    /// Writes a box of cells into an array, which is in C order and has as many cells.
    fn read(&self, py: Python<'_>, corner: Vec<u32>, extent: Vec<u32>, out: &Bound<'_, PyAny>) -> PyResult<()> {
        let k = self.0.size().len();
        if corner.len() != k || extent.len() != k {
            return Err(Failure::Index(format!("a box of {} axes, where the tree has {k}", corner.len())).into());
        }
        let out = Numpy::of(out)?;
        let bytes = out.bytes_mut()?;
        self.work(py, || self.0.read(&corner, &extent, bytes))
    }

    /// Writes the cells of points, an array of int64 [m, k], into an array of m cells.
    fn look_up(&self, py: Python<'_>, points: &Bound<'_, PyAny>, out: &Bound<'_, PyAny>) -> PyResult<()> {
        let (points, out) = (Numpy::of(points)?, Numpy::of(out)?);
        let (indices, bytes, k) = (points.indices()?, out.bytes_mut()?, self.0.size().len());
        let cells = bytes.len() / self.0.kind().bytes() as usize;
        if points.shape.len() != 2 || points.shape[1] != k || cells != points.shape[0] {
            let shape = &points.shape;
            return Err(Failure::Index(format!("points of shape {shape:?}, where [m, {k}] is needed")).into());
        }
        self.work(py, || self.0.look_up(indices, bytes))
    }

    /// The number of terminal regions.
    fn rows(&self) -> PyResult<u64> {
        Ok(self.0.rows()?)
    }

    /// The fields of a row of regions: name, type, offset; and the bytes of a row.
    fn row(&self) -> (Vec<(&'static str, String, usize)>, usize) {
        regions::layout(self.0.size().len(), self.0.kind())
    }

    /// Writes the regions into an array of rows.
    fn regions(&self, py: Python<'_>, out: &Bound<'_, PyAny>) -> PyResult<()> {
        let out = Numpy::of(out)?;
        let bytes = out.bytes_mut()?;
        self.work(py, || self.0.regions(bytes))
    }

    /// The columns of regions as Arrow's schema. Axes have the names given, x last.
    fn arrow_schema<'py>(&self, py: Python<'py>, axes: Vec<String>) -> PyResult<Bound<'py, PyCapsule>> {
        arrow::schema(py, &regions::columns(self.0.kind(), &axes))
    }

    /// The regions as Arrow's stream.
    fn arrow_stream<'py>(&self, py: Python<'py>, axes: Vec<String>) -> PyResult<Bound<'py, PyCapsule>> {
        let (kind, k) = (self.0.kind(), self.0.size().len());
        let width = regions::bytes(k, kind);
        let rows = self.work(py, || {
            let mut rows = vec![0; self.0.rows()? as usize * width];
            self.0.regions(&mut rows)?;
            Ok(rows)
        })?;
        arrow::stream(py, Table { columns: regions::columns(kind, &axes), width, rows })
    }

    /// What each label has.
    fn stats(&self, py: Python<'_>, most: usize) -> PyResult<Vec<Stats>> {
        self.work(py, || self.0.labels(most))
    }

    /// The tree down to a level.
    fn lod(&self, py: Python<'_>, level: u32, by: &str) -> PyResult<Self> {
        let by: Representative = by.parse().map_err(Failure::from)?;
        Ok(Self(self.work(py, || self.0.cut(level, by))?))
    }

    /// The checksum of the regions.
    fn checksum(&self, py: Python<'_>) -> PyResult<String> {
        self.work(py, || self.0.checksum())
    }

    /// Writes the tree into a folder or a file.
    fn save(&self, py: Python<'_>, path: PathBuf, overwrite: bool) -> PyResult<()> {
        let control = Arc::new(Control::default());
        let objects = self.0.objects();
        let leave = || objects.into_iter().for_each(Objects::leave);
        let watcher = Watcher { progress: None, cells: 0, leave: Some(&leave) };
        let done = watched(py, &watcher, &control, |_| self.0.save(&path, overwrite, &control));
        done.map_err(|failure| match objects {
            Some(objects) => objects.explained(py, failure),
            None => failure.into(),
        })
    }

    /// Cells per axis as NumPy has them, x last.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.size().iter().rev())
    }
}
