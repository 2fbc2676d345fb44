//! Medians of device times.

use std::time::Duration;

use orthant::cuda::{Device, Session};
use orthant::measure::{Rule, Sample, repeat};
use orthant::prelude::*;
use orthant::statistics::median;
use orthant::subdivision::Launches;

/// Repetitions of a measurement: at least 20, more while the standard error exceeds 1 % and time is left.
pub const LEAST: usize = 20;

/// One configuration, in milliseconds.
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
        let rule = Rule { min_samples: self.least, timeout: Duration::from_secs(2), ..Rule::default() };
        let samples = repeat(&rule, || {
            let device = session.run(&control)?;
            Ok(Sample { wall: session.wall(), device: Some(device) })
        })?;
        let launches = session.launches();
        let mut decoding = Vec::new();
        if self.request.how.keep != Keep::Counts && self.least >= LEAST {
            for _ in 0..5 {
                decoding.extend(session.time_decoding()?.map(|time| time.as_secs_f64() * 1e3));
            }
        }
        Ok(Measured {
            median: samples.median() * 1e3,
            error: samples.standard_error() * 1e3,
            runs: samples.device.len(),
            launches,
            decoding: (!decoding.is_empty()).then(|| median(&decoding)),
        })
    }
}

/// Measures a request, at least `least` times after a first run.
pub fn measure(device: &Device, request: &Request, least: usize) -> Result<Measured, Error> {
    request.workload.dispatch(request.dim(), Measure { device, request, least })?
}

/// A request with a uniform scheme.
pub fn request(workload: WorkloadKind, n: u32, (g, r, b): (u32, u32, u32), how: How) -> Request {
    let mut request = Request::new(workload);
    request.size = Some(vec![n]);
    (request.g, request.r, request.b) = (Some(vec![g]), Some(vec![r]), Some(b));
    request.how = how;
    request
}
