//! Measuring: the same run again and again, until its time is known well enough.
//!
//! A case is first run a few times unmeasured, so that kernels are compiled, tables allocated and caches warm. Then it is
//! repeated until the standard error of the mean falls below a share of the mean, as in the ASK paper (1 %), or samples
//! or patience run out; all samples are kept. Wall time and device time stay apart: the first is what a caller waits, the
//! second lies between two marks in the device's own stream.

use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use crate::cpu::Control;
use crate::cuda::Session;
use crate::engine::{Backend, run_into};
use crate::error::Error;
use crate::how::How;
use crate::plan::Plan;
use crate::registry::registry;
use crate::statistics::{mean, median, standard_error};
use crate::subdivision::Subdivision;
use crate::workload::Workload;

/// When a case has been measured enough.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rule {
    /// Runs before the first sample.
    pub warm_up: usize,
    /// Samples to take at least, unless time runs out.
    pub min_samples: usize,
    /// Samples to take at most.
    pub max_samples: usize,
    /// The standard error to reach, as a share of the mean.
    pub error: f64,
    /// How long to go on taking samples; a run that has begun is finished.
    pub timeout: Duration,
}

impl Rule {
    /// So many samples; after a run that does not count, if there are several.
    pub fn exactly(samples: NonZeroUsize) -> Self {
        let (taken, warm_up) = (samples.get(), usize::from(samples.get() > 1));
        Self { warm_up, min_samples: taken, max_samples: taken, error: 0.0, timeout: Duration::MAX }
    }
}

impl Default for Rule {
    fn default() -> Self {
        Self { warm_up: 1, min_samples: 10, max_samples: 200, error: 0.01, timeout: Duration::from_secs(15) }
    }
}

registry! {
    /// Why no more samples were taken.
    pub enum Stop("reason to stop") {
        /// The standard error is small enough.
        Settled = "settled",
        /// There are as many samples as were allowed.
        MaxSamples = "max-samples",
        /// Time ran out.
        Timeout = "timeout",
    }
}

/// The time of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// What the caller waited for, without planning and output.
    pub wall: Duration,
    /// From before the first kernel to after the last, on the device's clock; None on the CPU.
    pub device: Option<Duration>,
}

/// The times of one case, in seconds, in the order in which they were taken.
#[derive(Debug, Clone, PartialEq)]
pub struct Samples {
    /// Wall times.
    pub wall: Vec<f64>,
    /// Device times; empty on the CPU.
    pub device: Vec<f64>,
    /// Why there are not more.
    pub stop: Stop,
}

impl Samples {
    /// Device times where there are any, else wall times.
    pub fn times(&self) -> &[f64] {
        if self.device.is_empty() { &self.wall } else { &self.device }
    }

    /// The median of [`times`](Self::times).
    pub fn median(&self) -> f64 {
        median(self.times())
    }

    /// The standard error of the mean of [`times`](Self::times); infinite for a single one.
    pub fn standard_error(&self) -> f64 {
        standard_error(self.times())
    }
}

