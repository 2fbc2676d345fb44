//! NumPy's memory, and memory that NumPy borrows.
//!
//! Arrays go in and out by NumPy's array interface, a dictionary with an address, a shape and strides, so that the package needs no
//! headers of NumPy, and works with any version. This is the only file that turns addresses into slices.

#![allow(unsafe_code)]

use std::sync::Arc;

use orthant::CellType;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::error::Failure;

/// An array of NumPy's, which is kept alive.
pub(crate) struct Numpy<'py> {
    /// The address of its first cell.
    pub(crate) address: usize,
    /// Cells per axis.
    pub(crate) shape: Vec<usize>,
    /// Bytes from one cell to the next, per axis.
    pub(crate) strides: Vec<isize>,
    /// As NumPy writes it, `<i4`.
    pub(crate) typestr: String,
    _owner: Bound<'py, PyAny>,
}

impl<'py> Numpy<'py> {
    /// Looks at an array.
    pub(crate) fn of(array: &Bound<'py, PyAny>) -> Result<Self, Failure> {
        let interface = array.getattr("__array_interface__")?;
        let (address, _): (usize, bool) = interface.get_item("data")?.extract()?;
        let shape: Vec<usize> = interface.get_item("shape")?.extract()?;
        let typestr: String = interface.get_item("typestr")?.extract()?;
        let width: isize = typestr.get(2..).and_then(|digits| digits.parse().ok()).unwrap_or(0);
        let strides = match interface.call_method1("get", ("strides",))? {
            none if none.is_none() => {
                let mut strides = vec![width; shape.len()];
                for axis in (1..shape.len()).rev() {
                    strides[axis - 1] = strides[axis] * shape[axis] as isize;
                }
                strides
            }
            given => given.extract()?,
        };
        Ok(Self { address, shape, strides, typestr, _owner: array.clone() })
    }

    /// Bytes of a cell.
    pub(crate) fn width(&self) -> usize {
        self.typestr.get(2..).and_then(|digits| digits.parse().ok()).unwrap_or(0)
    }

    /// True if cells lie without gaps, the last axis the fastest.
    fn is_plain(&self) -> bool {
        let mut next = self.width() as isize;
        (0..self.shape.len()).rev().all(|axis| {
            let here = self.shape[axis] == 1 || self.strides[axis] == next;
            next *= self.shape[axis] as isize;
            here
        })
    }

    /// The bytes of an array without gaps that nobody else has: one that the package has just made.
    #[allow(clippy::mut_from_ref, reason = "the memory is NumPy's, and the caller's alone")]
    pub(crate) fn bytes_mut(&self) -> Result<&mut [u8], Failure> {
        let length = self.plain_bytes()?;
        // SAFETY: the array is alive, as long as its shape says, and was made for this call.
        Ok(if length == 0 {
            &mut []
        } else {
            unsafe { std::slice::from_raw_parts_mut(self.address as *mut u8, length) }
        })
    }

    /// Indices of an array of `int64` without gaps.
    pub(crate) fn indices(&self) -> Result<&[i64], Failure> {
        if !matches!(&*self.typestr, "<i8" | ">i8" | "=i8") || !(self.address as *const i64).is_aligned() {
            return Err(Failure::Type(format!("indices of type int64 are needed, not {}", self.typestr)));
        }
        let length = self.plain_bytes()? / 8;
        // SAFETY: as above; nobody writes to it while the call lasts, or numbers are others, all of which are checked.
        Ok(if length == 0 { &[] } else { unsafe { std::slice::from_raw_parts(self.address as *const i64, length) } })
    }

    fn plain_bytes(&self) -> Result<usize, Failure> {
        if !self.is_plain() {
            return Err(Failure::Value("an array in C order is needed".into()));
        }
        Ok(self.shape.iter().product::<usize>() * self.width())
    }
}

/// Cells as somebody else has them in memory, which stays where it is as long as `'a`.
#[derive(Clone, Copy)]
pub(crate) struct Borrowed<'a> {
    start: *const u8,
    bytes: usize,
    lives: std::marker::PhantomData<&'a [u8]>,
}

// SAFETY: it is only read.
unsafe impl Send for Borrowed<'_> {}
// SAFETY: as above.
unsafe impl Sync for Borrowed<'_> {}

impl<'a> Borrowed<'a> {
    /// The cells of an array, from the first to beyond the last in each direction.
    pub(crate) fn of(array: &'a Numpy<'_>) -> Self {
        Self { start: array.address as *const u8, bytes: array.width(), lives: std::marker::PhantomData }
    }

    /// All bytes of an array without gaps, of which there are so many.
    pub(crate) fn all(self, length: usize) -> &'a [u8] {
        // SAFETY: the caller saw by the strides that so many bytes lie there in a row.
        unsafe { std::slice::from_raw_parts(self.start, length) }
    }

    /// The bytes of the cell that lies so far from the first one. Strides and shape say that there is a cell.
    pub(crate) fn cell(self, offset: isize) -> &'a [u8] {
        // SAFETY: NumPy's strides lead to cells of the array, which is alive.
        unsafe { std::slice::from_raw_parts(self.start.offset(offset), self.bytes) }
    }
}

/// Something that owns cells without gaps.
pub(crate) trait Owner: Send + Sync {
    /// Where they begin.
    fn address(&self) -> usize;
    /// Cells per axis, axis 0 first.
    fn size(&self) -> Vec<u32>;
    /// Their type.
    fn kind(&self) -> CellType;
}

/// Cells of the library's, which NumPy looks at where they are: `np.asarray(cells)` copies nothing and keeps them alive.
#[pyclass(frozen, module = "pyorthant._core")]
pub(crate) struct Cells(pub(crate) Arc<dyn Owner>);

#[pymethods]
impl Cells {
    /// What NumPy asks for. The array is read-only: others may look at the same cells.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("data", (self.0.address(), true))?;
        interface.set_item("shape", PyTuple::new(py, self.0.size().iter().rev())?)?;
        interface.set_item("typestr", typestr(self.0.kind()))?;
        Ok(interface)
    }
}

/// A cell type as NumPy writes it.
pub(crate) fn typestr(kind: CellType) -> String {
    let order = match (kind.bytes(), cfg!(target_endian = "big")) {
        (1, _) => '|',
        (_, true) => '>',
        (_, false) => '<',
    };
    format!("{order}{}{}", &kind.name()[..1], kind.bytes())
}
