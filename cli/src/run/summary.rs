//! What a run says on stdout, for people.

use orthant::choice::ChoiceValue;
use orthant::per_axis::{shortest, text as by};
use orthant::tree::Predicate;
use orthant::{Bytes, LevelReport, PointsRead, Report, SecondsByStage, StrategyKind};

use super::outputs::Outputs;
use crate::error::Error;
use crate::escape;
use crate::input;
use crate::voice::{Voice, align_right, print, table};

/// What happened in a run of a field.
pub(super) fn of_field(report: &Report) -> String {
    let equal = |axes: &[u32]| by(&shortest(axes));
    let pass = report.tuning.unusual_pass(&report.backend).map_or(String::new(), |pass| format!(" {pass}"));
    let balancer = report.cuda.as_ref().and_then(|cuda| cuda.balancer.write());
    let balancer = balancer.map_or(String::new(), |balancer| format!(" {balancer}"));
    let mut text = format!(
        "{} {} cells, {} {}{pass}{balancer} {} on {} ({}), g {} r {} B {}, explore {}\n\n",
        report.computation.workload,
        by(&report.computation.size),
        report.tuning.strategy,
        report.tuning.mapping(),
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
    text += &levels(&report.levels, true);
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
        let strategy = auto.strategy.unwrap_or(report.tuning.strategy);
        let chosen = match strategy {
            StrategyKind::Exhaustive => strategy.to_string(),
            _ => format!("{strategy} {}", auto.scheme),
        };
        let predicted = auto.predicted_seconds.map(|seconds| format!(", {:.3} ms predicted", seconds * 1e3));
        text += &match &*auto.by {
            "default" => format!("scheme   {chosen}, the default: nothing was measured for this on this device\n"),
            by => format!(
                "scheme   {chosen} found by the {by} in {:.3} ms with {} cells{}\n",
                auto.seconds * 1e3,
                auto.sampled_cells,
                predicted.unwrap_or_default()
            ),
        };
    }
    if report.samples.len() > 1 {
        text += &format!("runs     {}, the times are medians\n", report.samples.len());
    }
    match report.device_seconds {
        Some(device) => {
            text += &format!("time     {:.3} ms on the device, {:.3} s with launches\n", device * 1e3, report.seconds);
        }
        None => text += &format!("time     {:.3} s\n", report.seconds),
    }
    if let Some(checksum) = &report.checksum {
        text += &format!("checksum {checksum}\n");
    }
    text
}

/// Where the time went, of a run that wrote its files.
pub(super) fn of_stages(seconds: &SecondsByStage) -> String {
    let SecondsByStage { opening, preparing, running, collecting, reporting, ordering, writing, whole, .. } = *seconds;
    let stages = [
        ("opening", opening),
        ("preparing", preparing),
        ("running", running),
        ("collecting", collecting),
        ("reporting", reporting),
        ("ordering", ordering),
        ("writing", writing),
    ];
    let spent = stages.map(|(stage, seconds)| format!("{stage} {seconds:.3}")).join(", ");
    format!("orthant: {whole:.3} s from the first step: {spent}")
}

/// Prints what an array was found to be, or points, where nobody asked for silence and no output is stdout.
///
/// # Errors
/// If stdout cannot be written to.
pub(super) fn print_of_array(report: &Report, outputs: &Outputs, voice: Voice) -> Result<(), Error> {
    if voice.quiet || outputs.stdout {
        return Ok(());
    }
    print(escape::lines(&of_array(report)))
}

/// What an array was found to be, or points.
fn of_array(report: &Report) -> String {
    let (computation, cells) = (&report.computation, &report.cells.all);
    let read = report.input.as_ref();
    let name = read.map_or(String::new(), |read| escape::line(&input::name(&read.path, read.member.as_deref())));
    let mut text = format!(
        "{} {name} {} {}, {} {} on cpu ({} threads), g {} r {} B {}, explore {}\n\n",
        computation.workload,
        by(&computation.size),
        report.kept.cell,
        report.tuning.strategy,
        computation.curve,
        report.tuning.threads.unwrap_or(0),
        by(&shortest(&computation.g)),
        by(&shortest(&computation.r)),
        by(&computation.b),
        computation.explore,
    );
    text += &levels(&report.levels, false);
    text += &format!("cells    {} = {} filled + {} in leaves\n", report.cells.total, cells.filled, cells.leaf);
    let seconds = report.seconds;
    if let Some(predicate) = report.predicate.filter(|&predicate| predicate != Predicate::EXACT) {
        text += &format!("by       {predicate}\n");
    }
    if let Some(PointsRead { read, inside, .. }) = report.points {
        let outside = match read - inside {
            0 => "all in the window".into(),
            outside => format!("{inside} in the window, {outside} outside of it"),
        };
        let rate = inside as f64 / seconds.max(1e-9) / 1e6;
        text += &format!("points   {read}, {outside}\n");
        text += &format!("time     {seconds:.3} s, {rate:.1} million points/s\n");
    } else if let Some(read) = read {
        let rate = (read.bytes as f64 / seconds.max(1e-9)) as u128;
        text += &format!("time     {seconds:.3} s for {}, {}/s\n", Bytes(read.bytes.into()), Bytes(rate));
    }
    if let Some(checksum) = &report.regions_checksum {
        text += &format!("checksum {checksum}\n");
    }
    text
}

/// What happened on every level, with what tables and time it took where it was done level by level.
fn levels(levels: &[LevelReport], by_level: bool) -> String {
    let names = ["level", "grid", "regions", "subdivided", "filled", "leaves", "P", "OLT", "ms"];
    let shown = if by_level { names.len() } else { names.len() - 2 };
    let mut rows = table(&names[..shown]);
    for level in levels {
        let cells = [
            level.level.to_string(),
            by(&level.grid),
            level.regions.to_string(),
            level.subdivided.to_string(),
            level.filled.to_string(),
            level.leaves.to_string(),
            level.p.map_or("-".into(), |p| format!("{p:.3}")),
            Bytes(u128::from(level.table_bytes)).to_string(),
            level.seconds.map_or("-".into(), |seconds| format!("{:.2}", seconds * 1e3)),
        ];
        rows.add_row(cells.into_iter().take(shown));
    }
    align_right(&mut rows);
    format!("{}\n\n", rows.trim_fmt())
}
