//! Measuring: the same run again and again, until its time is known well enough.
//!
//! A case is first run a few times unmeasured, so that kernels are compiled, tables allocated and caches warm. Then it is
//! repeated until the standard error of the mean falls below a share of the mean, as in the ASK paper (1 %), or samples
//! or patience run out; all samples are kept. Wall time and device time stay apart: the first is what a caller waits, the
//! second lies between two marks in the device's own stream.

use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use orthant::result::Times;

use crate::error::Error;
use crate::statistics::{mean, median, standard_error};

/// When a case has been measured enough.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Patience {
    /// Runs before the first sample.
    pub(crate) warm_up: usize,
    /// Samples to take at least, unless time runs out.
    pub(crate) min_samples: usize,
    /// Samples to take at most.
    pub(crate) max_samples: usize,
    /// The standard error to reach, as a share of the mean.
    pub(crate) error: f64,
    /// How long to go on taking samples; a run that has begun is finished.
    pub(crate) timeout: Duration,
}

impl Patience {
    /// So many samples; after a run that does not count, if there are several.
    pub(crate) fn exactly(samples: NonZeroUsize) -> Self {
        let (taken, warm_up) = (samples.get(), usize::from(samples.get() > 1));
        Self { warm_up, min_samples: taken, max_samples: taken, error: 0.0, timeout: Duration::MAX }
    }
}

impl Default for Patience {
    fn default() -> Self {
        Self { warm_up: 1, min_samples: 10, max_samples: 200, error: 0.01, timeout: Duration::from_secs(15) }
    }
}

/// Why no more samples were taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The standard error is small enough.
    Settled,
    /// There are as many samples as were allowed.
    MaxSamples,
    /// Time ran out.
    Timeout,
}

impl Stop {
    /// Its name in rows.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Settled => "settled",
            Self::MaxSamples => "max-samples",
            Self::Timeout => "timeout",
        }
    }
}

/// The times of one case, in seconds, in the order in which they were taken.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Samples {
    /// Wall times.
    pub(crate) wall: Vec<f64>,
    /// Device times; empty on the CPU.
    pub(crate) device: Vec<f64>,
    /// Why there are not more.
    pub(crate) stop: Stop,
}

impl Samples {
    /// Device times where there are any, else wall times.
    pub(crate) fn times(&self) -> &[f64] {
        if self.device.is_empty() { &self.wall } else { &self.device }
    }

    /// The median of [`times`](Self::times).
    pub(crate) fn median(&self) -> f64 {
        median(self.times())
    }

    /// The standard error of the mean of [`times`](Self::times); infinite for a single one.
    pub(crate) fn standard_error(&self) -> f64 {
        standard_error(self.times())
    }
}

/// Takes samples of `run` by `rule`.
///
/// # Errors
/// The first error of `run`.
pub(crate) fn repeat(rule: &Patience, run: &mut dyn FnMut() -> Result<Times, Error>) -> Result<Samples, Error> {
    for _ in 0..rule.warm_up {
        run()?;
    }
    let start = Instant::now();
    let mut samples = Samples { wall: Vec::new(), device: Vec::new(), stop: Stop::Settled };
    loop {
        let sample = run()?;
        samples.wall.push(sample.wall.as_secs_f64());
        samples.device.extend(sample.device.map(|time| time.as_secs_f64()));
        let taken = samples.wall.len();
        let settled = samples.standard_error() <= rule.error * mean(samples.times());
        let stop = if taken >= rule.min_samples && settled {
            Stop::Settled
        } else if taken >= rule.max_samples {
            Stop::MaxSamples
        } else if start.elapsed() >= rule.timeout {
            Stop::Timeout
        } else {
            continue;
        };
        return Ok(Samples { stop, ..samples });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steady(_: usize) -> u64 {
        100
    }

    fn take(rule: &Patience, micros: fn(usize) -> u64) -> (usize, Samples) {
        let mut runs = 0;
        let samples = repeat(rule, &mut || {
            runs += 1;
            let time = Duration::from_micros(micros(runs));
            Ok(Times { wall: 2 * time, device: Some(time) })
        });
        (runs, samples.unwrap())
    }

    #[test]
    fn steady_times_settle_at_once() {
        let rule = Patience { warm_up: 3, min_samples: 4, ..Patience::default() };
        let (runs, samples) = take(&rule, steady);
        assert_eq!((runs, samples.wall.len(), samples.stop), (7, 4, Stop::Settled));
        assert_eq!((samples.median(), samples.wall[0]), (1e-4, 2e-4));
    }

    #[test]
    fn noisy_times_go_on() {
        let rule = Patience { max_samples: 30, ..Patience::default() };
        let noisy: fn(usize) -> u64 = |run| 100 + 50 * (run as u64 % 2);
        assert_eq!(take(&rule, noisy).1.stop, Stop::MaxSamples);
        let (_, settled) = take(&Patience { max_samples: 2000, ..rule }, noisy);
        assert_eq!(settled.stop, Stop::Settled);
        // The spread is 20 % of the mean: 1 % takes 400 samples.
        assert!((390..=410).contains(&settled.wall.len()), "{}", settled.wall.len());
    }

    #[test]
    fn patience_ends_a_case_after_one_sample() {
        let rule = Patience { timeout: Duration::ZERO, ..Patience::default() };
        let (_, samples) = take(&rule, steady);
        assert_eq!((samples.wall.len(), samples.stop), (1, Stop::Timeout));
    }
}
