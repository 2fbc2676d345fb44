//! Energy of runs on a GPU, as the card's own instruments tell it.
//!
//! A card has two: a counter of the joules since its driver was loaded, and its power at the moment. They disagree on some
//! cards, so both are read. Both are coarser than a run: the counter steps every 10 to 100 ms, and power is a mean over up
//! to a second. So the same run is repeated for seconds. It starts unwatched, until power holds nothing older; then a thread
//! reads both every 5 ms, and the counter counts between its first and its last step, known to 5 ms each.
//!
//! What a card does not tell is None, never 0.

mod error;
#[cfg_attr(not(feature = "nvml"), path = "disabled.rs")]
mod sensor;

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

pub use error::EnergyError;
use sensor::Sensor;

/// The time between two readings.
const STEP: Duration = Duration::from_millis(5);

/// Over what power may be a mean (NVML on most cards since Ampere), and so the time that passes before a span.
const LEAD: Duration = Duration::from_secs(1);

/// The instruments of one GPU.
#[derive(Debug)]
pub struct Meter {
    sensor: Sensor,
}

/// What the instruments said over a span of time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span {
    /// Its length in seconds.
    pub seconds: f64,
    /// Whole runs in it; 0 if the GPU idled.
    pub runs: u64,
    /// Mean power in watts by the energy counter, from its first to its last step within the span; None if it is not
    /// there or stepped less than twice.
    pub counter_watts: Option<f64>,
    /// Steps of the counter that were seen.
    pub counter_steps: usize,
    /// Mean power in watts by integrating readings of power; None if there are less than two.
    pub power_watts: Option<f64>,
    /// Readings of power.
    pub power_samples: usize,
}

impl Span {
    /// Joules of the whole span by the energy counter.
    pub fn counter_joules(&self) -> Option<f64> {
        self.counter_watts.map(|watts| watts * self.seconds)
    }

    /// Joules of the whole span by integrating power.
    pub fn power_joules(&self) -> Option<f64> {
        self.power_watts.map(|watts| watts * self.seconds)
    }
}

impl Meter {
    /// The instruments of the GPU with this UUID, as CUDA tells it: numbers of devices will not do, since NVML does not heed
    /// `CUDA_VISIBLE_DEVICES`.
    ///
    /// # Errors
    /// [`EnergyError`] says why there are none.
    pub fn open(uuid: Option<&str>) -> Result<Self, EnergyError> {
        let uuid = uuid.ok_or(EnergyError::NoUuid)?;
        let sensor = Sensor::open(uuid)?;
        match (sensor.joules(), sensor.watts()) {
            (None, None) => Err(EnergyError::Unsupported { uuid: uuid.into() }),
            _ => Ok(Self { sensor }),
        }
    }

    /// Watches the GPU for this time while nothing runs on it.
    pub fn idle(&self, time: Duration) -> Span {
        std::thread::sleep(time.min(LEAD));
        self.watch(|| {
            std::thread::sleep(time);
            0
        })
    }

    /// Watches the GPU while the same run is repeated, for at least this time and once at least.
    ///
    /// # Errors
    /// The first error of `run`.
    pub fn runs<E>(&self, time: Duration, mut run: impl FnMut() -> Result<(), E>) -> Result<Span, E> {
        let mut repeat = |time: Duration| {
            let start = Instant::now();
            let mut runs = 0;
            while runs == 0 || start.elapsed() < time {
                run()?;
                runs += 1;
            }
            Ok(runs)
        };
        repeat(time.min(LEAD))?;
        let mut outcome = Ok(0);
        let span = self.watch(|| {
            outcome = repeat(time);
            *outcome.as_ref().unwrap_or(&0)
        });
        outcome.map(|_| span)
    }

