//! Runs whose cells stay on a GPU.
//!
//! A prepared plan borrows its device and its field, and an object of Python's borrows nothing. So a thread has all of them. It runs
//! the plan, says where the cells lie, and answers questions until the last owner is gone. Then it frees the memory and ends. No owner
//! waits for that, and the thread never takes the interpreter's lock.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::Builder;
use std::time::Duration;

use orthant::backend::Part;
use orthant::field::Field;
use orthant::result::{Stored, dense_fits};
use orthant::{CellType, Control, Plan};
use pyo3::prelude::*;
use serde_json::Value;

use crate::error::{Failure, guarded};
use crate::finished::{AnyRun, Finished};
use crate::options::RunOptions;
use crate::run::{Ended, pick};

/// A run whose cells are on a GPU. They are freed when nobody has it any more.
pub(crate) struct OnDevice {
    /// The address of the first cell, on the device.
    pub(crate) address: u64,
    /// The number of the device.
    pub(crate) ordinal: usize,
    /// Cells per axis, axis 0 first.
    pub(crate) size: Vec<u32>,
    /// The type of a cell.
    pub(crate) kind: CellType,
    /// Asks the thread for the run on the host. When it goes, the thread ends.
    ask: SyncSender<Answer>,
    /// The run on the host, once somebody asked.
    host: Mutex<Option<Arc<dyn AnyRun>>>,
    /// The process that has the thread.
    process: u32,
}

/// Where the thread answers to.
type Answer = SyncSender<Result<Arc<dyn AnyRun>, Failure>>;

/// Where the thread says that the run ended.
type Ready = SyncSender<Result<Ran, Failure>>;

/// What the thread says of a run.
struct Ran {
    address: u64,
    ordinal: usize,
    size: Vec<u32>,
    kind: CellType,
    report: Value,
}

/// What the thread has.
pub(crate) struct DeviceTask<const K: usize> {
    pub(crate) plan: Plan<K>,
    pub(crate) field: Box<dyn Field<K>>,
    pub(crate) options: RunOptions,
}

impl OnDevice {
    /// Runs, and returns when the cells are there, with the report.
    pub(crate) fn start<const K: usize>(task: DeviceTask<K>, control: &Arc<Control>) -> Result<(Self, Value), Failure> {
        let ((ready, is_ready), (ask, asked)) = (sync_channel(1), sync_channel(1));
        let control = control.clone();
        let thread = Builder::new().name("orthant-device".into()).spawn(move || {
            if let Err(failure) = guarded(|| task.carry_out(&control, &ready, &asked)) {
                // Nobody listens any more once the run has ended well.
                let _ = ready.send(Err(failure));
            }
        });
        thread.map_err(|error| orthant::Error::System(format!("no thread can be started: {error}")))?;
        let Ran { address, ordinal, size, kind, report } = is_ready.recv().unwrap_or_else(|_| Err(ended()))?;
        let (host, process) = (Mutex::default(), std::process::id());
        Ok((Self { address, ordinal, size, kind, ask, host, process }, report))
    }

    /// The run with its cells on the host, copied when it is first asked for. To be called without the interpreter's lock.
    pub(crate) fn on_host(&self) -> Result<Arc<dyn AnyRun>, Failure> {
        if self.process != std::process::id() {
            let reason = "on_device: this process was forked after the run, and a GPU's memory stays with the process \
                          before; use the start method 'spawn'";
            return Err(Failure::Value(reason.into()));
        }
        let mut host = self.host.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(run) = &*host {
            return Ok(run.clone());
        }
        let (answer, answered) = sync_channel(1);
        self.ask.send(answer).map_err(|_| ended())?;
        let run = answered.recv().map_err(|_| ended())??;
        Ok(host.insert(run).clone())
    }
}

/// What is wrong if the thread is gone while somebody has the run.
fn ended() -> Failure {
    Failure::Panic("the thread of a run on a GPU ended".into())
}

impl<const K: usize> DeviceTask<K> {
    /// Runs, answers, and frees.
    fn carry_out(self, control: &Control, ready: &Ready, asked: &Receiver<Answer>) -> Result<(), Failure> {
        let Self { plan, field, mut options } = self;
        options.request.how = options.request.how.for_labels(field.labels())?;
        let (target, _) = pick(&options, field.twin().is_some())?;
        let mut prepared = target.of().prepare(&plan, &*field, &options.request.how)?;
        prepared.run(&Part::default(), control)?;
        let (mapping, counts) = (prepared.mapping(), prepared.counts()?);
        let report = Ended { target: &target, mapping, counts: &counts, checksum: None };
        let report = report.report(&options, &plan, &*field)?;
        let array = prepared.resident_array()?.ok_or_else(|| {
            Failure::Value("on_device True: this run left no array on a GPU; leave on_device out".into())
        })?;
        let (size, kind) = (plan.domain().size().to_vec(), array.cell);
        let ran = Ran { address: array.address, ordinal: array.ordinal, size, kind, report };
        // If nobody waits any more, nobody can ask either, and the memory is freed at once.
        let _ = ready.send(Ok(ran));
        for answer in asked {
            let source = options.request.workload.name();
            let run = guarded(|| {
                let limit = options.request.how.mem_limit.or_else(|| orthant_cli::Machine::look().default_limit());
                dense_fits(Stored::Dense, plan.domain().cells(), kind, limit).map_err(orthant::Error::from)?;
                Ok(Arc::new(Finished { subdivision: prepared.subdivision()?, source }) as Arc<dyn AnyRun>)
            });
            let _ = answer.send(run);
        }
        let freeing = Freeing::begin();
        drop(prepared);
        drop(target);
        drop(freeing);
        Ok(())
    }
}

/// Whether the interpreter ends, and how many threads free memory of a GPU.
static ENDS: Mutex<(bool, usize)> = Mutex::new((false, 0));

/// Notified when a thread has freed its memory.
static FREED: Condvar = Condvar::new();

/// The most that the end of the interpreter waits for them.
const WAITS: Duration = Duration::from_secs(2);

/// Memory of a GPU is being freed.
struct Freeing;

impl Freeing {
    /// Does not return once the interpreter ends: the driver is unloaded then, and frees everything by itself.
    fn begin() -> Self {
        let mut ends = ENDS.lock().unwrap_or_else(PoisonError::into_inner);
        if ends.0 {
            drop(ends);
            loop {
                std::thread::park();
            }
        }
        ends.1 += 1;
        Self
    }
}

impl Drop for Freeing {
    fn drop(&mut self) {
        ENDS.lock().unwrap_or_else(PoisonError::into_inner).1 -= 1;
        FREED.notify_all();
    }
}

/// To be called when the interpreter ends: waits for threads that free memory of a GPU, and has no others begin.
#[pyfunction]
pub(crate) fn leave(py: Python<'_>) {
    py.detach(|| {
        let mut ends = ENDS.lock().unwrap_or_else(PoisonError::into_inner);
        ends.0 = true;
        // What takes longer goes on beside the end.
        let _ = FREED.wait_timeout_while(ends, WAITS, |ends| ends.1 > 0);
    });
}
