//! Trees that a server has: behind a URL, which the program's client reads, or in a store of Python's.
//!
//! Whoever waits for a server must hear Ctrl-C. So a request has a thread of its own, and the thread that needs the answer wakes every
//! 50 ms: when it is told to leave, the request is left to itself. A store of Python's is called in threads of Python's (`_store.py`),
//! since a thread of Rust's that is in Python when the interpreter ends would take the process with it.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;

use orthant::Control;
use orthant::disk::{Remote, RemoteError};
use pyo3::exceptions::{
    PyConnectionError, PyFileNotFoundError, PyMemoryError, PyPermissionError, PyTimeoutError, PyValueError,
};
use pyo3::prelude::*;

use crate::error::Failure;
use crate::watch::{WAKES, Watcher, watched};

/// What ends a request that was left. Readers try again what is `Interrupted`.
const LEFT: ErrorKind = ErrorKind::NotConnected;

/// What a server answers: of how many bytes these are some; None if there is no such object.
type Answer = io::Result<Option<(u64, Vec<u8>)>>;

/// What a store raised last.
type Raised = Arc<Mutex<Option<PyErr>>>;

/// Who asks the server.
enum Client {
    /// The program's client.
    Url(Arc<dyn Remote>),
    /// An object of Python's with `ask(asked, name, offset, length)`.
    Store(Py<PyAny>),
}

/// Objects of a server.
pub(crate) struct Objects {
    client: Client,
    path: PathBuf,
    /// How often all who wait were told to leave.
    left: AtomicU64,
    raised: Raised,
}

impl std::fmt::Debug for Objects {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Objects").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Objects {
    fn new(client: Client, path: PathBuf) -> Arc<Self> {
        Arc::new(Self { client, path, left: AtomicU64::new(0), raised: Raised::default() })
    }

    /// What a URL names that the program reads itself.
    pub(crate) fn of_url(url: &Path) -> Result<Arc<Self>, Failure> {
        match orthant_cli::open_url(url)? {
            Some(remote) => {
                let path = remote.path().to_owned();
                Ok(Self::new(Client::Url(remote), path))
            }
            None => Err(Failure::Value(format!("{}: no URL", url.display()))),
        }
    }

    /// What a store of Python's has; `path` is what errors call it.
    pub(crate) fn of_store(store: Py<PyAny>, path: PathBuf) -> Arc<Self> {
        Self::new(Client::Store(store), path)
    }

    /// Tells all who wait for an answer to leave.
    pub(crate) fn leave(&self) {
        self.left.fetch_add(1, Ordering::Relaxed);
    }

    /// Does some work that asks for objects, and leaves it when a signal comes.
    pub(crate) fn asked<R: Send>(
        &self,
        py: Python<'_>,
        work: &mut (dyn FnMut() -> Result<R, Failure> + Send),
    ) -> PyResult<R> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).take();
        let control = Arc::new(Control::default());
        let leave = || self.leave();
        let watcher = Watcher { progress: None, cells: 0, leave: Some(&leave) };
        let done = watched(py, &watcher, &control, |_| {
            loop {
                match work() {
                    // Somebody else heard the signal, who asks for objects of the same tree.
                    Err(failure) if is_left(&failure) && control.check().is_ok() => {}
                    done => return done,
                }
            }
        });
        done.map_err(|failure| self.explained(py, failure))
    }

    /// The exception of a failure, and what a store raised as its cause.
    pub(crate) fn explained(&self, py: Python<'_>, failure: Failure) -> PyErr {
        let cause = self.raised.lock().unwrap_or_else(PoisonError::into_inner).take();
        let is_raised = matches!(failure, Failure::Raised(_));
        let error = PyErr::from(failure);
        if !is_raised && cause.is_some() {
            error.set_cause(py, cause);
        }
        error
    }

    /// Asks, and does not wait.
    fn ask(&self, name: &str, offset: u64, length: usize, answer: SyncSender<Answer>) -> io::Result<()> {
        match &self.client {
            Client::Url(remote) => {
                let (remote, name) = (remote.clone(), name.to_owned());
                let ask = move || {
                    let mut bytes = vec![0; length];
                    let found = remote.read_at(&name, offset, &mut bytes);
                    // The one who asked may have left.
                    let _ = answer.send(found.map(|total| total.map(|total| (total, bytes))));
                };
                Builder::new().name("orthant-request".into()).spawn(ask).map(drop)
            }
            Client::Store(store) => Python::attach(|py| {
                let asked = Asked { answer, raised: self.raised.clone() };
                store.call_method1(py, "ask", (asked, name, offset, length)).map(drop).map_err(|error| {
                    let words = error.to_string();
                    RemoteError::of(kind(py, &error), words)
                })
            }),
        }
    }
}

