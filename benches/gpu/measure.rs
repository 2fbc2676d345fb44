//! Medians of device times.

use std::time::{Duration, Instant};

use orthant::cuda::{Device, Session};
use orthant::prelude::*;
use orthant::subdivision::Launches;

/// Repetitions of a measurement: at least 20, more while the standard error exceeds 1 % and time is left.
pub const LEAST: usize = 20;
const MOST: usize = 200;
const PATIENCE: Duration = Duration::from_secs(2);

/// One configuration.
pub struct Measured {
    pub median: f64,
    pub error: f64,
    pub runs: usize,
    pub launches: Launches,
    pub decoding: Option<f64>,
}

impl std::fmt::Display for Measured {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.3} ± {:.3} ms | {}", self.median, self.error, self.runs)
    }
}

/// Measures what a request asks for.
struct Measure<'a> {
    device: &'a Device,
    request: &'a Request,
    least: usize,
}

impl Job for Measure<'_> {
    type Output = Result<Measured, Error>;

    fn run<const K: usize>(self, open: Open<K>) -> Self::Output {
        let plan = self.request.plan::<K>()?;
        let field = open(plan.domain(), &self.request.options()?)?;
        let control = Control::default();
        let mut session = Session::new(self.device, &plan, &*field, &self.request.how)?;
        session.run(&control)?;
        let start = Instant::now();
        let mut times = Vec::new();
        loop {
            times.push(session.run(&control)?.as_secs_f64() * 1e3);
            let (runs, error) = (times.len(), standard_error(&times));
            let settled = error < 0.01 * median(&times) || start.elapsed() > PATIENCE;
            if runs >= self.least && (settled || runs >= MOST) {
                let launches = session.launches();
                let mut decoding = Vec::new();
                if self.request.how.keep != Keep::Counts && self.least >= LEAST {
                    for _ in 0..5 {
                        decoding.extend(session.time_decoding()?.map(|time| time.as_secs_f64() * 1e3));
                    }
                }
                let decoding = (!decoding.is_empty()).then(|| median(&decoding));
                return Ok(Measured { median: median(&times), error, runs, launches, decoding });
            }
        }
    }
}

/// Measures a request, at least `least` times after a first run.
pub fn measure(device: &Device, request: &Request, least: usize) -> Result<Measured, Error> {
    request.workload.dispatch(request.dim(), Measure { device, request, least })?
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    (sorted[sorted.len() / 2] + sorted[(sorted.len() - 1) / 2]) / 2.0
}

fn standard_error(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    (variance / n).sqrt()
}

/// A request with a uniform scheme.
pub fn request(workload: WorkloadKind, n: u32, (g, r, b): (u32, u32, u32), how: How) -> Request {
    let mut request = Request::new(workload);
    request.size = Some(vec![n]);
    (request.g, request.r, request.b) = (Some(vec![g]), Some(vec![r]), Some(b));
    request.how = how;
    request
}
