//! `orthant run`: one run, its table, its outputs.

use std::borrow::Cow;
use std::io::{ErrorKind, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use orthant::backend::{Kept, Part};
use orthant::export::npy;
use orthant::field::{Field, Job, Open};
use orthant::per_axis::{shortest, text as by};
use orthant::result::{DenseArray, Stored, dense_fits};
use orthant::{Bytes, Control, Keep, Ran, Report, Request, StrategyKind, Subdivision};

use crate::error::Error;
use crate::interrupt::cancels;
use crate::machine::{self, Machine};
use crate::measure::{Patience, repeat};
use crate::options::{OutputOptions, RunOptions};
use crate::output::png::{Caption, Palette};
use crate::output::{Slice, Staged, distinct, expect_extension, has_extension, is_stdout, overlay, png};
use crate::progress::Progress;
use crate::search::{Wanted, choose};
use crate::statistics::median;
use crate::voice::{Voice, align_right, print, table};

/// Runs a workload as asked.
pub(crate) fn run(args: RunOptions, voice: Voice) -> Result<(), Error> {
    let machine = Machine::look();
    let request = args.request(machine.default_limit())?;
    let control = Arc::new(Control::default());
    cancels(&control);
    let (workload, k) = (request.workload, request.k());
    workload.dispatch(k, Task { args, request, machine, control, voice })?
}

/// A file to write, by its extension.
#[derive(Clone, Copy, PartialEq)]
enum Format {
    Png,
    Npy,
}

impl Format {
    fn of(path: &Path) -> Result<Self, Error> {
        if has_extension(path, "png") {
            return Ok(Self::Png);
        }
        if !is_stdout(path) {
            expect_extension("--output", path, &["png", "npy"])?;
        }
        Ok(Self::Npy)
    }
}

/// The outputs of a run, opened before any work.
struct Outputs {
    arrays: Vec<(Format, Staged)>,
    overlay: Option<Staged>,
    report: Option<Staged>,
    /// True if one of them is stdout, where the table then has no place.
    stdout: bool,
}

impl Outputs {
    fn open(args: &OutputOptions, keep: Keep) -> Result<Self, Error> {
        let paths = || args.output.iter().chain(&args.overlay).map(PathBuf::as_path).chain(args.report());
        distinct(paths(), &[])?;
        if let Some(path) = &args.overlay {
            expect_extension("--overlay", path, &["png"])?;
        }
        if let Some(path) = args.report().filter(|path| !is_stdout(path)) {
            expect_extension("--report", path, &["json"])?;
        }
        if args.palette.is_some()
            && args.overlay.is_none()
            && !args.output.iter().any(|path| has_extension(path, "png"))
        {
            return Err(Error::Input("--palette: no picture is written; name one by -o PATH.png or --overlay".into()));
        }
        if keep == Keep::Counts && !(args.output.is_empty() && args.overlay.is_none()) {
            let error = Error::Input("--keep counts keeps no cells to write; use --keep dense or regions".into());
            return Err(error.about(&["keep", "output", "overlay"]));
        }
        let formats = args.output.iter().map(|path| Ok((Format::of(path)?, path)));
        let mut formats = formats.collect::<Result<Vec<_>, Error>>()?;
        // Stdout comes last.
        formats.sort_by_key(|(_, path)| is_stdout(path));
        let stage = |path: &Path| Staged::new(path, args.force);
        Ok(Self {
            arrays: formats
                .into_iter()
                .map(|(format, path)| Ok((format, stage(path)?)))
                .collect::<Result<_, Error>>()?,
            overlay: args.overlay.as_deref().map(stage).transpose()?,
            report: args.report().map(stage).transpose()?,
            stdout: paths().any(is_stdout),
        })
    }

    /// Checks that the cells that outputs show fit `limit`: all of them, or a layer of them where an array is written from
    /// regions. How many regions lie beside it a run will tell.
    fn fit<const K: usize>(&self, size: [u32; K], kept: &Kept, limit: Option<u64>) -> Result<(), Error> {
        let (what, axes) = match kept.keep {
            _ if self.arrays.is_empty() && self.overlay.is_none() => return Ok(()),
            Keep::Dense => (Stored::Dense, K),
            _ if self.pictures() => (Stored::Materialised, K),
            _ => (Stored::Layer, K - 1),
        };
        let cells = size[..axes].iter().fold(1u128, |cells, &n| cells.saturating_mul(n.into()));
        Ok(dense_fits(what, cells, kept.cell, limit)?)
    }

    /// True if an output is a picture.
    fn pictures(&self) -> bool {
        self.overlay.is_some() || self.arrays.iter().any(|(format, _)| *format == Format::Png)
    }
}

/// The most bytes of an array that is written from regions that are in memory at once.
const PIECE: u64 = 64 << 20;

/// The run once its dimension is a type.
struct Task {
    args: RunOptions,
    request: Request,
    machine: Machine,
    control: Arc<Control>,
    voice: Voice,
}

impl Job for Task {
    type Output = Result<(), Error>;

    fn run<const K: usize>(mut self, open: Open<K>) -> Self::Output {
        let planned = (!self.args.auto_scheme).then(|| self.request.plan::<K>()).transpose()?;
        let domain = self.request.domain::<K>()?;
        let options = self.request.options()?;
        let slice = Slice::new(domain.size(), &self.args.output.slice)?;
        let outputs = Outputs::open(&self.args.output, self.request.how.kept.keep)?;
        let field = open(&domain, &options)?;
        self.request.how = self.request.how.for_labels(field.labels())?;
        if field.labels().most().is_none() && outputs.pictures() {
            let (name, kind) = (self.request.workload, self.request.how.kept.cell);
            let reason = format!("a picture shows counts, and the values of {name} are {kind}; use .npy");
            return Err(Error::Input(reason).about(&["output", "overlay"]));
        }
        outputs.fit(domain.size(), &self.request.how.kept, self.request.how.mem_limit)?;
        let target = machine::pick(self.args.how.backend, self.args.how.device, self.voice)?;
        self.args.how.understood_by(&target)?;
        let device = target.device().unwrap_or(&self.machine.cpu);
        let (plan, found) = match planned {
            Some(plan) => (plan, None),
            None => {
                let mapping = self.args.how.mapping()?;
                let blocks = &[self.request.how.on_cuda().block];
                let (flag, control) = ("--auto-scheme", &*self.control);
                let wanted = Wanted { flag, target: &target, device, mapping, blocks, control, without_fits: None };
                let chosen = choose(&self.request, &*field, wanted, self.voice)?;
                self.request.how.tuning.mapping = chosen.mapping;
                (chosen.plan, Some(chosen.found))
            }
        };
        let how = &self.request.how;
        let rule = Patience::exactly(self.args.how.repeat.unwrap_or(NonZeroUsize::MIN));
        let mut prepared = target.of().prepare(&plan, &*field, how)?;
        let progress =
            Progress::start(&self.control, plan.domain().cells(), rule.warm_up + rule.max_samples, self.voice);
        let done = repeat(&rule, || Ok(prepared.run(&Part::default(), &self.control).inspect(|_| progress.ran())?));
        drop(progress);
        let samples = done?;
        let subdivision = prepared.subdivision()?;
        let mut counts = subdivision.counts().clone();
        let middle = |times: &[f64]| Duration::from_secs_f64(median(times));
        counts.times.wall = middle(&samples.wall);
        counts.times.device = counts.times.device.map(|_| middle(&samples.device));
        let checksum = subdivision.array().map(DenseArray::checksum);
        // Only a report shows it.
        let regions_checksum = outputs.report.as_ref().and_then(|_| subdivision.regions_checksum());
        let ran = Ran {
            backend: target.name(),
            device,
            multiprocessors: target.multiprocessors(),
            samples: samples.times(),
            iterations: field.labels().work(),
            checksum: checksum.as_deref(),
            regions_checksum,
        };
        let report = Report::new(self.request.computation(&plan), how, &counts, ran);
        let report = Report { auto_scheme: found, ..report };
        if !self.voice.quiet && !outputs.stdout {
            print(summary(&report))?;
        }
        self.write(outputs, &subdivision, &slice, &*field, &report)
    }
}

impl Task {
    fn write<const K: usize>(
        &self,
        outputs: Outputs,
        subdivision: &Subdivision<K>,
        slice: &Slice<K>,
        field: &dyn Field<K>,
        report: &Report,
    ) -> Result<(), Error> {
        let finish = |staged: Staged, write: &mut dyn FnMut(&mut dyn Write) -> std::io::Result<()>| {
            let wrote = (!staged.is_stdout()).then(|| format!("orthant: wrote {}", staged.target().display()));
            staged.finish(&self.control, write)?;
            wrote.iter().for_each(|wrote| self.voice.say(wrote));
            Ok::<_, Error>(())
        };
        let limit = self.request.how.mem_limit;
        let array: Option<Cow<'_, DenseArray<K>>> = match subdivision.array() {
            Some(array) => Some(Cow::Borrowed(array)),
            None if outputs.pictures() => Some(Cow::Owned(subdivision.materialise(limit)?)),
            None => None,
        };
        let palette = Palette::new(field.labels(), self.args.output.palette);
        let caption = Caption::new(&report.computation, slice);
        // Stdout comes last: whoever reads it may leave, and files must not suffer.
        let (report_now, report_last) = outputs.report.into_iter().partition::<Vec<_>, _>(|staged| !staged.is_stdout());
        let write_report = |staged| {
            finish(staged, &mut |out| {
                serde_json::to_writer(&mut *out, report)?;
                out.write_all(b"\n")
            })
        };
        report_now.into_iter().try_for_each(write_report)?;
        if let (Some(staged), Some(array)) = (outputs.overlay, &array) {
            finish(staged, &mut |out| overlay::write(array, subdivision, slice, &palette, &caption, out))?;
        }
        for (format, staged) in outputs.arrays {
            match (format, &array) {
                (Format::Png, Some(array)) => {
                    finish(staged, &mut |out| png::write(array, slice, &palette, &caption, out))?;
                }
                (Format::Npy, Some(array)) => finish(staged, &mut |out| {
                    npy::header(array.size(), array.cells().kind(), out)?;
                    cells(array, out)
                })?,
                (_, None) => {
                    let mut layers = subdivision.layers(PIECE, limit)?;
                    let mut refused = None;
                    let written = finish(staged, &mut |out| {
                        npy::header(subdivision.plan().domain().size(), subdivision.bricks().kind(), out)?;
                        layers.try_for_each(|piece| match piece {
                            Ok(piece) => cells(&piece, out),
                            Err(error) => {
                                refused = Some(error);
                                Err(ErrorKind::OutOfMemory.into())
                            }
                        })
                    });
                    refused.map_or(Ok(()), |error| Err(error.into())).and(written)?;
                }
            }
        }
        report_last.into_iter().try_for_each(write_report)
    }
}

