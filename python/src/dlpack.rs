//! Cells on a GPU as DLPack describes them, in a capsule of Python's.
//!
//! Whoever takes the capsule frees what is in it, in any thread and without Python. So it owns the run, and nothing of Python's. A
//! capsule that nobody took frees it itself. DLPack has two layouts: readers of version 1 ask for the newer one.

#![allow(unsafe_code)]

use std::ffi::{CStr, c_void};
use std::sync::Arc;

use pyo3::ffi;
use pyo3::prelude::*;

use crate::device::OnDevice;

/// `kDLCUDA`.
const CUDA: i32 = 2;

/// An array, as DLPack lays it out.
#[repr(C)]
struct DlTensor {
    data: *mut c_void,
    device_type: i32,
    device_id: i32,
    ndim: i32,
    code: u8,
    bits: u8,
    lanes: u16,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

/// `DLManagedTensor`.
#[repr(C)]
struct Managed {
    tensor: DlTensor,
    context: *mut c_void,
    deleter: unsafe extern "C" fn(*mut Self),
}

/// `DLManagedTensorVersioned`.
#[repr(C)]
struct Versioned {
    major: u32,
    minor: u32,
    context: *mut c_void,
    deleter: unsafe extern "C" fn(*mut Self),
    flags: u64,
    tensor: DlTensor,
}

/// What a structure points to, which is its context.
struct Lent {
    shape: Vec<i64>,
    strides: Vec<i64>,
    _run: Arc<OnDevice>,
}

/// A structure in a capsule.
trait Structure: Sized {
    /// The capsule's name as long as nobody took it.
    const NAME: &'static CStr;
    fn of(tensor: DlTensor, context: *mut c_void) -> Self;
    fn context(&self) -> *mut c_void;
}

impl Structure for Managed {
    const NAME: &'static CStr = c"dltensor";

    fn of(tensor: DlTensor, context: *mut c_void) -> Self {
        Self { tensor, context, deleter: delete::<Self> }
    }

    fn context(&self) -> *mut c_void {
        self.context
    }
}

impl Structure for Versioned {
    const NAME: &'static CStr = c"dltensor_versioned";

    fn of(tensor: DlTensor, context: *mut c_void) -> Self {
        // No flag: the cells may be written, and are no copy.
        Self { major: 1, minor: 0, context, deleter: delete::<Self>, flags: 0, tensor }
    }

    fn context(&self) -> *mut c_void {
        self.context
    }
}

/// Frees a structure and what it points to.
unsafe extern "C" fn delete<S: Structure>(structure: *mut S) {
    // SAFETY: made by `into_capsule`, and its taker calls this once.
    unsafe {
        let structure = Box::from_raw(structure);
        drop(Box::from_raw(structure.context().cast::<Lent>()));
    }
}

/// Frees what is in a capsule that nobody took: its taker gives it another name.
unsafe extern "C" fn forget<S: Structure>(capsule: *mut ffi::PyObject) {
    // SAFETY: Python calls this once, with the capsule. Under this name it has the structure that was put in.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, S::NAME.as_ptr()) == 1 {
            delete(ffi::PyCapsule_GetPointer(capsule, S::NAME.as_ptr()).cast::<S>());
        }
    }
}

/// The cells of a run in a capsule.
pub(crate) fn capsule<'py>(py: Python<'py>, run: &Arc<OnDevice>, versioned: bool) -> PyResult<Bound<'py, PyAny>> {
    if versioned { into_capsule::<Versioned>(py, run) } else { into_capsule::<Managed>(py, run) }
}

fn into_capsule<'py, S: Structure>(py: Python<'py>, run: &Arc<OnDevice>) -> PyResult<Bound<'py, PyAny>> {
    let shape: Vec<i64> = run.size.iter().rev().map(|&cells| i64::from(cells)).collect();
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis];
    }
    let mut lent = Box::new(Lent { shape, strides, _run: run.clone() });
    let tensor = DlTensor {
        data: run.address as *mut c_void,
        device_type: CUDA,
        device_id: run.ordinal as i32,
        ndim: lent.shape.len() as i32,
        code: match run.kind.name().as_bytes()[0] {
            b'i' => 0,
            b'u' => 1,
            _ => 2,
        },
        bits: 8 * run.kind.bytes() as u8,
        lanes: 1,
        shape: lent.shape.as_mut_ptr(),
        strides: lent.strides.as_mut_ptr(),
        byte_offset: 0,
    };
    let structure = Box::into_raw(Box::new(S::of(tensor, Box::into_raw(lent).cast())));
    // SAFETY: the pointer is not null, the name is static, and the destructor is this structure's.
    unsafe {
        let capsule = ffi::PyCapsule_New(structure.cast(), S::NAME.as_ptr(), Some(forget::<S>));
        if capsule.is_null() {
            delete(structure);
            return Err(PyErr::fetch(py));
        }
        Ok(Bound::from_owned_ptr(py, capsule))
    }
}
