//! Ends from outside: a signal, or no memory left.
//!
//! A run hears its [`Control`] between portions of its work and ends as it would after any error. What does not hear it in
//! time (a proof over one huge region, a pipe that says nothing, a long sort) is ended from here, but never in the midst
//! of what must be whole: a line that is appended, a file that takes its name. Temporary files go first.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError, Weak};
use std::thread::{self, sleep};
use std::time::Duration;

use orthant::Control;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::error::Error;

/// How long a command has after the first signal.
const PATIENCE: Duration = Duration::from_millis(120);

/// What an end from outside has to know.
#[derive(Debug)]
pub(crate) struct Ending {
    controls: Vec<Weak<Control>>,
    temporary: BTreeSet<PathBuf>,
    words: String,
}

static ENDING: Mutex<Ending> =
    Mutex::new(Ending { controls: Vec::new(), temporary: BTreeSet::new(), words: String::new() });

impl Ending {
    /// A file that must not stay. It may have gone or taken its name before the end.
    pub(crate) fn temporary(&mut self, path: PathBuf) {
        self.temporary.insert(path);
    }

    /// What to say if the end comes now.
    pub(crate) fn words(&mut self, words: String) {
        self.words = words;
    }
}

/// Keeps an end from outside waiting as long as the guard lives.
pub(crate) fn undisturbed() -> MutexGuard<'static, Ending> {
    ENDING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Cancels `control` on Ctrl-C and on a request to terminate.
pub(crate) fn cancels(control: &Arc<Control>) {
    undisturbed().controls.push(Arc::downgrade(control));
}

/// Listens for Ctrl-C and requests to terminate: the first cancels, and ends the program if that does not; a second one
/// ends it at once.
///
/// # Errors
/// [`Error::System`].
pub(crate) fn listen() -> Result<(), Error> {
    static LISTENS: OnceLock<Result<(), String>> = OnceLock::new();
    let listen = || -> std::io::Result<()> {
        let mut signals = Signals::new([SIGINT, SIGTERM])?;
        let hear = move || {
            for (earlier, signal) in signals.forever().enumerate() {
                undisturbed()
                    .controls
                    .iter()
                    .filter_map(Weak::upgrade)
                    .for_each(|control| control.cancel(signal as usize));
                let wait = move || {
                    sleep(PATIENCE);
                    interrupted(signal)
                };
                if earlier > 0 || thread::Builder::new().spawn(wait).is_err() {
                    interrupted(signal);
                }
            }
        };
        thread::Builder::new().name("signals".into()).spawn(hear).map(drop)
    };
    let listens = LISTENS.get_or_init(|| listen().map_err(|error| error.to_string()));
    listens.clone().map_err(|error| Error::System(format!("signal handlers: {error}")))
}

fn interrupted(signal: i32) -> ! {
    let ending = undisturbed();
    let words = if ending.words.is_empty() { "interrupted; nothing was written" } else { &ending.words };
    leave(&ending, format_args!("{words}"), 128 + signal)
}

/// Ends the program since memory ran out; asks for none.
pub(crate) fn exhausted(bytes: usize) -> ! {
    let said = orthant::Bytes(bytes as u128);
    let words = format_args!(
        "no memory for another {said}; a smaller -n or --threads, --keep regions or counts, or a smaller --mem-limit may help"
    );
    // Whoever holds it may be who is out of memory.
    for _ in 0..100 {
        match ENDING.try_lock() {
            Ok(ending) => leave(&ending, words, 5),
            Err(TryLockError::Poisoned(ending)) => leave(&ending.into_inner(), words, 5),
            Err(TryLockError::WouldBlock) => sleep(Duration::from_millis(1)),
        }
    }
    let _ = writeln!(std::io::stderr(), "orthant: {words}");
    signal_hook::low_level::exit(5)
}

fn leave(ending: &Ending, words: std::fmt::Arguments<'_>, code: i32) -> ! {
    for path in &ending.temporary {
        // It is gone if it took its name.
        let _ = std::fs::remove_file(path);
    }
    let _ = writeln!(std::io::stderr(), "orthant: {words}");
    signal_hook::low_level::exit(code)
}
