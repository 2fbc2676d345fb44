//! Finished runs, whose number of dimensions is a number again.

use std::sync::Arc;

use orthant::result::{Content, DenseArray};
use orthant::tree::TreeInfo;
use orthant::{CellType, Subdivision, Tree};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use serde_json::Value;

use crate::arrow::{self, Table};
use crate::device::OnDevice;
use crate::dlpack;
use crate::error::{Failure, guarded};
use crate::memory::{Cells, Numpy, Owner, typestr};
use crate::regions::{self, Row};
use crate::tree::{CoreTree, Held, Stock};

/// A finished run.
pub(crate) struct Finished<const K: usize> {
    pub(crate) subdivision: Subdivision<K>,
    /// The name of the field.
    pub(crate) source: &'static str,
}

/// A dense array that was made of regions.
struct Dense<const K: usize>(DenseArray<K>);

/// A finished run of some number of dimensions.
pub(crate) trait AnyRun: Send + Sync {
    fn size(&self) -> Vec<u32>;
    fn kind(&self) -> CellType;
    fn cells(self: Arc<Self>) -> Result<Arc<dyn Owner>, Failure>;
    fn rows(&self) -> usize;
    fn regions(&self, bytes: &mut [u8]);
    fn tree(&self) -> Result<CoreTree, Failure>;
    fn checksum(&self) -> Option<String>;
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

    fn checksum(&self) -> Option<String> {
        self.subdivision.array().map(DenseArray::checksum)
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
    pub(crate) place: Place,
    pub(crate) report: Value,
    pub(crate) note: Option<String>,
}

/// Where the cells of a run are.
pub(crate) enum Place {
    Host(Arc<dyn AnyRun>),
    Device(Arc<OnDevice>),
}

impl CoreRun {
    /// The run on the host. One on a device is copied.
    fn host(&self, py: Python<'_>) -> Result<Arc<dyn AnyRun>, Failure> {
        match &self.place {
            Place::Host(run) => Ok(run.clone()),
            Place::Device(run) => py.detach(|| run.on_host()),
        }
    }

    fn kind(&self) -> CellType {
        match &self.place {
            Place::Host(run) => run.kind(),
            Place::Device(run) => run.kind,
        }
    }
}

#[pymethods]
impl CoreRun {
    /// Cells per axis, axis 0 first.
    #[getter]
    fn size(&self) -> Vec<u32> {
        match &self.place {
            Place::Host(run) => run.size(),
            Place::Device(run) => run.size.clone(),
        }
    }

    /// Where the cells lie on a GPU: the address, and the number of the GPU. None if they are on the host.
    #[getter]
    fn device(&self) -> Option<(u64, usize)> {
        match &self.place {
            Place::Host(_) => None,
            Place::Device(run) => Some((run.address, run.ordinal)),
        }
    }

    /// The cells on a GPU as a capsule of DLPack's, of version 1 or of the one before.
    fn dlpack<'py>(&self, py: Python<'py>, versioned: bool) -> PyResult<Bound<'py, PyAny>> {
        match &self.place {
            Place::Device(run) => dlpack::capsule(py, run, versioned),
            Place::Host(_) => Err(Failure::Value("dlpack: the cells are on the host".into()).into()),
        }
    }

    /// The checksum of the cells on the host.
    fn checksum(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let run = self.host(py)?;
        Ok(py.detach(|| run.checksum()))
    }

    /// The type of a cell as NumPy writes it.
    #[getter]
    fn typestr(&self) -> String {
        typestr(self.kind())
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
        let run = self.host(py)?;
        Ok(Cells(py.detach(|| guarded(|| run.cells()))?))
    }

    /// The number of terminal regions.
    fn rows(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.host(py)?.rows())
    }

    /// The fields of a row of regions: name, type, offset; and the bytes of a row.
    fn row(&self) -> (Vec<(&'static str, String, usize)>, usize) {
        regions::layout(self.size().len(), self.kind())
    }

    /// Writes the regions into an array of rows.
    fn regions(&self, py: Python<'_>, out: &Bound<'_, PyAny>) -> PyResult<()> {
        let out = Numpy::of(out)?;
        let (bytes, run) = (out.bytes_mut()?, self.host(py)?);
        py.detach(|| {
            guarded(|| {
                run.regions(bytes);
                Ok(())
            })
        })?;
        Ok(())
    }

    /// The columns of regions as Arrow's schema. Axes have the names given, x last.
    fn arrow_schema<'py>(&self, py: Python<'py>, axes: Vec<String>) -> PyResult<Bound<'py, PyCapsule>> {
        arrow::schema(py, &regions::columns(self.kind(), &axes))
    }

    /// The regions as Arrow's stream.
    fn arrow_stream<'py>(&self, py: Python<'py>, axes: Vec<String>) -> PyResult<Bound<'py, PyCapsule>> {
        let (kind, k, run) = (self.kind(), self.size().len(), self.host(py)?);
        let width = regions::bytes(k, kind);
        let rows = py.detach(|| {
            guarded(|| {
                let mut rows = vec![0; run.rows() * width];
                run.regions(&mut rows);
                Ok(rows)
            })
        })?;
        arrow::stream(py, Table { columns: regions::columns(kind, &axes), width, rows })
    }

    /// The tree of the run.
    fn tree(&self, py: Python<'_>) -> PyResult<CoreTree> {
        let run = self.host(py)?;
        Ok(py.detach(|| guarded(|| run.tree()))?)
    }
}
