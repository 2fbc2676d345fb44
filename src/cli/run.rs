//! `orthant run`: one run, its table, its outputs.

use std::borrow::Cow;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::args::Run;
use super::machine::{self, Machine};
use super::progress::{Progress, cancel_on_signals};
use super::search::{Wanted, choose};
use super::{Voice, align_right, print, table};
use crate::cpu::Control;
use crate::error::{Bytes, Error};
use crate::field::Field;
use crate::how::{How, Keep, ParallelScheme};
use crate::measure::{Rule, Warm, repeat};
use crate::memory::dense_fits;
use crate::output::png::Palette;
use crate::output::{Slice, Staged, npy, overlay, png};
use crate::report::{Ran, Report};
use crate::request::Request;
use crate::subdivision::Subdivision;
use crate::workload::{Job, Open, Workload};

/// Runs a workload as asked.
pub(super) fn run(args: Run, voice: Voice) -> Result<(), Error> {
    let machine = Machine::look();
    let request = request(&args, &machine)?;
    let control = Arc::new(Control::default());
    cancel_on_signals(&control)?;
    let (workload, k) = (request.workload, request.dim());
    workload.dispatch(k, Task { args, request, machine, control, voice })?
}

/// The request that the arguments make.
///
/// # Errors
/// [`Error::File`] if a source cannot be read.
pub(super) fn request(args: &Run, machine: &Machine) -> Result<Request, Error> {
    let read = |path: &PathBuf| {
        let text = std::fs::read_to_string(path);
        text.map(Arc::from).map_err(|source| Error::File { path: path.clone(), source })
    };
    Ok(Request {
        source: args.source.as_ref().map(read).transpose()?,
        workload: args.workload,
        dim: args.dim,
        size: args.size.as_ref().map(|n| n.0.clone()),
        g: args.g.as_ref().map(|g| g.0.clone()),
        r: args.r.as_ref().map(|r| r.0.clone()),
        b: args.b,
        window: args.domain.as_ref().map(|window| window.0.clone()),
        sample: args.sample,
        explore: args.explore,
        curve: args.curve,
        dwell: args.dwell,
        precision: args.precision,
        arithmetic: args.arithmetic,
        how: How {
            strategy: args.strategy,
            scheme: args.scheme.unwrap_or(ParallelScheme::Sbr),
            insertion: args.insertion,
            order: args.explore_order,
            keep: args.keep,
            cell: args.cell,
            threads: args.threads.map(usize::from),
            max_kernels: args.max_kernels.map(|most| most as usize),
            dp_launch: args.dp_launch,
            dp_budget: args.dp_budget,
            dp_overflow: args.dp_overflow,
            pending_launches: args.pending_launches,
            block: args.block.0,
            ask_loop: args.ask_loop,
            table: args.table,
            stack: args.stack,
            mem_limit: args.mem_limit.or_else(|| machine.default_limit()),
        },
    })
}

/// A file to write, by its extension.
enum Format {
    Png,
    Npy,
}

impl Format {
    fn of(path: &Path) -> Result<Self, Error> {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("png") => Ok(Self::Png),
            Some("npy") => Ok(Self::Npy),
            _ => Err(Error::Input(format!("--output {}: the extension must be .png or .npy", path.display()))),
        }
    }
}

/// The outputs of a run, opened before any work.
struct Outputs {
    fields: Vec<(Format, Staged)>,
    overlay: Option<Staged>,
    report: Option<Staged>,
}

impl Outputs {
    fn open(args: &Run) -> Result<Self, Error> {
        let mut seen: Vec<&PathBuf> = Vec::new();
        for path in args.output.iter().chain(&args.overlay).chain(&args.report) {
            if seen.contains(&path) {
                return Err(Error::Input(format!("{}: named for two outputs", path.display())));
            }
            seen.push(path);
        }
        let wanted = |flag, path: &Path, extension: &str| match path.extension().and_then(|e| e.to_str()) {
            Some(found) if found == extension => Ok(()),
            _ => Err(Error::Input(format!("{flag} {}: the extension must be .{extension}", path.display()))),
        };
        if let Some(path) = &args.overlay {
            wanted("--overlay", path, "png")?;
        }
        if let Some(path) = &args.report {
            wanted("--report", path, "json")?;
        }
        if args.keep == Keep::Counts && !(args.output.is_empty() && args.overlay.is_none()) {
            return Err(Error::Input("--keep counts keeps no cells to write; use --keep dense or regions".into()));
        }
        let formats =
            args.output.iter().map(|path| Ok((Format::of(path)?, path))).collect::<Result<Vec<_>, Error>>()?;
        let stage = |path: &PathBuf| Staged::new(path, args.force);
        Ok(Self {
            fields: formats
                .into_iter()
                .map(|(format, path)| Ok((format, stage(path)?)))
                .collect::<Result<_, Error>>()?,
            overlay: args.overlay.as_ref().map(stage).transpose()?,
            report: args.report.as_ref().map(stage).transpose()?,
        })
    }

