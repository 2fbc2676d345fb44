//! What a run of a field leaves: its report, its pictures and arrays, its trees.

use std::path::PathBuf;
use std::time::Duration;

use orthant::backend::Prepared;
use orthant::field::Field;
use orthant::result::{DenseArray, RunCounts};
use orthant::{AutoScheme, Computation, Control, How, Keep, Ran, ReadFrom, Report, StageClock, StrategyKind, Target};
use orthant_formats::export::npy;

use super::cell_outputs::{CellOutputs, HowDrawn, KeptCells};
use super::outputs::{Outputs, finish, write_report};
use super::painted::Painted;
use super::run_trees::RunTrees;
use super::summary;
use crate::error::Error;
use crate::measure::Samples;
use crate::output::Slice;
use crate::output::legend::DrawnValues;
use crate::output::png::Caption;
use crate::output::tree::{self, TreeOutput};
use crate::statistics::median;
use crate::voice::{Voice, print};

/// A field that ran: what was asked for, where it ran, and how what it left is shown.
pub(super) struct RanField<'a, const K: usize> {
    pub(super) field: &'a dyn Field<K>,
    pub(super) how: &'a How,
    pub(super) computation: Computation,
    /// The file that cells were read from.
    pub(super) input: Option<ReadFrom>,
    pub(super) target: &'a Target,
    pub(super) device: &'a str,
    pub(super) samples: Samples,
    /// What chose the scheme.
    pub(super) auto_scheme: Option<AutoScheme>,
    /// The field, if it is asked for proofs of the regions of trees.
    pub(super) prover: Option<&'a dyn Field<K>>,
    pub(super) slice: &'a Slice<K>,
    /// What is known of values that are drawn.
    pub(super) drawn: DrawnValues<'a>,
    pub(super) control: &'a Control,
    pub(super) voice: Voice,
}

impl<const K: usize> RanField<'_, K> {
    /// Writes all that is asked for.
    ///
    /// # Errors
    /// If something cannot be written, there is no memory for it, or the backend fails.
    pub(super) fn write(
        &self,
        prepared: &mut dyn Prepared<K>,
        mut outputs: Outputs,
        trees: Vec<(TreeOutput<K>, PathBuf)>,
        mut clock: StageClock,
    ) -> Result<(), Error> {
        let Self { how, slice, control, voice, .. } = *self;
        let shows = outputs.show_cells();
        let regions = how.kept.keep == Keep::Regions && how.tuning.strategy != StrategyKind::Exhaustive;
        if regions && !shows && !trees.is_empty() {
            let report = self.report(prepared, &prepared.counts()?, None);
            let trees = RunTrees { trees, prover: self.prover, control, voice };
            return trees.write(prepared, report, outputs, clock);
        }
        let run = prepared.subdivision()?;
        clock.ends(|seconds| &mut seconds.collecting);
        let (counts, has_regions) = (run.counts().clone(), !run.terminals().is_empty());
        let kept = KeptCells::of(run, shows, how.mem_limit)?;
        clock.ends(|seconds| &mut seconds.ordering);
        let caption = Caption::new(&self.computation, slice);
        let drawing = HowDrawn { slice, caption, levels: counts.levels.len() };
        let painted = |cells: &DenseArray<K>| Painted::of(self.field.labels(), cells, slice, &self.drawn);
        let shown = CellOutputs::new(&kept, &outputs, how.mem_limit, painted, drawing, control, voice)?;
        // Stdout comes last: whoever reads it may leave, and files must not suffer.
        let (files, last) = outputs.arrays.drain(..).partition::<Vec<_>, _>(|(_, staged)| !staged.is_stdout());
        let overlay = outputs.overlay.take();
        // A checksum is one long sum: a thread adds it up while the others write, if one can be had.
        let sum = || kept.array().map(DenseArray::checksum);
        let (checksum, written) = std::thread::scope(|scope| {
            let adding = std::thread::Builder::new().spawn_scoped(scope, sum).ok();
            let written = shown.write(overlay, files);
            let checksum = adding.map(|adding| adding.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            (checksum.unwrap_or_else(sum), written)
        });
        clock.ends(|seconds| &mut seconds.writing);
        // Only a report shows it, and trees have it, too.
        let hashed = trees.is_empty() && outputs.report.is_some();
        let regions = if hashed { kept.regions_checksum() } else { None };
        let report = self.report(prepared, &counts, checksum.as_deref());
        let mut report = Report { regions_checksum: regions.map(|sum| sum.to_string()), ..report };
        if !voice.quiet && !outputs.stdout {
            print(summary::of_field(&report))?;
        }
        clock.ends(|seconds| &mut seconds.reporting);
        written?;
        let mut write_report = |report: &Report, clock: &StageClock, last: bool| {
            if voice.verbose && !last {
                voice.say(summary::of_stages(&clock.seconds()));
            }
            let staged = outputs.report.take_if(|staged| last || !staged.is_stdout());
            let report = Report { seconds_by_stage: Some(clock.seconds()), ..report.clone() };
            write_report(staged, &report, control, voice)
        };
        if trees.is_empty() {
            write_report(&report, &clock, false)?;
            shown.write(None, last)?;
        } else {
            drop(shown);
            let mut tree = kept.into_tree()?;
            if let Some(field) = self.prover {
                tree = tree.proved_by(field, control)?;
            }
            clock.ends(|seconds| &mut seconds.ordering);
            for (mut writer, path) in trees {
                writer.write(&tree)?;
                report.regions_checksum = has_regions.then(|| writer.checksum().to_string());
                tree::finish(writer, &path, voice)?;
            }
            clock.ends(|seconds| &mut seconds.writing);
            write_report(&report, &clock, false)?;
            let most = how.mem_limit.map_or(u64::MAX, |limit| limit.saturating_sub(tree.bytes()));
            for (_, staged) in last {
                finish(staged, control, voice, &mut |out| Ok(npy::write_within(&tree, most, out)?))?;
            }
        }
        write_report(&report, &clock, true)
    }

    /// The report of a run that counted this.
    fn report(&self, prepared: &dyn Prepared<K>, counts: &RunCounts<K>, checksum: Option<&str>) -> Report {
        let Self { samples, target, .. } = self;
        let mut counts = counts.clone();
        let middle = |times: &[f64]| Duration::from_secs_f64(median(times));
        counts.times.wall = middle(&samples.wall);
        counts.times.device = counts.times.device.map(|_| middle(&samples.device));
        let ran = Ran {
            backend: target.name(),
            device: self.device,
            multiprocessors: target.multiprocessors(),
            mapping: prepared.mapping(),
            samples: samples.times(),
            iterations: self.field.labels().work(),
            checksum,
            regions_checksum: None,
        };
        let report = Report::new(self.computation.clone(), self.how, &counts, ran);
        // What ran: a mapping may be the backend's choice.
        let scheme = prepared.mapping().to_string();
        Report {
            auto_scheme: self.auto_scheme.clone().map(|found| AutoScheme { scheme, ..found }),
            input: self.input.clone(),
            busy_seconds: prepared.busy().iter().map(Duration::as_secs_f64).collect(),
            copied_bytes: prepared.copied(),
            ..report
        }
    }
}