/// Takes samples of `run` by `rule`.
///
/// # Errors
/// The first error of `run`.
pub fn repeat(rule: &Rule, mut run: impl FnMut() -> Result<Sample, Error>) -> Result<Samples, Error> {
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

/// A plan on a backend, ready to be run again and again: on CUDA with its kernels compiled and its buffers allocated.
pub enum Warm<'a, const K: usize> {
    /// On the CPU, where a run writes into the field of the one before.
    Cpu {
        /// What is computed.
        plan: &'a Plan<K>,
        /// What a cell is worth.
        workload: &'a dyn Workload<K>,
        /// How it is carried out.
        how: &'a How,
        /// The last run.
        last: Option<Box<Subdivision<K>>>,
    },
    /// On a GPU.
    Cuda(Box<Session<'a, K>>),
}

impl<'a, const K: usize> Warm<'a, K> {
    /// Prepares a plan.
    ///
    /// # Errors
    /// As [`Session::new`] on CUDA; on the CPU the first run tells.
    pub fn new(
        backend: &'a Backend,
        plan: &'a Plan<K>,
        workload: &'a dyn Workload<K>,
        how: &'a How,
    ) -> Result<Self, Error> {
        Ok(match backend {
            Backend::Cpu => Self::Cpu { plan, workload, how, last: None },
            Backend::Cuda(device) => Self::Cuda(Box::new(Session::new(device, plan, workload, how)?)),
        })
    }

    /// One run.
    ///
    /// # Errors
    /// As [`Backend::run`].
    pub fn run(&mut self, control: &Control) -> Result<Sample, Error> {
        match self {
            Self::Cpu { plan, workload, how, last } => {
                let field = last.take().and_then(|last| last.into_field());
                let subdivision = run_into(field, plan, *workload, how, control)?;
                let wall = subdivision.time();
                *last = Some(Box::new(subdivision));
                Ok(Sample { wall, device: None })
            }
            Self::Cuda(session) => {
                let device = session.run(control)?;
                Ok(Sample { wall: session.wall(), device: Some(device) })
            }
        }
    }

    /// The last run with its cells, and the medians of `samples` for its times.
    ///
    /// # Errors
    /// As [`Session::finish`].
    ///
    /// # Panics
    /// If nothing was run.
    pub fn finish(self, samples: &Samples) -> Result<Subdivision<K>, Error> {
        let last = match self {
            Self::Cpu { last, .. } => *last.expect("a plan is run before it is finished"),
            Self::Cuda(session) => session.finish()?,
        };
        let middle = |times: &[f64]| Duration::from_secs_f64(median(times));
        let device_time = last.device_time.map(|_| middle(&samples.device));
        Ok(Subdivision { time: middle(&samples.wall), device_time, ..last })
    }

    /// The last run; its cells stay on the GPU, if it ran there.
    ///
    /// # Errors
    /// As [`Session::summary`].
    ///
    /// # Panics
    /// If nothing was run.
    pub fn summary(self) -> Result<Subdivision<K>, Error> {
        match self {
            Self::Cpu { last, .. } => Ok(*last.expect("a plan is run before it is summed up")),
            Self::Cuda(session) => session.summary(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steady(_: usize) -> u64 {
        100
    }

    fn take(rule: &Rule, micros: fn(usize) -> u64) -> (usize, Samples) {
        let mut runs = 0;
        let samples = repeat(rule, || {
            runs += 1;
            let time = Duration::from_micros(micros(runs));
            Ok(Sample { wall: 2 * time, device: Some(time) })
        });
        (runs, samples.unwrap())
    }

    #[test]
    fn steady_times_settle_at_once() {
        let rule = Rule { warm_up: 3, min_samples: 4, ..Rule::default() };
        let (runs, samples) = take(&rule, steady);
        assert_eq!((runs, samples.wall.len(), samples.stop), (7, 4, Stop::Settled));
        assert_eq!((samples.median(), samples.wall[0]), (1e-4, 2e-4));
    }

    #[test]
    fn noisy_times_go_on() {
        let rule = Rule { max_samples: 30, ..Rule::default() };
        let noisy: fn(usize) -> u64 = |run| 100 + 50 * (run as u64 % 2);
        assert_eq!(take(&rule, noisy).1.stop, Stop::MaxSamples);
        let (_, settled) = take(&Rule { max_samples: 2000, ..rule }, noisy);
        assert_eq!(settled.stop, Stop::Settled);
        // The spread is 20 % of the mean: 1 % takes 400 samples.
        assert!((390..=410).contains(&settled.wall.len()), "{}", settled.wall.len());
    }

    #[test]
    fn patience_ends_a_case_after_one_sample() {
        let rule = Rule { timeout: Duration::ZERO, ..Rule::default() };
        let (_, samples) = take(&rule, steady);
        assert_eq!((samples.wall.len(), samples.stop), (1, Stop::Timeout));
    }
}