impl Remote for Objects {
    fn path(&self) -> &Path {
        &self.path
    }

    fn read_at(&self, name: &str, offset: u64, bytes: &mut [u8]) -> io::Result<Option<u64>> {
        let left = self.left.load(Ordering::Relaxed);
        let (send, answer) = sync_channel(1);
        self.ask(name, offset, bytes.len(), send)?;
        loop {
            match answer.recv_timeout(WAKES) {
                Ok(Ok(Some((total, read)))) => {
                    let expected = total.saturating_sub(offset).min(bytes.len() as u64) as usize;
                    let Some(read) = read.get(..expected) else {
                        let words = format!("{} bytes were read, where {expected} are", read.len());
                        return Err(RemoteError::of(ErrorKind::InvalidData, words));
                    };
                    bytes[..expected].copy_from_slice(read);
                    return Ok(Some(total));
                }
                Ok(Ok(None)) => return Ok(None),
                Ok(Err(error)) => return Err(error),
                Err(RecvTimeoutError::Timeout) if self.left.load(Ordering::Relaxed) != left => {
                    return Err(RemoteError::of(LEFT, "the call was interrupted"));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(RemoteError::of(ErrorKind::Other, "the request ended without an answer"));
                }
            }
        }
    }
}

/// True if a signal ended a call.
fn is_left(failure: &Failure) -> bool {
    matches!(failure, Failure::Library(orthant_cli::Error::File { source, .. }) if source.kind() == LEFT)
}

/// What an exception is to the library, which makes the same of it again.
fn kind(py: Python<'_>, error: &PyErr) -> ErrorKind {
    if error.is_instance_of::<PyFileNotFoundError>(py) {
        ErrorKind::NotFound
    } else if error.is_instance_of::<PyPermissionError>(py) {
        ErrorKind::PermissionDenied
    } else if error.is_instance_of::<PyTimeoutError>(py) {
        ErrorKind::TimedOut
    } else if error.is_instance_of::<PyConnectionError>(py) {
        ErrorKind::ConnectionAborted
    } else if error.is_instance_of::<PyMemoryError>(py) {
        ErrorKind::OutOfMemory
    } else if error.is_instance_of::<PyValueError>(py) {
        ErrorKind::InvalidData
    } else {
        ErrorKind::Other
    }
}

/// A request to a store, which a thread of Python's answers.
#[pyclass(frozen, module = "pyorthant._core")]
pub(crate) struct Asked {
    answer: SyncSender<Answer>,
    raised: Raised,
}

impl Asked {
    fn send(&self, answer: Answer) {
        // There is room for one, and the one who asked may have left.
        let _ = self.answer.try_send(answer);
    }
}

#[pymethods]
impl Asked {
    /// These bytes, of an object that has so many.
    fn give(&self, total: u64, bytes: &[u8]) {
        self.send(Ok(Some((total, bytes.to_vec()))));
    }

    /// There is no such object.
    fn absent(&self) {
        self.send(Ok(None));
    }

    /// An exception.
    fn fail(&self, py: Python<'_>, error: &Bound<'_, PyAny>) {
        let error = PyErr::from_value(error.clone());
        let words = match error.value(py).str() {
            Ok(words) if !words.is_empty().unwrap_or(true) => words.to_string(),
            _ => error.to_string(),
        };
        let answer = Err(RemoteError::of(kind(py, &error), words));
        *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        self.send(answer);
    }
}
