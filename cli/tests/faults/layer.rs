//! The layer of these tests: it fails one call, or remembers all of them.

use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use orthant::disk::{Call, Layer, Renaming, install};

/// How a call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The disk is broken for this call.
    Io,
    /// It is broken from this call on.
    IoEver,
    /// There is no space for this call.
    Full,
    /// There is none from this call on.
    FullEver,
    /// Half of the bytes are read or written.
    Short,
    /// A signal interrupts the call.
    Interrupted,
}

impl Fault {
    pub const ALL: [Self; 6] = [Self::Io, Self::IoEver, Self::Full, Self::FullEver, Self::Short, Self::Interrupted];

    /// True if the command must succeed all the same.
    pub fn is_harmless(self) -> bool {
        matches!(self, Self::Short | Self::Interrupted)
    }
}

/// A call that succeeded.
#[derive(Debug, Clone)]
pub enum Done {
    MakeFolder(PathBuf),
    Create(PathBuf),
    Write {
        path: PathBuf,
        at: u64,
        bytes: Vec<u8>,
    },
    Resize {
        path: PathBuf,
        length: u64,
    },
    Sync(PathBuf),
    SyncFolder,
    /// With device and number of what had the old name.
    Rename {
        from: PathBuf,
        to: PathBuf,
        exchange: bool,
        identity: (u64, u64),
    },
    Remove(PathBuf),
}

#[derive(Debug, Default)]
struct Plan {
    /// Calls elsewhere are none of ours.
    root: PathBuf,
    exchanges: bool,
    failing: Option<(u64, Fault)>,
    calls: u64,
    struck: bool,
    records: bool,
    log: Vec<Done>,
}

#[derive(Debug)]
pub struct Faults(Mutex<Option<Plan>>);

pub static FAULTS: Faults = Faults(Mutex::new(None));

impl Faults {
    fn plan(&self) -> MutexGuard<'_, Option<Plan>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on calls within `root` count. Names are exchanged in one step, or that is not supported.
    pub fn within(&'static self, root: &Path, exchanges: bool) {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| install(self));
        *self.plan() = Some(Plan { root: root.to_owned(), exchanges, ..Plan::default() });
    }

    /// The call with this number will fail.
    pub fn fail(&self, nth: u64, fault: Fault) {
        if let Some(plan) = &mut *self.plan() {
            (plan.failing, plan.calls, plan.struck) = (Some((nth, fault)), 0, false);
        }
    }

    /// No call fails any more; true if one did.
    pub fn off(&self) -> bool {
        let mut plan = self.plan();
        let plan = plan.as_mut().expect("there is a plan");
        plan.failing = None;
        plan.struck
    }

    pub fn record(&self) {
        if let Some(plan) = &mut *self.plan() {
            (plan.records, plan.log) = (true, Vec::new());
        }
    }

    pub fn recorded(&self) -> Vec<Done> {
        let mut plan = self.plan();
        let plan = plan.as_mut().expect("there is a plan");
        plan.records = false;
        std::mem::take(&mut plan.log)
    }
}

/// The file or folder that a call is about.
fn path<'a>(call: &Call<'a>) -> &'a Path {
    match *call {
        Call::OpenFolder(path)
        | Call::List(path)
        | Call::MakeFolder(path)
        | Call::Open(path)
        | Call::Create(path)
        | Call::Append(path)
        | Call::Lock(path)
        | Call::Read(path)
        | Call::Sync(path)
        | Call::SyncFolder(path)
        | Call::Remove(path)
        | Call::Write { path, .. }
        | Call::Resize { path, .. }
        | Call::Rename { from: path, .. } => path,
    }
}

/// What a call does to what is on the disk.
fn done(call: &Call<'_>, written: usize, root: &Path, identity: (u64, u64), fresh: bool) -> Option<Done> {
    let own = |path: &Path| path.strip_prefix(root).expect("it is within").to_owned();
    Some(match *call {
        Call::MakeFolder(path) => Done::MakeFolder(own(path)),
        Call::Create(path) => Done::Create(own(path)),
        Call::Append(path) if fresh => Done::Create(own(path)),
        Call::Write { path, at, bytes } => Done::Write { path: own(path), at, bytes: bytes[..written].to_vec() },
        Call::Resize { path, length } => Done::Resize { path: own(path), length },
        Call::Sync(path) => Done::Sync(own(path)),
        Call::SyncFolder(_) => Done::SyncFolder,
        Call::Rename { from, to, place } => {
            Done::Rename { from: own(from), to: own(to), exchange: place == Renaming::Exchange, identity }
        }
        Call::Remove(path) => Done::Remove(own(path)),
        _ => return None,
    })
}

impl Layer for Faults {
    fn call(&self, call: &Call<'_>, system: &mut dyn FnMut(usize) -> io::Result<usize>) -> io::Result<usize> {
        let mut plan = self.plan();
        let Some(plan) = plan.as_mut().filter(|plan| path(call).starts_with(&plan.root)) else {
            drop(plan);
            return system(usize::MAX);
        };
        if matches!(call, Call::Rename { place: Renaming::Exchange, .. }) && !plan.exchanges {
            return Err(ErrorKind::Unsupported.into());
        }
        let mut most = usize::MAX;
        if let Some((nth, fault)) = plan.failing {
            let (number, ever) = (plan.calls, matches!(fault, Fault::IoEver | Fault::FullEver));
            plan.calls += 1;
            if number == nth || ever && number > nth {
                plan.struck = true;
                match (fault, call) {
                    (Fault::Io | Fault::IoEver, _) => return Err(io::Error::from_raw_os_error(5)),
                    (Fault::Full | Fault::FullEver, _) => return Err(ErrorKind::StorageFull.into()),
                    (Fault::Interrupted, _) => return Err(ErrorKind::Interrupted.into()),
                    (Fault::Short, Call::Write { bytes, .. }) => most = bytes.len().div_ceil(2),
                    (Fault::Short, _) => most = 1,
                }
            }
        }
        let identity = match call {
            Call::Rename { from, .. } => from.symlink_metadata().map_or((0, 0), |facts| (facts.dev(), facts.ino())),
            _ => (0, 0),
        };
        let fresh = !path(call).exists();
        let result = system(most);
        if let (true, Ok(written)) = (plan.records, &result) {
            plan.log.extend(done(call, *written, &plan.root, identity, fresh));
        }
        result
    }
}
