//! Where the time of a run went, from its first step to the last file.

use std::time::Instant;

use serde::{Deserialize, Serialize};

/// Wall-clock seconds of each stage of a run, as a report has them. They come to the whole, but for moments between stages.
///
/// ```
/// use orthant::{SecondsByStage, StageClock};
///
/// let mut clock = StageClock::start();
/// // ... find a device ...
/// clock.ends(|seconds| &mut seconds.opening);
/// // ... write what was found ...
/// clock.ends(|seconds| &mut seconds.writing);
/// let SecondsByStage { opening, writing, whole, .. } = clock.seconds();
/// assert!(opening + writing <= whole);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SecondsByStage {
    /// Finding the device and opening it.
    pub opening: f64,
    /// Choosing a scheme, if that was asked for; compiling kernels or loading them; taking memory.
    pub preparing: f64,
    /// Running: all runs, where one was asked to be repeated.
    pub running: f64,
    /// Copying what the run left from the device, and putting regions and the cells of leaves in order. Of a run that a tree is all the
    /// output of, until its first shards are there: others are collected while these are written.
    pub collecting: f64,
    /// Checksums, and what is counted.
    pub reporting: f64,
    /// Making a tree of all regions, and proofs, before any shard is written.
    pub ordering: f64,
    /// Encoding arrays, pictures and trees, and writing them to the disk.
    pub writing: f64,
    /// From the first step to here.
    pub whole: f64,
}

/// Measures stages that follow each other.
#[derive(Debug, Clone)]
pub struct StageClock {
    start: Instant,
    last: Instant,
    seconds: SecondsByStage,
}

impl StageClock {
    /// Starts with the first stage.
    pub fn start() -> Self {
        let now = Instant::now();
        Self { start: now, last: now, seconds: SecondsByStage::default() }
    }

    /// Adds what passed since the last stage ended to the one that `stage` names.
    pub fn ends(&mut self, stage: impl FnOnce(&mut SecondsByStage) -> &mut f64) {
        self.ended(Instant::now(), stage);
    }

    /// The same of a stage that ended at `end`: what passed since then is the next one's.
    pub fn ended(&mut self, end: Instant, stage: impl FnOnce(&mut SecondsByStage) -> &mut f64) {
        *stage(&mut self.seconds) += (end - self.last).as_secs_f64();
        self.last = end;
    }

    /// What was measured, and the whole up to now.
    pub fn seconds(&self) -> SecondsByStage {
        SecondsByStage { whole: self.start.elapsed().as_secs_f64(), ..self.seconds }
    }
}
