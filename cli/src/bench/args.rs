//! The options of `orthant bench`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::bench::sweep::Measure;
use crate::error::Error;
use crate::measure::Patience;

/// Options of `bench`.
#[derive(Debug, Args)]
pub(crate) struct BenchOptions {
    /// What is fixed and what varies; see docs/bench.md
    #[arg(value_name = "SWEEP.toml")]
    pub(crate) sweep: Option<PathBuf>,
    /// An option of `run` and its values, over those of the sweep: n=2^10,2^12, g=16:256:x2; may be repeated
    #[arg(short, long, value_name = "AXIS=VALUES", allow_hyphen_values = true)]
    pub(crate) axis: Vec<String>,
    /// Append a line per case to this file instead of stdout
    #[arg(short, long, value_name = "PATH.jsonl", env = "ORTHANT_BENCH_OUTPUT")]
    pub(crate) output: Option<PathBuf>,
    /// Go on with an output: cases that it holds are skipped
    #[arg(long, requires = "output", conflicts_with = "force")]
    pub(crate) resume: bool,
    /// Overwrite an existing output
    #[arg(long)]
    pub(crate) force: bool,
    /// Print the cases and measure nothing
    #[arg(short, long)]
    pub(crate) list: bool,
    /// Runs before the first sample [default: 1]
    #[arg(long, value_name = "N", env = "ORTHANT_WARM_UP")]
    pub(crate) warm_up: Option<usize>,
    /// Samples to take at least [default: 10]
    #[arg(long, value_name = "N", env = "ORTHANT_MIN_SAMPLES")]
    pub(crate) min_samples: Option<usize>,
    /// Samples to take at most [default: 200]
    #[arg(long, value_name = "N", env = "ORTHANT_MAX_SAMPLES")]
    pub(crate) max_samples: Option<usize>,
    /// The standard error to reach, as a share of the mean [default: 0.01]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true, env = "ORTHANT_ERROR")]
    pub(crate) error: Option<f64>,
    /// Seconds after which a case takes no further sample [default: 15]
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, env = "ORTHANT_TIMEOUT")]
    pub(crate) timeout: Option<f64>,
    /// Measure energy too: repeat a case on a GPU for so many seconds, best 2 or more [default: 0, do not] (nvml)
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, env = "ORTHANT_ENERGY")]
    pub(crate) energy: Option<f64>,
}

impl BenchOptions {
    /// When a case has been measured enough: as the command line says, else the sweep, else by default.
    pub(super) fn rule(&self, sweep: &Measure) -> Result<Patience, Error> {
        let default = Patience::default();
        let rule = Patience {
            warm_up: self.warm_up.or(sweep.warm_up).unwrap_or(default.warm_up),
            min_samples: self.min_samples.or(sweep.min_samples).unwrap_or(default.min_samples),
            max_samples: self.max_samples.or(sweep.max_samples).unwrap_or(default.max_samples),
            error: self.error.or(sweep.error).unwrap_or(default.error),
            timeout: match self.timeout.or(sweep.timeout) {
                None => default.timeout,
                Some(seconds) => time("--timeout", seconds)?,
            },
        };
        if rule.max_samples == 0 {
            return Err(Error::Input("--max-samples 0: at least one sample is needed".into()));
        }
        if rule.min_samples > rule.max_samples {
            let Patience { min_samples, max_samples, .. } = rule;
            let reason = format!("--min-samples {min_samples}: must be at most --max-samples {max_samples}");
            return Err(Error::Input(reason).about(&["min-samples", "max-samples"]));
        }
        if !(rule.error >= 0.0 && rule.error.is_finite()) {
            return Err(Error::Input(format!("--error {}: must be a share of at least 0, as 0.01", rule.error)));
        }
        Ok(rule)
    }

    /// How long a case is repeated to measure its energy; None: it is not measured.
    pub(super) fn energy(&self, sweep: &Measure) -> Result<Option<Duration>, Error> {
        let seconds = self.energy.or(sweep.energy).unwrap_or(0.0);
        Ok(Some(time("--energy", seconds)?).filter(|time| !time.is_zero()))
    }
}

fn time(flag: &str, seconds: f64) -> Result<Duration, Error> {
    let told = if seconds.abs() < 1e9 { seconds.to_string() } else { format!("{seconds:e}") };
    Duration::try_from_secs_f64(seconds)
        .map_err(|_| Error::Input(format!("{flag} {told}: must be a number of seconds, at least 0 and below 1.8e19")))
}
