//! Ends from outside: a signal, or no memory left.
//!
//! A run hears its [`Control`] between portions of its work and ends as it would after any error. What does not hear it in
//! time (a proof over one huge region, a pipe that says nothing, a long sort) is ended from here, but never in the midst
//! of what must be whole: a line that is appended, a file that takes its name. Temporary files go first.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError, Weak};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use orthant::Control;
use orthant::disk::abandon;
use orthant::threads::start;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::error::Error;
use crate::exit::Exit;
use crate::system;
use crate::voice::tell;

/// How long a command has after the first signal.
const PATIENCE: Duration = Duration::from_millis(120);

/// How long an end waits for what must be whole: a write to a file is over by then, unless its disk hangs.
const WHOLE: Duration = Duration::from_secs(2);

/// How long the last words may take where nobody reads them.
const WORDS: Duration = Duration::from_millis(30);

/// What an end from outside has to know.
#[derive(Debug)]
pub(crate) struct Ending {
    temporary: BTreeSet<PathBuf>,
    words: String,
    /// The command has ended by itself, and only has to say so.
    over: bool,
}

static ENDING: Mutex<Ending> = Mutex::new(Ending { temporary: BTreeSet::new(), words: String::new(), over: false });

/// Apart from the others: to cancel must not wait for a write.
static CONTROLS: Mutex<Vec<Weak<Control>>> = Mutex::new(Vec::new());

impl Ending {
    /// A file, or a folder of them, that must not stay. It may have gone or taken its name before the end.
    pub(crate) fn temporary(&mut self, path: PathBuf) {
        self.temporary.insert(path);
    }

    /// It is to stay from now on.
    pub(crate) fn keep(&mut self, path: &Path) {
        self.temporary.remove(path);
    }

    /// What to say if the end comes now.
    pub(crate) fn words(&mut self, words: String) {
        self.words = words;
    }

    /// From here on the command's own end comes first, if it comes soon; or no more.
    pub(crate) fn over(&mut self, over: bool) {
        self.over = over;
    }
}

/// Keeps an end from outside waiting while the guard lives, which is for a write to a file and no longer.
pub(crate) fn undisturbed() -> MutexGuard<'static, Ending> {
    ENDING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The same, if it can be had in time.
fn undisturbed_within(time: Duration) -> Option<MutexGuard<'static, Ending>> {
    let end = Instant::now() + time;
    loop {
        match ENDING.try_lock() {
            Ok(ending) => return Some(ending),
            Err(TryLockError::Poisoned(ending)) => return Some(ending.into_inner()),
            Err(TryLockError::WouldBlock) if Instant::now() > end => return None,
            Err(TryLockError::WouldBlock) => sleep(Duration::from_millis(1)),
        }
    }
}

/// Cancels `control` on Ctrl-C, on a request to terminate, and when the terminal goes.
pub(crate) fn cancels(control: &Arc<Control>) {
    CONTROLS.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::downgrade(control));
}

/// Listens for Ctrl-C, requests to terminate and the terminal's end: the first cancels, and ends the program if that does
/// not; a second one ends it at once. Whoever started it with `nohup` wants it to outlive the terminal.
///
/// # Errors
/// [`Error::System`].
pub(crate) fn listen() -> Result<(), Error> {
    static LISTENS: OnceLock<Result<(), std::io::Error>> = OnceLock::new();
    let listen = || -> std::io::Result<()> {
        let hangup = (!ignores_hangup()).then_some(SIGHUP);
        let mut signals = Signals::new([SIGINT, SIGTERM].into_iter().chain(hangup))?;
        let hear = move || {
            for (earlier, signal) in signals.forever().enumerate() {
                let controls = CONTROLS.lock().unwrap_or_else(PoisonError::into_inner);
                controls.iter().filter_map(Weak::upgrade).for_each(|control| control.cancel(signal as usize));
                drop(controls);
                let wait = move || {
                    sleep(PATIENCE);
                    interrupted(signal, WHOLE)
                };
                if earlier > 0 || thread::Builder::new().spawn(wait).is_err() {
                    interrupted(signal, Duration::ZERO);
                }
            }
        };
        start(thread::Builder::new().name("signals".into()), hear).map(drop)
    };
    LISTENS.get_or_init(listen).as_ref().copied().map_err(|error| {
        let why = format!("no thread can be started to hear signals: {}", system::words_of_thread(error));
        match error.kind() {
            std::io::ErrorKind::OutOfMemory => Error::Memory(why),
            _ => Error::System(why),
        }
    })
}

/// True if the program was started with SIGHUP ignored.
#[allow(unsafe_code)]
fn ignores_hangup() -> bool {
    // SAFETY: an action of all zeros is one, and the call writes into it what is in force, changing nothing.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(SIGHUP, std::ptr::null(), &mut action) == 0 && action.sa_sigaction == libc::SIG_IGN
    }
}

/// True if stderr takes a few words without waiting for whoever should read it, who may not.
#[allow(unsafe_code)]
fn takes_words() -> bool {
    let mut stderr = libc::pollfd { fd: libc::STDERR_FILENO, events: libc::POLLOUT, revents: 0 };
    // SAFETY: one descriptor, which the call writes into.
    unsafe { libc::poll(&mut stderr, 1, WORDS.as_millis() as i32) != 0 }
}

fn interrupted(signal: i32, patience: Duration) -> ! {
    let mut ending = undisturbed_within(patience);
    if ending.as_ref().is_some_and(|ending| ending.over) {
        drop(ending);
        sleep(WHOLE);
        ending = undisturbed_within(Duration::ZERO);
    }
    remove(ending.as_deref());
    let words = ending.map(|ending| ending.words.clone()).filter(|words| !words.is_empty());
    let words = words.unwrap_or_else(|| "interrupted".into());
    if takes_words() {
        tell(format_args!("orthant: {words}"));
    }
    signal_hook::low_level::exit(Exit::Signal(signal as u8).code().into())
}

/// Ends the program since memory ran out; asks for none.
pub(crate) fn exhausted(bytes: usize) -> ! {
    // Whoever holds it may be who is out of memory.
    remove(undisturbed_within(Duration::from_millis(100)).as_deref());
    tell(format_args!(
        "orthant: no memory for another {}; a smaller -n or --threads, --keep regions or counts, or a smaller --mem-limit may help",
        orthant::Bytes(bytes as u128)
    ));
    signal_hook::low_level::exit(Exit::Memory.code().into())
}

fn remove(ending: Option<&Ending>) {
    for path in ending.iter().flat_map(|ending| &ending.temporary) {
        abandon(path);
    }
}