/// Writes the cells of an array, or of its next piece.
fn cells<const K: usize>(piece: &DenseArray<K>, out: &mut dyn Write) -> std::io::Result<()> {
    piece.cells().le_bytes(0..piece.cells().len(), |bytes| out.write_all(bytes))
}

/// What happened, for people.
fn summary(report: &Report) -> String {
    let equal = |axes: &[u32]| by(&shortest(axes));
    let pass = report.tuning.unusual_pass(&report.backend).map_or(String::new(), |pass| format!(" {pass}"));
    let mut text = format!(
        "{} {} cells, {} {}{pass} {} on {} ({}), g {} r {} B {}, explore {}\n\n",
        report.computation.workload,
        by(&report.computation.size),
        report.tuning.strategy,
        report.tuning.mapping,
        report.computation.curve,
        report.backend,
        if report.backend == "cpu" {
            format!("{} threads", report.tuning.threads.unwrap_or(0))
        } else {
            report.device.clone()
        },
        equal(&report.computation.g),
        equal(&report.computation.r),
        by(&report.computation.b),
        report.computation.explore,
    );
    let mut levels = table(&["level", "grid", "regions", "subdivided", "filled", "leaves", "P", "OLT", "ms"]);
    for level in &report.levels {
        levels.add_row([
            level.level.to_string(),
            by(&level.grid),
            level.regions.to_string(),
            level.subdivided.to_string(),
            level.filled.to_string(),
            level.leaves.to_string(),
            level.p.map_or("-".into(), |p| format!("{p:.3}")),
            Bytes(u128::from(level.olt_bytes)).to_string(),
            level.seconds.map_or("-".into(), |seconds| format!("{:.2}", seconds * 1e3)),
        ]);
    }
    align_right(&mut levels);
    text += &format!("{}\n\n", levels.trim_fmt());
    let cells = &report.cells.all;
    text += &format!(
        "cells    {} = {} filled + {} in leaves; {} explored, {} evaluated\n",
        report.cells.total, cells.filled, cells.leaf, cells.explored, cells.evaluated
    );
    if let Some(iterations) = report.iterations {
        text += &format!("work     {iterations} iterations\n");
    }
    text += &format!("kernels  {} ({} in flight at most)\n", report.launches.kernels, report.launches.most_in_flight);
    if report.tuning.strategy == StrategyKind::Dp {
        text += &format!(
            "launches {} refused beyond {} credits, {} failed, {} overflowed into {} rounds, {} done in place; {} pending at most\n",
            report.launches.refused,
            report.launches.credits,
            report.launches.failed,
            report.launches.overflowed,
            report.launches.rounds,
            report.launches.in_place,
            report.launches.most_pending
        );
    }
    if let Some(auto) = &report.auto_scheme {
        let predicted = auto.predicted_seconds.map(|seconds| format!(", {:.3} ms predicted", seconds * 1e3));
        text += &format!(
            "scheme   found by the {} in {:.3} ms with {} cells{}\n",
            auto.by,
            auto.seconds * 1e3,
            auto.sampled_cells,
            predicted.unwrap_or_default()
        );
    }
    if report.samples.len() > 1 {
        text += &format!("runs     {}, the times are medians\n", report.samples.len());
    }
    match report.device_seconds {
        Some(device) => {
            text += &format!("time     {:.3} ms on the device, {:.3} s in all\n", device * 1e3, report.seconds);
        }
        None => text += &format!("time     {:.3} s\n", report.seconds),
    }
    if let Some(checksum) = &report.checksum {
        text += &format!("checksum {checksum}\n");
    }
    text
}
