//! Rows of regions in Arrow's C data interface: a stream of batches, in a capsule of Python's.
//!
//! Whoever reads the stream gets columns of its own and needs no Python to free them: readers free memory in any thread, and after the
//! interpreter has ended. That is why this is not written in Python. Each structure owns what it points to, and frees it in `release`,
//! which marks the structure as released. Children may be moved out of their parent, as the interface allows.

#![allow(unsafe_code)]

use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr::{null, null_mut};

use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::regions::Column;

/// Rows of a batch.
const BATCH: usize = 1 << 16;

/// `ARROW_FLAG_NULLABLE`.
const NULLABLE: i64 = 2;

/// A type, as the interface lays it out.
#[repr(C)]
struct ArrowSchema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut Self,
    dictionary: *mut Self,
    release: Option<unsafe extern "C" fn(*mut Self)>,
    private_data: *mut c_void,
}

/// A batch or a column of it.
#[repr(C)]
struct ArrowArray {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *const *const c_void,
    children: *mut *mut Self,
    dictionary: *mut Self,
    release: Option<unsafe extern "C" fn(*mut Self)>,
    private_data: *mut c_void,
}

/// A stream of batches.
#[repr(C)]
struct ArrowArrayStream {
    get_schema: unsafe extern "C" fn(*mut Self, *mut ArrowSchema) -> c_int,
    get_next: unsafe extern "C" fn(*mut Self, *mut ArrowArray) -> c_int,
    get_last_error: unsafe extern "C" fn(*mut Self) -> *const c_char,
    release: Option<unsafe extern "C" fn(*mut Self)>,
    private_data: *mut c_void,
}

// SAFETY: what they point to is theirs alone, and no function of theirs belongs to a thread.
unsafe impl Send for ArrowSchema {}
// SAFETY: as above.
unsafe impl Send for ArrowArrayStream {}

/// What a schema points to.
struct OfSchema {
    _texts: [CString; 2],
    children: Vec<*mut ArrowSchema>,
}

/// What an array points to.
struct OfArray {
    /// Words, so that columns of any type are aligned.
    _cells: [Vec<u64>; 2],
    buffers: Vec<*const c_void>,
    children: Vec<*mut ArrowArray>,
}

/// What a stream points to.
struct OfStream {
    table: Table,
    next: usize,
}

/// Rows and what their columns are.
pub(crate) struct Table {
    pub(crate) columns: Vec<Column>,
    /// Bytes of a row.
    pub(crate) width: usize,
    pub(crate) rows: Vec<u8>,
}

impl ArrowSchema {
    fn new(format: &str, name: &str, flags: i64, children: Vec<Self>) -> Self {
        // Names come from files. A NUL ends a text in C.
        let text = |text: &str| CString::new(text.replace('\0', " ")).unwrap_or_default();
        let children = children.into_iter().map(|child| Box::into_raw(Box::new(child))).collect();
        let mut owned = Box::new(OfSchema { _texts: [text(format), text(name)], children });
        Self {
            format: owned._texts[0].as_ptr(),
            name: owned._texts[1].as_ptr(),
            metadata: null(),
            flags,
            n_children: owned.children.len() as i64,
            children: owned.children.as_mut_ptr(),
            dictionary: null_mut(),
            release: Some(release_schema),
            private_data: Box::into_raw(owned).cast(),
        }
    }

    /// The schema of a table: a structure whose fields are the columns.
    fn of(columns: &[Column]) -> Self {
        let field =
            |column: &Column| Self::new(column.format, &column.name, i64::from(column.nullable()) * NULLABLE, vec![]);
        Self::new("+s", "", 0, columns.iter().map(field).collect())
    }
}

impl ArrowArray {
    fn new(length: usize, nulls: usize, cells: [Vec<u64>; 2], buffers: usize, children: Vec<Self>) -> Self {
        let children = children.into_iter().map(|child| Box::into_raw(Box::new(child))).collect();
        // No bits say that all rows are valid.
        let address = |cells: &Vec<u64>| if cells.is_empty() { null() } else { cells.as_ptr().cast() };
        let pointers = cells.iter().take(buffers).map(address).collect();
        let mut owned = Box::new(OfArray { _cells: cells, buffers: pointers, children });
        Self {
            length: length as i64,
            null_count: nulls as i64,
            offset: 0,
            n_buffers: buffers as i64,
            n_children: owned.children.len() as i64,
            buffers: owned.buffers.as_ptr(),
            children: owned.children.as_mut_ptr(),
            dictionary: null_mut(),
            release: Some(release_array),
            private_data: Box::into_raw(owned).cast(),
        }
    }

    /// What is written where a stream has ended.
    fn none() -> Self {
        Self {
            length: 0,
            null_count: 0,
            offset: 0,
            n_buffers: 0,
            n_children: 0,
            buffers: null(),
            children: null_mut(),
            dictionary: null_mut(),
            release: None,
            private_data: null_mut(),
        }
    }
}

