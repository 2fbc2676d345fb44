//! Progress on stderr for runs over a second, and signals.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar, ProgressStyle};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::error::Error;
use crate::voice::Voice;
use orthant::Control;

/// Runs shorter than this show nothing.
const PATIENCE: Duration = Duration::from_secs(1);

/// Between two lines where stderr is not a terminal.
const LINE_EVERY: Duration = Duration::from_secs(5);

/// Cancels `control` on Ctrl-C and on a request to terminate.
pub(crate) fn cancel_on_signals(control: &Arc<Control>) -> Result<(), Error> {
    let mut signals =
        Signals::new([SIGINT, SIGTERM]).map_err(|error| Error::System(format!("signal handlers: {error}")))?;
    let control = control.clone();
    std::thread::spawn(move || {
        for signal in signals.forever() {
            control.cancel(signal as usize);
        }
    });
    Ok(())
}

/// Shows how far a run is, until dropped.
pub(crate) struct Progress {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    pub(crate) fn start(control: &Arc<Control>, total: u128, voice: Voice) -> Self {
        if voice.quiet {
            return Self { stop: None, thread: None };
        }
        let (stop, stopped) = channel::<()>();
        let control = control.clone();
        let percent = move || control.cells_done() as f64 / total as f64 * 100.0;
        let thread = std::thread::spawn(move || {
            let start = Instant::now();
            let terminal = std::io::stderr().is_terminal();
            // Hidden where stderr is no terminal: it knows how long there is to wait all the same.
            let bar = if terminal { ProgressBar::new(1000) } else { ProgressBar::hidden() };
            bar.set_length(1000);
            if stopped.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            bar.set_style(
                ProgressStyle::with_template("[{elapsed_precise}] {bar:40} {msg}")
                    .expect("the template is well formed"),
            );
            let pause = if terminal { Duration::from_millis(100) } else { LINE_EVERY };
            loop {
                bar.set_position((percent() * 10.0) as u64);
                let left = match bar.eta() {
                    // Nothing is settled yet.
                    Duration::ZERO => String::new(),
                    eta => format!(", about {} left", HumanDuration(eta)),
                };
                if terminal {
                    bar.set_message(format!("{:.1} % of cells settled{left}", percent()));
                } else {
                    let seconds = start.elapsed().as_secs_f64();
                    eprintln!("orthant: {:.1} % of cells settled after {seconds:.0} s{left}", percent());
                }
                if stopped.recv_timeout(pause) != Err(RecvTimeoutError::Timeout) {
                    bar.finish_and_clear();
                    return;
                }
            }
        });
        Self { stop: Some(stop), thread: Some(thread) }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // The thread only draws; if it failed there is nothing to clean up.
            let _ = thread.join();
        }
    }
}
