//! Energy in a sweep: a meter per GPU, and what a row says of a case.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::energy::{EnergyError, Meter, Span};
use crate::error::Error;
use crate::voice::Voice;
use orthant::backend::DeviceFacts;

/// How long a GPU is watched before the first case.
const IDLE: Duration = Duration::from_secs(1);

/// What a case took of a GPU. What the GPU does not tell is null.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Energy {
    /// How long the case was repeated.
    pub(crate) seconds: f64,
    /// Whole runs in that time.
    pub(crate) runs: u64,
    /// `counter` or `power`: what the joules per run are by; the counter where there is one.
    pub(crate) by: String,
    pub(crate) joules_per_run: f64,
    /// Less what the GPU takes in the same time while it idles, by the same instrument.
    pub(crate) net_joules_per_run: Option<f64>,
    /// Of all runs, by the energy counter.
    pub(crate) counter_joules: Option<f64>,
    pub(crate) counter_steps: usize,
    /// Of all runs, by integrating power.
    pub(crate) power_joules: Option<f64>,
    pub(crate) power_samples: usize,
    /// Before the first case, by power.
    pub(crate) idle_watts: Option<f64>,
    pub(crate) idle_samples: usize,
    /// Before the first case, by the energy counter.
    pub(crate) idle_counter_watts: Option<f64>,
}

impl Energy {
    /// None if neither instrument said anything.
    fn new(idle: &Span, busy: &Span) -> Option<Self> {
        let instruments =
            [("counter", busy.counter_joules(), idle.counter_watts), ("power", busy.power_joules(), idle.power_watts)];
        let told = instruments.into_iter().find_map(|(by, joules, idle)| Some((by, joules?, idle)));
        let (by, joules, idle_watts) = told?;
        let per_run = |joules: f64| joules / busy.runs as f64;
        Some(Self {
            seconds: busy.seconds,
            runs: busy.runs,
            by: by.into(),
            joules_per_run: per_run(joules),
            net_joules_per_run: idle_watts.map(|watts| per_run(joules - watts * busy.seconds)),
            counter_joules: busy.counter_joules(),
            counter_steps: busy.counter_steps,
            power_joules: busy.power_joules(),
            power_samples: busy.power_samples,
            idle_watts: idle.power_watts,
            idle_samples: idle.power_samples,
            idle_counter_watts: idle.counter_watts,
        })
    }

    /// Joules per run, for people.
    pub(super) fn text(&self) -> String {
        match self.joules_per_run {
            joules if joules.abs() < 1e-3 => format!("{joules:.3e}"),
            joules => format!("{joules:.3}"),
        }
    }

    /// Mean power while the case was repeated.
    pub(crate) fn watts(&self) -> f64 {
        self.joules_per_run * self.runs as f64 / self.seconds
    }
}

/// The meter of a GPU on which cases run.
pub(super) struct Metering {
    meter: Meter,
    idle: Span,
    /// How long a case is repeated.
    time: Duration,
}

impl Metering {
    /// Opens it and looks at the GPU while nothing runs; None, and a word on why, if there is nothing to look at.
    ///
    /// # Errors
    /// [`Error::Unavailable`] if this program cannot know any energy.
    pub(super) fn open(gpu: &DeviceFacts, time: Duration, voice: Voice) -> Result<Option<Self>, Error> {
        match Meter::open(gpu.uuid.as_deref()) {
            Ok(meter) => {
                let idle = meter.idle(time.min(IDLE));
                Ok(Some(Self { meter, idle, time }))
            }
            Err(missing @ EnergyError::NotBuilt) => Err(unavailable(time, &missing.to_string())),
            Err(missing) => {
                voice.say(format_args!("orthant: no energy of {}, since {missing}", gpu.name));
                Ok(None)
            }
        }
    }

    /// Repeats a case and says what it took.
    ///
    /// # Errors
    /// The first error of `run`.
    pub(super) fn of(&self, run: impl FnMut() -> Result<(), Error>) -> Result<Option<Energy>, Error> {
        Ok(Energy::new(&self.idle, &self.meter.runs(self.time, run)?))
    }
}

/// That energy was asked for where none can be known.
pub(super) fn unavailable(time: Duration, why: &str) -> Error {
    Error::Unavailable(format!("--energy {}: {why} (--energy 0 does without)", time.as_secs_f64()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDLING: Span = Span {
        seconds: 1.0,
        runs: 0,
        counter_watts: Some(80.0),
        counter_steps: 10,
        power_watts: Some(70.0),
        power_samples: 200,
    };

    #[test]
    fn idling_is_taken_off_by_the_same_instrument() {
        let busy = Span { seconds: 4.0, runs: 8, counter_watts: Some(280.0), power_watts: Some(470.0), ..IDLING };
        let both = Energy::new(&IDLING, &busy).unwrap();
        assert_eq!((both.by.as_str(), both.joules_per_run, both.net_joules_per_run), ("counter", 140.0, Some(100.0)));
        assert_eq!((both.counter_joules, both.power_joules, both.watts()), (Some(1120.0), Some(1880.0), 280.0));
        let power = Energy::new(&IDLING, &Span { counter_watts: None, ..busy }).unwrap();
        assert_eq!((power.by.as_str(), power.joules_per_run, power.net_joules_per_run), ("power", 235.0, Some(200.0)));
        assert_eq!(power.counter_joules, None);
        let restless = Span { counter_watts: None, ..IDLING };
        assert_eq!(Energy::new(&restless, &busy).unwrap().net_joules_per_run, None);
        assert_eq!(Energy::new(&IDLING, &Span { counter_watts: None, power_watts: None, ..busy }), None);
    }
}