impl Table {
    fn len(&self) -> usize {
        self.rows.len() / self.width
    }

    /// A batch of rows.
    fn batch(&self, first: usize, count: usize) -> ArrowArray {
        let rows = &self.rows[first * self.width..][..count * self.width];
        let columns = self.columns.iter().map(|column| column_of(column, rows, self.width, count)).collect();
        ArrowArray::new(count, 0, [vec![], vec![]], 1, columns)
    }
}

/// A column of some rows: bits that say which are valid, if some may not be, and values.
fn column_of(column: &Column, rows: &[u8], width: usize, count: usize) -> ArrowArray {
    let (mut nulls, mut bits) = (0, vec![0u64; if column.nullable() { count.div_ceil(64) } else { 0 }]);
    if column.nullable() {
        for (index, row) in rows.chunks_exact(width).enumerate() {
            let valid = column.is_valid(row);
            nulls += usize::from(!valid);
            // Bits are counted from the lowest of the first byte.
            bits[index / 64] |= u64::from(valid) << (index % 64);
        }
        bits.iter_mut().for_each(|word| *word = word.to_le());
    }
    let mut cells = vec![0u64; (count * column.bytes).div_ceil(8).max(1)];
    // SAFETY: the bytes of the words, which nobody else has yet.
    let bytes = unsafe { std::slice::from_raw_parts_mut(cells.as_mut_ptr().cast::<u8>(), 8 * cells.len()) };
    for (to, row) in bytes.chunks_exact_mut(column.bytes).zip(rows.chunks_exact(width)) {
        to.copy_from_slice(&row[column.at..][..column.bytes]);
    }
    ArrowArray::new(count, nulls, [bits, cells], 2, vec![])
}

unsafe extern "C" fn release_schema(schema: *mut ArrowSchema) {
    // SAFETY: the interface has it called once, with a structure that `ArrowSchema::new` made or a copy in its place.
    unsafe {
        let owned = Box::from_raw((*schema).private_data.cast::<OfSchema>());
        for &child in &owned.children {
            if let Some(release) = (*child).release {
                release(child);
            }
            // Its own release is done or moved away: only its place is left.
            drop(Box::from_raw(child.cast::<std::mem::ManuallyDrop<ArrowSchema>>()));
        }
        (*schema).release = None;
    }
}

unsafe extern "C" fn release_array(array: *mut ArrowArray) {
    // SAFETY: as of a schema.
    unsafe {
        let owned = Box::from_raw((*array).private_data.cast::<OfArray>());
        for &child in &owned.children {
            if let Some(release) = (*child).release {
                release(child);
            }
            drop(Box::from_raw(child));
        }
        (*array).release = None;
    }
}

unsafe extern "C" fn get_schema(stream: *mut ArrowArrayStream, out: *mut ArrowSchema) -> c_int {
    // SAFETY: the reader gives a stream of ours, and a place for a schema.
    unsafe {
        let of = &*(*stream).private_data.cast::<OfStream>();
        out.write(ArrowSchema::of(&of.table.columns));
    }
    0
}

unsafe extern "C" fn get_next(stream: *mut ArrowArrayStream, out: *mut ArrowArray) -> c_int {
    // SAFETY: as above, and one call follows the other.
    unsafe {
        let of = &mut *(*stream).private_data.cast::<OfStream>();
        let count = (of.table.len() - of.next).min(BATCH);
        out.write(if count == 0 { ArrowArray::none() } else { of.table.batch(of.next, count) });
        of.next += count;
    }
    0
}

/// Nothing fails: all rows are there before the stream is.
unsafe extern "C" fn get_last_error(_: *mut ArrowArrayStream) -> *const c_char {
    null()
}

unsafe extern "C" fn release_stream(stream: *mut ArrowArrayStream) {
    // SAFETY: the interface has it called once.
    unsafe {
        drop(Box::from_raw((*stream).private_data.cast::<OfStream>()));
        (*stream).release = None;
    }
}

// What a reader moved out of a capsule is marked as released there, so that a capsule frees only what nobody took.
impl Drop for ArrowSchema {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: it was not released yet.
            unsafe { release(self) }
        }
    }
}

impl Drop for ArrowArrayStream {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: as above.
            unsafe { release(self) }
        }
    }
}

/// A capsule with the schema of some columns.
pub(crate) fn schema<'py>(py: Python<'py>, columns: &[Column]) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, ArrowSchema::of(columns), c"arrow_schema")
}

/// A capsule with a stream of a table.
pub(crate) fn stream(py: Python<'_>, table: Table) -> PyResult<Bound<'_, PyCapsule>> {
    let stream = ArrowArrayStream {
        get_schema,
        get_next,
        get_last_error,
        release: Some(release_stream),
        private_data: Box::into_raw(Box::new(OfStream { table, next: 0 })).cast(),
    };
    PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
}