    /// Reads both instruments while `work` goes on, which returns the number of its runs.
    fn watch(&self, work: impl FnOnce() -> u64) -> Span {
        let mut trace = Trace::default();
        let start = Instant::now();
        let (runs, seconds) = std::thread::scope(|scope| {
            // The thread ends when the sender is gone, also if `work` panics.
            let (end, ended) = channel::<()>();
            let trace = &mut trace;
            scope.spawn(move || {
                loop {
                    trace.read(&self.sensor, start);
                    if ended.recv_timeout(STEP) != Err(RecvTimeoutError::Timeout) {
                        return trace.read(&self.sensor, start);
                    }
                }
            });
            let began = Instant::now();
            let runs = work();
            let seconds = began.elapsed().as_secs_f64();
            drop(end);
            (runs, seconds)
        });
        let (counter_watts, counter_steps) = between_steps(&trace.joules);
        let (power_watts, power_samples) = (integrated(&trace.watts), trace.watts.len());
        Span { seconds, runs, counter_watts, counter_steps, power_watts, power_samples }
    }
}

/// Is NVML here? Its version, for people.
///
/// # Errors
/// [`EnergyError`] says why not.
pub fn finding() -> Result<String, EnergyError> {
    Sensor::version()
}

/// Readings, each with its time in seconds.
#[derive(Debug, Default)]
struct Trace {
    joules: Vec<(f64, f64)>,
    watts: Vec<(f64, f64)>,
}

impl Trace {
    fn read(&mut self, sensor: &Sensor, start: Instant) {
        let now = |value: f64| (start.elapsed().as_secs_f64(), value);
        self.joules.extend(sensor.joules().map(now));
        self.watts.extend(sensor.watts().map(now));
    }
}

/// Mean watts between the first and the last step of a counter, and the number of steps.
fn between_steps(joules: &[(f64, f64)]) -> (Option<f64>, usize) {
    let steps: Vec<_> = joules.windows(2).filter(|pair| pair[1].1 > pair[0].1).map(|pair| pair[1]).collect();
    let watts = match steps[..] {
        [(began, first), .., (ended, last)] => Some((last - first) / (ended - began)),
        _ => None,
    };
    (watts, steps.len())
}

/// Mean watts by trapezoids over the times of readings.
fn integrated(watts: &[(f64, f64)]) -> Option<f64> {
    let [(began, _), .., (ended, _)] = watts else { return None };
    let joules: f64 = watts.windows(2).map(|pair| (pair[0].1 + pair[1].1) / 2.0 * (pair[1].0 - pair[0].0)).sum();
    Some(joules / (ended - began))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times of readings, from 5 to 9 ms apart.
    fn times() -> impl Iterator<Item = f64> {
        (0..400u32).scan(0.0, |time, i| {
            *time += 0.005 + 0.001 * f64::from(i * 7 % 5);
            Some(*time)
        })
    }

    #[test]
    fn a_counter_is_read_at_its_steps() {
        // 300 W, told every 100 ms, by a counter that is old.
        let counter = |time: f64| 1e6 + 30.0 * (time / 0.1).floor();
        let joules: Vec<_> = times().map(|time| (time, counter(time))).collect();
        let (watts, steps) = between_steps(&joules);
        let watts = watts.unwrap();
        assert!((watts / 300.0 - 1.0).abs() < 0.005, "{watts} W");
        assert!((26..=28).contains(&steps), "{steps}");
    }

    #[test]
    fn what_was_not_told_is_not_zero() {
        assert_eq!(between_steps(&[]), (None, 0));
        let still: Vec<_> = times().map(|time| (time, 5.0)).collect();
        assert_eq!(between_steps(&still), (None, 0));
        assert_eq!(between_steps(&[(0.0, 1.0), (0.1, 2.0), (0.2, 2.0)]), (None, 1));
        assert_eq!((integrated(&[]), integrated(&[(0.0, 100.0)])), (None, None));
    }

    #[test]
    fn power_counts_by_its_time() {
        // Two readings in the first half, many in the second.
        let late = (0..=20).map(|i| (0.5 + 0.025 * f64::from(i), 300.0));
        let watts: Vec<_> = [(0.0, 100.0), (0.5, 100.0)].into_iter().chain(late).collect();
        assert!((integrated(&watts).unwrap() - 200.0).abs() < 1e-9);
        let ramp: Vec<_> = times().map(|time| (time, 100.0 + 50.0 * time)).collect();
        let (first, last) = (ramp[0].1, ramp[ramp.len() - 1].1);
        assert!((integrated(&ramp).unwrap() - (first + last) / 2.0).abs() < 1e-9);
    }
}