    /// True if an output shows cells.
    fn show_cells(&self) -> bool {
        !self.fields.is_empty() || self.overlay.is_some()
    }
}

/// The run once its dimension is a type.
struct Task {
    args: Run,
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
        let slice = Slice::new(domain.size(), &self.args.slice)?;
        let outputs = Outputs::open(&self.args)?;
        if outputs.show_cells() {
            dense_fits(domain.cells(), self.request.how.cell, self.request.how.mem_limit)?;
        }
        let workload = open(&domain, &options)?;
        let backend = machine::pick(self.args.backend, self.args.device, self.voice)?;
        let device = backend.device().unwrap_or(&self.machine.cpu);
        let (plan, found) = match planned {
            Some(plan) => (plan, None),
            None => {
                let (scheme, blocks) = (self.args.scheme, &[self.request.how.block]);
                let wanted = Wanted { flag: "--auto-scheme", backend: &backend, device, scheme, blocks };
                let chosen = choose(&self.request, &*workload, wanted, self.voice)?;
                self.request.how.scheme = chosen.scheme;
                (chosen.plan, Some(chosen.found))
            }
        };
        let how = &self.request.how;
        let progress = Progress::start(&self.control, plan.domain().cells(), self.voice);
        let rule = Rule::exactly(self.args.repeat.unwrap_or(NonZeroUsize::MIN));
        let done = Warm::new(&backend, &plan, &*workload, how).and_then(|mut warm| {
            let samples = repeat(&rule, || warm.run(&self.control))?;
            Ok((warm.finish(&samples)?, samples))
        });
        drop(progress);
        let (subdivision, samples) = done?;
        let ran = Ran {
            backend: backend.name(),
            device,
            multiprocessors: backend.multiprocessors(),
            samples: samples.times(),
            iterations: workload.labels_count_iterations(),
        };
        let report = Report { auto_scheme: found, ..Report::new(&self.request, &subdivision, ran) };
        if !self.voice.quiet {
            print(summary(&report))?;
        }
        self.write(outputs, &subdivision, &slice, &*workload, &report)
    }
}

impl Task {
    fn write<const K: usize>(
        &self,
        outputs: Outputs,
        subdivision: &Subdivision<K>,
        slice: &Slice<K>,
        workload: &dyn Workload<K>,
        report: &Report,
    ) -> Result<(), Error> {
        let control = &*self.control;
        if outputs.show_cells() {
            let field: Cow<'_, Field<K>> = match subdivision.field() {
                Some(field) => Cow::Borrowed(field),
                None => Cow::Owned(subdivision.materialise(self.request.how.mem_limit)?),
            };
            let palette = Palette::new(workload.max_label(), workload.labels_count_iterations());
            for (format, staged) in outputs.fields {
                let target = staged.target().to_owned();
                staged.finish(control, |out| match format {
                    Format::Png => png::write(&field, slice, &palette, out),
                    Format::Npy => npy::write(&field, out),
                })?;
                self.voice.say(format_args!("orthant: wrote {}", target.display()));
            }
            if let Some(staged) = outputs.overlay {
                let target = staged.target().to_owned();
                staged.finish(control, |out| overlay::write(&field, subdivision, slice, &palette, out))?;
                self.voice.say(format_args!("orthant: wrote {}", target.display()));
            }
        }
        if let Some(staged) = outputs.report {
            let target = staged.target().to_owned();
            staged.finish(control, |out| {
                serde_json::to_writer(&mut *out, report)?;
                out.write_all(b"\n")
            })?;
            self.voice.say(format_args!("orthant: wrote {}", target.display()));
        }
        Ok(())
    }
}

/// What happened, for people.
fn summary(report: &Report) -> String {
    let by = |v: &[u32]| v.iter().map(u32::to_string).collect::<Vec<_>>().join("x");
    let equal = |v: &[u32]| if v.iter().all(|x| *x == v[0]) { v[0].to_string() } else { by(v) };
    let mut text = format!(
        "{} {} cells, {} {} {} on {} ({}), g {} r {} B {}, explore {}\n\n",
        report.workload,
        by(&report.size),
        report.strategy,
        report.scheme,
        report.curve,
        report.backend,
        if report.backend == "cpu" { format!("{} threads", report.threads) } else { report.device.clone() },
        equal(&report.g),
        equal(&report.r),
        report.b,
        report.explore,
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
            format!("{:.3}", level.p),
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
    text += &format!("kernels  {} ({} in flight at most)\n", report.kernels, report.most_in_flight);
    if report.strategy == "dp" {
        text += &format!(
            "launches {} refused beyond {} credits, {} failed, {} overflowed into {} rounds, {} done in place; {} pending at most\n",
            report.refused,
            report.credits,
            report.failed,
            report.overflowed,
            report.rounds,
            report.in_place,
            report.most_pending
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
