//! Work without the interpreter's lock, under the eyes of the thread that called.
//!
//! The work has a thread of its own. The calling thread gives the lock away, and wakes every 50 ms: for signals, so that Ctrl-C is heard,
//! and for whoever wants to know the progress. It is also the thread in which functions of Python are called, one batch after the other,
//! whatever thread asks for one: a function sees no other thread than its caller's.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::Builder;
use std::time::Duration;

use orthant::Control;
use pyo3::prelude::*;

use crate::error::{Failure, panic};

/// How long the calling thread sleeps.
pub(crate) const WAKES: Duration = Duration::from_millis(50);

/// A batch for a function of Python.
pub(crate) type Batch<'b> = Box<dyn FnOnce(Python<'_>) -> PyResult<()> + Send + 'b>;

/// What the calling thread hears of.
enum Heard {
    /// A batch, and who waits for it.
    Batch(Batch<'static>, SyncSender<()>),
    /// The work ended.
    Done,
}

/// Through which a thread of the work has the calling thread do a batch.
#[derive(Clone)]
pub(crate) struct Caller(SyncSender<Heard>);

impl Caller {
    /// Does a batch in the calling thread, and returns when it is done. What it raises ends the work soon.
    #[allow(unsafe_code)]
    pub(crate) fn call(&self, batch: Batch<'_>) {
        let (done, is_done) = sync_channel(1);
        // SAFETY: the lifetime ends when this function returns, and it returns when the batch was done or dropped: either way `done` goes.
        let batch = unsafe { std::mem::transmute::<Batch<'_>, Batch<'static>>(batch) };
        if self.0.send(Heard::Batch(batch, done)).is_ok() {
            let _ = is_done.recv();
        }
    }
}

/// Says that the work ended, however it did.
struct Ends(SyncSender<Heard>);

impl Drop for Ends {
    fn drop(&mut self) {
        let _ = self.0.send(Heard::Done);
    }
}

/// Who wants to know how far the work is.
pub(crate) struct Watcher<'py> {
    /// Called with cells done and cells in all.
    pub(crate) progress: Option<Bound<'py, PyAny>>,
    /// Cells in all.
    pub(crate) cells: u128,
    /// Called when the work is cancelled, again and again until it ends: who waits in it leaves.
    pub(crate) leave: Option<&'py dyn Fn()>,
}

/// Does some work in another thread, and cancels it when a signal comes, or a function of Python raises something.
pub(crate) fn watched<R: Send>(
    py: Python<'_>,
    watcher: &Watcher<'_>,
    control: &Arc<Control>,
    work: impl FnOnce(&Caller) -> Result<R, Failure> + Send,
) -> Result<R, Failure> {
    let (send, heard) = sync_channel(64);
    std::thread::scope(|scope| {
        let thread = Builder::new().name("orthant".into()).spawn_scoped(scope, move || {
            let ends = Ends(send.clone());
            let done = work(&Caller(send));
            drop(ends);
            done
        });
        let thread = thread.map_err(|error| orthant::Error::System(format!("no thread can be started: {error}")))?;
        let raised = listen(py, watcher, control, heard);
        let done = py.detach(|| thread.join());
        match (raised, done) {
            // What ended the work explains how it ended.
            (Some(error), _) => Err(error.into()),
            (None, Ok(done)) => done,
            (None, Err(payload)) => Err(panic(&*payload)),
        }
    })
}

/// Listens until the work ends. Answers with what was raised first.
fn listen(py: Python<'_>, watcher: &Watcher<'_>, control: &Control, mut heard: Receiver<Heard>) -> Option<PyErr> {
    let mut raised: Option<PyErr> = None;
    loop {
        let next;
        (next, heard) = py.detach(move || (heard.recv_timeout(WAKES), heard));
        let done = match next {
            Ok(Heard::Done) | Err(RecvTimeoutError::Disconnected) => {
                return raised.or_else(|| tell(watcher, control, true).err());
            }
            Ok(Heard::Batch(batch, waits)) => {
                // After the first exception nothing more is called.
                let done = if raised.is_none() {
                    batch(py)
                } else {
                    drop(batch);
                    Ok(())
                };
                let _ = waits.send(());
                done
            }
            Err(RecvTimeoutError::Timeout) if raised.is_none() => {
                py.check_signals().and_then(|()| tell(watcher, control, false))
            }
            Err(RecvTimeoutError::Timeout) => Ok(()),
        };
        if let Err(error) = done {
            control.cancel(0);
            raised.get_or_insert(error);
        }
        if let (Some(_), Some(leave)) = (&raised, watcher.leave) {
            leave();
        }
    }
}

/// Tells the progress.
fn tell(watcher: &Watcher<'_>, control: &Control, last: bool) -> PyResult<()> {
    let Some(progress) = &watcher.progress else { return Ok(()) };
    let done = u128::from(control.cells_done()).min(watcher.cells);
    progress.call1((if last { watcher.cells } else { done }, watcher.cells)).map(drop)
}
