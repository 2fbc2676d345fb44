//! Progress on stderr for runs over a second.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar, ProgressStyle};

use crate::voice::{Voice, tell};
use orthant::{Control, threads};

/// Runs shorter than this show nothing.
const PATIENCE: Duration = Duration::from_secs(1);

/// Between two lines where stderr is not a terminal.
const LINE_EVERY: Duration = Duration::from_secs(5);

/// Shows how far a run is, until dropped.
pub(crate) struct Progress {
    stop: Option<Sender<()>>,
    /// Runs that have ended.
    ran: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// Of so many `runs` of `total` cells each.
    pub(crate) fn start(control: &Arc<Control>, total: u128, runs: usize, voice: Voice) -> Self {
        let ran = Arc::new(AtomicU64::new(0));
        if voice.quiet {
            return Self { stop: None, ran, thread: None };
        }
        let (stop, stopped) = channel::<()>();
        let control = control.clone();
        let finished = ran.clone();
        let draw = move || {
            let percent = || {
                let run = control.cells_done() as f64 / total as f64;
                ((finished.load(Ordering::Relaxed) as f64 + run) / runs as f64 * 100.0).min(100.0)
            };
            let start = Instant::now();
            // The share, and since when it stands there.
            let mut settled = (percent(), start);
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
                let share = percent();
                if share != settled.0 {
                    settled = (share, Instant::now());
                }
                bar.set_position((share * 10.0) as u64);
                let next = match (control.cells_looked_at(), bar.eta()) {
                    // A long region: nobody knows how long, but there is work.
                    (looked @ 1.., _) if settled.1.elapsed() >= PATIENCE => {
                        format!(", exploring, {looked:.1e} cells looked at")
                    }
                    // Nothing is settled yet.
                    (_, Duration::ZERO) => String::new(),
                    (_, eta) => format!(", about {} left", HumanDuration(eta)),
                };
                if terminal {
                    bar.set_message(format!("{share:.1} % of cells settled{next}"));
                } else {
                    let seconds = start.elapsed().as_secs_f64();
                    tell(format_args!("orthant: {share:.1} % of cells settled after {seconds:.0} s{next}"));
                }
                if stopped.recv_timeout(pause) != Err(RecvTimeoutError::Timeout) {
                    bar.finish_and_clear();
                    return;
                }
            }
        };
        // A run does without where no thread is to be had.
        Self { stop: Some(stop), ran, thread: threads::start(std::thread::Builder::new(), draw).ok() }
    }

    /// A run has ended.
    pub(crate) fn ran(&self) {
        self.ran.fetch_add(1, Ordering::Relaxed);
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
